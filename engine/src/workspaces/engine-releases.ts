/** Lines of released versions of the infrastructure tool, each with its newest patch; every patch from 0 on was released. */
const lines: readonly (readonly [line: string, newestPatch: number])[] = [
  ["0.11", 15],
  ["0.12", 31],
  ["0.13", 7],
  ["0.14", 11],
  ["0.15", 5],
  ["1.0", 11],
  ["1.1", 9],
  ["1.2", 9],
  ["1.3", 10],
  ["1.4", 7],
  ["1.5", 7],
  ["1.6", 6],
  ["1.7", 5],
  ["1.8", 5],
  ["1.9", 8],
  ["1.10", 5],
  ["1.11", 4],
  ["1.12", 2],
  ["1.13", 3],
]

/** Exact versions, oldest first. An administrator can add newer ones without a release of this program. */
export const engineReleases: readonly string[] = lines.flatMap(([line, newest]) =>
  Array.from({ length: newest + 1 }, (_, patch) => `${line}.${patch}`),
)
