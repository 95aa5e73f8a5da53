// A mount is a certificate authority service at its own path, with issuers, keys, roles, certificates and settings. Paths never nest,
// so that the first mount that an address begins with is the only one.
import type { Fault } from "../../core/errors.ts"
import type { Id } from "../../core/ids.ts"
import { dayMs, hourMs, type Instant, secondMs } from "../../core/time.ts"

export type MountId = Id<"mnt">

/** Settings of a mount that can be tuned. */
export interface MountConfig {
  /** Lifetime of certificates for which neither request nor role sets one. In milliseconds, whole seconds. Null: the system's default. */
  readonly defaultLeaseTtlMs: number | null
  /** Maximum lifetime, unless a role sets another one. In milliseconds, whole seconds. Null: the system's maximum. */
  readonly maxLeaseTtlMs: number | null
  readonly forceNoCache: boolean
  /** `unauth` lists the mount to clients without a token. Empty: not set, which hides the mount as `hidden` does. */
  readonly listingVisibility: "" | "hidden" | "unauth"
  /** Response headers that this mount may set. ACME needs `Location`, `Replay-Nonce` and `Link`. */
  readonly allowedResponseHeaders: readonly string[]
  /** Request headers that this mount may read. */
  readonly passthroughRequestHeaders: readonly string[]
  /** Members of requests and responses that the audit log records in plain text. */
  readonly auditNonHmacRequestKeys: readonly string[]
  readonly auditNonHmacResponseKeys: readonly string[]
  /** Accessors of auth methods that may verify the clients of enrolment protocols. */
  readonly delegatedAuthAccessors: readonly string[]
}

/**
 * Properties that are set at creation and returned on reads. Nothing depends on them, but declarative tools recreate a mount whose
 * traits differ.
 */
export interface MountTraits {
  readonly local: boolean
  readonly sealWrap: boolean
  readonly externalEntropyAccess: boolean
}

/** Options of secrets engines of other types. Nothing depends on them; they are returned because declarative tools compare them. */
export type MountOptions = Readonly<Record<string, string>>

export interface Mount {
  readonly id: MountId
  /** Path without a "/" at either end. */
  readonly path: string
  readonly type: "pki"
  readonly description: string
  readonly config: MountConfig
  readonly traits: MountTraits
  readonly options: MountOptions
  /** Identifies the mount in policies and logs independently of its path. */
  readonly accessor: string
  readonly uuid: string
  readonly createdAt: Instant
}

/** Mount to create. Absent members have their default. */
export interface MountInput {
  readonly path: string
  readonly description?: string
  readonly config?: Partial<MountConfig>
  readonly traits?: Partial<MountTraits>
  readonly options?: MountOptions
}

/** Changes of a mount. Absent members stay unchanged. */
export interface MountPatch {
  readonly description?: string
  readonly config?: Partial<MountConfig>
  /** Options to add or replace. An option with an empty value is removed. */
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
  delegatedAuthAccessors: [],
}

export const initialMountTraits: MountTraits = { local: false, sealWrap: false, externalEntropyAccess: false }

/** Default and maximum lease TTL of a mount without its own: 32 days, as in Vault. */
export const systemLeaseTtlMs = 768 * hourMs

/** Returns the effective TTLs of a mount. A maximum below the default of the system bounds the default as well. */
export function leaseTtls({ defaultLeaseTtlMs, maxLeaseTtlMs }: MountConfig): { defaultMs: number; maximumMs: number } {
  const maximumMs = maxLeaseTtlMs ?? systemLeaseTtlMs
  return { defaultMs: defaultLeaseTtlMs ?? Math.min(systemLeaseTtlMs, maximumMs), maximumMs }
}

/** Paths of the server, and paths where Vault clients expect other secrets engines. */
const reservedRoots = ["sys", "auth", "cubbyhole", "identity"]
const maxPath = 255
export const maxMountSegments = 16
// Characters that a URL carries unescaped, without the wildcards of policies.
const segment = /^[A-Za-z0-9_~][A-Za-z0-9._~@:=-]*$/

