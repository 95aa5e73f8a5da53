// The composition root: the only file that sees storage, services and jobs together.
import { auditLog } from "./audit/audit-log.ts"
import type { AuditTarget } from "./audit/audit-target.ts"
import { saltedHash } from "./audit/salted-hash.ts"
import type { PermittedAddresses } from "./client/address-guard.ts"
import { guardedFetch } from "./client/guarded-fetch.ts"
import { podAccount } from "./client/pod-account.ts"
import { kubernetesTokenReviewer } from "./client/token-reviewer.ts"
import { webhookPolicyClient } from "./client/policy-client.ts"
import { webhookClient } from "./client/webhook-client.ts"
import { type Audit, type AuditTrail, noAudit } from "./core/audit.ts"
import { availableParallelism } from "node:os"
import type { Caller } from "./core/caller.ts"
import { ownDiscovery } from "./core/discovery.ts"
import type { Edition } from "./core/edition.ts"
import { newId, type OrganizationId } from "./core/ids.ts"
import type { RequestSnapshot, CacheVersions } from "./core/cache-versions.ts"
import type { Exclusively } from "./core/leases.ts"
import { type Metrics, noopMeter } from "./core/metrics.ts"
import { type Runtime, systemRuntime } from "./core/runtime.ts"
import type { Storage } from "./core/storage.ts"
import { dayMs, secondMs } from "./core/time.ts"
import { systemTimers, type Timers } from "./core/timers.ts"
import type { ServedEngine, ServingEngine } from "./engine.ts"
import type { EventOrigin } from "./events/event.ts"
import { EventFeed } from "./events/event-feed.ts"
import { EventService } from "./events/event-service.ts"
import { createFeedMetrics } from "./events/feed-metrics.ts"
import { originOf } from "./events/origin.ts"
import { sweepEvents, sweepEventsJob } from "./events/sweep-events.ts"
import { createWebhookMetrics } from "./events/webhook-metrics.ts"
import { WebhookDelivery, webhooksJob } from "./events/webhook-delivery.ts"
import { WebhookService } from "./events/webhook-service.ts"
import { exclusively } from "./jobs/exclusively.ts"
import type { Job } from "./jobs/job.ts"
import { startJobs } from "./jobs/runner.ts"
import { openRsaKeys } from "./jobs/rsa-keys.ts"
import { type Authenticate, authentication } from "./organizations/authentication.ts"
import { bootstrap } from "./organizations/bootstrap.ts"
import { OrganizationMembershipService } from "./organizations/organization-membership-service.ts"
import { OrganizationService } from "./organizations/organization-service.ts"
import { ProjectService } from "./organizations/project-service.ts"
import { SshKeyService } from "./organizations/ssh-key-service.ts"
import { SiteSettingsService } from "./organizations/site-settings-service.ts"
import { TeamProjectService } from "./organizations/team-project-service.ts"
import { TeamService } from "./organizations/team-service.ts"
import { TokenService } from "./organizations/token-service.ts"
import { tokenUses } from "./organizations/token-uses.ts"
import { UserService } from "./organizations/user-service.ts"
import { VcsConnectionService } from "./organizations/vcs-connection-service.ts"
import { noWeakKeys, type WeakKeyList } from "./x509/weak-key-list.ts"
import { CertificateInventoryService } from "./pki/certificates/inventory-service.ts"
import { BlockedKeyService } from "./pki/keys/blocked-key-service.ts"
import { PolicyService } from "./pki/access/policy-service.ts"
import { TokenRoleService } from "./pki/access/token-role-service.ts"
import { ServiceTokenService } from "./pki/access/service-token-service.ts"
import { addressBounds } from "./pki/logins/address-bounds.ts"
import { appRoleMethod } from "./pki/logins/app-role-method.ts"
import { AuthMethodDirectory, type AuthMethodTable } from "./pki/logins/auth-method-directory.ts"
import { AuthMethodService } from "./pki/logins/auth-method-service.ts"
import { sweepSecretIds, sweepSecretIdsJob } from "./pki/logins/sweep-secret-ids.ts"
import { KubernetesLoginService } from "./pki/logins/kubernetes/kubernetes-login-service.ts"
import type { ReadPodAccount, TokenReviewer } from "./pki/logins/kubernetes/token-reviewer.ts"
import { MountDirectory, type MountTable } from "./pki/mount-directory.ts"
import { MountSnapshots } from "./pki/authorities.ts"
import { type SigningKeys, storedSigningKeys } from "./pki/keys/signing-keys.ts"
import { type KeyGenerator, keyGenerator } from "./x509/key-generation.ts"
import { createCrlMetrics } from "./pki/crl/crl-metrics.ts"
import { CrlPublisher } from "./pki/crl/crl-publisher.ts"
import { refreshCrls, refreshCrlsJob } from "./pki/crl/refresh-crls.ts"
import type { FilingRanges } from "./pki/certificates/filing.ts"
import { keepRanges, keepRangesJob } from "./pki/tidy/keep-ranges.ts"
import { createTidyMetrics, type TidyMetrics } from "./pki/tidy/tidy-metrics.ts"
import { tidyJob, TidyWorker } from "./pki/tidy/tidy-mounts.ts"
import type { PolicyClient } from "./pki/external-policy/policy-client.ts"
import { PolicyServiceActivity } from "./pki/external-policy/policy-service-activity.ts"
import { HeldResponders } from "./pki/ocsp/held-responders.ts"
import { renewResponders, renewRespondersJob } from "./pki/ocsp/renew-responders.ts"
import { OcspCache } from "./pki/ocsp/ocsp-cache.ts"
import { createOcspMetrics, type OcspMetrics } from "./pki/ocsp/ocsp-metrics.ts"
import { type AuthorityFigures, FigureBoard } from "./pki/statistics/authority-figures.ts"
import { registerAuthorities } from "./pki/statistics/authority-metrics.ts"
import { countCertificates, countCertificatesJob } from "./pki/statistics/count-certificates.ts"
import { endLeases, endLeasesJob } from "./pki/leases/end-leases.ts"
import { LeaseService } from "./pki/leases/lease-service.ts"
import { MountedPki } from "./pki/mounted.ts"
import { mountAccess } from "./pki/pki-context.ts"
import { MountService } from "./pki/mount-service.ts"
import { VisibleMountService } from "./pki/visible-mounts.ts"
import { AccountBindingService } from "./acme/account-bindings.ts"
import { AccountKeys } from "./acme/account-keys.ts"
import { createAcmeMetrics } from "./acme/acme-metrics.ts"
import { AcmeService } from "./acme/acme-service.ts"
import type { AcmeTools } from "./acme/directory-service.ts"
import type { Directory } from "./acme/directory.ts"
import { ManagedAccountService, ManagedOrderService } from "./acme/managed-accounts.ts"
import type { AcmeManagement } from "./acme/management.ts"
import { RenewalSignalService } from "./acme/renewal-signals.ts"
import { ExpiredOrders, sweepAcme, sweepAcmeJob } from "./acme/sweep-acme.ts"
import { acmeTidySteps } from "./acme/tidy-acme.ts"
import { finalizationQueue } from "./acme/finalization-queue.ts"
import { validationQueue } from "./acme/validation-queue.ts"
import { acmeNetwork } from "./client/acme-network.ts"
import type { PostgresLimits, ReadReplicaOptions } from "./storage/backend.ts"
import { currentCacheVersions } from "./storage/cache-versions.ts"
import { type Database, openDatabase } from "./storage/database.ts"
import { filingRangesOver } from "./storage/partitions/filing-ranges.ts"
import { followSealKeys } from "./storage/follow-seal-keys.ts"
import { hmacHex, hmacSigner } from "./storage/hmac-signer.ts"
import { leasesOver } from "./storage/leases.ts"
import { defaultSealKeySources, findSealKeys, type SealKeySources } from "./storage/seal-keys.ts"
import { siteSecret } from "./storage/site-secret.ts"
import { sealedConfigurationArchive } from "./storage/configuration-archive.ts"
import { sealedRunArchive } from "./storage/run-archive.ts"
import { sealedStateArchive } from "./storage/state-archive.ts"
import { StateContents } from "./storage/state-contents.ts"
import { storesOver } from "./storage/stores.ts"
import type { Stores } from "./stores.ts"
import { tracedEngine } from "./telemetry/traced-engine.ts"
import { tracedKeyGenerator, tracedSealer, tracedSigningKeys } from "./telemetry/traced-keys.ts"
import { tracedAcmeNetwork, tracedFetch } from "./telemetry/traced-network.ts"
import { AssessmentService } from "./workspaces/assessment-service.ts"
import {
  type ConfigurationTools,
  ConfigurationUploadService,
  ConfigurationVersionService,
} from "./workspaces/configuration-version-service.ts"
import type { ConfigurationUploads } from "./workspaces/configuration-versions.ts"
import { BulkActionService } from "./workspaces/bulk-service.ts"
import { destroyWhenDue, destroyWhenDueJob } from "./workspaces/destroy-when-due.ts"
import { expireLocks, expireLocksJob } from "./workspaces/lock-expiry.ts"
import { endRunClaims, endRunClaimsJob } from "./workspaces/end-run-claims.ts"
import { forgetBulkActions, forgetBulkActionsJob } from "./workspaces/forget-bulk-actions.ts"
import { type ClaimTools, RunClaimService } from "./workspaces/run-claim-service.ts"
import { RunLogService } from "./workspaces/run-logs.ts"
import { RunService } from "./workspaces/run-service.ts"
import { defaultStateLimitBytes } from "./workspaces/state-receiving.ts"
import { type StateTools, StateTransferService, StateVersionService } from "./workspaces/state-version-service.ts"
import type { StateTransfers } from "./workspaces/state-versions.ts"
import { projectBindings } from "./tags/project-bindings.ts"
import { RemoteStateConsumerService } from "./workspaces/remote-state-consumer-service.ts"
import { AgentPoolService } from "./workspaces/agent-pool-service.ts"
import { readStates, readStatesJob } from "./workspaces/read-states.ts"
import { keepStates, stateUpkeepJob } from "./workspaces/state-upkeep.ts"
import { RetentionPolicyService } from "./workspaces/retention-policy-service.ts"
import { TagService } from "./workspaces/tag-service.ts"
import { InclusionService } from "./workspaces/inclusion-service.ts"
import { TeamWorkspaceService } from "./workspaces/team-workspace-service.ts"
import { TerraformVersionService } from "./workspaces/terraform-version-service.ts"
import { VariableService } from "./workspaces/variable-service.ts"
import { WorkspaceService } from "./workspaces/workspace-service.ts"

