const units: Readonly<Record<string, number>> = { "": 1, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }

/** Parses a size such as `1048576`, `512KiB`, `64MiB` or `1GiB` into bytes. Returns undefined for anything else. */
export function parseByteSize(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,12})(B|KiB|MiB|GiB)?$/.exec(text) ?? []
  const unitBytes = units[unit ?? ""]
  return count === undefined || unitBytes === undefined ? undefined : Number(count) * unitBytes
}