/** Removes the "/" that clients may write at either end. */
export const mountPathOf = (text: string): string => text.replace(/^\//, "").replace(/\/$/, "")

export function mountPathFaults(path: string): Fault[] {
  const faults = pathFaults(path)
  const [root = ""] = path.split("/")
  return faults.length > 0 || !reservedRoots.includes(root)
    ? faults
    : [{ field: ["path"], detail: `path must not begin with "${root}/", which is reserved` }]
}

/** Returns the faults of the path of a mount or of an auth method. */
export function pathFaults(path: string): Fault[] {
  const fault = (detail: string): Fault[] => [{ field: ["path"], detail }]
  if (path === "") return fault("path can't be blank")
  if (path.length > maxPath) return fault(`path is too long (maximum is ${maxPath} characters)`)
  const segments = path.split("/")
  if (segments.length > maxMountSegments) return fault(`path is too deep (maximum is ${maxMountSegments} segments)`)
  if (!segments.every((part) => segment.test(part)))
    return fault("path must be made of letters, digits and the characters . _ ~ @ : = - between single slashes")
  // `sys/mounts/…/tune` is the endpoint that tunes a mount.
  if (segments.length > 1 && segments.at(-1) === "tune")
    return fault('path must not end with "/tune", which is reserved')
  return []
}

/** Move of a mount to another path. It is complete when the request is answered. */
export interface MountMove {
  /** UUID of the mount. */
  readonly uuid: string
  readonly from: string
  readonly to: string
}

/** Encodes the whole move in its id, so that moves are not stored. */
export const mountMoveId = ({ uuid, from, to }: MountMove): string =>
  Buffer.from([uuid, mountPathOf(from), mountPathOf(to)].join(" ")).toString("base64url")

/** Returns undefined if the text is not the id of a move. */
export function parseMountMoveId(id: string): MountMove | undefined {
  const [uuid = "", from = "", to = "", ...rest] = Buffer.from(id, "base64url").toString().split(" ")
  const move = { uuid, from, to }
  const isOne = rest.length === 0 && [from, to].every((path) => mountPathFaults(path).length === 0)
  return isOne && mountMoveId(move) === id ? move : undefined
}

/** Returns the mount that prevents a mount at `path`: one at the same path, above it or below it. */
export const mountInTheWay = <T extends { readonly path: string }>(path: string, mounts: readonly T[]): T | undefined =>
  mounts.find((other) => other.path === path || path.startsWith(`${other.path}/`) || other.path.startsWith(`${path}/`))

const maxDescription = 1_024
const maxEntries = 100
const maxEntry = 256
/** Longer than any certificate's intended lifetime, and well within the range of dates. */
const longestLeaseMs = 100 * 366 * dayMs
/** Header names are tokens (RFC 9110, section 5.6.2). */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Names of the settings on the wire. */
const settingNames = {
  defaultLeaseTtlMs: "default_lease_ttl",
  maxLeaseTtlMs: "max_lease_ttl",
  allowedResponseHeaders: "allowed_response_headers",
  passthroughRequestHeaders: "passthrough_request_headers",
  auditNonHmacRequestKeys: "audit_non_hmac_request_keys",
  auditNonHmacResponseKeys: "audit_non_hmac_response_keys",
  delegatedAuthAccessors: "delegated_auth_accessors",
} as const

/** Returns the options that a change results in. */
export const mountOptionsAfter = (before: MountOptions, changed: MountOptions): MountOptions =>
  Object.fromEntries(Object.entries({ ...before, ...changed }).filter(([, value]) => value !== ""))

/** Returns the faults of the mount that a change would result in. */
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
    ...(["auditNonHmacRequestKeys", "auditNonHmacResponseKeys", "delegatedAuthAccessors"] as const).map(
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
  if (/\p{Cc}/u.test(description)) return [{ field, detail: "description must not contain control characters" }]
  if (description.length <= maxDescription) return []
  return [{ field, detail: `description is too long (maximum is ${maxDescription} characters)` }]
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
  if (entries.length > maxEntries) return `has too many entries (maximum is ${maxEntries})`
  const odd = entries.some((entry) => entry === "" || entry.length > maxEntry || /\p{Cc}/u.test(entry))
  return odd ? `must contain names of 1 to ${maxEntry} characters` : undefined
}

function optionsProblem(options: MountOptions): string | undefined {
  const texts = Object.values(options)
  const tooLong = texts.some((value) => value.length > maxDescription || /\p{Cc}/u.test(value))
  return tooLong
    ? `must contain values of at most ${maxDescription} characters without control characters`
    : entriesProblem(Object.keys(options))
}

function headersProblem(names: readonly string[]): string | undefined {
  const wrong = names.find((name) => !headerName.test(name))
  return wrong === undefined ? undefined : `has "${wrong}", which is not a header name`
}

/** Mount as clients see it. */
export type MountView = Omit<Mount, "id" | "createdAt">

/**
 * Mounts of certificate authorities. Paths may end with a "/". Methods throw `not-found` if the path has no mount. They throw
 * `conflict` if a new path is taken, or is above or below a mount.
 */
export interface Mounts {
  create(input: MountInput): Promise<MountView>
  /** Returns all mounts, ordered by path. */
  list(): Promise<readonly MountView[]>
  get(path: string): Promise<MountView>
  tune(path: string, patch: MountPatch): Promise<MountView>
  /** Deletes the mount with its issuers, keys, roles and certificate records. */
  delete(path: string): Promise<void>
  /** Moves the mount with its contents. */
  move(from: string, to: string): Promise<MountView>
  /** Returns the move of an id. Throws `not-found` if the text is not such an id, or if the mount was deleted. */
  moved(moveId: string): Promise<MountMove>
}

export interface MountRepository {
  /** Returns a number that increases with every change of a mount (docs/decisions/cache-versions.md). */
  cacheVersion(): Promise<number>
  /** Returns all mounts, ordered by path. */
  list(): Promise<readonly Mount[]>
  /**
   * Inserts a mount. This method and `save` throw `EngineError("conflict")` if the path is taken. Both, and `remove`, increase the
   * version.
   */
  insert(mount: Mount): Promise<void>
  save(mount: Mount): Promise<void>
  /** Removes the mount and all rows that belong to it. */
  remove(id: MountId): Promise<void>
}

/**
 * Returns a creation time for a new item: `now`, or a millisecond after the latest of the others. Creation times thus have the order
 * of creation.
 */
export function createdAfter(others: Iterable<{ readonly createdAt: Instant }>, now: Instant): Instant {
  let createdAt = now
  for (const other of others) createdAt = Math.max(createdAt, other.createdAt + 1)
  return createdAt
}
