// Mounts as the system's endpoints write them (pki-facts 4.2). What those endpoints have and this server does not is there with
// the value that says so, because clients decode whole objects.
import { type Fault, invalid } from "../../core/errors.ts"
import { secondMs } from "../../core/time.ts"
import {
  initialMountTraits,
  leaseTtls,
  type MountConfig,
  type MountInput,
  type MountMove,
  mountMoveId,
  type MountOptions,
  type MountPatch,
  type MountTraits,
  parseMountMoveId,
} from "../../pki/mount.ts"
import type { MountView } from "../../pki/mounts.ts"
import { ignoredWarnings } from "./ignored-parameters.ts"
import {
  anything,
  type Decoded,
  decodeAnswer,
  decodeDocument,
  type Document,
  durationSeconds,
  encodeMembers,
  flag,
  isDocument,
  type Kind,
  optionalPairs,
  parameters,
  Problem,
  text,
  texts,
  unreadable,
  unsupported,
  type ValuesOf,
  word,
} from "./parameters.ts"

/** 0, or nothing, is the system's. */
const leaseTtl: Kind<number | null> = {
  decode: (value) => {
    const read = durationSeconds.decode(value === "system" ? 0 : value)
    return read === 0 ? null : read
  },
  encode: (value, dialect) => (value === null ? 0 : durationSeconds.encode(value, dialect)),
  expected: durationSeconds.expected,
  type: "duration (sec)",
}

/** Empty where nobody has said it: clients that declare mounts tell that from what was said. */
const visibility: Kind<"" | "hidden" | "unauth"> = {
  ...word("", "hidden", "unauth"),
  expected: word("hidden", "unauth").expected,
}

/** Existing clients take every entry away with one that is empty. */
const names: Kind<readonly string[]> = {
  ...texts,
  decode: (value) => {
    const read = texts.decode(value)
    return read instanceof Problem ? read : read?.filter((name) => name !== "")
  },
}

export const mountConfigKinds = {
  defaultLeaseTtlMs: leaseTtl,
  maxLeaseTtlMs: leaseTtl,
  forceNoCache: flag,
  listingVisibility: visibility,
  allowedResponseHeaders: names,
  passthroughRequestHeaders: names,
  auditNonHmacRequestKeys: names,
  auditNonHmacResponseKeys: names,
}
const configParameters = parameters(mountConfigKinds)

/** Configuration of Vault's mounts and auth methods that this server lacks. */
export const unsupportedConfig = {
  pluginVersion: unsupported(text),
  overridePinnedVersion: unsupported(flag),
  allowedManagedKeys: unsupported(texts),
  delegatedAuthAccessors: unsupported(texts),
  identityTokenKey: unsupported(text),
  trimRequestTrailingSlashes: unsupported(flag),
  userLockoutConfig: unsupported(anything),
}
const unsupportedMountConfig = {
  ...unsupportedConfig,
  tokenType: unsupported(text, " by mounts, only by auth methods"),
}
const configInput = parameters({ ...mountConfigKinds, ...unsupportedMountConfig })

/** Returns the members that are part of a mount's configuration. */
export const mountConfigIn = (value: Readonly<Record<string, unknown>>): Partial<MountConfig> =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name in mountConfigKinds))

/** Warnings about unknown members of `config`. */
export const ignoredConfigWarnings = (ignored: readonly string[]): readonly string[] =>
  ignoredWarnings(ignored.map((name) => `config.${name}`))

/** Existing clients send every duration when they tune; one that is empty text stays as it is, and "system" ends it. */
const tunedLeaseTtl: Kind<number | null | "kept"> = {
  decode: (value) => (value === "" ? "kept" : leaseTtl.decode(value)),
  encode: (value, dialect) => (value === "kept" ? "" : leaseTtl.encode(value, dialect)),
  expected: leaseTtl.expected,
  type: "duration (sec)",
}

export const tuneKinds = {
  ...mountConfigKinds,
  defaultLeaseTtlMs: tunedLeaseTtl,
  maxLeaseTtlMs: tunedLeaseTtl,
  description: text,
  options: optionalPairs,
  ...unsupportedConfig,
}
export const tuneParameters = parameters({ ...tuneKinds, ...unsupportedMountConfig })

const traitKinds = { local: flag, sealWrap: flag, externalEntropyAccess: flag }
export const traitParameters = parameters(traitKinds)

export const mountParameters = parameters({
  type: text,
  description: text,
  config: anything,
  pluginName: text,
  ...traitKinds,
  options: optionalPairs,
  pluginVersion: unsupportedConfig.pluginVersion,
})

/** Of what was asked for besides and is not done. */
export const ineffective = ({
  local,
  sealWrap,
  externalEntropyAccess,
}: Partial<ValuesOf<typeof mountParameters>>): readonly string[] =>
  Object.entries({ local, seal_wrap: sealWrap, external_entropy_access: externalEntropyAccess })
    .filter(([, wanted]) => wanted === true)
    .map(([name]) => `"${name}" has no effect on this server`)

export const remountParameters = parameters({ from: text, to: text })

type Given<T> = Omit<Decoded<T>, "ignored">