export interface EmbeddedOptions {
  readonly runtime?: Runtime
  /** Metrics of this engine, which its server exposes at `/metrics`. Without them nothing is recorded. */
  readonly metrics?: Metrics | undefined
  readonly edition?: Edition
  /** Where the keys are that seal secrets; the file `seal-key` beside an embedded database when left out. */
  readonly sealKeys?: SealKeySources
  /** Where private keys come from; from this process and threads of its own when left out. */
  readonly keyGenerator?: KeyGenerator
  /** How many RSA keys of which size (bits) to make while nobody waits for one, held in memory; none when left out. */
  readonly rsaKeyStock?: ReadonlyMap<number, number>
  /** Known weak RSA keys, refused like blocked ones; none by default. */
  readonly weakKeys?: WeakKeyList
  /** Whether this engine does the work that needs no request (CRLs, tidying, moving a log) when its turn comes; true when left out. */
  readonly jobs?: boolean
  /** How many reads of the store run beside each other; 4 of SQLite and 10 of PostgreSQL when left out. */
  readonly connections?: number | undefined
  /** How long a database of PostgreSQL may take over what; see there for what counts when they are left out. */
  readonly storageLimits?: PostgresLimits
  /** Standbys of a database of PostgreSQL that answer lists and counts in its place; none when left out. */
  readonly readReplicas?: ReadReplicaOptions
  /** By which jobs and patience are timed; those of the process when left out. */
  readonly timers?: Timers
  /** Where every use of an authority's key and every request to a server of this engine is recorded; nowhere when left out. */
  readonly auditLog?: {
    readonly target: AuditTarget
    /** Trusted for a syslog receiver besides those that Node trusts, PEM. */
    readonly authorities?: string | undefined
    /** Only when there is something to record. */
    readonly opensLate?: boolean
    /** Also requests that anybody may make without a token: certificates, CRLs, OCSP. */
    readonly recordsOpenReads?: boolean
  }
  /** Where the services that users name may be, besides public addresses; private networks when left out. */
  readonly outgoing?: PermittedAddresses
  readonly acme?: AcmeOptions
  /** Where Kubernetes puts the account of this server's pod; where it does so in every container when left out. */
  readonly podAccountFolder?: string
  /** The largest state that is taken; 1 GiB when left out. */
  readonly stateLimitBytes?: number
  readonly events?: EventOptions
  /** As which a store in memory begins, where tests open one after another. */
  readonly image?: Uint8Array | undefined
  /** Of tests: by so many pages the file of SQLite may grow. */
  readonly freePages?: number | undefined
}

