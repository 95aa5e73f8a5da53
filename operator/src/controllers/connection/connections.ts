// Checks whether an engine is usable: its address answers, and it accepts the token. A connection stays until no object uses it, because
// objects need it for their cleanup.
import { type Engine, isEngineError, type Runtime } from "@chancery/engine"
import type { EngineConnections } from "../engine-connections.ts"
import type { ConnectionRef } from "../../api/connection-spec.ts"
import { keyOf, type KubernetesObject, type ObjectKey, secondTime } from "../../kube/kubernetes-object.ts"
import {
  type ReconcileResult,
  type OwnStatus,
  pollMs,
  refused,
  RequeueAfter,
  stalled,
  NotReadyError,
  waiting,
} from "../reconcile-result.ts"
import type { Reconciler, ReconcileRequest } from "../reconciler.ts"

export interface ConnectionsOptions {
  readonly kind: ConnectionRef["kind"]
  readonly engines: Pick<EngineConnections, "client">
  /** Returns the number of objects that use the connection. */
  readonly referencesTo: (key: ObjectKey) => number
  /** Returns whether an object may have recorded a connection in its status that the cache does not have yet. */
  readonly mayHaveRecorded: () => boolean
  readonly log: Runtime["log"]
}

/** The watch usually shows a write within milliseconds. */
const unseenWriteMs = 250

export const reconcileConnections = (options: ConnectionsOptions): Reconciler => ({
  finalizer: { name: "chancery.dev/in-use", needed: () => true },
  async reconcile(object, request) {
    try {
      return await reconcile(options, object, request)
    } catch (error) {
      if (error instanceof NotReadyError) {
        const { reason, message } = error.outcome.health
        options.log.warn("a connection cannot be used", { kind: options.kind, key: keyOf(object), reason, message })
      }
      throw error
    }
  },
  async finalize(object) {
    const count = options.referencesTo(keyOf(object))
    if (count === 0 && options.mayHaveRecorded()) throw new RequeueAfter(unseenWriteMs)
    if (count === 0) return undefined
    throw waiting("ConnectionInUse", `Objects still use this connection; it is deleted after the last of them.`)
  },
})

async function reconcile(
  { kind, engines, referencesTo }: ConnectionsOptions,
  object: KubernetesObject,
  request: ReconcileRequest,
): Promise<ReconcileResult> {
  const { engine, organization } = await engines.client(kind, object, request.signal)
  const before: Found = request.quiet ? request.status : {}
  const { baseURL } = object["spec"] as { readonly baseURL: string }
  const found: Found = {
    ...before,
    ...(await answers(engine, { organization, baseURL }, questionsOf(request, organization))),
  }
  const { apiVersion = "", tokenExpiresAt } = found
  const status: OwnStatus = {
    references: referencesTo(keyOf(object)),
    ...(apiVersion === "" ? {} : { apiVersion }),
    ...(tokenExpiresAt === undefined ? {} : { tokenExpiresAt }),
  }
  const health = { is: "ready", reason: "Connected", message: "The engine responds and accepts the token." } as const
  return { health, status, againAfterMs: pollMs }
}

type Question = "token" | "organization" | "version"

/** Returns what to query. Without changes, one request is enough, so the queries take turns. */
function questionsOf({ quiet, turn }: ReconcileRequest, organization: string | undefined): ReadonlySet<Question> {
  const all: readonly Question[] =
    organization === undefined ? ["token", "version"] : ["organization", "token", "version"]
  return new Set(quiet ? all.slice(turn % all.length).slice(0, 1) : all)
}

/** `tokenExpiresAt` is present with the value undefined for a token that does not expire, to replace an earlier expiry. */
interface Found {
  readonly apiVersion?: string
  readonly tokenExpiresAt?: string | undefined
}

async function answers(
  engine: Engine,
  { organization, baseURL }: { readonly organization: string | undefined; readonly baseURL: string },
  questions: ReadonlySet<Question>,
): Promise<Found> {
  const notAnEngine = () => stalled("NotAnEngine", `The server at ${baseURL} is not a Chancery engine; check baseURL.`)
  try {
    // First, because another server would answer the later queries with misleading errors.
    const version = questions.has("version") ? { apiVersion: await engine.discovery.apiVersion() } : {}
    if (version.apiVersion === "") throw notAnEngine()
    const expiry = questions.has("token") ? { tokenExpiresAt: await expiryOf(engine, notAnEngine) } : {}
    if (organization !== undefined && questions.has("organization")) await engine.organizations.get(organization)
    return { ...version, ...expiry }
  } catch (error) {
    if (isEngineError(error, "not-found"))
      throw stalled(
        "OrganizationNotFound",
        `The organization ${organization ?? ""} does not exist, or the token cannot see it.`,
      )
    if (isEngineError(error, "unprocessable")) throw stalled("AddressNotAllowed", error.message)
    throw isEngineError(error) ? refused(error) : error
  }
}

/** Engines whose token may not look itself up. */
const withoutLookup = new WeakSet<Engine>()

/** Returns when the token expires, or undefined. The certificate API knows tokens of every kind, but not every token may look itself up. */
async function expiryOf(engine: Engine, notAnEngine: () => NotReadyError): Promise<string | undefined> {
  if (!withoutLookup.has(engine)) {
    try {
      const { expiresAt } = await engine.serviceTokens.lookup("self")
      return expiresAt === null ? undefined : secondTime(expiresAt)
    } catch (error) {
      if (isEngineError(error, "not-found")) throw notAnEngine()
      if (!isEngineError(error, "forbidden")) throw error
      withoutLookup.add(engine)
    }
  }
  await engine.users.account()
  return undefined
}
