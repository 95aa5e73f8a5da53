// Members that mounts and auth methods share. Members of Vault without a function here have neutral values, because clients decode whole
// objects (docs/compatibility.md, "Answers of the certificate API").
import { z } from "zod"
import { type Fault, invalid } from "../../core/errors.ts"
import { secondMs } from "../../core/time.ts"
import {
  initialMountTraits,
  leaseTtls,
  type MountConfig,
  type MountOptions,
  type MountTraits,
} from "../../pki/mounts/mount.ts"
import { ignoredWarnings } from "./format/ignored-parameters.ts"
import {
  decodeAnswer,
  decodeDocument,
  type Document,
  encodeMembers,
  isDocument,
  type Parameters,
  unreadable,
} from "./format/parameters.ts"
import { encode } from "../codec.ts"
import { type Answer, dataOf } from "./endpoint.ts"
import { type Body, fields, parameter, type RecordInput } from "./record.ts"
import {
  anything,
  enumOf,
  flag,
  mapped,
  mistyped,
  type ParameterType,
  seconds,
  stringMapOrNull,
  substitute,
  text,
  texts,
  unsupported,
  zeroAsNull,
} from "./types.ts"

/** Lifetime that is the system's default if it is 0 or "system". */
const leaseTtl = zeroAsNull(substitute(seconds, "system", 0))

/** Clients that declare mounts distinguish an empty value from one that was set. */
const visibility: ParameterType<MountConfig["listingVisibility"]> = {
  ...enumOf("", "hidden", "unauth"),
  expected: enumOf("hidden", "unauth").expected,
}

/** List without empty entries. Vault clients send one empty entry to clear a list. */
const names = mapped(
  texts,
  (value): readonly string[] => value.filter((name) => name !== ""),
  (value) => value,
)

export const mountConfigMembers = {
  defaultLeaseTtlMs: parameter(
    leaseTtl,
    "Lifetime of certificates and tokens that request none. 0 or system: 768h, and at most max_lease_ttl.",
    { example: "24h" },
  ),
  maxLeaseTtlMs: parameter(leaseTtl, "Maximum lifetime, unless a role sets another. 0 or system: 768h.", {
    example: "8760h",
  }),
  forceNoCache: parameter(flag, "Returned as it was set; has no effect."),
  listingVisibility: parameter(visibility, "unauth lists the mount in sys/internal/ui/mounts without a token.", {
    example: "unauth",
  }),
  allowedResponseHeaders: parameter(names, "Response headers that the mount may set. ACME needs three.", {
    example: ["Replay-Nonce", "Link", "Location"],
  }),
  passthroughRequestHeaders: parameter(names, "Request headers that the mount may read.", {
    example: ["If-None-Match"],
  }),
  auditNonHmacRequestKeys: parameter(names, "Members of requests that the audit log has in plain text.", {
    example: ["common_name"],
  }),
  auditNonHmacResponseKeys: parameter(names, "Members of answers that the audit log has in plain text.", {
    example: ["serial_number"],
  }),
  delegatedAuthAccessors: parameter(
    names,
    "Accessors of auth methods that verify the clients of enrolment protocols.",
    {
      example: ["auth_userpass_1a2b3c4d"],
    },
  ),
}

/** Configuration of Vault's mounts and auth methods that this server does not support. */
export const unsupportedConfig = {
  pluginVersion: parameter(unsupported(text), "Not supported: plugins are built in."),
  overridePinnedVersion: parameter(unsupported(flag), "Not supported: plugins are built in."),
  allowedManagedKeys: parameter(unsupported(texts), "Not supported: keys are the mount's own."),
  identityTokenKey: parameter(unsupported(text), "Not supported: there are no identity tokens."),
  trimRequestTrailingSlashes: parameter(unsupported(flag), "Not supported."),
  userLockoutConfig: parameter(unsupported(anything), "Not supported."),
}

const traits = {
  local: parameter(flag, "Returned as it was set; has no effect."),
  sealWrap: parameter(flag, "Returned as it was set; has no effect."),
  externalEntropyAccess: parameter(flag, "Returned as it was set; has no effect."),
}
const description = parameter(text, "Description for people.", { example: "Certificates of the platform team" })
const options = parameter(stringMapOrNull, "Returned as they were set; have no effect.", { example: { version: "1" } })

