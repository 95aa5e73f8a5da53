import { acme } from "../contracts/vault/mount-settings.ts"
import { type Fault, invalid, isEngineError } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import { initialMountConfig, mountPathOf } from "../pki/mounts/mount.ts"
import { roleDefaults } from "../pki/roles/role.ts"
import {
  type AcmeSettings,
  acmeSettingsFaults,
  defaultAcmeSettings,
  eabPolicies,
  parseDirectoryPolicy,
} from "../pki/mounts/acme-settings.ts"
import type { Changes, Created, DeclaredResource, Definition } from "./declared-resource.ts"
import { declaredFaults, mountMember, mountMemberFaults } from "./pki-values.ts"
import { defaultsOf, diffMembers, type Members, validator, withDefaults } from "./members.ts"
import { contractMembers, type DeclaredOf, type NameOf } from "./contract-members.ts"
import { duration, oneOf, orderedTexts } from "./types.ts"

const settings = contractMembers(acme.members, {
  renamed: { maxTtlMs: "maxTtl" },
  types: { eabPolicy: oneOf(...eabPolicies), maxTtlMs: duration, directoryLimits: orderedTexts() },
  defaults: defaultAcmeSettings,
})
const members: Members = { mount: mountMember, ...settings.members }

/** ACME settings of a mount. `maxTtl` is a duration such as `720h`; `0s` means 90 days. */
export type PkiAcmeConfigSpec = { readonly mount: string } & Partial<ObservedPkiAcmeConfig>

/** Every setting in force. */
export type ObservedPkiAcmeConfig = { readonly mount: string } & {
  readonly [Field in keyof AcmeSettings as NameOf<Field, { readonly maxTtlMs: "maxTtl" }>]: DeclaredOf<
    Field,
    AcmeSettings[Field]
  >
}

/** Each mount has these settings, so creation changes them and deletion resets them. The id is `MOUNT/config/acme`. */
export const pkiAcmeConfigResource: DeclaredResource<PkiAcmeConfigSpec, ObservedPkiAcmeConfig> & Definition = {
  name: "acmeConfig",
  description: "ACME settings of a mount. Deleting the resource disables ACME. Its id is `MOUNT/config/acme`.",
  argsDescription:
    "ACME settings of a mount. `enabled` requires `clusterPath` and the response headers `Location`, `Replay-Nonce` and `Link` on the mount. A setting that the program never declared is not managed. A setting removed from the program returns to its default.",
  outputsDescription: "Outputs of the ACME settings: every setting in force.",
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

const validate = validator<PkiAcmeConfigSpec>(members, (known) => [
  ...(known.mount === undefined ? [] : mountMemberFaults("mount", known.mount)),
  ...declaredFaults(settingsFaults({ ...defaultAcmeSettings, ...settings.toEngine(known) }), settings.nameOf),
])

function diff(spec: PkiAcmeConfigSpec, observed: ObservedPkiAcmeConfig, dropped: readonly string[] = []): Changes {
  return diffMembers(members, spec, observed, dropped)
}

/** Checks settings without the mount: roles and issuers that they name, and the cluster path, are assumed to exist. */
function settingsFaults(settings: AcmeSettings): readonly Fault[] {
  const policy = parseDirectoryPolicy(settings.defaultDirectoryPolicy)
  const roles = [...settings.allowedRoles, ...(policy?.kind === "role" ? [policy.role] : [])]
  return acmeSettingsFaults(settings, {
    mount: { path: "", config: { ...initialMountConfig, allowedResponseHeaders: ["*"] } },
    clusterPath: "known",
    roles: new Map(roles.map((name) => [name, roleDefaults])),
    hasIssuer: () => true,
  })
}

/** Returns the ACME settings of a mount under their declared names. */
export const observedPkiAcmeConfig = (mount: string, resource: AcmeSettings): ObservedPkiAcmeConfig =>
  ({ mount, ...settings.fromEngine(resource) }) as unknown as ObservedPkiAcmeConfig

async function create(engine: Engine, spec: PkiAcmeConfigSpec): Promise<Created<ObservedPkiAcmeConfig>> {
  refuse(spec)
  const mount = mountPathOf(spec.mount)
  return { id: acmeConfigId(mount), observed: await saved(engine, mount, settings.toEngine(spec)), adopted: false }
}

async function update(
  engine: Engine,
  id: string,
  spec: PkiAcmeConfigSpec,
  observed: ObservedPkiAcmeConfig,
  dropped: readonly string[] = [],
): Promise<ObservedPkiAcmeConfig> {
  refuse(spec)
  const wanted = withDefaults(members, spec, dropped)
  const { changed } = diff(spec, observed, dropped)
  if (changed.length === 0) return observed
  const sent = Object.fromEntries(changed.map((name) => [name, wanted[name as keyof PkiAcmeConfigSpec]]))
  return saved(engine, mountIn(id), settings.toEngine(sent))
}

/** Resets declared settings and disables ACME. Without these settings, ACME could be open to unauthorized clients. */
async function remove(engine: Engine, id: string, spec: Partial<PkiAcmeConfigSpec>): Promise<void> {
  const declared = Object.fromEntries(Object.entries(defaultsOf(members)).filter(([name]) => name in spec))
  const mount = mountIn(id)
  try {
    await engine.pki(mount).settings.changeAcme({ ...settings.toEngine(declared), enabled: false })
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
  }
}

/** Checks members whose values were unknown at the first check. */
function refuse(spec: PkiAcmeConfigSpec): void {
  const faults = validate({ ...spec })
  if (faults.length > 0) throw invalid(faults)
}

async function saved(engine: Engine, mount: string, patch: Partial<AcmeSettings>): Promise<ObservedPkiAcmeConfig> {
  const { settings: mountSettings } = engine.pki(mount)
  try {
    await mountSettings.changeAcme(patch)
  } catch (error) {
    if (isEngineError(error, "invalid")) throw invalid(declaredFaults(error.faults, settings.nameOf))
    throw error
  }
  // The answer to a change does not include all settings.
  return observedPkiAcmeConfig(mount, await mountSettings.acme())
}

export const acmeConfigId = (mount: string): string => `${mount}/config/acme`

function mountIn(id: string): string {
  const [, mount] = /^(.+)\/config\/acme$/.exec(id) ?? []
  if (mount === undefined)
    throw invalid([{ field: ["id"], detail: `id of ACME settings must be MOUNT/config/acme, not "${id}"` }])
  return mount
}

async function found(engine: Engine, mount: string): Promise<ObservedPkiAcmeConfig | undefined> {
  try {
    return observedPkiAcmeConfig(mount, await engine.pki(mount).settings.acme())
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}
