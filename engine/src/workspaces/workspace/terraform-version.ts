// Terraform releases that site administrators list, as in Terraform Enterprise's Admin Terraform Versions API. The list restricts nothing:
// `terraform-version` of a workspace is text, and the server downloads no binary.
import { type Fault, type FieldPath, rejectFaults, unprocessable } from "../../core/errors.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Instant } from "../../core/time.ts"

/** Binary for one architecture. */
export interface TerraformBinary {
  readonly url: string
  /** SHA-256 of the zip archive, hexadecimal. */
  readonly sha: string
  readonly os: string
  readonly arch: string
}

export interface TerraformVersion {
  readonly id: string
  readonly version: string
  /** One entry for each architecture, in the order of the input. Not empty. */
  readonly archs: readonly TerraformBinary[]
  readonly official: boolean
  readonly deprecated: boolean
  /** Null unless `deprecated` is true. */
  readonly deprecatedReason: string | null
  readonly enabled: boolean
  readonly beta: boolean
  readonly createdAt: Instant
}

export interface TerraformVersionView extends TerraformVersion {
  /** Number of workspaces whose `terraform-version` is exactly `version`. */
  readonly usage: number
}

export interface TerraformVersionInput {
  /** `N.N.N`, with a suffix if it is a pre-release or a bundle: `1.5.7-custom`. */
  readonly version: string
  /** Shorthand for `archs` with one entry for amd64. If `archs` is given too, both must equal those of its entry for amd64. */
  readonly url?: string | null
  readonly sha?: string | null
  readonly archs?: readonly TerraformBinary[]
  readonly official?: boolean
  readonly deprecated?: boolean
  readonly deprecatedReason?: string | null
  readonly enabled?: boolean
  readonly beta?: boolean
}

export interface TerraformVersionFilter {
  /** Exact version. `search` is ignored if it is given. */
  readonly version?: string
  /** Substring of the version. */
  readonly search?: string
}

/** Terraform releases that the site lists. Only site administrators can use them. */
export interface TerraformVersions {
  /** Throws `invalid` on `version` if it is already listed. */
  create(input: TerraformVersionInput): Promise<TerraformVersionView>
  /** Lists the newest version first. */
  list(filter: TerraformVersionFilter, page: PageRequest): Promise<Page<TerraformVersionView>>
  get(id: string): Promise<TerraformVersionView>
  /** Updates a version. `archs` replaces all present binaries. */
  update(id: string, patch: Partial<TerraformVersionInput>): Promise<TerraformVersionView>
  /** Throws `unprocessable` if the version is official or a workspace uses it. */
  delete(id: string): Promise<void>
}

export interface TerraformVersionRepository {
  find(id: string): Promise<TerraformVersion | undefined>
  /** Lists in descending order of `versionOrder`. */
  list(filter: TerraformVersionFilter, page: PageRequest): Promise<Page<TerraformVersion>>
  /** `insert` and `save` throw `EngineError("invalid")` on `version` if it is already listed. */
  insert(version: TerraformVersion): Promise<void>
  save(version: TerraformVersion): Promise<void>
  remove(id: string): Promise<void>
  /** Returns the number of workspaces by `terraform-version`. Versions that no workspace uses are omitted. */
  countWorkspaces(versions: readonly string[]): Promise<ReadonlyMap<string, number>>
}

const maxVersion = 128
const maxUrl = 2_048
const maxReason = 1_000
const operatingSystems = ["linux"]
const architectures = ["amd64", "arm64"]

/** https://semver.org, without its rule about zeros at the start of a pre-release's numbers. */
const semanticVersion =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/
/** Lengths from SHA-1 to SHA-512. The API documents SHA-256; an example of the TFE provider has a SHA-1. */
const checksum = /^[0-9a-fA-F]{40,128}$/

export function createTerraformVersion(
  input: TerraformVersionInput,
  { id, now }: { readonly id: string; readonly now: Instant },
): TerraformVersion {
  const initial: TerraformVersion = {
    id,
    version: input.version,
    archs: [],
    official: false,
    deprecated: false,
    deprecatedReason: null,
    enabled: true,
    beta: false,
    createdAt: now,
  }
  return updateTerraformVersion(initial, input)
}

