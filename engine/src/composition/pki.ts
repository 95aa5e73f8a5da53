// Certificates, and the policies, service tokens and logins that give access to them.
import { availableParallelism } from "node:os"
import { kubernetesTokenReviewer, podAccount } from "../client/outgoing/pod-account.ts"
import { webhookPolicyClient } from "../client/outgoing/policy-client.ts"
import type { AuditTrail } from "../core/audit.ts"
import type { Caller } from "../core/caller.ts"
import type { Exclusively } from "../core/leases.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Signer } from "../core/signing.ts"
import { systemTimers } from "../core/timers.ts"
import { openPasswordHashing } from "../jobs/password-hashing.ts"
import { openRsaKeys } from "../jobs/rsa-keys.ts"
import { PolicyService } from "../access/policies/policy-service.ts"
import { ServiceTokenService } from "../access/service-tokens/service-token-service.ts"
import { TokenRoleService } from "../access/service-tokens/token-role-service.ts"
import { MountSnapshots } from "../pki/mounts/mount-snapshots.ts"
import type { FilingRanges } from "../pki/issuance/certificate-partitions.ts"
import { createEstMetrics, type EstMetrics } from "../pki/est/est-metrics.ts"
import { type EstLogins, EstService } from "../pki/est/est-service.ts"
import { CertificateInventoryService } from "../pki/issuance/certificate-inventory-service.ts"
import { createCrlMetrics } from "../pki/crl/crl-metrics.ts"
import { CrlPublisher } from "../pki/crl/crl-publisher.ts"
import { PolicyServiceActivity } from "../pki/external-policy/external-policy.ts"
import { BlockedKeyService } from "../pki/keys/blocked-key-service.ts"
import { storedSigningKeys } from "../pki/keys/signing-keys.ts"
import { LeaseService } from "../access/leases/lease-service.ts"
import { appRoleMethod } from "../access/approle/app-role-login-service.ts"
import { AuthMethodDirectory } from "../access/logins/auth-method-directory.ts"
import { AuthMethodService } from "../access/logins/auth-method-service.ts"
import { FailedLoginLimit } from "../access/logins/failed-login-limit.ts"
import { createLoginMetrics, type LoginMetrics } from "../access/logins/login-metrics.ts"
import { LockedUserService } from "../access/userpass/locked-user-service.ts"
import type { PasswordHasher } from "../access/userpass/password-hasher.ts"
import { UserpassVerifier, userpassMethod } from "../access/userpass/userpass-login-service.ts"
import { type CertificateChecks, certificateChecks } from "../access/certificates/certificate-checks.ts"
import {
  assertBoundRenewal,
  CertificateLoginService,
  verifyCertificateLogin,
} from "../access/certificates/certificate-login-service.ts"
import { KubernetesLoginService } from "../access/kubernetes/kubernetes-login-service.ts"
import type { ReadPodAccount, TokenReviewer } from "../access/kubernetes/token-reviewer.ts"
import { MountDirectory } from "../pki/mounts/mount-directory.ts"
import { MountService } from "../pki/mounts/mount-service.ts"
import { MountedPki } from "../pki/mounts/mounted.ts"
import { CachedResponders } from "../pki/ocsp/cached-responders.ts"
import { OcspCache } from "../pki/ocsp/ocsp-cache.ts"
import { createOcspMetrics } from "../pki/ocsp/ocsp-metrics.ts"
import { mountAccess, type PkiContext } from "../pki/pki-context.ts"
import { type AuthorityFigures, FigureBoard } from "../pki/statistics/mount-metrics.ts"
import { createTidyMetrics, type TidyMetrics } from "../pki/tidy/tidy-metrics.ts"
import { VisibleMountService } from "../pki/mounts/visible-mounts.ts"
import type { Database } from "../storage/sql/database.ts"
import { filingRangesOver } from "../storage/partitions/certificate-partitions.ts"
import { type Repositories, repositoriesOver } from "../storage/repositories/repositories.ts"
import { tracedKeyGenerator, tracedSigningKeys } from "../telemetry/traced-keys.ts"
import { keyGenerator } from "../x509/key-generation.ts"
import { noWeakKeys } from "../x509/weak-key-list.ts"
import type { Parts } from "./options.ts"
import type { FetchFrom } from "./outgoing.ts"
import type { StorageContext } from "./storage.ts"

