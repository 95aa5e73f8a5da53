import { mountSettingsParts, pkiMountResource, type PkiMountSpec } from "@chancery/engine/declared"
import { z } from "zod"
import { parseGoDuration } from "../go-duration.ts"
import { connectionRef } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { atLeast, duration, mountPath } from "./descriptions.ts"
import { manifestMembers } from "./manifest-members.ts"
import { adoptionPolicy, createPending, driftPolicy, driftStatus } from "./policies.ts"
import { immutable, type Rule, ruled } from "./rules.ts"

const { path: _path, ...ownMembers } = pkiMountResource.members
const lifetime = (name: "defaultLeaseTtl" | "maxLeaseTtl") => {
  const { description, example } = pkiMountResource.members[name] ?? { description: "" }
  const text = `${description} At least 1s. Default: 768h. Example: ${String(example)}.`
  return duration(text, atLeast(name, "1s")).optional()
}
const own = {
  ...manifestMembers(ownMembers),
  defaultLeaseTtl: lifetime("defaultLeaseTtl"),
  maxLeaseTtl: lifetime("maxLeaseTtl"),
}

interface CrlPart {
  readonly autoRebuild?: boolean
  readonly enableDelta?: boolean
  readonly shards?: number
}

const shardCounts = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024]
const crlRules: readonly Rule<CrlPart>[] = [
  {
    rule: "!has(self.enableDelta) || !self.enableDelta || (has(self.autoRebuild) && self.autoRebuild)",
    message: "enableDelta requires autoRebuild true",
    fieldPath: ".enableDelta",
    holds: ({ enableDelta, autoRebuild }) => enableDelta !== true || autoRebuild === true,
  },
  {
    rule: `!has(self.shards) || self.shards in [${shardCounts.join(", ")}]`,
    message: "shards must be a power of two up to 1024",
    fieldPath: ".shards",
    holds: ({ shards }) => shards === undefined || shardCounts.includes(shards),
  },
]

interface AcmePart {
  readonly enabled?: boolean
  readonly defaultDirectoryPolicy?: string
}

const servingPolicy = "sign-verbatim|role:[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?|external-policy(:[A-Za-z0-9_.-]+)?"
const policyPattern = new RegExp(`^(forbid|${servingPolicy})$`)
const acmeRules: readonly Rule<AcmePart>[] = [
  {
    rule: `!has(self.defaultDirectoryPolicy) || self.defaultDirectoryPolicy.matches('${policyPattern.source}')`,
    message: "defaultDirectoryPolicy must be forbid, sign-verbatim, role:NAME, external-policy or external-policy:NAME",
    fieldPath: ".defaultDirectoryPolicy",
    holds: ({ defaultDirectoryPolicy: policy }) => policy === undefined || policyPattern.test(policy),
  },
]

interface EstAccessor {
  readonly accessor: string
}

interface EstPart {
  readonly enabled?: boolean
  readonly defaultMount?: boolean
  readonly defaultPathPolicy?: string
  readonly labelToPathPolicy?: Readonly<Record<string, string>>
  readonly authenticators?: { readonly userpass?: EstAccessor; readonly cert?: EstAccessor }
  readonly manualApproval?: readonly string[]
}

