// Dependencies of the services of a mount, and the authorization check that each of their methods begins with.
import { authorizePath, type Capability } from "../core/access.ts"
import type { RecordKeyUse } from "../core/audit.ts"
import type { CacheVersions } from "../core/cache-versions.ts"
import type { Caller } from "../core/caller.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import type { EntityNameRepository } from "../organizations/entity-name.ts"
import type { IdentityRepository } from "../organizations/authentication.ts"
import type { TeamRepository } from "../organizations/team.ts"
import type { UserRepository } from "../organizations/user.ts"
import type { KeyGenerator } from "../x509/key-generation.ts"
import type { WeakKeyList } from "../x509/weak-key-list.ts"
import type { AuthMethodRepository } from "../access/logins/auth-method.ts"
import type { PolicyRepository } from "../access/policies/policy.ts"
import type { ServiceTokenRepository } from "../access/service-tokens/service-token-repository.ts"
import type { MountSnapshots } from "./mounts/mount-snapshots.ts"
import type { MountVersionRepository } from "./mounts/mount-snapshot.ts"
import type { CertificateRepository } from "./issuance/certificate.ts"
import type { CrlPublisher } from "./crl/crl-publisher.ts"
import type { CrlRepository } from "./crl/crl-repository.ts"
import type { EnrolmentRepository } from "./enrolments/enrolment-repository.ts"
import type { PolicyClient, PolicyServiceActivity } from "./external-policy/external-policy.ts"
import type { EstLabelRepository } from "./est/est-label-repository.ts"
import type { IssuerRepository } from "./issuers/issuer.ts"
import type { BlockedKeyRepository } from "./keys/blocked-key.ts"
import type { CaKeyStore } from "./keys/key.ts"
import type { SigningKeys } from "./keys/signing-keys.ts"
import type { LeaseRepository } from "../access/leases/lease.ts"
import type { MountDirectory } from "./mounts/mount-directory.ts"
import { mountPathOf, type MountRepository } from "./mounts/mount.ts"
import type { CachedResponders } from "./ocsp/cached-responders.ts"
import type { OcspCache } from "./ocsp/ocsp-cache.ts"
import type { OcspMetrics } from "./ocsp/ocsp-metrics.ts"
import type { RevocationRepository } from "./revocation/revocation.ts"
import type { RoleRepository } from "./roles/role.ts"
import type { MountSettingsRepository } from "./mounts/mount-settings.ts"
import type { StatisticsRepository } from "./statistics/mount-statistics.ts"
import type { TidyRunRepository } from "./tidy/tidy-run.ts"

/** Repositories that the services of a mount use. */
export interface PkiRepositories {
  readonly mounts: MountRepository
  readonly authorities: MountVersionRepository
  readonly caKeys: CaKeyStore
  readonly blockedKeys: BlockedKeyRepository
  readonly issuers: IssuerRepository
  readonly roles: RoleRepository
  readonly mountSettings: MountSettingsRepository
  readonly certificates: CertificateRepository
  readonly revocations: RevocationRepository
  readonly crls: CrlRepository
  readonly tidyRuns: TidyRunRepository
  readonly statistics: StatisticsRepository
  readonly certificateLeases: LeaseRepository
  readonly enrolments: EnrolmentRepository
  readonly entityNames: EntityNameRepository
  readonly users: UserRepository
  readonly teams: TeamRepository
  readonly serviceTokens: ServiceTokenRepository
  readonly identity: IdentityRepository
  readonly estLabels: EstLabelRepository
  readonly authMethods: Pick<AuthMethodRepository, "list">
  readonly policies: Pick<PolicyRepository, "find">
}

/** Dependencies that the services of all mounts and callers share. */
export interface PkiContext<Repositories extends PkiRepositories = PkiRepositories> {
  readonly storage: Storage<Repositories>
  readonly runtime: Runtime
  readonly cacheVersions: CacheVersions
  readonly mountDirectory: MountDirectory
  readonly mountSnapshots: MountSnapshots
  readonly signingKeys: SigningKeys
  readonly keyGenerator: KeyGenerator
  readonly weakKeys: WeakKeyList
  readonly policyClient: PolicyClient
  readonly policyServiceActivity: PolicyServiceActivity
  readonly crlPublisher: CrlPublisher
  /** Starts a job at once, by its name, to do work that a request left to it. */
  readonly wakeJob: (name: string) => void
  readonly ocspCache: OcspCache
  readonly ocspMetrics: OcspMetrics
  readonly ocspResponders: CachedResponders
}

/** Access of one caller to one mount. The mount may not exist; functions that read it throw `not-found`. */
export interface MountAccess<Repositories extends PkiRepositories = PkiRepositories> {
  readonly context: PkiContext<Repositories>
  /** Path without a "/" at either end. */
  readonly mountPath: string
  readonly caller: Caller
  /** Records each use of a key before its signature is made (`auditedSigningKey`). */
  readonly recordKeyUse: RecordKeyUse
}

/** Returns the access of a caller to a mount. The path may have a "/" at either end. */
export function mountAccess<Repositories extends PkiRepositories>(
  context: PkiContext<Repositories>,
  mountPath: string,
  caller: Caller,
  recordKeyUse: RecordKeyUse,
): MountAccess<Repositories> {
  return { context, mountPath: mountPathOf(mountPath), caller, recordKeyUse }
}

/** Checks the policies of the caller for a path relative to the mount. Throws `EngineError("forbidden")`. */
export function authorizeOnMount(
  { caller, mountPath: mount }: Pick<MountAccess, "caller" | "mountPath">,
  capability: Capability | readonly Capability[],
  path: string,
  { sudo = false }: { readonly sudo?: boolean } = {},
): void {
  authorizePath(caller, { mount, path, capability, sudo })
}