/** Passwords that are hashed at once, each with 16 MiB of memory. All other work of the server keeps most of the processors. */
const passwordThreads = 2
/** Some seconds of work. A login that waits longer helps no client. */
const maxWaitingPasswords = 30

export interface PkiParts extends PkiContext<Repositories> {
  readonly authMethodDirectory: AuthMethodDirectory
  readonly certificateChecks: CertificateChecks
  readonly reviewToken: TokenReviewer
  readonly readPodAccount: ReadPodAccount
  readonly passwordHasher: PasswordHasher
  readonly failedLoginLimit: FailedLoginLimit
  readonly loginMetrics: LoginMetrics
  readonly estMetrics: EstMetrics
  readonly figures: FigureBoard
  readonly tidyMetrics: TidyMetrics
  readonly filingRanges: FilingRanges
  /** Computes HMACs of ACME nonces and of AppRole secret ids. */
  readonly signer: Signer
}

export function composePki(
  { storage, database, cacheVersions }: StorageContext,
  {
    exclusively,
    fetchFrom,
    signer,
    wakeJob,
  }: {
    /** Runs work on one server at a time. */
    readonly exclusively: Exclusively
    readonly fetchFrom: FetchFrom
    readonly signer: Signer
    /** Starts a job by name at once. */
    readonly wakeJob: (name: string) => void
  },
  { options, runtime, timers, meter, opening }: Parts,
): PkiParts {
  const { tracer } = runtime
  const rsaKeys = opening.use(
    openRsaKeys({
      threadCount: Math.max(2, availableParallelism()),
      timers,
      ...(options.rsaKeyStock && { stock: options.rsaKeyStock }),
    }),
  )
  const storedKeys = storedSigningKeys(storage)
  const signingKeys = tracer === undefined ? storedKeys : tracedSigningKeys(storedKeys, tracer)
  const ownGenerator = options.keyGenerator ?? keyGenerator(rsaKeys)
  const mountDirectory = new MountDirectory(storage, cacheVersions)
  const mountSnapshots = new MountSnapshots()
  const { clock, log } = runtime
  return {
    storage,
    runtime,
    cacheVersions,
    mountDirectory,
    mountSnapshots,
    authMethodDirectory: new AuthMethodDirectory(storage, cacheVersions),
    signingKeys,
    keyGenerator: tracer === undefined ? ownGenerator : tracedKeyGenerator(ownGenerator, tracer),
    weakKeys: options.weakKeys ?? noWeakKeys,
    policyClient: webhookPolicyClient(fetchFrom("policy service", true)),
    policyServiceActivity: new PolicyServiceActivity(),
    certificateChecks: certificateChecks(fetchFrom("revocation service", false), runtime),
    reviewToken: kubernetesTokenReviewer(fetchFrom("kubernetes", false)),
    readPodAccount: podAccount(options.podAccountFolder),
    passwordHasher: opening.use(
      openPasswordHashing({ timers, threadCount: passwordThreads, maxWaiting: maxWaitingPasswords, meter }),
    ),
    failedLoginLimit: new FailedLoginLimit(clock),
    loginMetrics: createLoginMetrics(meter),
    estMetrics: createEstMetrics(meter),
    crlPublisher: new CrlPublisher({
      storage,
      clock,
      timers,
      exclusively,
      signingKeys,
      metrics: createCrlMetrics(meter),
      log,
    }),
    ocspMetrics: createOcspMetrics(meter),
    figures: new FigureBoard({ storage, mountDirectory, mountSnapshots, runtime, timers }),
    ocspCache: new OcspCache(),
    ocspResponders: new CachedResponders(),
    tidyMetrics: createTidyMetrics(meter),
    filingRanges: filingRangesOver(database),
    signer,
    wakeJob,
  }
}