const pathPolicyPattern = new RegExp(`^(${servingPolicy})$`)
const labelPattern = /^[A-Za-z0-9_~][A-Za-z0-9._~-]{0,63}$/
const pathPolicies = "sign-verbatim, role:NAME, external-policy or external-policy:NAME"
const estRules: readonly Rule<EstPart>[] = [
  {
    rule: `!has(self.defaultPathPolicy) || self.defaultPathPolicy == '' || self.defaultPathPolicy.matches('${pathPolicyPattern.source}')`,
    message: `defaultPathPolicy must be ${pathPolicies}`,
    fieldPath: ".defaultPathPolicy",
    holds: ({ defaultPathPolicy: policy = "" }) => policy === "" || pathPolicyPattern.test(policy),
  },
  {
    rule: "!has(self.defaultMount) || !self.defaultMount || (has(self.defaultPathPolicy) && self.defaultPathPolicy != '')",
    message: "defaultMount requires defaultPathPolicy",
    fieldPath: ".defaultPathPolicy",
    holds: ({ defaultMount, defaultPathPolicy = "" }) => defaultMount !== true || defaultPathPolicy !== "",
  },
  {
    rule: `!has(self.labelToPathPolicy) || self.labelToPathPolicy.all(label, self.labelToPathPolicy[label].matches('${pathPolicyPattern.source}'))`,
    message: `values of labelToPathPolicy must be ${pathPolicies}`,
    fieldPath: ".labelToPathPolicy",
    holds: ({ labelToPathPolicy = {} }) =>
      Object.values(labelToPathPolicy).every((policy) => pathPolicyPattern.test(policy)),
  },
  {
    rule: `!has(self.labelToPathPolicy) || self.labelToPathPolicy.all(label, label.matches('${labelPattern.source}'))`,
    message: "labels of labelToPathPolicy must be 1 to 64 letters, digits and . _ ~ -, and must not begin with . or -",
    fieldPath: ".labelToPathPolicy",
    holds: ({ labelToPathPolicy = {} }) => Object.keys(labelToPathPolicy).every((label) => labelPattern.test(label)),
  },
  {
    rule: `!has(self.manualApproval) || self.manualApproval.all(policy, policy == '*' || policy.matches('${pathPolicyPattern.source}'))`,
    message: `entries of manualApproval must be *, ${pathPolicies}`,
    fieldPath: ".manualApproval",
    holds: ({ manualApproval = [] }) =>
      manualApproval.every((policy) => policy === "*" || pathPolicyPattern.test(policy)),
  },
]

const part = <Value extends object>(
  name: keyof typeof mountSettingsParts,
  description: string,
  ...rules: readonly Rule<Value>[]
) =>
  ruled(
    z.object(manifestMembers(mountSettingsParts[name].members)) as unknown as z.ZodObject,
    ...(rules as unknown as readonly Rule<Record<string, unknown>>[]),
  )
    .optional()
    .describe(`${description} Settings that are omitted are not managed.`)

const members = z
  .object({
    connectionRef: connectionRef.describe("Connection to the engine of the mount. Immutable."),
    path: mountPath.describe("Path of the mount in the engine. Mounts do not nest. Immutable. Example: pki."),
    adoptionPolicy: adoptionPolicy("mount"),
    driftPolicy: driftPolicy("mount"),
    deletionPolicy: z
      .enum(["Retain", "Delete"])
      .default("Retain")
      .describe(
        "Behavior at deletion of the object. Retain: the mount stays in the engine. Delete: it is deleted with its certificate records once it has no issuers, keys and roles. Default: Retain.",
      ),
    ...own,
    urls: part("urls", "URLs that certificates of the mount contain, unless their issuer has its own."),
    crl: part<CrlPart>("crl", "Revocation lists and OCSP.", ...crlRules),
    autoTidy: part("autoTidy", "Automatic deletion of expired records."),
    acme: part<AcmePart>("acme", "ACME server of the mount. Issuers with spec.acme also change enabled.", ...acmeRules),
    est: part<EstPart>("est", "EST server of the mount, for devices.", ...estRules),
  })
  .describe("Path and settings of the mount. Settings that are omitted are not managed.")

export type MountSettings = Readonly<Record<string, unknown>>

export type MountObjectSpec = Pick<
  z.output<typeof members>,
  "connectionRef" | "path" | "adoptionPolicy" | "driftPolicy" | "deletionPolicy"
> &
  Omit<PkiMountSpec, "path"> & { readonly [Part in keyof typeof mountSettingsParts]?: MountSettings }

const neededHeaders = ["Location", "Replay-Nonce", "Link"]

