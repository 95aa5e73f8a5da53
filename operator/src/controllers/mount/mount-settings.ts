// Settings below a mount: URLs, CRLs, automatic tidying, ACME and EST.
import { type Engine, isEngineError } from "@chancery/engine"
import { mountSettingsParts } from "@chancery/engine/declared"
import type { CertificateRoleSpec } from "../../api/certificate-role.ts"
import type { MountObjectSpec, MountSettings } from "../../api/mount.ts"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"
import type { ObjectStore } from "../../kube/object-store.ts"
import { engineRoleName } from "../certificate-role/certificate-roles.ts"
import { differencesOf } from "../declared-object.ts"
import { stalled, waiting } from "../reconcile-result.ts"
import type { Difference } from "../workspace/drift.ts"
import { mountOf } from "./mount-references.ts"

export type SettingsPartName = keyof typeof mountSettingsParts

export const settingsPartNames = Object.keys(mountSettingsParts) as readonly SettingsPartName[]

export interface PartSync {
  readonly engine: Engine
  readonly spec: MountObjectSpec
  /** Changes what differs. */
  readonly mayChange: boolean
  readonly beforeChange?: () => Promise<void>
}

/** Compares one part, and changes it if allowed. Returns the differences that it found. */
export async function syncPart(
  { engine, spec, mayChange, beforeChange }: PartSync,
  name: SettingsPartName,
): Promise<readonly Difference[]> {
  const wanted = spec[name]
  if (wanted === undefined) return []
  const part = mountSettingsParts[name]
  const observed = await part.observe(engine, spec.path)
  const changed = part.diff(wanted, observed)
  if (changed.length === 0) return []
  if (mayChange) {
    await beforeChange?.()
    try {
      await part.save(engine, spec.path, Object.fromEntries(changed.map((one) => [one, wanted[one]])))
    } catch (error) {
      if (!isEngineError(error, "invalid")) throw error
      const faults = error.faults.map(({ field = [], detail }) => `spec.${[name, ...field].join(".")}: ${detail}`)
      throw stalled("InvalidSpec", faults.join("; "))
    }
  }
  return differencesOf(changed, wanted, observed, `${name}.`)
}

/** Interval for checking whether a role or an issuer exists now, since another client may create it without a notification. */
const missingPollMs = 60_000

/** Parts that name roles or issuers, which other objects create in the mount. */
export const namingParts = ["acme", "est"] as const
export type NamingPart = (typeof namingParts)[number]

export interface NamedObjects {
  readonly roles: Pick<ObjectStore, "by">
  readonly authorities: Pick<ObjectStore, "by">
}

/** Throws if the part names a role or an issuer that does not exist, because the engine would reject all of its settings. */
export async function rejectMissingNames(
  { roles, authorities }: NamedObjects,
  object: KubernetesObject,
  { engine, spec }: Pick<PartSync, "engine" | "spec">,
  part: NamingPart,
): Promise<void> {
  const { path } = spec
  const named = namesIn[part](spec[part] ?? {})
  const [place = ""] = mountOf(object)
  for (const name of named.roles) {
    if (await exists(() => engine.pki(path).roles.get(name))) continue
    const isDeclared = roles.by("mount", place).some((one) => engineRoleName(specOf(one), one) === name)
    const message = `spec.${part} names the role ${name}, which ${path} does not have yet.`
    throw isDeclared ? waiting("RoleNotReady", message, missingPollMs) : stalled("RoleMissing", message, missingPollMs)
  }
  for (const name of named.issuers) {
    if (await exists(() => engine.pki(path).issuers.certificate(name))) continue
    const message = `spec.${part} names the issuer ${name}, which ${path} does not have yet.`
    throw authorities.by("mount", place).length > 0
      ? waiting("IssuerNotReady", message, missingPollMs)
      : stalled("IssuerMissing", message, missingPollMs)
  }
}

interface Names {
  readonly roles: readonly string[]
  readonly issuers: readonly string[]
}

interface AcmeNames {
  readonly defaultDirectoryPolicy?: string
  readonly allowedRoles?: readonly string[]
  readonly allowedIssuers?: readonly string[]
}

interface EstNames {
  readonly defaultPathPolicy?: string
  readonly labelToPathPolicy?: Readonly<Record<string, string>>
}

const namesIn: Readonly<Record<NamingPart, (settings: MountSettings) => Names>> = {
  acme: (settings) => {
    const { defaultDirectoryPolicy = "", allowedRoles = [], allowedIssuers = [] } = settings as AcmeNames
    return {
      roles: distinct([...allowedRoles, ...roleIn(defaultDirectoryPolicy)]).filter(isName),
      issuers: allowedIssuers.filter(isName),
    }
  },
  est: (settings) => {
    const { defaultPathPolicy = "", labelToPathPolicy = {} } = settings as EstNames
    return { roles: distinct([defaultPathPolicy, ...Object.values(labelToPathPolicy)].flatMap(roleIn)), issuers: [] }
  },
}

const distinct = (names: readonly string[]): readonly string[] => [...new Set(names)]

/** Returns the role of a policy such as `role:web`. */
const roleIn = (policy: string): readonly string[] => {
  const [, role] = /^role:(.+)$/.exec(policy) ?? []
  return role === undefined ? [] : [role]
}

const isName = (name: string): boolean => name !== "*"

const specOf = (object: KubernetesObject): Pick<CertificateRoleSpec, "name"> => object["spec"] ?? {}

async function exists(find: () => Promise<unknown>): Promise<boolean> {
  try {
    await find()
    return true
  } catch (error) {
    if (isEngineError(error, "not-found")) return false
    throw error
  }
}
