// Implementation of the engine for callers and for the HTTP server.
import type { Audit, AuditTrail } from "../core/audit.ts"
import type { CacheVersions, RequestSnapshot } from "../core/cache-versions.ts"
import type { Caller } from "../core/caller.ts"
import type { Metrics } from "../core/metrics.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import type { ServedEngine, ServingEngine } from "../engine.ts"
import { originOf } from "../events/feed/event.ts"
import type { Authenticate } from "../organizations/authentication.ts"
import type { AuthMethodTable } from "../access/logins/auth-method-directory.ts"
import { findEstLabel } from "../pki/est/est-labels.ts"
import type { EstLabelTarget } from "../pki/est/est.ts"
import type { MountTable } from "../pki/mounts/mount-directory.ts"
import type { AuthorityFigures } from "../pki/statistics/mount-metrics.ts"
import type { Repositories } from "../storage/repositories/repositories.ts"
import { tracedEngine } from "../telemetry/traced-engine.ts"
import { ConfigurationUploadService } from "../workspaces/configuration-versions/configuration-version-service.ts"
import type { ConfigurationUploads } from "../workspaces/configuration-versions/configuration-version-api.ts"
import { StateTransferService } from "../workspaces/state/state-version-service.ts"
import type { StateTransfers } from "../workspaces/state/state-version-api.ts"
import { acmeFamilies, type AcmeParts } from "./acme.ts"
import { withFamilies } from "./families.ts"
import { pkiFamilies, type PkiParts } from "./pki.ts"
import type { StorageContext } from "./storage.ts"
import { type WorkspaceContext, workspaceFamilies } from "./workspaces.ts"

export interface EngineContext extends StorageContext, WorkspaceContext, PkiParts, AcmeParts {
  readonly runtime: Runtime
  readonly storage: Storage<Repositories>
  readonly cacheVersions: CacheVersions
  readonly audit: Audit
  readonly metrics: Metrics | undefined
}

/** Context of one request, or of one program that uses the engine. */
class EngineRequest {
  readonly context: EngineContext
  readonly caller: Caller
  readonly trail: AuditTrail
  readonly #requestId: string | undefined
  #storage: Storage<Repositories> | undefined

  constructor(context: EngineContext, caller: Caller, trail: AuditTrail, requestId: string | undefined) {
    this.context = context
    this.caller = caller
    this.trail = trail
    this.#requestId = requestId
  }

  /** Attributes changes to the request. Services of certificates use the storage of the context instead. */
  get storage(): Storage<Repositories> {
    return (this.#storage ??= this.context.storageOf(originOf(this.caller, this.#requestId)))
  }
}

const families = { ...workspaceFamilies, ...pkiFamilies, ...acmeFamilies }
const Families = withFamilies<EngineRequest, typeof families>(families)

class CallerEngine extends Families implements ServingEngine {
  protected readonly context: EngineContext
  readonly caller: Caller

  constructor(context: EngineContext, caller: Caller, trail: AuditTrail = context.audit.trail({}), requestId?: string) {
    super(new EngineRequest(context, caller, trail, requestId))
    this.context = context
    this.caller = caller
  }

  /** Only the engine that opened the database closes it. */
  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }
}

export class EmbeddedEngine extends CallerEngine implements ServedEngine {
  readonly authenticate: Authenticate
  readonly stateTransfers: StateTransfers
  readonly configurationUploads: ConfigurationUploads
  readonly #close: () => Promise<void>

  constructor(context: EngineContext, root: Caller, authenticate: Authenticate, close: () => Promise<void>) {
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

  findEstLabel(label: string): Promise<EstLabelTarget | undefined> {
    return findEstLabel(this.context, label)
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
