// Pure rules of a release: licenses, vulnerabilities, the changelog.

/** Licenses that the Apache License 2.0 can be distributed with, as SPDX identifiers. */
const allowedLicenses: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "PSF-2.0",
  "Python-2.0",
  "Unlicense",
])

export interface Component {
  readonly name: string
  readonly version?: string
  /** As CycloneDX has them: an SPDX identifier, a name, or an SPDX expression. */
  readonly licenses?: readonly {
    readonly license?: { readonly id?: string; readonly name?: string }
    readonly expression?: string
  }[]
  readonly components?: readonly Component[]
}

/** Returns a line for each component without an allowed license. */
export function licenseProblems(components: readonly Component[]): readonly string[] {
  return components.flatMap((component) => [
    ...(isAllowed(component) ? [] : [`${component.name} ${component.version ?? ""}: ${describe(component)}`]),
    ...licenseProblems(component.components ?? []),
  ])
}

const isAllowed = ({ licenses = [] }: Component): boolean =>
  licenses.length > 0 &&
  licenses.every(({ license, expression }) => isAllowedExpression(license?.id ?? expression ?? ""))

/** `A OR B` allows one of them, `A AND B` requires both. Parentheses are only accepted around the whole expression. */
function isAllowedExpression(expression: string): boolean {
  const plain = expression.replace(/^\((.*)\)$/, "$1")
  return plain.split(" OR ").some((choice) => choice.split(" AND ").every((id) => allowedLicenses.has(id.trim())))
}

const describe = ({ licenses = [] }: Component): string =>
  licenses.map(({ license, expression }) => license?.id ?? license?.name ?? expression).join(", ") || "no license"

/** Result of `npm audit --json`: a report, or an error if the registry has no such service. */
export interface AuditReport {
  readonly message?: string
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<string, number>> }
}

export type AuditResult = "clean" | "vulnerable" | "unknown"

/** Low and moderate findings do not stop a release. */
export function auditResult({ metadata }: AuditReport): AuditResult {
  if (metadata === undefined) return "unknown"
  const { high = 0, critical = 0 } = metadata.vulnerabilities
  return high + critical > 0 ? "vulnerable" : "clean"
}

/** Inserts the newest section of a package's changelog before the sections of the common one, without empty headings. */
export function withNewSection(common: string, ofPackage: string, version: string): string {
  const [, section = ""] = ofPackage.split(/^## .*$/m)
  const entries = section
    .split("\n")
    .filter((line) => /^\s*- /.test(line) || /^ {2,}\S/.test(line))
    .filter((line) => !/^\s*- (Updated dependencies|@chancery\/)/.test(line))
    .map((line) => line.replace(/^- [0-9a-f]{7,}: /, "- "))
  if (entries.length === 0) throw new Error(`the changelog of ${version} has no entry; add one with: npx changeset`)
  const at = common.search(/^## /m)
  const before = at < 0 ? `${common.trimEnd()}\n\n` : common.slice(0, at)
  const after = at < 0 ? "" : common.slice(at)
  return `${before}## ${version}\n\n${entries.join("\n")}\n\n${after}`.trimEnd() + "\n"
}
