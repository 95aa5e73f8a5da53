// A mount is one authority at a path of its own: its issuers, keys, roles and certificates, and how they may be used. Paths never
// nest, so that the first mount found on the way down an address is the only one.
import type { Fault } from "../../core/errors.ts"
import type { Id } from "../../core/ids.ts"
import { dayMs, hourMs, type Instant, secondMs } from "../../core/time.ts"

export type MountId = Id<"mnt">

export interface MountConfig {
  /** Lifetime of what asks for none; null is the system's. Milliseconds, whole seconds. */
  readonly defaultLeaseTtlMs: number | null
  /** No lifetime is longer unless a role says so; null is the system's. */
  readonly maxLeaseTtlMs: number | null
  readonly forceNoCache: boolean
  /** Whether the mount is told to those who show no token. Empty where nobody has said it, which is hidden. */
  readonly listingVisibility: "" | "hidden" | "unauth"
  /** Response headers that this mount may set. ACME needs `Location`, `Replay-Nonce` and `Link`. */
  readonly allowedResponseHeaders: readonly string[]
  /** Request headers that this mount may see. */
  readonly passthroughRequestHeaders: readonly string[]
  /** Members of requests and of answers that the audit log has in plain text. */
  readonly auditNonHmacRequestKeys: readonly string[]
  readonly auditNonHmacResponseKeys: readonly string[]
}

/** Said when a mount is made and told again, because what declares mounts makes one anew that differs. Nothing depends on it. */
export interface MountTraits {
  readonly local: boolean
  readonly sealWrap: boolean
  readonly externalEntropyAccess: boolean
}

/** Of engines of other kinds; kept and told again, because what declares mounts compares them. Nothing depends on them. */
export type MountOptions = Readonly<Record<string, string>>

export interface Mount {
  readonly id: MountId
  /** Without a "/" at either end. */
  readonly path: string
  readonly type: "pki"
  readonly description: string
  readonly config: MountConfig
  readonly traits: MountTraits
  readonly options: MountOptions
  /** Names the mount where policies and logs must not follow its path. */
  readonly accessor: string
  readonly uuid: string
  readonly createdAt: Instant
}

export interface MountInput {
  readonly path: string
  readonly description?: string
  readonly config?: Partial<MountConfig>
  readonly traits?: Partial<MountTraits>
  readonly options?: MountOptions
}

/** What is left out stays as it is. */
export interface MountPatch {
  readonly description?: string
  readonly config?: Partial<MountConfig>
  /** Beside those there are; one that is empty text is taken away. */
  readonly options?: MountOptions
}

export const initialMountConfig: MountConfig = {
  defaultLeaseTtlMs: null,
  maxLeaseTtlMs: null,
  forceNoCache: false,
  listingVisibility: "",
  allowedResponseHeaders: [],
  passthroughRequestHeaders: [],
  auditNonHmacRequestKeys: [],
  auditNonHmacResponseKeys: [],
}

export const initialMountTraits: MountTraits = { local: false, sealWrap: false, externalEntropyAccess: false }

/** Default and maximum lease TTL of a mount without its own: 32 days, as in Vault. */
export const systemLeaseTtlMs = 768 * hourMs

/** What holds for a mount. A maximum below the system's default bounds the default as well. */
export function leaseTtls({ defaultLeaseTtlMs, maxLeaseTtlMs }: MountConfig): { defaultMs: number; maximumMs: number } {
  const maximumMs = maxLeaseTtlMs ?? systemLeaseTtlMs
  return { defaultMs: defaultLeaseTtlMs ?? Math.min(systemLeaseTtlMs, maximumMs), maximumMs }
}

/** The server's own paths, and those at which clients expect other engines. */
const reservedRoots = ["sys", "auth", "cubbyhole", "identity"]
const pathMaximum = 255
export const mountSegmentsMaximum = 16
// What an address carries as it is, without what policies read as wildcards.
const segment = /^[A-Za-z0-9_~][A-Za-z0-9._~@:=-]*$/