export interface EventOptions {
  /** Whether changes are told in the feed; true when left out. */
  readonly on?: boolean
  /** How long events are kept; 7 days when left out. */
  readonly retentionMs?: number
}

export interface AcmeOptions {
  /** Whether every account needs an external binding, whatever its mount says; false when left out. */
  readonly requiresBinding?: boolean
  /** Where challenges may be answered from, besides public addresses and what a mount permits; nowhere when left out. */
  readonly permitted?: PermittedAddresses
  /** Where challenges are looked for; 80 and 443 when left out. */
  readonly httpPort?: number
  readonly tlsPort?: number
}

/** Opens the store, brings it up to date and makes sure that the user `root` exists; acts as that user. */
export async function openEmbedded(url: string, options: EmbeddedOptions = {}): Promise<ServedEngine> {
  const runtime = options.runtime ?? systemRuntime()
  const { random, log, tracer } = runtime
  const meter = options.metrics?.meter ?? noopMeter
  const timers = options.timers ?? systemTimers
  await using opening = new AsyncDisposableStack()
  const { connections, storageLimits: limits, readReplicas } = options
  const database = opening.use(
    await openDatabase(url, {
      ...runtime,
      meter,
      connections,
      limits,
      readReplicas,
      timers,
      logThread: options.jobs !== false,
      image: options.image,
      freePages: options.freePages,
    }),
  )
  await database.migrate()
  const sealKeys = options.sealKeys ?? defaultSealKeySources(url, random)
  const found = await findSealKeys(database, sealKeys, random)
  if (found.createdFile !== undefined) {
    log.warn("seal-key-created", { file: found.createdFile, advice: "keep a copy elsewhere: nothing opens without it" })
  }
  const { sealer: ownSealer } = opening.use(followSealKeys(database, sealKeys, found, { random, log, timers }))
  const sealer = tracer === undefined ? ownSealer : tracedSealer(ownSealer, tracer)
  const { events = {} } = options
  /** Those who look for events by themselves, once they are there. */
  const alsoWoken: (() => void)[] = []
  const feed =
    events.on === false
      ? undefined
      : {
          committed: (ids: ReadonlySet<OrganizationId>) => {
            eventFeed?.wake(ids)
            for (const wake of alsoWoken) wake()
          },
        }
  const storage = storesOver(database, sealer, runtime.clock, feed)
  const feedMetrics = createFeedMetrics(meter)
  const eventFeed =
    feed && new EventFeed({ storage, runtime, timers, metrics: feedMetrics, pollMs: pollMs[database.dialect] })
  if (eventFeed !== undefined) opening.defer(() => eventFeed.end())
  const cacheVersions = currentCacheVersions(database)
  const stateTools: StateTools = {
    archive: sealedStateArchive(sealer, opening.use(new StateContents(timers))),
    edition: options.edition ?? "self-hosted",
    limitBytes: options.stateLimitBytes ?? defaultStateLimitBytes,
    wakeReading: () => jobs.wake(readStatesJob.name),
    signer: hmacSigner(await siteSecret(database, "signing-key", sealer, random)),
  }
  const root = await bootstrap(storage, runtime)
  const audit =
    options.auditLog &&
    auditLog({
      target: options.auditLog.target,
      authorities: options.auditLog.authorities,
      hash: saltedHash(await siteSecret(database, "audit-salt", sealer, random)),
      runtime,
      timers,
      recordsOpenReads: options.auditLog.recordsOpenReads ?? false,
    })
  if (audit !== undefined) opening.defer(() => audit.close())
  // A file can be opened with its first entry; that one would not wait until a receiver is reached.
  if (options.auditLog?.opensLate !== true || options.auditLog.target.kind === "syslog") await audit?.open()
  const uses = tokenUses(storage, runtime)
  opening.defer(() => uses.settled())
  const rsaKeys = opening.use(
    openRsaKeys({
      threadCount: Math.max(2, availableParallelism()),
      timers,
      ...(options.rsaKeyStock && { stock: options.rsaKeyStock }),
    }),
  )
  const outgoing = opening.use(
    guardedFetch({ permitted: options.outgoing ?? { kinds: ["private"], ranges: [] }, digest: runtime.digest }),
  )
  const { acme = {} } = options
  const ownNetwork = opening.use(
    acmeNetwork({
      permitted: acme.permitted ?? { kinds: [], ranges: [] },
      httpPort: acme.httpPort ?? 80,
      tlsPort: acme.tlsPort ?? 443,
      digest: runtime.digest,
    }),
  )
  const network = tracer === undefined ? ownNetwork : tracedAcmeNetwork(ownNetwork, tracer)
  const stopping = new AbortController()
  const stopped = stopping.signal
  const holder = newId("eng", random)
  const exclusive = exclusively({ leases: leasesOver(database), holder, runtime, timers, stopped })
  const storedKeys = storedSigningKeys(storage)
  const signingKeys = tracer === undefined ? storedKeys : tracedSigningKeys(storedKeys, tracer)
  const ownGenerator = options.keyGenerator ?? keyGenerator(rsaKeys)
  const fetchFrom = (name: string, propagates: boolean) =>
    tracer === undefined ? outgoing.fetch : tracedFetch(outgoing.fetch, tracer, { name, propagates })
  const mountDirectory = new MountDirectory(storage, cacheVersions)
  const mountSnapshots = new MountSnapshots()
  const tidyMetrics = createTidyMetrics(meter)
  const context: Context = {
    storage,
    storageOf: (origin) => storesOver(database, sealer, runtime.clock, feed, origin),
    eventFeed,
    eventRetentionMs: events.retentionMs ?? 7 * dayMs,
    metrics: options.metrics,
    checkRoom: () => database.checkRoom(),
    audit: audit ?? noAudit,
    runtime,
    stateTools,
    configurationTools: {
      edition: stateTools.edition,
      archive: sealedConfigurationArchive(sealer),
      signer: stateTools.signer,
    },
    claimTools: {
      archive: sealedRunArchive(sealer),
      configurations: sealedConfigurationArchive(sealer),
      states: stateTools,
      timers,
    },
    cacheVersions,
    mountDirectory,
    authMethodDirectory: new AuthMethodDirectory(storage, cacheVersions),
    mountSnapshots,
    signingKeys,
    keyGenerator: tracer === undefined ? ownGenerator : tracedKeyGenerator(ownGenerator, tracer),
    weakKeys: options.weakKeys ?? noWeakKeys,
    policyClient: webhookPolicyClient(fetchFrom("policy service", true)),
    policyServiceActivity: new PolicyServiceActivity(),
    reviewToken: kubernetesTokenReviewer(fetchFrom("kubernetes", false)),
    readPodAccount: podAccount(options.podAccountFolder),
    crlPublisher: new CrlPublisher({
      storage,
      clock: runtime.clock,
      timers,
      exclusively: exclusive,
      signingKeys,
      metrics: createCrlMetrics(meter),
      log: runtime.log,
    }),
    ocspMetrics: createOcspMetrics(meter),
    figures: new FigureBoard({ storage, mountDirectory, mountSnapshots, runtime, timers }),
    ocspCache: new OcspCache(),
    ocspResponders: new HeldResponders(),
    edition: options.edition ?? "self-hosted",
    exclusively: exclusive,
    tidyMetrics,
    filingRanges: filingRangesOver(database),
    wakeJob: (name) => jobs.wake(name),
    acmeTools: {
      nonceSigner: stateTools.signer,
      accountKeys: new AccountKeys(),
      rules: { requiresBinding: acme.requiresBinding ?? false },
      metrics: createAcmeMetrics(meter),
      queues: () => acmeQueues,
    },
  }
  const webhookDelivery = new WebhookDelivery({
    ...context,
    timers,
    client: webhookClient(fetchFrom("webhook", false), runtime.clock, hmacHex),
    metrics: createWebhookMetrics(meter),
  })
  alsoWoken.push(() => webhookDelivery.wake())
  const acmeQueues =
    options.jobs === false
      ? undefined
      : {
          validations: validationQueue({ ...context, network, timers }),
          finalizations: finalizationQueue({ ...context, network, timers }),
        }
  opening.defer(async () => {
    await Promise.all([acmeQueues?.validations.stop(), acmeQueues?.finalizations.stop()])
  })
  const jobs = startJobs(
    options.jobs === false
      ? []
      : jobsOver(context, {
          tidying: new TidyWorker({ ...context, acmeTidySteps, timers }, tidyMetrics),
          expiredOrders: new ExpiredOrders(context),
          webhookDelivery,
        }),
    {
      exclusively: context.exclusively,
      runtime,
      timers,
      meter,
      stopped,
    },
  )
  registerAuthorities(meter, () => context.figures.current())
  opening.defer(async () => {
    stopping.abort(new Error("the engine closes"))
    await jobs.idle()
  })
  const closing = opening.move()
  const authenticate = authentication(storage, cacheVersions, runtime, uses, addressBounds)
  return new EmbeddedEngine(context, root, authenticate, () => closing.disposeAsync())
}