export function updateTerraformVersion(
  before: TerraformVersion,
  patch: Partial<TerraformVersionInput>,
): TerraformVersion {
  const { version = before.version, deprecated = before.deprecated } = patch
  const reason = patch.deprecatedReason?.trim() === "" ? null : patch.deprecatedReason
  const { archs, faults } = updateBinaries(before.archs, patch)
  rejectFaults([
    ...(patch.version === undefined ? [] : versionFaults(patch.version)),
    ...faults,
    ...reasonFaults(reason ?? null, deprecated),
  ])
  return {
    ...before,
    version,
    archs,
    official: patch.official ?? before.official,
    deprecated,
    deprecatedReason: deprecated ? (reason === undefined ? before.deprecatedReason : reason) : null,
    enabled: patch.enabled ?? before.enabled,
    beta: patch.beta ?? before.beta,
  }
}

/** Returns the binary that the document's members `url` and `sha` contain. */
export const amd64Binary = (archs: readonly TerraformBinary[]): TerraformBinary | undefined =>
  archs.find(({ arch }) => arch === "amd64")

interface CheckedBinaries {
  readonly archs: readonly TerraformBinary[]
  readonly faults: readonly Fault[]
}

/** Applies the binaries of a patch. `present` is empty only for a new version. */
function updateBinaries(
  present: readonly TerraformBinary[],
  { archs, url, sha }: Partial<TerraformVersionInput>,
): CheckedBinaries {
  if (archs !== undefined && archs.length > 0)
    return { archs, faults: [...archFaults(archs), ...contradictions(archs, { url, sha })] }
  if (url === undefined && sha === undefined && present.length > 0)
    return { archs: present, faults: archs === undefined ? [] : [{ field: ["archs"], detail: "archs can't be empty" }] }
  const base = amd64Binary(present)
  const binary = {
    url: (url === undefined ? base?.url : url) ?? "",
    sha: (sha === undefined ? base?.sha : sha) ?? "",
    os: "linux",
    arch: "amd64",
  }
  const blankFault = (name: string): Fault => ({
    field: [name],
    detail: `${name} can't be blank; set url and sha, or archs`,
  })
  return {
    archs: [binary],
    faults: [
      ...(binary.url === "" ? [blankFault("url")] : urlFaults(binary.url, ["url"])),
      ...(binary.sha === "" ? [blankFault("sha")] : shaFaults(binary.sha, ["sha"])),
    ],
  }
}

/**
 * Returns faults for members that differ from the entry for amd64. Blank members are accepted: the TFE provider sends an empty `sha`
 * together with `archs`.
 */
function contradictions(
  archs: readonly TerraformBinary[],
  members: { readonly [name in "url" | "sha"]: string | null | undefined },
): readonly Fault[] {
  const amd64 = amd64Binary(archs)
  return (["url", "sha"] as const)
    .filter((name) => members[name] && members[name] !== amd64?.[name])
    .map((name) => ({ field: [name], detail: `${name} must equal the ${name} of the amd64 entry of archs` }))
}

function archFaults(archs: readonly TerraformBinary[]): readonly Fault[] {
  if (archs.length > operatingSystems.length * architectures.length)
    return [{ field: ["archs"], detail: `archs has too many entries (maximum is ${architectures.length})` }]
  return archs.flatMap(({ url, sha, os, arch }, index) => {
    const at = (name: string): FieldPath => ["archs", index, name]
    const isRepeated = archs.findIndex((other) => other.os === os && other.arch === arch) < index
    return [
      ...urlFaults(url, at("url")),
      ...shaFaults(sha, at("sha")),
      ...oneOfFaults(os, operatingSystems, at("os")),
      ...oneOfFaults(arch, architectures, at("arch")),
      ...(isRepeated ? [{ field: at("arch"), detail: "arch must be unique among the entries of one os" }] : []),
    ]
  })
}

const oneOfFaults = (text: string, values: readonly string[], field: FieldPath): readonly Fault[] =>
  values.includes(text)
    ? []
    : [{ field, detail: `${String(field.at(-1))} must be ${values.map((value) => `"${value}"`).join(" or ")}` }]

function versionFaults(version: string): readonly Fault[] {
  const field = ["version"]
  if (version.length > maxVersion)
    return [{ field, detail: `version is too long (maximum is ${maxVersion} characters)` }]
  return semanticVersion.test(version)
    ? []
    : [{ field, detail: "version must be a semantic version, such as 1.5.7 or 1.5.7-custom" }]
}

function urlFaults(text: string, field: FieldPath): readonly Fault[] {
  const protocol = URL.parse(text)?.protocol
  if (protocol !== "https:" && protocol !== "http:") return [{ field, detail: "url must be an http or https URL" }]
  return text.length > maxUrl ? [{ field, detail: `url is too long (maximum is ${maxUrl} characters)` }] : []
}

