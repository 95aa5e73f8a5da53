import { z } from "zod"
import { conflict, type Fault, invalid, isEngineError, unprocessable } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import {
  initialMountConfig,
  type MountConfig,
  mountFaults,
  type MountPatch,
  mountPathOf,
  type MountView,
} from "../pki/mounts/mount.ts"
import { clusterFaults } from "../pki/mounts/cluster-settings.ts"
import { type ClusterSettings, defaultMountSettings } from "../pki/mounts/mount-settings.ts"
import {
  type Changes,
  type Created,
  type DeclaredResource,
  type Definition,
  type Origin,
  PartlyCreated,
  type Removal,
} from "./declared-resource.ts"
import { declaredDuration, declaredFaults, mountMemberFaults, lifetimeOf, sameMountPath } from "./pki-values.ts"
import { sameText, type SameValue } from "./same-value.ts"
import { diffMembers, type InForce, member, output, required, type SpecOf, validator, withDefaults } from "./members.ts"
import { boundedText, duration, flag, listOf, oneOf, orNull, text } from "./types.ts"

/** URLs are compared without trailing slashes. */
const sameAddress: SameValue = (a, b) => sameText(withoutLastSlashes(a), withoutLastSlashes(b))

const withoutLastSlashes = (value: unknown): unknown => (typeof value === "string" ? value.replace(/\/+$/, "") : value)

const names = listOf(text.schema, { maximum: 100, manifestItem: z.string().min(1).max(256) })
const address = boundedText(2_048)

const members = {
  path: required(text, "Path of the mount; mounts do not nest.", {
    same: sameMountPath,
    providedBy: "name",
    forcesReplacement: true,
  }),
  description: member(boundedText(1_024), "Description for people.", { default: "", same: sameText }),
  defaultLeaseTtl: member(orNull(duration), "Lifetime of certificates that request none.", {
    default: null,
    defaultText: "768 hours (also if null)",
    example: "720h",
  }),
  maxLeaseTtl: member(orNull(duration), "Maximum lifetime of certificates, unless a role sets its own.", {
    default: null,
    defaultText: "768 hours (also if null)",
    example: "8760h",
  }),
  forceNoCache: member(flag, "Disable caching of the mount.", { default: false }),
  listingVisibility: member(oneOf("hidden", "unauth"), "List the mount for requests without a token (`unauth`).", {
    default: "hidden",
  }),
  allowedResponseHeaders: member(
    names,
    "Response headers the mount may set. ACME needs `Last-Modified`, `Location`, `Replay-Nonce` and `Link`.",
    { default: [] },
  ),
  passthroughRequestHeaders: member(names, "Request headers passed to the mount.", { default: [] }),
  auditNonHmacRequestKeys: member(names, "Request members that the audit log records in plain text.", { default: [] }),
  auditNonHmacResponseKeys: member(names, "Response members that the audit log records in plain text.", {
    default: [],
  }),
  delegatedAuthAccessors: member(
    names,
    "Accessors of auth methods that verify the clients of enrolment protocols such as EST.",
    { default: [], example: ["auth_userpass_1a2b3c4d"] },
  ),
  clusterPath: member(address, "URL of the mount. Required by ACME; replaces `{{cluster_path}}` in URLs.", {
    default: "",
    example: "https://ca.example.com/v1/pki",
    same: sameAddress,
    isOutputIfDeclared: true,
  }),
  clusterAiaPath: member(
    address,
    "URL of the mount for certificates and CRLs, often plain HTTP; replaces `{{cluster_aia_path}}` in URLs.",
    { default: "", same: sameAddress, isOutputIfDeclared: true },
  ),
}

/**
 * Mount for certificate authorities: maximum lifetimes of certificates, and its public URLs (`config/cluster`). Durations are strings; null
 * means the default of the system.
 */
export type PkiMountSpec = SpecOf<typeof members>

/** Every setting in force, and members that the server assigns. The id is the path. */
export interface ObservedPkiMount extends Omit<InForce<typeof members>, ClusterMember> {
  /** Present only if the spec has it or `clusterAiaPath`: reading them takes a request and a capability of their own. */
  readonly clusterPath?: string
  readonly clusterAiaPath?: string
  /** Identifies the mount in policies and logs, independently of its path. */
  readonly accessor: string
  readonly uuid: string
}

