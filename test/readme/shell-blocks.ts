import { readFile } from "node:fs/promises"

/** The shell blocks below one heading of the README, and above the next, as they stand there. */
export async function shellBlocks(heading: string): Promise<readonly string[]> {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8")
  const sections = readme.split(/^##+ (.*)$/m)
  const text = sections[sections.indexOf(heading) + 1] ?? ""
  return [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block ?? "")
}
