// Snapshot of the mount configuration that an issuance reads, loaded in one query and cached under its version
// (docs/decisions/cache-versions.md). The snapshot is immutable: it shows the mount as of that version.
import { EngineError, unprocessable } from "../../core/errors.ts"
import type { KeyId } from "../../core/ids.ts"
import type { CaKey, CaKeyStore } from "../keys/key.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import type { IssuerRepository, IssuerUsage } from "../issuers/issuer.ts"
import type { Mount, MountId } from "./mount.ts"
import type { Role, RoleRepository } from "../roles/role.ts"
import { defaultReference } from "../names/reference-name.ts"
import { shown } from "../policy/violation.ts"
import type { MountSettings, MountSettingsRepository } from "./mount-settings.ts"

export interface MountVersionRepository {
  /** Returns a number that changes with every row that a snapshot is loaded from, the mount included. */
  cacheVersion(mountId: MountId): Promise<number>
  /** Returns the versions of the mount and of the table of mounts in one query. */
  cacheVersions(mountId: MountId): Promise<{ readonly mounts: number; readonly authority: number }>
}

export interface MountSnapshotRepositories {
  readonly authorities: MountVersionRepository
  readonly caKeys: CaKeyStore
  readonly issuers: IssuerRepository
  readonly roles: RoleRepository
  readonly mountSettings: MountSettingsRepository
}

export interface MountSnapshot {
  readonly version: number
  readonly mount: Mount
  /** Ordered by creation time. */
  readonly issuers: readonly ParsedIssuer[]
  readonly keys: ReadonlyMap<KeyId, CaKey>
  readonly roles: ReadonlyMap<string, Role>
  readonly settings: MountSettings
}

/** Finds an issuer by id, by name, or by the literal `default`. */
export function findIssuer(snapshot: MountSnapshot, reference: string): ParsedIssuer | undefined {
  const { issuers, settings } = snapshot
  const id = reference === defaultReference ? settings.issuers.default : reference
  if (id === null) return undefined
  return issuers.find((issuer) => issuer.id === id) ?? issuers.find((issuer) => issuer.name === id)
}

/** Throws `EngineError("not-found")` naming the reference, because the issuers of a mount are not secret. */
export function issuerOf(snapshot: MountSnapshot, reference: string): ParsedIssuer {
  const issuer = findIssuer(snapshot, reference)
  if (issuer !== undefined) return issuer
  throw reference === defaultReference
    ? unprocessable("no default issuer currently configured")
    : new EngineError("not-found", `unable to find PKI issuer for reference: ${shown(reference)}`)
}

export function findKey({ keys, settings }: MountSnapshot, reference: string): CaKey | undefined {
  const id = reference === defaultReference ? settings.keys.default : reference
  if (id === null) return undefined
  const all = [...keys.values()]
  return all.find((key) => key.id === id) ?? all.find((key) => key.name === id)
}

/** Finds a key by id, by name, or by the literal `default`. Throws `EngineError("not-found")` naming the reference. */
export function keyOf(snapshot: MountSnapshot, reference: string): CaKey {
  const key = findKey(snapshot, reference)
  if (key !== undefined) return key
  throw reference === defaultReference
    ? unprocessable("no default key currently configured")
    : new EngineError("not-found", `unable to find PKI key for reference: ${shown(reference)}`)
}

export function rejectUnusable(issuer: ParsedIssuer, usage: IssuerUsage): void {
  const named = issuer.name ?? issuer.id
  if (!issuer.settings.usage.includes(usage))
    throw unprocessable(
      `requested usage ${usage} for issuer [${named}] but only had usage ${issuer.settings.usage.join(",")}`,
    )
  if (issuer.keyId === null) throw unprocessable(`issuer [${named}] has no key in this mount, so it cannot sign`)
  if (usage === "issuing-certificates" && issuer.revokedAt !== null)
    throw unprocessable(`issuer [${named}] is revoked and cannot issue certificates`)
}
