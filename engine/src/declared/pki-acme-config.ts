import { type Fault, invalid, isEngineError } from "../core/errors.ts"
import { formatDuration, parseDuration } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import { initialMountConfig, mountPathOf } from "../pki/mount.ts"
import { roleDefaults } from "../pki/roles/role.ts"
import {
  type AcmeSettings,
  acmeSettingsFaults,
  defaultAcmeSettings,
  eabPolicies,
  parseDirectoryPolicy,
} from "../pki/settings/acme-settings.ts"
import type { Changes, Created, DeclaredResource, Values } from "./declared-resource.ts"
import { integer } from "./certificate-members.ts"
import { declaredFaults, durationFaults, mountMemberFaults, sameMountPath } from "./pki-words.ts"
import { differing, sameDuration, sameSet, type SameValue } from "./same-value.ts"
import * as shapes from "./spec-shape.ts"

const texts = shapes.list(shapes.text().filled()).optional()

const shape = shapes.members({
  mount: shapes.text(),
  enabled: shapes.flag().optional(),
  allowedIssuers: texts,
  allowedRoles: texts,
  allowRoleExtKeyUsage: shapes.flag().optional(),
  defaultDirectoryPolicy: shapes.text().optional(),
  dnsResolver: shapes.text().optional(),
  eabPolicy: shapes.oneOf(eabPolicies).optional(),
  maxTtl: shapes.text().optional(),
  challengePermittedIpRanges: texts,
  challengeExcludedIpRanges: texts,
  caaIdentities: texts,
  termsOfService: shapes.text().optional(),
  website: shapes.text().optional(),
  ordersPerAccount: integer,
  ordersPerName: integer,
  accountsPerAddress: integer,
  failedValidations: integer,
  directoryLimits: texts,
})

/** ACME settings of a mount. `maxTtl` is a duration such as `720h`; `0s` means 90 days. */
export type PkiAcmeConfigSpec = Readonly<shapes.Of<typeof shape>>

/** Every setting as it is in force. */
export type ObservedPkiAcmeConfig = Readonly<{
  [Name in keyof PkiAcmeConfigSpec]-?: Exclude<PkiAcmeConfigSpec[Name], undefined>
}>

/** Every mount has these settings: they are changed, and in the end go back. Its id is `MOUNT/config/acme`. */
export const pkiAcmeConfigResource: DeclaredResource<PkiAcmeConfigSpec, ObservedPkiAcmeConfig> = {
  memberNames: Object.keys(shape.members),
  validate: pkiAcmeConfigFaults,
  diff: changes,
  observe: (engine, id) => found(engine, mountIn(id)),
  create,
  update,
  delete: remove,
}

const memberOf = (inside: string): string | undefined => {
  const member = inside.replace(/Ms$/, "")
  return member in shape.members ? member : undefined
}

function pkiAcmeConfigFaults(spec: Values, open: ReadonlySet<string> = new Set()): readonly Fault[] {
  const faults = [...shapes.faultsOf(shape, spec, open), ...durationFaults("maxTtl", spec["maxTtl"])]
  const unsaid = new Set([...open, ...faults.map(({ field }) => String(field?.[0]))])
  // A member of the wrong type is refused already, and no rule can read it.
  const known = Object.fromEntries(
    Object.entries(spec).filter(([name]) => !unsaid.has(name)),
  ) as Partial<PkiAcmeConfigSpec>
  return [
    ...faults,
    ...(known.mount === undefined ? [] : mountMemberFaults("mount", known.mount)),
    ...declaredFaults(settingsFaults({ ...defaultAcmeSettings, ...settingsOf(known) }), memberOf).filter(
      ({ field }) => !unsaid.has(String(field?.[0])),
    ),
  ]
}

/** Only the mount knows which roles and issuers it has, and whether it can serve ACME. */
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

function settingsOf({ mount: _mount, maxTtl, ...others }: Partial<PkiAcmeConfigSpec>): Partial<AcmeSettings> {
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined))
  return { ...given, ...(maxTtl === undefined ? {} : { maxTtlMs: parseDuration(maxTtl) ?? 0 }) }
}

const rules: Readonly<Partial<Record<keyof PkiAcmeConfigSpec, SameValue>>> = {
  mount: sameMountPath,
  allowedIssuers: sameSet,
  allowedRoles: sameSet,
  maxTtl: sameDuration,
  challengePermittedIpRanges: sameSet,
  challengeExcludedIpRanges: sameSet,
  caaIdentities: sameSet,
}

