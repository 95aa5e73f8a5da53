import { readFile } from "node:fs/promises"

/** The shell blocks below one heading of the README, and above the next, as they stand there. */
export const shellBlocks = (heading: string): Promise<readonly string[]> => codeBlocks("README.md", heading, "sh")

/** Of any document, by its path below the checkout. */
export async function codeBlocks(document: string, heading: string, language: string): Promise<readonly string[]> {
  const text = await readFile(new URL(`../../${document}`, import.meta.url), "utf8")
  const sections = text.split(/^##+ (.*)$/m)
  const section = sections[sections.indexOf(heading) + 1] ?? ""
  const block = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm")
  return Array.from(section.matchAll(block), ([, lines]) => lines ?? "")
}