/** Throws `invalid` with every fault of the document. */
export function decodeMountInput(
  path: string,
  { value, faults }: Given<ValuesOf<typeof mountParameters>>,
): { readonly input: MountInput; readonly warnings: readonly string[] } {
  const {
    type = value.pluginName ?? "",
    description,
    config,
    local = false,
    sealWrap = false,
    externalEntropyAccess = false,
    options,
  } = value
  const all: Fault[] = [...faults]
  all.push(...pluginNameFaults(value.pluginName, type))
  if (type !== "pki") all.push({ field: ["type"], detail: `"type" must be "pki", the only one there is` })
  const decoded = isDocument(config ?? {}) ? decodeDocument(configInput, (config ?? {}) as Document) : undefined
  if (decoded === undefined) all.push({ field: ["config"], detail: `"config" must be an object` })
  all.push(...(decoded?.faults ?? []))
  if (all.length > 0) throw invalid(all)
  return {
    input: {
      path,
      ...(description === undefined ? {} : { description }),
      config: mountConfigIn(decoded?.value ?? {}),
      traits: { local, sealWrap, externalEntropyAccess },
      ...(options === undefined ? {} : { options }),
    },
    warnings: [...ineffective(value), ...ignoredConfigWarnings(decoded?.ignored ?? [])],
  }
}

/** Vault takes the name of a plugin for the type where none is given; here they must agree. */
export const pluginNameFaults = (pluginName = "", type: string): readonly Fault[] =>
  pluginName === "" || pluginName === type
    ? []
    : [{ field: ["pluginName"], detail: `"plugin_name" must be empty or the same as "type"` }]

export function decodeMountPatch(value: Partial<ValuesOf<typeof tuneParameters>>): MountPatch {
  const { description, options, defaultLeaseTtlMs, maxLeaseTtlMs, ...rest } = value
  const config = {
    ...mountConfigIn(rest),
    ...(isSaid(defaultLeaseTtlMs) ? { defaultLeaseTtlMs } : {}),
    ...(isSaid(maxLeaseTtlMs) ? { maxLeaseTtlMs } : {}),
  }
  return {
    ...(description === undefined ? {} : { description }),
    config,
    ...(options === undefined ? {} : { options }),
  }
}

const isSaid = <T>(value: T | "kept" | undefined): value is T => value !== undefined && value !== "kept"

export const encodeMountInput = ({ description, config = {}, traits = {}, options }: MountInput): Document => ({
  type: "pki",
  ...(description === undefined ? {} : { description }),
  ...encodeMembers(traitParameters, traits, "native"),
  ...(options === undefined ? {} : { options }),
  config: encodeMembers(configParameters, config, "native"),
})

export const encodeMountPatch = ({ description, config = {}, options }: MountPatch): Document => ({
  ...(description === undefined ? {} : { description }),
  ...(options === undefined ? {} : { options }),
  ...encodeMembers(configParameters, config, "native"),
})

/** One mount among all, or by itself. */
export const encodeMount = (mount: MountView): Document =>
  encodeMounted(mount, encodeMembers(configParameters, mount.config, "native"))

type Mounted = Omit<MountView, "type" | "traits" | "options"> & {
  readonly type: string
  readonly traits?: MountTraits
  readonly options?: MountOptions
}

/** Whatever stands at a path of its own. */
export const encodeMounted = (
  { accessor, description, traits = initialMountTraits, options = {}, type, uuid }: Mounted,
  config: Document,
): Document => ({
  accessor,
  config,
  deprecation_status: "supported",
  description,
  options: optionalPairs.encode(options, "native"),
  plugin_version: "",
  running_plugin_version: "",
  running_sha256: "",
  ...encodeMembers(traitParameters, traits, "native"),
  type,
  uuid,
})

/** By path, each with the "/" at its end that clients look for. */
export const encodeMounts = (mounts: readonly MountView[]): Document =>
  Object.fromEntries(mounts.map((mount) => [`${mount.path}/`, encodeMount(mount)]))

/** What holds, where the other shapes have what was said. */
export function encodeTune({
  config,
  description,
  options = {},
}: Pick<MountView, "config" | "description"> & Partial<Pick<MountView, "options">>): Document {
  const { defaultMs, maximumMs } = leaseTtls(config)
  return {
    ...encodeMembers(configParameters, config, "native"),
    default_lease_ttl: defaultMs / secondMs,
    max_lease_ttl: maximumMs / secondMs,
    description,
    options: optionalPairs.encode(options, "native"),
    plugin_version: "",
  }
}

/** A move is done once it is answered, and never in progress. */
export const encodeMove = (move: MountMove): Document => ({
  migration_id: mountMoveId(move),
  migration_info: { source_mount: `${move.from}/`, target_mount: `${move.to}/`, status: "success" },
})

/** Of the status; what starts a move tells its id alone. */
export function decodeMove(data: unknown): MountMove {
  const { migrationId } = decodeAnswer(parameters({ migrationId: text }), data)
  const move = parseMountMoveId(migrationId)
  if (move === undefined) throw unreadable("it names no move")
  return move
}

/** What a client is told of the mount that an address lies in. */
export const encodePreflight = (mount: Mounted): Document => ({
  ...encodeMounted(mount, encodeTune(mount)),
  path: `${mount.path}/`,
})

/** What whoever looks around is told of each mount or auth method. */
export const encodeVisible = (
  visible: readonly { readonly path: string; readonly type: string; readonly description: string }[],
): Document =>
  Object.fromEntries(visible.map(({ path, type, description }) => [`${path}/`, { type, description, options: null }]))

const mountMembers = parameters({
  type: word("pki"),
  description: text,
  config: anything,
  options: optionalPairs,
  accessor: text,
  uuid: text,
})

export function decodeMount(path: string, data: unknown): MountView {
  const { config, ...members } = decodeAnswer(mountMembers, data)
  return {
    path,
    ...members,
    config: decodeAnswer(configParameters, config),
    traits: decodeAnswer(traitParameters, data),
  }
}

export function decodeMounts(data: unknown): readonly MountView[] {
  if (!isDocument(data)) throw unreadable("there are no mounts")
  return Object.entries(data).map(([path, mount]) => decodeMount(path.slice(0, -1), mount))
}