/** Where other servers write, they are not heard; a file of SQLite is seldom written by another process. */
const pollMs = { sqlite: secondMs, postgres: 100 } as const

interface Context {
  readonly storage: Storage<Stores>
  /** What is changed through it is ascribed to that origin. */
  readonly storageOf: (origin: EventOrigin) => Storage<Stores>
  /** None where there is no feed. */
  readonly eventFeed: EventFeed | undefined
  readonly eventRetentionMs: number
  readonly metrics: Metrics | undefined
  readonly cacheVersions: CacheVersions
  readonly checkRoom: () => Promise<void>
  readonly audit: Audit
  readonly runtime: Runtime
  readonly stateTools: StateTools
  readonly configurationTools: ConfigurationTools
  readonly claimTools: ClaimTools
  readonly mountDirectory: MountDirectory
  readonly authMethodDirectory: AuthMethodDirectory
  readonly mountSnapshots: MountSnapshots
  readonly signingKeys: SigningKeys
  readonly keyGenerator: KeyGenerator
  readonly weakKeys: WeakKeyList
  readonly policyClient: PolicyClient
  readonly policyServiceActivity: PolicyServiceActivity
  readonly reviewToken: TokenReviewer
  readonly readPodAccount: ReadPodAccount
  readonly crlPublisher: CrlPublisher
  readonly ocspMetrics: OcspMetrics
  readonly figures: FigureBoard
  readonly ocspCache: OcspCache
  readonly ocspResponders: HeldResponders
  readonly edition: Edition
  /** For work that one server does at a time. */
  readonly exclusively: Exclusively
  readonly tidyMetrics: TidyMetrics
  readonly filingRanges: FilingRanges
  /** Starts a job at once, by its name, for what a request has left to it. */
  readonly wakeJob: (name: string) => void
  readonly acmeTools: AcmeTools
}

