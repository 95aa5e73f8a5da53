import { type Fault, invalid, isEngineError } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import type { EstSettings } from "../pki/est/est-settings.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import type { DeclaredOf } from "./contract-members.ts"
import type { Changes, Created, DeclaredResource, Definition } from "./declared-resource.ts"
import { type DeclaredEstAuthenticators, declaredEstFaults, estMembers } from "./est-members.ts"
import { defaultsOf, diffMembers, type Members, validator, withDefaults } from "./members.ts"
import { declaredFaults, mountMember, mountMemberFaults } from "./pki-values.ts"

const members: Members = { mount: mountMember, ...estMembers.members }

/** Settings of EST of a mount. */
export type PkiEstConfigSpec = { readonly mount: string } & Partial<ObservedPkiEstConfig>

/** Every setting in force. */
export type ObservedPkiEstConfig = {
  readonly mount: string
  readonly authenticators: DeclaredEstAuthenticators
} & {
  readonly [Field in Exclude<keyof EstSettings, "authenticators" | "lastUpdated">]: DeclaredOf<
    Field,
    EstSettings[Field]
  >
}

/** Each mount has these settings, so creation changes them and deletion resets them. The id is `MOUNT/config/est`. */
export const pkiEstConfigResource: DeclaredResource<PkiEstConfigSpec, ObservedPkiEstConfig> & Definition = {
  name: "estConfig",
  description: "EST settings of a mount. Deleting the resource disables EST. Its id is `MOUNT/config/est`.",
  argsDescription:
    "EST settings of a mount. `authenticators` requires their accessors in `delegatedAuthAccessors` of the mount. A setting that the program never declared is not managed. A setting removed from the program returns to its default.",
  outputsDescription: "Outputs of the EST settings: every setting in force.",
  members,
  outputs: {},
  memberNames: Object.keys(members),
  validate: (spec, open) => validate(spec, open),
  diff,
  observe: (engine, id) => found(engine, mountIn(id)),
  create,
  update,
  delete: remove,
}

const validate = validator<PkiEstConfigSpec>(members, (known): readonly Fault[] => [
  ...(known.mount === undefined ? [] : mountMemberFaults("mount", known.mount)),
  ...declaredEstFaults(known),
])

function diff(spec: PkiEstConfigSpec, observed: ObservedPkiEstConfig, dropped: readonly string[] = []): Changes {
  return diffMembers(members, spec, observed, dropped)
}

/** Returns the EST settings of a mount under their declared names. */
export const observedPkiEstConfig = (mount: string, settings: EstSettings): ObservedPkiEstConfig =>
  ({ mount, ...estMembers.fromEngine(settings) }) as unknown as ObservedPkiEstConfig

async function create(engine: Engine, spec: PkiEstConfigSpec): Promise<Created<ObservedPkiEstConfig>> {
  assertValid(spec)
  const mount = mountPathOf(spec.mount)
  return { id: estConfigId(mount), observed: await save(engine, mount, estMembers.toEngine(spec)), adopted: false }
}

async function update(
  engine: Engine,
  id: string,
  spec: PkiEstConfigSpec,
  observed: ObservedPkiEstConfig,
  dropped: readonly string[] = [],
): Promise<ObservedPkiEstConfig> {
  assertValid(spec)
  const wanted = withDefaults(members, spec, dropped)
  const { changed } = diff(spec, observed, dropped)
  if (changed.length === 0) return observed
  const sent = Object.fromEntries(changed.map((name) => [name, wanted[name as keyof PkiEstConfigSpec]]))
  return save(engine, mountIn(id), estMembers.toEngine(sent))
}

/** Resets declared settings and disables EST. A mount without `defaultPathPolicy` cannot be the default mount. */
async function remove(engine: Engine, id: string, spec: Partial<PkiEstConfigSpec>): Promise<void> {
  const declared = Object.fromEntries(Object.entries(defaultsOf(members)).filter(([name]) => name in spec))
  const mount = mountIn(id)
  try {
    const reset = { ...estMembers.toEngine(declared), enabled: false, defaultMount: false }
    await engine.pki(mount).settings.changeEst(reset)
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
  }
}

/** Checks members whose values were unknown at the first check. */
function assertValid(spec: PkiEstConfigSpec): void {
  const faults = validate({ ...spec })
  if (faults.length > 0) throw invalid(faults)
}

async function save(engine: Engine, mount: string, patch: Partial<EstSettings>): Promise<ObservedPkiEstConfig> {
  try {
    const { value } = await engine.pki(mount).settings.changeEst(patch)
    return observedPkiEstConfig(mount, value)
  } catch (error) {
    if (isEngineError(error, "invalid")) throw invalid(declaredFaults(error.faults, estMembers.nameOf))
    throw error
  }
}

export const estConfigId = (mount: string): string => `${mount}/config/est`

function mountIn(id: string): string {
  const [, mount] = /^(.+)\/config\/est$/.exec(id) ?? []
  if (mount === undefined)
    throw invalid([{ field: ["id"], detail: `id of EST settings must be MOUNT/config/est, not "${id}"` }])
  return mount
}

async function found(engine: Engine, mount: string): Promise<ObservedPkiEstConfig | undefined> {
  try {
    return observedPkiEstConfig(mount, await engine.pki(mount).settings.est())
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}