const rules: readonly Rule<MountObjectSpec>[] = [
  {
    rule: "!has(self.defaultLeaseTtl) || !has(self.maxLeaseTtl) || duration(self.defaultLeaseTtl) <= duration(self.maxLeaseTtl)",
    message: "defaultLeaseTtl must not exceed maxLeaseTtl",
    fieldPath: ".defaultLeaseTtl",
    holds: ({ defaultLeaseTtl, maxLeaseTtl }) =>
      typeof defaultLeaseTtl !== "string" ||
      typeof maxLeaseTtl !== "string" ||
      (parseGoDuration(defaultLeaseTtl) ?? 0) <= (parseGoDuration(maxLeaseTtl) ?? 0),
  },
  {
    rule: "!has(self.acme) || !has(self.acme.enabled) || !self.acme.enabled || has(self.clusterPath)",
    message: "acme.enabled requires clusterPath",
    fieldPath: ".clusterPath",
    holds: ({ acme, clusterPath }) => acme?.["enabled"] !== true || clusterPath !== undefined,
  },
  {
    rule: `!has(self.acme) || !has(self.acme.enabled) || !self.acme.enabled || (has(self.allowedResponseHeaders) && ['${neededHeaders.join("', '")}'].all(x, x in self.allowedResponseHeaders))`,
    message: `acme.enabled requires ${neededHeaders.join(", ")} in allowedResponseHeaders`,
    fieldPath: ".allowedResponseHeaders",
    holds: ({ acme, allowedResponseHeaders }) =>
      acme?.["enabled"] !== true || neededHeaders.every((name) => allowedResponseHeaders?.includes(name) === true),
  },
  ...(["userpass", "cert"] as const).map((kind) => ({
    rule: `!has(self.est) || !has(self.est.authenticators) || !has(self.est.authenticators.${kind}) || (has(self.delegatedAuthAccessors) && self.est.authenticators.${kind}.accessor in self.delegatedAuthAccessors)`,
    message: `delegatedAuthAccessors must have the accessor of est.authenticators.${kind}`,
    fieldPath: ".delegatedAuthAccessors",
    holds: ({ est, delegatedAuthAccessors = [] }: MountObjectSpec) => {
      const accessor = (est as EstPart | undefined)?.authenticators?.[kind]?.accessor
      return accessor === undefined || delegatedAuthAccessors.includes(accessor)
    },
  })),
]

/** Members of the spec that are settings of the mount itself, by their names in the engine. */
export const ownNames = Object.keys(own) as readonly Exclude<keyof PkiMountSpec, "path">[]

export const mount: Kind<MountObjectSpec> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "Mount",
  plural: "mounts",
  singular: "mount",
  shortNames: ["emnt"],
  categories: ["engine-pki"],
  scope: "Namespaced",
  description: "Mount is a path of a Chancery engine for certificate authorities, with its settings.",
  spec: ruled(
    members as unknown as z.ZodType<MountObjectSpec>,
    ...immutable<MountObjectSpec>("connectionRef", "path"),
    ...rules,
  ),
  status: {
    id: z.string().max(128).optional().describe("UUID of the mount. Another mount at the same path has another one."),
    accessor: z.string().max(128).optional().describe("Accessor of the mount, for policies and logs."),
    settingsGeneration: z
      .int()
      .min(0)
      .optional()
      .describe(
        "Generation of the object whose settings are in force, except acme and est. Authorities of the mount wait for it.",
      ),
    createPending,
    drift: driftStatus,
  },
  synced: true,
  columns: [
    { name: "Path", type: "string", jsonPath: ".spec.path", description: "Path of the mount." },
    {
      name: "Connection",
      type: "string",
      jsonPath: ".spec.connectionRef.name",
      description: "Connection to the engine.",
      priority: 1,
    },
  ],
  selectable: [".spec.connectionRef.name", ".spec.path"],
}