/** Parameters that create a mount or an auth method. */
export interface EnableInput<Type extends string, Config> {
  readonly type: Type
  readonly description?: string
  readonly config?: Partial<Config>
  readonly traits?: Partial<MountTraits>
  readonly options?: MountOptions
  /** Warnings about parameters that have no effect. */
  readonly warnings?: readonly string[]
}

const enableTable = fields(
  {
    type: parameter(text, "pki for a mount; approle, kubernetes or userpass for an auth method.", { example: "pki" }),
    description,
    config: parameter(anything, "Configuration, which can be tuned later.", { example: { max_lease_ttl: "8760h" } }),
    pluginName: parameter(text, "Empty, or the same as type, which it replaces if that is left out.", {
      example: "pki",
    }),
    ...traits,
    options,
    pluginVersion: unsupportedConfig.pluginVersion,
  },
  initialMountTraits,
)

/** Returns the body. `parseType` adds a fault to the list if the type does not exist. */
export const enableBody = <Type extends string, Config extends object>(
  configBody: Body<RecordInput<Config>>,
  parseType: (type: string, faults: Fault[]) => Type | undefined,
): Body<EnableInput<Type, Config>> => ({
  table: enableTable,
  nested: [configBody.table],
  decode(request) {
    const { value, faults } = request.read(enableTable)
    const { type: given = value.pluginName ?? "", config: document, pluginName = "" } = value
    const all: Fault[] = [...faults]
    if (pluginName !== "" && pluginName !== given)
      all.push({ field: ["pluginName"], detail: `"plugin_name" must be empty or the same as "type"` })
    const type = parseType(given, all)
    const ignored: string[] = []
    if (!isDocument(document ?? {})) all.push({ field: ["config"], detail: `"config" must be an object` })
    const read = <T extends object>(table: Parameters<T>) => {
      const decoded = decodeDocument(table, isDocument(document) ? document : {})
      ignored.push(...decoded.ignored)
      return decoded
    }
    const { faults: nested = [], ...configured } = configBody.decode({ read, decode: (table) => read(table).value })
    all.push(...nested)
    if (all.length > 0 || type === undefined) throw invalid(all)
    const { description: about, options: set, local = false, sealWrap = false, externalEntropyAccess = false } = value
    return {
      type,
      ...(about !== undefined && { description: about }),
      config: configured as unknown as Partial<Config>,
      traits: { local, sealWrap, externalEntropyAccess },
      ...(set !== undefined && { options: set }),
      warnings: [
        ...Object.entries({ local, seal_wrap: sealWrap, external_entropy_access: externalEntropyAccess })
          .filter(([, wanted]) => wanted)
          .map(([name]) => `"${name}" has no effect on this server`),
        ...ignoredWarnings(ignored.map((name) => `config.${name}`)),
      ],
    }
  },
  encode: ({ config: configured, traits: chosen, warnings: _, ...members }) =>
    encodeMembers(
      enableTable,
      { ...members, ...chosen, config: configBody.encode((configured ?? {}) as RecordInput<Config>) },
      "native",
    ),
})

/** Vault clients send every lifetime when they tune: an empty string keeps the value, and "system" resets it. */
const tunedLeaseTtl: ParameterType<number | null | "unchanged"> = {
  ...leaseTtl,
  schema: z.codec(z.unknown(), z.custom<number | null | "unchanged">(), {
    decode(value, context) {
      if (value === "") return "unchanged"
      const read = leaseTtl.schema.safeParse(value)
      return read.success ? read.data : mistyped(context, value)
    },
    encode: (value) => (value === "unchanged" ? "" : encode(leaseTtl.schema, value)),
  }),
}

export const tuneMembers = {
  ...mountConfigMembers,
  defaultLeaseTtlMs: { ...mountConfigMembers.defaultLeaseTtlMs, type: tunedLeaseTtl },
  maxLeaseTtlMs: { ...mountConfigMembers.maxLeaseTtlMs, type: tunedLeaseTtl },
  description,
  options: { ...options, rule: "Added to those that are set; one that is empty is removed. They have no effect." },
}

/** Change of a mount or an auth method. */
export interface TunePatch<Config> {
  readonly description?: string
  readonly config?: Partial<Config>
  readonly options?: MountOptions
}
export const tuneBody = <Config extends object>(change: Body<object>): Body<TunePatch<Config>> => ({
  table: change.table,
  decode(request) {
    const read: Readonly<Record<string, unknown>> = { ...change.decode(request) }
    const { description: about, options: set, ...configured } = read
    const changed = Object.fromEntries(Object.entries(configured).filter(([, value]) => value !== "unchanged"))
    return {
      ...(about !== undefined && { description: about as string }),
      config: changed as Partial<Config>,
      ...(set !== undefined && { options: set as MountOptions }),
    }
  },
  encode: ({ config: configured, ...members }) => change.encode({ ...configured, ...members }),
})

