import { readFile } from "node:fs/promises"

/** Returns the shell blocks of the README below one heading and above the next, unchanged. */
export const shellBlocks = (heading: string): Promise<readonly string[]> => codeBlocks("README.md", heading, "sh")

/** Returns the blocks in one language below a heading of a document, by its path in the checkout. */
export async function codeBlocks(document: string, heading: string, language: string): Promise<readonly string[]> {
  const text = await readFile(new URL(`../../${document}`, import.meta.url), "utf8")
  const sections = text.split(/^##+ (.*)$/m)
  const section = sections[sections.indexOf(heading) + 1] ?? ""
  const block = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm")
  return Array.from(section.matchAll(block), ([, lines]) => lines ?? "")
}