/** A mount, and how ACME is served there. */
export const observedPkiAcmeConfig = (mount: string, settings: AcmeSettings): ObservedPkiAcmeConfig => ({
  mount,
  enabled: settings.enabled,
  allowedIssuers: [...settings.allowedIssuers],
  allowedRoles: [...settings.allowedRoles],
  allowRoleExtKeyUsage: settings.allowRoleExtKeyUsage,
  defaultDirectoryPolicy: settings.defaultDirectoryPolicy,
  dnsResolver: settings.dnsResolver,
  eabPolicy: settings.eabPolicy,
  maxTtl: formatDuration(settings.maxTtlMs),
  challengePermittedIpRanges: [...settings.challengePermittedIpRanges],
  challengeExcludedIpRanges: [...settings.challengeExcludedIpRanges],
  caaIdentities: [...settings.caaIdentities],
  termsOfService: settings.termsOfService,
  website: settings.website,
  ordersPerAccount: settings.ordersPerAccount,
  ordersPerName: settings.ordersPerName,
  accountsPerAddress: settings.accountsPerAddress,
  failedValidations: settings.failedValidations,
  directoryLimits: [...settings.directoryLimits],
})

const { mount: _none, ...defaults } = observedPkiAcmeConfig("", defaultAcmeSettings)

const withDefaults = (spec: PkiAcmeConfigSpec, dropped: readonly string[]): PkiAcmeConfigSpec => ({
  ...Object.fromEntries(Object.entries(defaults).filter(([name]) => dropped.includes(name))),
  ...spec,
})

function changes(spec: PkiAcmeConfigSpec, observed: ObservedPkiAcmeConfig, dropped: readonly string[] = []): Changes {
  const changed = differing(withDefaults(spec, dropped), observed, rules)
  return { changed, mustReplace: changed.filter((name) => name === "mount") }
}

async function create(engine: Engine, spec: PkiAcmeConfigSpec): Promise<Created<ObservedPkiAcmeConfig>> {
  refuse(spec)
  const mount = mountPathOf(spec.mount)
  return { id: acmeConfigId(mount), observed: await saved(engine, mount, settingsOf(spec)), adopted: false }
}

async function update(
  engine: Engine,
  id: string,
  spec: PkiAcmeConfigSpec,
  observed: ObservedPkiAcmeConfig,
  dropped: readonly string[] = [],
): Promise<ObservedPkiAcmeConfig> {
  refuse(spec)
  const wanted = withDefaults(spec, dropped)
  const { changed } = changes(spec, observed, dropped)
  if (changed.length === 0) return observed
  const sent = Object.fromEntries(changed.map((name) => [name, wanted[name as keyof PkiAcmeConfigSpec]]))
  return saved(engine, mountIn(id), settingsOf(sent))
}

/** What was declared goes back; and nothing is served any more, since without it strangers might be let in. */
async function remove(engine: Engine, id: string, spec: Partial<PkiAcmeConfigSpec>): Promise<void> {
  const declared = Object.fromEntries(Object.entries(defaults).filter(([name]) => name in spec))
  const mount = mountIn(id)
  try {
    await engine.pki(mount).settings.changeAcme({ ...settingsOf(declared), enabled: false })
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
  }
}

/** What only became known since it was checked. */
function refuse(spec: PkiAcmeConfigSpec): void {
  const faults = pkiAcmeConfigFaults(spec)
  if (faults.length > 0) throw invalid(faults)
}

async function saved(engine: Engine, mount: string, patch: Partial<AcmeSettings>): Promise<ObservedPkiAcmeConfig> {
  const { settings } = engine.pki(mount)
  try {
    await settings.changeAcme(patch)
  } catch (error) {
    if (isEngineError(error, "invalid")) throw invalid(declaredFaults(error.faults, memberOf))
    throw error
  }
  // The answer to a change lacks some settings.
  return observedPkiAcmeConfig(mount, await settings.acme())
}

export const acmeConfigId = (mount: string): string => `${mount}/config/acme`

function mountIn(id: string): string {
  const [, mount] = /^(.+)\/config\/acme$/.exec(id) ?? []
  if (mount === undefined)
    throw invalid([{ field: ["id"], detail: `id of how a mount serves ACME must be MOUNT/config/acme, not "${id}"` }])
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