const mountedTable = fields({
  type: parameter(text, "Type: pki, approle, kubernetes, userpass, or token.", { example: "pki" }),
  description,
  config: parameter(anything, "Configuration as it was set; tune returns what holds.", {
    example: { max_lease_ttl: 31_536_000 },
  }),
  options,
  ...traits,
  accessor: parameter(text, "Name that stays when the mount moves.", { example: "pki_1a2b3c4d" }),
  uuid: parameter(text, "Id that stays when the mount moves.", { example: "0e9c2f6e-3f0a-4c52-9d5e-0d9b6f3c2a11" }),
})
const mountedConstants = {
  deprecation_status: "supported",
  plugin_version: "",
  running_plugin_version: "",
  running_sha256: "",
}

/** Mount or auth method with its path. */
export interface Mounted<Type extends string, Config> {
  readonly path: string
  readonly type: Type
  readonly description: string
  readonly config: Config
  readonly traits: MountTraits
  readonly options: MountOptions
  readonly accessor: string
  readonly uuid: string
}

export const encodeMounted = (
  { path: _, traits: own, ...members }: Omit<Mounted<string, unknown>, "config">,
  encodedConfig: Document,
): Document => ({
  ...encodeMembers(mountedTable, { ...members, ...own, config: encodedConfig }, "native"),
  ...mountedConstants,
})

/** Returns answers that contain mounts or auth methods. */
export function mountedAnswers<Type extends string, Config extends MountConfig>(
  config: { readonly table: Parameters<Config> },
  typeOf: (type: string) => Type | undefined,
) {
  const encodeOne = (mounted: Mounted<Type, Config>): Document =>
    encodeMounted(mounted, encodeMembers(config.table, mounted.config, "native"))
  const decodeOne = (path: string, document: unknown): Mounted<Type, Config> => {
    const { type: given, local, sealWrap, externalEntropyAccess, ...members } = decodeAnswer(mountedTable, document)
    const type = typeOf(given)
    if (type === undefined) throw unreadable(`the type "${given}" is unknown`)
    const traits = { local, sealWrap, externalEntropyAccess }
    return { path, type, ...members, config: decodeAnswer(config.table, members.config), traits }
  }
  const one: Answer<Mounted<Type, Config>, (path: string) => Mounted<Type, Config>> = {
    ...dataOf(
      mountedTable,
      (mounted: Mounted<Type, Config>) => ({ data: encodeOne(mounted) }),
      ({ data }) =>
        (path: string) =>
          decodeOne(path, data),
    ),
    record: { table: mountedTable, constants: mountedConstants },
  }
  /** Mounts by path, with the trailing slash that Vault clients expect. */
  const all: Answer<readonly Mounted<Type, Config>[]> = {
    kind: "data",
    encode: (mounted) => ({ data: Object.fromEntries(mounted.map((each) => [`${each.path}/`, encodeOne(each)])) }),
    decode({ data }) {
      if (!isDocument(data)) throw unreadable('"data" must be an object')
      return Object.entries(data).map(([path, document]) => decodeOne(path.slice(0, -1), document))
    },
    repeated: true,
  }
  const tuned: Answer<Mounted<Type, Config>, unknown> = {
    kind: "data",
    encode: (mounted) => ({ data: encodeTune(mounted, encodeMembers(config.table, mounted.config, "native")) }),
    record: { table: config.table, constants: { plugin_version: "" } },
  }
  return { one, all, tuned }
}

/** Encodes the configuration in force, with the defaults of the system. */
export function encodeTune(
  {
    config,
    description: about,
    options: set,
  }: Pick<Mounted<string, MountConfig>, "config" | "description" | "options">,
  encodedConfig: Document,
): Document {
  const { defaultMs, maximumMs } = leaseTtls(config)
  return {
    ...encodedConfig,
    default_lease_ttl: defaultMs / secondMs,
    max_lease_ttl: maximumMs / secondMs,
    ...encodeMembers(mountedTable, { description: about, options: set }, "native"),
    plugin_version: "",
  }
}