const shaFaults = (text: string, field: FieldPath): readonly Fault[] =>
  checksum.test(text) ? [] : [{ field, detail: "sha must be a checksum of 40 to 128 hexadecimal digits" }]

function reasonFaults(reason: string | null, deprecated: boolean): readonly Fault[] {
  const field = ["deprecatedReason"]
  if (reason === null) return []
  if (!deprecated) return [{ field, detail: "deprecated-reason must be blank unless deprecated is true" }]
  return reason.length > maxReason
    ? [{ field, detail: `deprecated-reason is too long (maximum is ${maxReason} characters)` }]
    : []
}

export const versionTaken: Fault = { field: ["version"], detail: "version has already been taken" }

/** Throws `unprocessable` unless the version may be deleted. `usage` is the number of workspaces that use it. */
export function assertDeletable({ version, official }: TerraformVersion, usage: number): void {
  const problem = `Terraform version ${version} is`
  if (official) throw unprocessable(`${problem} official and cannot be deleted; set enabled to false instead`)
  if (usage > 0)
    throw unprocessable(`${problem} used by ${usage} ${usage === 1 ? "workspace" : "workspaces"} and cannot be deleted`)
}

/**
 * Returns a sort key: keys compare by character as the versions compare. A number is preceded by its length, a release follows its
 * pre-releases, and pre-releases of one release sort as text.
 */
export function versionOrder(version: string): string {
  const [, major = "", minor = "", patch = "", preRelease, build = ""] = semanticVersion.exec(version) ?? []
  const numbers = [major, minor, patch].map((digits) => `${String(digits.length).padStart(3, "0")}${digits}`)
  return `${numbers.join(".")}${preRelease === undefined ? "~" : `-${preRelease}`}+${build}`
}

/** Minor lines of released versions, each with its newest patch. Every patch from 0 on was released. */
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

/** Exact versions, oldest first. Administrators can add newer ones without an upgrade of the server. */
export const engineReleases: readonly string[] = lines.flatMap(([line, newest]) =>
  Array.from({ length: newest + 1 }, (_, patch) => `${line}.${patch}`),
)

// Versions of Terraform: exact, a constraint in its syntax (`~> 1.5`, `>= 1.2, < 2`), or `latest`. They are stored and returned as written
// (docs/compatibility.md, "Discovery"); this file resolves them to a release.

type Numbers = readonly [number, number, number]

/** Returns every release that this installation knows, oldest first: the built-in ones and those that an administrator added. */
export function knownReleases(added: readonly string[] = []): readonly string[] {
  if (added.length === 0) return engineReleases
  const known = new Set([...engineReleases, ...added.filter((text) => exact(text) !== undefined)])
  return [...known].toSorted((a, b) => compare(exact(a) as Numbers, exact(b) as Numbers))
}

export const latestRelease = (releases: readonly string[]): string => releases.at(-1) as string

/** Returns the exact version that `text` resolves to. Returns undefined if it is malformed or no release matches. */
export function resolveEngineVersion(text: string, releases: readonly string[]): string | undefined {
  if (text === "latest") return latestRelease(releases)
  // Unknown exact versions are accepted: a release can be newer than this list, or a pre-release.
  if (exactVersion.test(text)) return text
  const meets = parseConstraints(text)
  return meets && releases.findLast((release) => meets(exact(release) as Numbers))
}

/** Returns whether the text is a version, a constraint or `latest`. Does not check that a release matches. */
export const isEngineVersion = (text: string): boolean =>
  text === "latest" || exactVersion.test(text) || parseConstraints(text) !== undefined

/** Treats a pre-release as its release. */
export function isAtLeast(version: string, minimum: string): boolean {
  const [a, b] = [exact(version.replace(/[-+].*$/, "")), exact(minimum)]
  return a !== undefined && b !== undefined && compare(a, b) >= 0
}

const exactVersion = /^\d{1,5}\.\d{1,5}\.\d{1,5}(-[0-9A-Za-z][0-9A-Za-z.-]{0,40})?$/
const term = /^(=|!=|>=|<=|>|<|~>)?\s*(\d{1,5}(?:\.\d{1,5}){0,2})$/
const maxTerms = 10

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
  if (terms.length > maxTerms) return undefined
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
      // `~>` lets only the last given part increase: `~> 1.5` is 1.x from 1.5 on, `~> 1.5.2` is 1.5.x from 1.5.2 on.
      const fixed = bound.split(".").length - 1
      return (version) =>
        compare(version, limit) >= 0 && version.slice(0, fixed).every((part, index) => part === limit[index])
    }
  }
}
