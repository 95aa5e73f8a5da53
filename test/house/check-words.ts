// Fails if a comment, a description of a custom resource or a page uses a word of words.txt, or if a doc comment begins with What, Who, Of or
// Whether. Code, quotations and generated pages are not searched. With `--count` it prints how often each word occurs.
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")
const listed = readFileSync(join(import.meta.dirname, "words.txt"), "utf8").split("\n")
const words = listed.filter((line) => line !== "" && !line.startsWith("#"))
const forbidden = new RegExp(`\\b(?:${words.join("|")})\\b`, "gi")
const opening = /^\/\*\* (?:What|Who|Of|Whether)\b/

/** Lines of comments; a comment after code counts from its slashes. */
function commentLines(text: string): readonly (readonly [number, string])[] {
  return text.split("\n").flatMap((line, index) => {
    const found = /^\s*(\/\/.*|\/\*.*|\* .*)$/.exec(line)?.[1] ?? /\s(\/\/ .*)$/.exec(line)?.[1]
    return found === undefined ? [] : [[index + 1, found] as const]
  })
}

/** Lines of a page without code blocks, inline code and quotations. */
function pageLines(text: string): readonly (readonly [number, string])[] {
  const blank = (part: string): string => part.replaceAll(/[^\n]/g, " ")
  const prose = text.replaceAll(/^( *)(```|~~~)[^]*?^\1\2/gm, blank).replaceAll(/`[^`\n]*`/g, blank)
  return prose.split("\n").flatMap((line, index) => (line.startsWith(">") ? [] : [[index + 1, line] as const]))
}

const descriptions = (text: string): readonly (readonly [number, string])[] =>
  text.split("\n").map((line, index) => [index + 1, line] as const)

const searches = [
  {
    files: ["*.ts", "*.cjs", "*.mjs", "*.js"],
    except: /^(provider\/src\/resources\/|test\/house\/check-words\.ts)/,
    linesOf: commentLines,
  },
  { files: ["*.md"], except: /^docs\/conformance\.md$/, linesOf: pageLines },
  { files: ["crds/*.yaml"], except: /^$/, linesOf: descriptions },
] as const

const faults: string[] = []
const counts = new Map<string, number>()
for (const { files, except, linesOf } of searches) {
  const listedFiles = execFileSync("git", ["ls-files", ...files], { cwd: root, encoding: "utf8" }).split("\n")
  for (const file of listedFiles.filter((one) => one !== "" && !except.test(one))) {
    for (const [line, text] of linesOf(readFileSync(join(root, file), "utf8"))) {
      const found = [...text.matchAll(forbidden)].map(([word]) => word.toLowerCase())
      if (opening.test(text)) found.push(text.slice(4).split(" ")[0] ?? "")
      for (const word of found) {
        counts.set(word, (counts.get(word) ?? 0) + 1)
        faults.push(`${file}:${line}: ${word}`)
      }
    }
  }
}

if (process.argv.includes("--count")) {
  for (const [word, count] of [...counts].toSorted(([, a], [, b]) => b - a)) console.log(`${word}: ${count}`)
} else if (faults.length > 0) {
  process.stderr.write(
    `${faults.join("\n")}\ntest/house/words.txt lists these words: write the comment or page in plain terms.\n`,
  )
  process.exitCode = 1
}