/** As clients write it, with or without a "/" at either end. */
export const mountPathOf = (text: string): string => text.replace(/^\//, "").replace(/\/$/, "")

export function mountPathFaults(path: string): Fault[] {
  const faults = pathFaults(path)
  const [root = ""] = path.split("/")
  return faults.length > 0 || !reservedRoots.includes(root)
    ? faults
    : [{ field: ["path"], detail: `path must not begin with "${root}/", which is reserved` }]
}

/** Of whatever stands at a path of its own. */
export function pathFaults(path: string): Fault[] {
  const fault = (detail: string): Fault[] => [{ field: ["path"], detail }]
  if (path === "") return fault("path can't be blank")
  if (path.length > pathMaximum) return fault(`path is too long (maximum is ${pathMaximum} characters)`)
  const segments = path.split("/")
  if (segments.length > mountSegmentsMaximum)
    return fault(`path is too deep (maximum is ${mountSegmentsMaximum} segments)`)
  if (!segments.every((part) => segment.test(part)))
    return fault("path must be made of letters, digits and the characters . _ ~ @ : = - between single slashes")
  // `sys/mounts/…/tune` is another address.
  if (segments.length > 1 && segments.at(-1) === "tune")
    return fault('path must not end with "/tune", which is reserved')
  return []
}

/** From one path to another; it is done once it is answered. */
export interface MountMove {
  /** Of the mount. */
  readonly uuid: string
  readonly from: string
  readonly to: string
}

/** Everything there is to know of a move is in its id, so that nothing is kept of it. */
export const mountMoveId = ({ uuid, from, to }: MountMove): string =>
  Buffer.from([uuid, mountPathOf(from), mountPathOf(to)].join(" ")).toString("base64url")

/** Undefined for what is no id. */
export function parseMountMoveId(id: string): MountMove | undefined {
  const [uuid = "", from = "", to = "", ...rest] = Buffer.from(id, "base64url").toString().split(" ")
  const move = { uuid, from, to }
  const isOne = rest.length === 0 && [from, to].every((path) => mountPathFaults(path).length === 0)
  return isOne && mountMoveId(move) === id ? move : undefined
}

/** The one among these that `path` cannot stand beside: at the same path, above it or below it. */
export const mountInTheWay = <T extends { readonly path: string }>(path: string, mounts: readonly T[]): T | undefined =>
  mounts.find((other) => other.path === path || path.startsWith(`${other.path}/`) || other.path.startsWith(`${path}/`))

const descriptionMaximum = 1_024
const entriesMaximum = 100
const entryMaximum = 256
/** Beyond any certificate that is meant to end, and far inside what a date can hold. */
const longestLeaseMs = 100 * 366 * dayMs
/** RFC 9110, section 5.6.2: token. */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Settings as their writers know them. */
const settingNames = {
  defaultLeaseTtlMs: "default_lease_ttl",
  maxLeaseTtlMs: "max_lease_ttl",
  allowedResponseHeaders: "allowed_response_headers",
  passthroughRequestHeaders: "passthrough_request_headers",
  auditNonHmacRequestKeys: "audit_non_hmac_request_keys",
  auditNonHmacResponseKeys: "audit_non_hmac_response_keys",
} as const

/** What there is after a change. */
export const mountOptionsAfter = (before: MountOptions, changed: MountOptions): MountOptions =>
  Object.fromEntries(Object.entries({ ...before, ...changed }).filter(([, value]) => value !== ""))

/** Of a mount as it would become. */
export function mountFaults({
  description,
  config,
  options = {},
}: Pick<Mount, "description" | "config"> & Partial<Pick<Mount, "options">>): Fault[] {
  const problems: (readonly [keyof typeof settingNames, string | undefined])[] = [
    ["defaultLeaseTtlMs", leaseProblem(config.defaultLeaseTtlMs) ?? orderProblem(config)],
    ["maxLeaseTtlMs", leaseProblem(config.maxLeaseTtlMs)],
    ...(["allowedResponseHeaders", "passthroughRequestHeaders"] as const).map(
      (name) => [name, entriesProblem(config[name]) ?? headersProblem(config[name])] as const,
    ),
    ...(["auditNonHmacRequestKeys", "auditNonHmacResponseKeys"] as const).map(
      (name) => [name, entriesProblem(config[name])] as const,
    ),
  ]
  const optionsFault = optionsProblem(options)
  return [
    ...descriptionFaults(description),
    ...(optionsFault === undefined ? [] : [{ field: ["options"], detail: `"options" ${optionsFault}` }]),
    ...problems.flatMap(([field, problem]) =>
      problem === undefined ? [] : [{ field: [field], detail: `"${settingNames[field]}" ${problem}` }],
    ),
  ]
}

function descriptionFaults(description: string): Fault[] {
  const field = ["description"]
  if (/\p{Cc}/u.test(description)) return [{ field, detail: "description can't hold control characters" }]
  if (description.length <= descriptionMaximum) return []
  return [{ field, detail: `description is too long (maximum is ${descriptionMaximum} characters)` }]
}

function orderProblem(config: MountConfig): string | undefined {
  const { defaultMs, maximumMs } = leaseTtls(config)
  return defaultMs > maximumMs ? `must not be longer than the maximum of ${maximumMs / secondMs} seconds` : undefined
}

function leaseProblem(ttlMs: number | null): string | undefined {
  if (ttlMs === null) return undefined
  if (!Number.isSafeInteger(ttlMs) || ttlMs < secondMs || ttlMs % secondMs !== 0)
    return "must be a positive number of whole seconds"
  return ttlMs > longestLeaseMs ? `must not be longer than ${longestLeaseMs / secondMs} seconds` : undefined
}

function entriesProblem(entries: readonly string[]): string | undefined {
  if (entries.length > entriesMaximum) return `has too many entries (maximum is ${entriesMaximum})`
  const odd = entries.some((entry) => entry === "" || entry.length > entryMaximum || /\p{Cc}/u.test(entry))
  return odd ? `must hold names of 1 to ${entryMaximum} characters` : undefined
}

function optionsProblem(options: MountOptions): string | undefined {
  const texts = Object.values(options)
  const tooLong = texts.some((value) => value.length > descriptionMaximum || /\p{Cc}/u.test(value))
  return tooLong
    ? `must hold values of at most ${descriptionMaximum} characters, none of them a control character`
    : entriesProblem(Object.keys(options))
}

function headersProblem(names: readonly string[]): string | undefined {
  const wrong = names.find((name) => !headerName.test(name))
  return wrong === undefined ? undefined : `has "${wrong}", which is not a header name`
}

/** What a caller is shown of a mount. */
export type MountView = Omit<Mount, "id" | "createdAt">

/**
 * Where certificate authorities are mounted. A path is taken with or without a "/" at its end; one that is not mounted is
 * `not-found`, one that is taken, or lies above or below a mount, is a `conflict`.
 */
export interface Mounts {
  create(input: MountInput): Promise<MountView>
  /** All of them, by path. */
  list(): Promise<readonly MountView[]>
  get(path: string): Promise<MountView>
  tune(path: string, patch: MountPatch): Promise<MountView>
  /** With everything in it: issuers, keys, roles and the records of what was issued. */
  delete(path: string): Promise<void>
  /** With everything in it. */
  move(from: string, to: string): Promise<MountView>
  /** What a move was, by its id; `not-found` for what is no id, or once the mount is deleted. */
  moved(moveId: string): Promise<MountMove>
}

export interface MountRepository {
  /** Returns a number that increases with every change of a mount (docs/decisions/cache-versions.md). */
  cacheVersion(): Promise<number>
  /** By path. */
  list(): Promise<readonly Mount[]>
  /** Both throw `EngineError("conflict")` when the path is taken; they and `remove` make a new version. */
  insert(mount: Mount): Promise<void>
  save(mount: Mount): Promise<void>
  /** With everything that hangs on it. */
  remove(id: MountId): Promise<void>
}

/** When something came that comes now: later than all the others, if by a millisecond, so that their order is that of coming. */
export function createdAfter(others: Iterable<{ readonly createdAt: Instant }>, now: Instant): Instant {
  let createdAt = now
  for (const other of others) createdAt = Math.max(createdAt, other.createdAt + 1)
  return createdAt
}
