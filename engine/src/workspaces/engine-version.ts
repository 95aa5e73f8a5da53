// Versions of the infrastructure tool: exact, a constraint in the tool's syntax (`~> 1.5`, `>= 1.2, < 2`), or `latest`. They are stored
// and returned as written (docs/compatibility.md, "Discovery"); this file resolves them to a release.
import { engineReleases } from "./engine-releases.ts"

type Numbers = readonly [number, number, number]

/** Every release this installation knows, oldest first: the committed ones and those an administrator added. */
export function knownReleases(added: readonly string[] = []): readonly string[] {
  if (added.length === 0) return engineReleases
  const known = new Set([...engineReleases, ...added.filter((text) => exact(text) !== undefined)])
  return [...known].toSorted((a, b) => compare(exact(a) as Numbers, exact(b) as Numbers))
}

export const latestRelease = (releases: readonly string[]): string => releases.at(-1) as string

/** The exact version that `text` means; undefined when it is nonsense or no release meets it. */
export function resolveEngineVersion(text: string, releases: readonly string[]): string | undefined {
  if (text === "latest") return latestRelease(releases)
  // Unknown exact versions are taken at their word: a release can be newer than this list, or a pre-release.
  if (exactVersion.test(text)) return text
  const meets = parseConstraints(text)
  return meets && releases.findLast((release) => meets(exact(release) as Numbers))
}

/** Whether the text means a version at all; which one, the releases of an installation decide. */
export const isEngineVersion = (text: string): boolean =>
  text === "latest" || exactVersion.test(text) || parseConstraints(text) !== undefined

/** Pre-releases count as their release. */
export function isAtLeast(version: string, minimum: string): boolean {
  const [a, b] = [exact(version.replace(/[-+].*$/, "")), exact(minimum)]
  return a !== undefined && b !== undefined && compare(a, b) >= 0
}

const exactVersion = /^\d{1,5}\.\d{1,5}\.\d{1,5}(-[0-9A-Za-z][0-9A-Za-z.-]{0,40})?$/
const term = /^(=|!=|>=|<=|>|<|~>)?\s*(\d{1,5}(?:\.\d{1,5}){0,2})$/
const termsMaximum = 10

function exact(text: string): Numbers | undefined {
  return /^\d{1,5}\.\d{1,5}\.\d{1,5}$/.test(text) ? numbersOf(text) : undefined
}

const numbersOf = (text: string): Numbers => {
  const [major = 0, minor = 0, patch = 0] = text.split(".").map(Number)
  return [major, minor, patch]
}

const compare = (a: Numbers, b: Numbers): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]

function parseConstraints(text: string): ((version: Numbers) => boolean) | undefined {
  const terms = text.split(",")
  if (terms.length > termsMaximum) return undefined
  const meets = terms.map((part) => parseTerm(part.trim()))
  if (meets.includes(undefined)) return undefined
  return (version) => meets.every((meet) => meet?.(version))
}

function parseTerm(text: string): ((version: Numbers) => boolean) | undefined {
  const [, operator = "=", bound = ""] = term.exec(text) ?? []
  if (bound === "") return undefined
  const limit = numbersOf(bound)
  switch (operator) {
    case "=":
      return (version) => compare(version, limit) === 0
    case "!=":
      return (version) => compare(version, limit) !== 0
    case ">":
      return (version) => compare(version, limit) > 0
    case ">=":
      return (version) => compare(version, limit) >= 0
    case "<":
      return (version) => compare(version, limit) < 0
    case "<=":
      return (version) => compare(version, limit) <= 0
    default: {
      // `~>` lets only the last part that was written grow: `~> 1.5` is 1.x from 1.5 on, `~> 1.5.2` is 1.5.x from 1.5.2 on.
      const fixed = bound.split(".").length - 1
      return (version) =>
        compare(version, limit) >= 0 && version.slice(0, fixed).every((part, index) => part === limit[index])
    }
  }
}
