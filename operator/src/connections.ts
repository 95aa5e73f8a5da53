// Whether an engine can be used: its address answers, and it takes the token for somebody's. A connection that objects use
// stays until they are gone: they need it to clean up.
import { type Engine, isEngineError } from "@chancery/engine"
import type { EngineConnections } from "./engine-connections.ts"
import type { ConnectionRef } from "./kinds/connection-spec.ts"
import { keyOf, type KubernetesObject, type ObjectKey, secondTime } from "./kubernetes-object.ts"
import { type Outcome, type OwnStatus, pollMs, refused, stalled, waiting } from "./outcome.ts"
import type { Reconciler, Visit } from "./reconciler.ts"

export interface ConnectionsOptions {
  readonly kind: ConnectionRef["kind"]
  readonly engines: Pick<EngineConnections, "client">
  /** How many objects name this connection. */
  readonly referencesTo: (key: ObjectKey) => number
}

export const reconcileConnections = (options: ConnectionsOptions): Reconciler => ({
  finalizer: { name: "chancery.dev/in-use", needed: () => true },
  reconcile: (object, visit) => reconcile(options, object, visit),
  async finalize(object) {
    const count = options.referencesTo(keyOf(object))
    if (count === 0) return undefined
    throw waiting("ConnectionInUse", `It goes when no object uses it any more; so far some do.`)
  },
})

async function reconcile(
  { kind, engines, referencesTo }: ConnectionsOptions,
  object: KubernetesObject,
  visit: Visit,
): Promise<Outcome> {
  const { engine, organization } = await engines.client(kind, object, visit.signal)
  // Nothing is new, so one request is enough: the organization tells whether the token is still taken.
  const { tokenExpiresAt } =
    visit.quiet && organization !== undefined && isOrganizationsTurn(visit.now)
      ? await ask(engine, organization, async () => visit.status)
      : await ask(engine, visit.quiet ? undefined : organization, () => expiryOf(engine))
  const status: OwnStatus = {
    references: referencesTo(keyOf(object)),
    ...(tokenExpiresAt === undefined ? {} : { tokenExpiresAt }),
  }
  const health = { is: "ready", reason: "Connected", message: "The engine answers and takes the token." } as const
  return { health, status, againAfterMs: pollMs }
}

/** The organization and the token take turns. */
const isOrganizationsTurn = (now: number): boolean => Math.floor(now / pollMs) % 2 === 0

interface Expiry {
  readonly tokenExpiresAt?: unknown
}

async function ask(engine: Engine, organization: string | undefined, expiry: () => Promise<Expiry>): Promise<Expiry> {
  try {
    const found = await expiry()
    if (organization !== undefined) await engine.organizations.get(organization)
    return found
  } catch (error) {
    if (isEngineError(error, "not-found"))
      throw stalled("OrganizationNotFound", `The token sees no organization ${organization ?? ""}.`)
    if (isEngineError(error, "unprocessable")) throw stalled("AddressNotAllowed", error.message)
    throw isEngineError(error) ? refused(error) : error
  }
}

/** Engines whose token may not look at itself. */
const shy = new WeakSet<Engine>()

/** Tokens of any kind are known to the API of certificates, though not every one may look at itself. */
async function expiryOf(engine: Engine): Promise<Expiry> {
  if (!shy.has(engine)) {
    try {
      const { expiresAt } = await engine.serviceTokens.lookup("self")
      return expiresAt === null ? {} : { tokenExpiresAt: secondTime(expiresAt) }
    } catch (error) {
      if (!isEngineError(error, "forbidden")) throw error
      shy.add(engine)
    }
  }
  await engine.users.account()
  return {}
}