const estLoginsOver = (context: PkiParts): EstLogins => ({
  userpass: ({ path }, credentials, from) => new UserpassVerifier(context, path).verifyUserpassLogin(credentials, from),
  cert: ({ path }, { role, clientCertificate }, from) =>
    verifyCertificateLogin(context, path, { name: role }, { clientCertificate, remoteAddress: from }),
})

interface PkiRequest {
  readonly context: PkiParts
  readonly caller: Caller
  readonly trail: AuditTrail
}

export const pkiFamilies = {
  pki:
    ({ context, caller, trail }: PkiRequest) =>
    (mountPath: string) =>
      new MountedPki(mountAccess(context, mountPath, caller, trail.keyUse)),
  mounts: ({ context: { storage, runtime, mountDirectory }, caller }: PkiRequest) =>
    new MountService(storage, runtime, mountDirectory, caller),
  certificateLogins:
    ({ context, caller }: PkiRequest) =>
    (methodPath: string) =>
      new CertificateLoginService(context, caller, methodPath),
  kubernetesLogins:
    ({ context, caller }: PkiRequest) =>
    (methodPath: string) =>
      new KubernetesLoginService(context, caller, methodPath),
  userpass:
    ({ context, caller }: PkiRequest) =>
    (methodPath: string) =>
      userpassMethod(context, methodPath, caller),
  lockedUsers: ({ context: { storage, runtime, authMethodDirectory }, caller }: PkiRequest) =>
    new LockedUserService(storage, runtime, authMethodDirectory, caller),
  est:
    ({ context, caller, trail }: PkiRequest) =>
    (mountPath: string) =>
      new EstService(mountAccess(context, mountPath, caller, trail.keyUse), {
        authMethodDirectory: context.authMethodDirectory,
        estLogins: estLoginsOver(context),
        metrics: context.estMetrics,
      }),
  leases: ({ context, caller }: PkiRequest) => new LeaseService(context, caller),
  policies: ({ context: { storage }, caller }: PkiRequest) => new PolicyService(storage, caller),
  blockedKeys: ({ context: { storage, runtime }, caller }: PkiRequest) =>
    new BlockedKeyService(storage, runtime, caller),
  certificateInventory: ({ context, caller, trail }: PkiRequest) =>
    new CertificateInventoryService(
      context.mountDirectory,
      (mountPath) => new MountedPki(mountAccess(context, mountPath, caller, trail.keyUse)).certificates,
      caller,
    ),
  serviceTokens: ({ context, caller }: PkiRequest) =>
    new ServiceTokenService(context.storage, context.runtime, caller, (method, meta, from) =>
      assertBoundRenewal(context, method, meta, from),
    ),
  tokenRoles: ({ context: { storage }, caller }: PkiRequest) => new TokenRoleService(storage, caller),
  authMethods: ({ context: { storage, runtime, authMethodDirectory }, caller }: PkiRequest) =>
    new AuthMethodService(storage, runtime, authMethodDirectory, caller),
  appRoles:
    ({ context, caller }: PkiRequest) =>
    (methodPath: string) =>
      appRoleMethod(context, methodPath, caller),
  visibleMounts: ({ context: { mountDirectory, authMethodDirectory }, caller }: PkiRequest) =>
    new VisibleMountService(mountDirectory, authMethodDirectory, caller),
}

/** Reads the figures of CAs without an engine. Signs, unseals and writes nothing. */
export function readAuthorityFigures(
  database: Pick<Database, "read" | "dialect">,
  runtime: Runtime,
): Promise<AuthorityFigures> {
  const readOnly = (): never => {
    throw new Error("reading the figures of CAs must not seal, unseal or write")
  }
  const storage = repositoriesOver(
    { ...database, readReplica: database.read, transact: readOnly },
    { seal: readOnly, open: readOnly },
    runtime.clock,
  )
  const mountDirectory = new MountDirectory(storage, { mounts: readOnly })
  const board = new FigureBoard({
    storage,
    mountDirectory,
    mountSnapshots: new MountSnapshots(),
    runtime,
    timers: systemTimers,
  })
  return board.read()
}