/** Those whose work outlasts a run. */
interface Workers {
  readonly tidying: TidyWorker<Stores>
  readonly expiredOrders: ExpiredOrders
  readonly webhookDelivery: WebhookDelivery
}

/** When each job is due, for whoever looks at what was done of them. */
export const jobSchedules: readonly Omit<Job, "run">[] = [
  refreshCrlsJob,
  countCertificatesJob,
  renewRespondersJob,
  tidyJob,
  keepRangesJob,
  endLeasesJob,
  destroyWhenDueJob,
  forgetBulkActionsJob,
  expireLocksJob,
  endRunClaimsJob,
  sweepAcmeJob,
  readStatesJob,
  webhooksJob,
  sweepEventsJob,
  sweepSecretIdsJob,
  stateUpkeepJob,
]

/** What there is to watch of authorities, without an engine: nothing is signed, opened or written for it. */
export function readAuthorityFigures(
  database: Pick<Database, "read" | "dialect">,
  runtime: Runtime,
): Promise<AuthorityFigures> {
  const refused = (): never => {
    throw new Error("a look at a store neither seals nor opens nor writes")
  }
  const storage = storesOver(
    { ...database, readElsewhere: database.read, transact: refused },
    { seal: refused, open: refused },
    runtime.clock,
  )
  const mountDirectory = new MountDirectory(storage, { mounts: refused })
  const board = new FigureBoard({
    storage,
    mountDirectory,
    mountSnapshots: new MountSnapshots(),
    runtime,
    timers: systemTimers,
  })
  return board.read()
}

