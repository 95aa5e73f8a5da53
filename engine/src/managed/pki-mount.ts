import * as z from "zod"
import { conflict, type Fault, isEngineError, unprocessable } from "../core/errors.ts"
import { parseDuration } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import { initialMountConfig, type MountConfig, mountFaults, mountPathOf, type MountPatch } from "../pki/mount.ts"
import type { MountView } from "../pki/mounts.ts"
import type { Changes, Created, ManagedKind, Origin, Removal, Values } from "./managed-kind.ts"
import { declaredDuration, declaredFaults, durationFaults, mountMemberFaults, sameMountPath } from "./pki-words.ts"
import { differing, sameDuration, sameSet, sameText, type SameValue } from "./same-value.ts"
import { shapeFaults } from "./spec-shape.ts"

const names = z.array(z.string()).optional()

const shape = z.strictObject({
  path: z.string(),
  description: z.string().optional(),
  defaultLeaseTtl: z.string().nullable().optional(),
  maxLeaseTtl: z.string().nullable().optional(),
  forceNoCache: z.boolean().optional(),
  listingVisibility: z.enum(["hidden", "unauth"]).optional(),
  allowedResponseHeaders: names,
  passthroughRequestHeaders: names,
  auditNonHmacRequestKeys: names,
  auditNonHmacResponseKeys: names,
})

/** A place for certificate authorities, and how long what they issue may live. Durations are text; null is the system's. */
export type PkiMountSpec = Readonly<z.infer<typeof shape>>

/** Every setting as it is in force, and what nobody sets. Its id is its path. */
export interface ObservedPkiMount extends Readonly<{
  [Name in keyof PkiMountSpec]-?: Exclude<PkiMountSpec[Name], undefined>
}> {
  /** Names the mount where policies and logs must not follow its path. */
  readonly accessor: string
  readonly uuid: string
}

export const pkiMountKind: ManagedKind<PkiMountSpec, ObservedPkiMount> = {
  members: Object.keys(shape.shape),
  faults: pkiMountFaults,
  changes,
  observe: (engine, id) => found(engine, id),
  create,
  update,
  remove,
}

const memberOf = (inside: string): string | undefined => {
  const member = inside.replace(/Ms$/, "")
  return member in shape.shape ? member : undefined
}

function pkiMountFaults(spec: Values, open: ReadonlySet<string> = new Set()): readonly Fault[] {
  const faults = [
    ...shapeFaults(shape, spec, open),
    ...durationFaults("defaultLeaseTtl", spec["defaultLeaseTtl"]),
    ...durationFaults("maxLeaseTtl", spec["maxLeaseTtl"]),
  ]
  const unsaid = new Set([...open, ...faults.map(({ field }) => String(field?.[0]))])
  // A member of the wrong type is refused already, and no rule can read it.
  const known = Object.fromEntries(Object.entries(spec).filter(([name]) => !unsaid.has(name))) as Partial<PkiMountSpec>
  const { path, description = "", ...settings } = known
  const config: MountConfig = { ...initialMountConfig, ...configOf(settings) }
  // No default is too long for a maximum that is not known yet.
  const bounded = unsaid.has("maxLeaseTtl") ? { ...config, maxLeaseTtlMs: config.defaultLeaseTtlMs } : config
  return [
    ...faults,
    ...(path === undefined ? [] : mountMemberFaults("path", path)),
    ...declaredFaults(mountFaults({ description, config: bounded }), memberOf).filter(
      ({ field }) => !unsaid.has(String(field?.[0])),
    ),
  ]
}

function configOf({
  defaultLeaseTtl,
  maxLeaseTtl,
  ...others
}: Partial<Omit<PkiMountSpec, "path" | "description">>): Partial<MountConfig> {
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined))
  return {
    ...given,
    ...(defaultLeaseTtl === undefined ? {} : { defaultLeaseTtlMs: lifetimeOf(defaultLeaseTtl) }),
    ...(maxLeaseTtl === undefined ? {} : { maxLeaseTtlMs: lifetimeOf(maxLeaseTtl) }),
  }
}

const lifetimeOf = (text: string | null): number | null => (text === null ? null : (parseDuration(text) ?? null))

const rules: Readonly<Partial<Record<keyof PkiMountSpec, SameValue>>> = {
  path: sameMountPath,
  description: sameText,
  defaultLeaseTtl: sameDuration,
  maxLeaseTtl: sameDuration,
  allowedResponseHeaders: sameSet,
  passthroughRequestHeaders: sameSet,
  auditNonHmacRequestKeys: sameSet,
  auditNonHmacResponseKeys: sameSet,
}