export const pkiMountResource: DeclaredResource<PkiMountSpec, ObservedPkiMount> & Definition = {
  name: "pkiMount",
  description:
    'A mount for certificate authorities. `deletionPolicy: "safe"` keeps it while it has issuers, keys or roles. Its id is its path.',
  argsDescription:
    "Settings of a mount. A setting that the program never declared is not managed. A setting removed from the program returns to its default.",
  outputsDescription: "Outputs of a mount: every setting in force.",
  members,
  outputs: {
    accessor: output(text.schema, "Accessor, which policies and logs may use instead of the path."),
    uuid: output(text.schema, "UUID of the mount."),
  },
  adoption: "an existing mount at this path",
  memberNames: Object.keys(members),
  validate: validator<PkiMountSpec>(members, (known, unchecked) => {
    const { path, description = "" } = known
    const config: MountConfig = { ...initialMountConfig, ...configOf(known) }
    // While `maxLeaseTtl` is unknown, no default can exceed it.
    const bounded = unchecked.has("maxLeaseTtl") ? { ...config, maxLeaseTtlMs: config.defaultLeaseTtlMs } : config
    return [
      ...(path === undefined ? [] : mountMemberFaults("path", path)),
      ...declaredFaults(mountFaults({ description, config: bounded }), memberOf),
      ...addressFaults(known),
    ]
  }),
  diff: changes,
  observe: found,
  create,
  update,
  delete: remove,
}

/** URLs of the mount, by their names in the engine. */
const clusterFields = { clusterPath: "path", clusterAiaPath: "aiaPath" } as const
const clusterMembers = ["clusterPath", "clusterAiaPath"] as const
type ClusterMember = (typeof clusterMembers)[number]
type Addresses = Pick<PkiMountSpec, ClusterMember>

const memberOf = (inside: string): string | undefined => {
  const member = inside.replace(/Ms$/, "")
  return member in members ? member : undefined
}

const addressFaults = ({ clusterPath = "", clusterAiaPath = "" }: Addresses): readonly Fault[] =>
  declaredFaults(clusterFaults({ path: clusterPath, aiaPath: clusterAiaPath }), (inside) =>
    clusterMembers.find((member) => clusterFields[member] === inside),
  )

function configOf({
  path: _path,
  description: _description,
  clusterPath: _clusterPath,
  clusterAiaPath: _clusterAiaPath,
  defaultLeaseTtl,
  maxLeaseTtl,
  ...others
}: Partial<PkiMountSpec>): Partial<MountConfig> {
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined))
  return {
    ...given,
    ...(defaultLeaseTtl === undefined ? {} : { defaultLeaseTtlMs: lifetimeOf(defaultLeaseTtl) }),
    ...(maxLeaseTtl === undefined ? {} : { maxLeaseTtlMs: lifetimeOf(maxLeaseTtl) }),
  }
}

function changes(spec: PkiMountSpec, observed: ObservedPkiMount, dropped: readonly string[] = []): Changes {
  const { changed, mustReplace } = diffMembers(members, spec, observed, dropped)
  if (mustReplace.length === 0) return { changed, mustReplace }
  // Mounts do not nest.
  const [path, before] = [`${mountPathOf(spec.path)}/`, `${mountPathOf(observed.path)}/`]
  return { changed, mustReplace, removeFirst: path.startsWith(before) || before.startsWith(path) }
}

async function create(engine: Engine, spec: PkiMountSpec, { adopt }: Origin): Promise<Created<ObservedPkiMount>> {
  rejectAddresses(spec)
  const { path, description } = spec
  try {
    const config = configOf(spec)
    const view = await engine.mounts.create({ path, config, ...(description === undefined ? {} : { description }) })
    return { id: view.path, observed: await addressed(engine, view, spec), adopted: false }
  } catch (error) {
    if (!isEngineError(error, "conflict") && !isEngineError(error, "unavailable")) throw error
    const id = mountPathOf(path)
    const observed = await found(engine, id, spec)
    // The conflicting mount is above or below this path, and cannot be adopted as this one.
    if (observed === undefined)
      throw isEngineError(error, "conflict") ? unprocessable(`${error.message}, and mounts do not nest`) : error
    // An empty mount as declared may come from a lost answer, before its URLs were set. It is taken over without `adopt`.
    const { changed } = changes(spec, observed)
    if (
      changed.every((member) => isAddress(member) && observed[member] === "") &&
      (await contentsOf(engine, id)).length === 0
    )
      return { id, observed: await update(engine, id, spec, observed), adopted: false }
    if (!adopt) throw error
    return { id, observed: await update(engine, id, spec, observed), adopted: true }
  }
}

