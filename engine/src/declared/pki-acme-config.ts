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
import type { Changes, Created, DeclaredResource, Definition } from "./declared-resource.ts"
import { declaredFaults, mountMember, mountMemberFaults } from "./pki-words.ts"
import { diffMembers, type InForce, member, type SpecOf, validator, withDefaults } from "./members.ts"
import { duration, flag, integer, oneOf, orderedTexts, text, texts } from "./types.ts"

/** A mount, and how ACME is served there. */
export const observedPkiAcmeConfig = (mount: string, settings: AcmeSettings) => ({
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

const members = {
  mount: mountMember,
  enabled: member(
    flag,
    "Serve ACME. Requires `clusterPath` and the response headers `Location`, `Replay-Nonce` and `Link` on the mount.",
    { default: defaults.enabled },
  ),
  allowedIssuers: member(texts(), "Issuers that directories may name, by id or name. `*` stands for every issuer.", {
    default: defaults.allowedIssuers,
  }),
  allowedRoles: member(texts(), "Roles that directories and profiles may name. `*` stands for every role.", {
    default: defaults.allowedRoles,
  }),
  allowRoleExtKeyUsage: member(flag, "Use the extended key usages of the role instead of `serverAuth` alone.", {
    default: defaults.allowRoleExtKeyUsage,
  }),
  defaultDirectoryPolicy: member(
    text,
    "Policy of directories without a role: `sign-verbatim`, `role:NAME`, `external-policy`, `external-policy:POLICY` or `forbid`.",
    { default: defaults.defaultDirectoryPolicy },
  ),
  dnsResolver: member(text, "DNS server for validation, as `address` or `address:port`.", {
    default: defaults.dnsResolver,
    defaultText: "the system's resolver",
  }),
  eabPolicy: member(oneOf(...eabPolicies), "Accounts that need an external account binding (`AcmeEab`).", {
    default: defaults.eabPolicy,
  }),
  maxTtl: member(duration, "Maximum lifetime of ACME certificates.", {
    default: defaults.maxTtl,
    defaultText: "`90d` (also if `0s`)",
  }),
  challengePermittedIpRanges: member(texts(), "Non-public address ranges (CIDR) that validation may reach.", {
    default: defaults.challengePermittedIpRanges,
    defaultText: "none",
  }),
  challengeExcludedIpRanges: member(
    texts(),
    "Address ranges (CIDR) that validation may never reach, permitted or not.",
    { default: defaults.challengeExcludedIpRanges, defaultText: "none" },
  ),
  caaIdentities: member(texts(), "Names of this authority in CAA records.", {
    default: defaults.caaIdentities,
    defaultText: "none, CAA records are not checked",
  }),
  termsOfService: member(text, "URL of the terms of service that new accounts must agree to.", {
    default: defaults.termsOfService,
    defaultText: "none",
  }),
  website: member(text, "URL of a page about this authority.", { default: defaults.website, defaultText: "none" }),
  ordersPerAccount: member(integer, "Limit of new orders for one account in 3 hours. 0: no limit.", {
    default: defaults.ordersPerAccount,
  }),
  ordersPerName: member(integer, "Limit of certificates for one name in 7 days, across all accounts. 0: no limit.", {
    default: defaults.ordersPerName,
  }),
  accountsPerAddress: member(integer, "Limit of new accounts from one address in 3 hours. 0: no limit.", {
    default: defaults.accountsPerAddress,
  }),
  failedValidations: member(integer, "Limit of failed validations of one account and name in an hour. 0: no limit.", {
    default: defaults.failedValidations,
  }),
  directoryLimits: member(
    orderedTexts(),
    "Limits of single directories, such as `roles/web/acme orders_per_account=100`; `*` matches one path segment.",
    { default: defaults.directoryLimits },
  ),
}

/** How a mount serves ACME (specification 2.4). `maxTtl` is text such as `720h`; `0s` is 90 days. */
export type PkiAcmeConfigSpec = SpecOf<typeof members>

/** Every setting as it is in force. */
export type ObservedPkiAcmeConfig = InForce<typeof members>

/** Every mount has these settings: they are changed, and in the end go back. Its id is `MOUNT/config/acme`. */
export const pkiAcmeConfigResource: DeclaredResource<PkiAcmeConfigSpec, ObservedPkiAcmeConfig> & Definition = {
  name: "acmeConfig",
  description: "ACME settings of a mount. Deleting the resource disables ACME. Its id is `MOUNT/config/acme`.",
  argsDescription:
    "ACME settings of a mount. A setting that the program never declared is not managed. A setting removed from the program returns to its default.",
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

const memberOf = (inside: string): string | undefined => {
  const member = inside.replace(/Ms$/, "")
  return member in members ? member : undefined
}

const validate = validator<PkiAcmeConfigSpec>(members, (known) => [
  ...(known.mount === undefined ? [] : mountMemberFaults("mount", known.mount)),
  ...declaredFaults(settingsFaults({ ...defaultAcmeSettings, ...settingsOf(known) }), memberOf),
])

function diff(spec: PkiAcmeConfigSpec, observed: ObservedPkiAcmeConfig, dropped: readonly string[] = []): Changes {
  return diffMembers(members, spec, observed, dropped)
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
  const wanted = withDefaults(members, spec, dropped)
  const { changed } = diff(spec, observed, dropped)
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
  const faults = validate({ ...spec })
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
  // The answer to a change leaves settings out (specification 4.2).
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