const jobsOver = (context: Context, { tidying, expiredOrders, webhookDelivery }: Workers): readonly Job[] => [
  {
    ...refreshCrlsJob,
    async run(held) {
      const trail = context.audit.trail({ job: refreshCrlsJob.name })
      await refreshCrls(context, context.runtime.log, trail.keyUse, held)
      await trail.durable()
    },
  },
  { ...countCertificatesJob, run: (held) => countCertificates(context, held) },
  {
    ...renewRespondersJob,
    async run(held) {
      const trail = context.audit.trail({ job: renewRespondersJob.name })
      await renewResponders(context, trail.keyUse, held)
      await trail.durable()
    },
  },
  { ...tidyJob, run: (held) => tidying.run(held) },
  { ...keepRangesJob, run: (held) => keepRanges(context, context.tidyMetrics, held) },
  { ...endLeasesJob, run: (held) => endLeases(context, held) },
  { ...destroyWhenDueJob, run: (held) => destroyWhenDue(context, held) },
  { ...forgetBulkActionsJob, run: (held) => forgetBulkActions(context, held) },
  { ...expireLocksJob, run: (held) => expireLocks(context, held) },
  { ...endRunClaimsJob, run: (held) => endRunClaims(context, held) },
  {
    ...sweepAcmeJob,
    async run(held) {
      await expiredOrders.end(held)
      await sweepAcme(context, held)
    },
  },
  { ...readStatesJob, run: (held) => readStates(context, held) },
  { ...webhooksJob, run: (held) => webhookDelivery.run(held) },
  { ...sweepEventsJob, run: (held) => sweepEvents(context, held) },
  { ...sweepSecretIdsJob, run: (held) => sweepSecretIds(context, held) },
  { ...stateUpkeepJob, run: (held) => keepStates(context, held) },
]