/** Sets the URLs of a new mount, which takes a request of its own. */
async function addressed(engine: Engine, view: MountView, spec: PkiMountSpec): Promise<ObservedPkiMount> {
  if (!hasAddresses(spec)) return observedOf(view)
  try {
    const { value } = await engine.pki(view.path).settings.changeCluster(clusterOf(spec))
    return observedOf(view, value)
  } catch (error) {
    throw new PartlyCreated(view.path, observedOf(view, defaultMountSettings.cluster), error)
  }
}

const isAddress = (member: string): member is ClusterMember => (clusterMembers as readonly string[]).includes(member)

const hasAddresses = (spec: Addresses): boolean => clusterMembers.some((member) => spec[member] !== undefined)

const clusterOf = (spec: Addresses): Partial<ClusterSettings> =>
  Object.fromEntries(
    clusterMembers.flatMap((member) => (spec[member] === undefined ? [] : [[clusterFields[member], spec[member]]])),
  )

/** Checks URLs whose values were unknown at the first check. */
function rejectAddresses(spec: Addresses): void {
  const faults = addressFaults(spec)
  if (faults.length > 0) throw invalid(faults)
}

async function update(
  engine: Engine,
  id: string,
  spec: PkiMountSpec,
  observed: ObservedPkiMount,
  dropped: readonly string[] = [],
): Promise<ObservedPkiMount> {
  rejectAddresses(spec)
  const wanted = withDefaults(members, spec, dropped)
  const { changed } = changes(spec, observed, dropped)
  if (changed.length === 0) return observed
  const sent = Object.fromEntries(
    changed.map((name) => [name, wanted[name as keyof PkiMountSpec]]),
  ) as Partial<PkiMountSpec>
  const { description } = sent
  const patch: MountPatch = { config: configOf(sent), ...(description === undefined ? {} : { description }) }
  const view = changed.every(isAddress) ? await engine.mounts.get(id) : await engine.mounts.tune(id, patch)
  const { clusterPath: path = "", clusterAiaPath: aiaPath = "" } = observed
  const cluster = hasAddresses(sent)
    ? (await engine.pki(id).settings.changeCluster(clusterOf(sent))).value
    : { path, aiaPath }
  return observedOf(view, hasAddresses(spec) ? cluster : undefined)
}

async function remove(engine: Engine, id: string, _spec: Partial<PkiMountSpec>, removal: Removal): Promise<void> {
  try {
    const contents = removal === "safe" ? await contentsOf(engine, id) : []
    if (contents.length > 0)
      throw conflict(`mount ${id} has ${contents.join(" and ")}, which would be deleted with all issued certificates`)
    await engine.mounts.delete(id)
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
  }
}

/** Returns the kinds of objects that the mount has. */
async function contentsOf(engine: Engine, path: string): Promise<readonly string[]> {
  const { issuers, keys, roles } = engine.pki(path)
  const one = { limit: 1 }
  const counts = [
    ["issuers", await issuers.list(one)],
    ["keys", await keys.list(one)],
    ["roles", await roles.list(one)],
  ] as const
  return counts.filter(([, items]) => items.length > 0).map(([kind]) => kind)
}

async function found(engine: Engine, path: string, spec: Addresses): Promise<ObservedPkiMount | undefined> {
  try {
    const [view, cluster] = await Promise.all([
      engine.mounts.get(path),
      hasAddresses(spec) ? engine.pki(path).settings.cluster() : undefined,
    ])
    return observedOf(view, cluster)
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

const observedOf = (
  { path, description, config, accessor, uuid }: MountView,
  cluster?: ClusterSettings,
): ObservedPkiMount => ({
  path,
  description,
  defaultLeaseTtl: declaredDuration(config.defaultLeaseTtlMs),
  maxLeaseTtl: declaredDuration(config.maxLeaseTtlMs),
  forceNoCache: config.forceNoCache,
  listingVisibility: config.listingVisibility || "hidden",
  allowedResponseHeaders: [...config.allowedResponseHeaders],
  passthroughRequestHeaders: [...config.passthroughRequestHeaders],
  auditNonHmacRequestKeys: [...config.auditNonHmacRequestKeys],
  auditNonHmacResponseKeys: [...config.auditNonHmacResponseKeys],
  delegatedAuthAccessors: [...config.delegatedAuthAccessors],
  ...(cluster === undefined ? {} : { clusterPath: cluster.path, clusterAiaPath: cluster.aiaPath }),
  accessor,
  uuid,
})