/** What a new mount has where nothing is said. */
const defaults: Omit<PkiMountSpec, "path"> = {
  description: "",
  defaultLeaseTtl: null,
  maxLeaseTtl: null,
  forceNoCache: false,
  listingVisibility: "hidden",
  allowedResponseHeaders: [],
  passthroughRequestHeaders: [],
  auditNonHmacRequestKeys: [],
  auditNonHmacResponseKeys: [],
}

const withDefaults = (spec: PkiMountSpec, dropped: readonly string[]): PkiMountSpec => ({
  ...Object.fromEntries(Object.entries(defaults).filter(([name]) => dropped.includes(name))),
  ...spec,
})

function changes(spec: PkiMountSpec, observed: ObservedPkiMount, dropped: readonly string[] = []): Changes {
  const changed = differing(withDefaults(spec, dropped), observed, rules)
  const mustReplace = changed.filter((name) => name === "path")
  if (mustReplace.length === 0) return { changed, mustReplace }
  // Mounts do not nest.
  const [path, before] = [`${mountPathOf(spec.path)}/`, `${mountPathOf(observed.path)}/`]
  return { changed, mustReplace, removeFirst: path.startsWith(before) || before.startsWith(path) }
}

async function create(engine: Engine, spec: PkiMountSpec, { adopt }: Origin): Promise<Created<ObservedPkiMount>> {
  const { path, description, ...settings } = spec
  try {
    const config = configOf(settings)
    const view = await engine.mounts.create({ path, config, ...(description === undefined ? {} : { description }) })
    return { id: view.path, observed: observedOf(view), adopted: false }
  } catch (error) {
    if (!isEngineError(error, "conflict") && !isEngineError(error, "unavailable")) throw error
    const id = mountPathOf(path)
    const observed = await found(engine, id)
    // In the way is one above it or below it, which nobody can take over as this one.
    if (observed === undefined)
      throw isEngineError(error, "conflict") ? unprocessable(`${error.message}, and mounts do not nest`) : error
    // An empty mount as declared is nobody's: it may be what a lost answer left behind.
    if (changes(spec, observed).changed.length === 0 && (await contentsOf(engine, id)).length === 0)
      return { id, observed, adopted: false }
    if (!adopt) throw error
    return { id, observed: await update(engine, id, spec, observed), adopted: true }
  }
}

async function update(
  engine: Engine,
  id: string,
  spec: PkiMountSpec,
  observed: ObservedPkiMount,
  dropped: readonly string[] = [],
): Promise<ObservedPkiMount> {
  const wanted = withDefaults(spec, dropped)
  const { changed } = changes(spec, observed, dropped)
  if (changed.length === 0) return observed
  const { description, ...settings } = Object.fromEntries(
    changed.map((name) => [name, wanted[name as keyof PkiMountSpec]]),
  ) as Partial<PkiMountSpec>
  const patch: MountPatch = { config: configOf(settings), ...(description === undefined ? {} : { description }) }
  return observedOf(await engine.mounts.tune(id, patch))
}

async function remove(engine: Engine, id: string, _spec: Partial<PkiMountSpec>, removal: Removal): Promise<void> {
  try {
    const contents = removal === "safe" ? await contentsOf(engine, id) : []
    if (contents.length > 0)
      throw conflict(`mount ${id} has ${contents.join(" and ")}, which would be lost with all that was issued there`)
    await engine.mounts.delete(id)
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
  }
}

/** What there is in a mount, by kind. */
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

async function found(engine: Engine, path: string): Promise<ObservedPkiMount | undefined> {
  try {
    return observedOf(await engine.mounts.get(path))
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

const observedOf = ({ path, description, config, accessor, uuid }: MountView): ObservedPkiMount => ({
  path,
  description,
  defaultLeaseTtl: declaredDuration(config.defaultLeaseTtlMs),
  maxLeaseTtl: declaredDuration(config.maxLeaseTtlMs),
  forceNoCache: config.forceNoCache,
  listingVisibility: config.listingVisibility,
  allowedResponseHeaders: [...config.allowedResponseHeaders],
  passthroughRequestHeaders: [...config.passthroughRequestHeaders],
  auditNonHmacRequestKeys: [...config.auditNonHmacRequestKeys],
  auditNonHmacResponseKeys: [...config.auditNonHmacResponseKeys],
  accessor,
  uuid,
})