/** Services are made when they are first asked for: a request uses one or two. */
class CallerEngine implements ServingEngine {
  protected readonly context: Context
  readonly caller: Caller
  protected readonly trail: AuditTrail
  readonly #requestId: string | undefined
  #heldStorage: Storage<Stores> | undefined

  constructor(context: Context, caller: Caller, trail: AuditTrail = context.audit.trail({}), requestId?: string) {
    this.context = context
    this.caller = caller
    this.trail = trail
    this.#requestId = requestId
  }

  /** Certificates need none that says whose doing a change is. */
  get #storage(): Storage<Stores> {
    return (this.#heldStorage ??= this.context.storageOf(originOf(this.caller, this.#requestId)))
  }

  get organizations() {
    return new OrganizationService(this.#storage, this.context.runtime, this.caller)
  }

  get organizationMemberships() {
    return new OrganizationMembershipService(this.#storage, this.context.runtime, this.caller)
  }

  get projects() {
    return new ProjectService<Stores>(this.#storage, this.context.runtime, projectBindings, this.caller)
  }

  get users() {
    return new UserService(this.#storage, this.context.runtime, this.caller)
  }

  get teams() {
    return new TeamService(this.#storage, this.context.runtime, this.caller)
  }

  get teamProjects() {
    return new TeamProjectService(this.#storage, this.context.runtime, this.caller)
  }

  get teamWorkspaces() {
    return new TeamWorkspaceService(this.#storage, this.context.runtime, this.caller)
  }

  get tokens() {
    return new TokenService(this.#storage, this.context.runtime, this.caller)
  }

  get discovery() {
    return ownDiscovery
  }

  get siteSettings() {
    return new SiteSettingsService(this.#storage, this.caller)
  }

  get terraformVersions() {
    return new TerraformVersionService(this.#storage, this.context.runtime, this.caller)
  }

  get workspaces() {
    const { runtime, edition } = this.context
    return new WorkspaceService(this.#storage, runtime, edition, this.caller)
  }

  get bulkActions() {
    return new BulkActionService(this.#storage, this.context.runtime, this.caller)
  }

  get stateVersions() {
    const { runtime, stateTools } = this.context
    return new StateVersionService(this.#storage, runtime, stateTools, this.caller)
  }

  get runs() {
    const { runtime, claimTools } = this.context
    return new RunService(this.#storage, runtime, claimTools.archive, this.caller)
  }

  get runLogs() {
    return new RunLogService(this.#storage, this.context.runtime, this.context.stateTools.signer)
  }

  get runClaims() {
    const { runtime, claimTools } = this.context
    return new RunClaimService(this.#storage, runtime, claimTools, this.caller)
  }

  get configurationVersions() {
    const { runtime, configurationTools } = this.context
    return new ConfigurationVersionService(this.#storage, runtime, configurationTools, this.caller)
  }

  get variables() {
    return new VariableService(this.#storage, this.context.runtime, this.caller)
  }

  get events() {
    return this.#eventService()
  }

  get eventStreams() {
    return this.#eventService().streams
  }

  #eventService() {
    return new EventService(this.#storage, this.context.runtime, this.context.eventFeed, this.caller)
  }

  get webhooks() {
    return new WebhookService(this.#storage, this.context, this.caller)
  }

  get assessments() {
    return new AssessmentService(this.#storage, this.context.runtime, this.caller)
  }

  get vcsConnections() {
    return new VcsConnectionService(this.#storage, this.context.runtime, this.caller)
  }

  get tags() {
    return new TagService(this.#storage, this.context.runtime, this.caller)
  }

  get sshKeys() {
    return new SshKeyService(this.#storage, this.context.runtime, this.caller)
  }

  get agentPools() {
    return new AgentPoolService(this.#storage, this.context.runtime, this.caller)
  }

  get retentionPolicies() {
    const { runtime, edition } = this.context
    return new RetentionPolicyService(this.#storage, runtime, edition, this.caller)
  }

  get remoteStateConsumers() {
    return new RemoteStateConsumerService(this.#storage, this.context.edition, this.caller)
  }

  pki(mountPath: string) {
    return new MountedPki(mountAccess(this.context, mountPath, this.caller, this.trail.keyUse))
  }

  acme(mountPath: string): AcmeManagement {
    const access = mountAccess(this.context, mountPath, this.caller, this.trail.keyUse)
    return {
      eab: new AccountBindingService(access),
      accounts: new ManagedAccountService(access, this.context.acmeTools.accountKeys),
      orders: new ManagedOrderService(access),
      renewals: new RenewalSignalService(access),
    }
  }

  acmeDirectory(mountPath: string, directory: Directory) {
    return new AcmeService(this.context, this.context.acmeTools, mountPath, directory, this.trail.keyUse)
  }

  get mounts() {
    const { storage, runtime, mountDirectory } = this.context
    return new MountService(storage, runtime, mountDirectory, this.caller)
  }

  kubernetesLogins(methodPath: string) {
    return new KubernetesLoginService(this.context, this.caller, methodPath)
  }

  get leases() {
    return new LeaseService(this.context, this.caller)
  }

  get policies() {
    return new PolicyService(this.context.storage, this.caller)
  }

  get blockedKeys() {
    return new BlockedKeyService(this.context.storage, this.context.runtime, this.caller)
  }

  get certificateInventory() {
    const certificates = (mountPath: string) => this.pki(mountPath).certificates
    return new CertificateInventoryService(this.context.mountDirectory, certificates, this.caller)
  }

  get serviceTokens() {
    return new ServiceTokenService(this.context.storage, this.context.runtime, this.caller)
  }

  get tokenRoles() {
    return new TokenRoleService(this.context.storage, this.caller)
  }

  get authMethods() {
    const { storage, runtime, authMethodDirectory } = this.context
    return new AuthMethodService(storage, runtime, authMethodDirectory, this.caller)
  }

  appRoles(methodPath: string) {
    const { storage, runtime, authMethodDirectory, stateTools, wakeJob } = this.context
    const context = { storage, runtime, authMethodDirectory, signer: stateTools.signer, wakeJob }
    return appRoleMethod(context, methodPath, this.caller)
  }

  get visibleMounts() {
    const { mountDirectory, authMethodDirectory } = this.context
    return new VisibleMountService(mountDirectory, authMethodDirectory, this.caller)
  }

  get inclusions() {
    return new InclusionService(this.context.storage, this.caller)
  }

  /** Only the engine that opened the store closes it. */
  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }
}

class EmbeddedEngine extends CallerEngine implements ServedEngine {
  readonly authenticate: Authenticate
  readonly stateTransfers: StateTransfers
  readonly configurationUploads: ConfigurationUploads
  readonly #close: () => Promise<void>

  constructor(context: Context, root: Caller, authenticate: Authenticate, close: () => Promise<void>) {
    super(context, root)
    this.authenticate = authenticate
    this.stateTransfers = new StateTransferService(context.storage, context.runtime, context.stateTools)
    this.configurationUploads = new ConfigurationUploadService(
      context.storage,
      context.runtime,
      context.configurationTools,
    )
    this.#close = close
  }

  as(caller: Caller, trail?: AuditTrail, requestId?: string): ServingEngine {
    const engine = new CallerEngine(this.context, caller, trail, requestId)
    const { tracer } = this.context.runtime
    return tracer === undefined ? engine : tracedEngine(engine, tracer)
  }

  get audit(): Audit {
    return this.context.audit
  }

  get metrics(): Metrics | undefined {
    return this.context.metrics
  }

  authorityFigures(): Promise<AuthorityFigures> {
    return this.context.figures.current()
  }

  requestSnapshot(): RequestSnapshot {
    return this.context.cacheVersions.requestSnapshot()
  }

  mountTable(requestSnapshot?: RequestSnapshot): Promise<MountTable> {
    return this.context.mountDirectory.current(requestSnapshot)
  }

  authMethodTable(requestSnapshot?: RequestSnapshot): Promise<AuthMethodTable> {
    return this.context.authMethodDirectory.current(requestSnapshot)
  }

  endEventStreams(): void {
    this.context.eventFeed?.end()
  }

  async ready(): Promise<void> {
    await this.context.storage.read(async ({ identity }) => void (await identity.cacheVersion()))
    await this.context.checkRoom()
  }

  override [Symbol.asyncDispose](): Promise<void> {
    return this.#close()
  }
}
