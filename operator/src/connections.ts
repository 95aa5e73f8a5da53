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
  { signal }: Visit,
): Promise<Outcome> {
  const { engine, organization } = await engines.client(kind, object, signal)
  const expiresAt = await ask(engine, organization)
  const status: OwnStatus = {
    references: referencesTo(keyOf(object)),
    ...(expiresAt === null ? {} : { tokenExpiresAt: secondTime(expiresAt) }),
  }
  const health = { is: "ready", reason: "Connected", message: "The engine answers and takes the token." } as const
  return { health, status, againAfterMs: pollMs }
}

/** When the token expires, as far as one may know. */
async function ask(engine: Engine, organization: string | undefined): Promise<number | null> {
  try {
    const expiresAt = await expiryOf(engine)
    if (organization !== undefined) await engine.organizations.get(organization)
    return expiresAt
  } catch (error) {
    if (isEngineError(error, "not-found"))
      throw stalled("OrganizationNotFound", `The token sees no organization ${organization ?? ""}.`)
    if (isEngineError(error, "unprocessable")) throw stalled("AddressNotAllowed", error.message)
    throw isEngineError(error) ? refused(error) : error
  }
}

/** Tokens of any kind are known to the API of certificates, though not every one may look at itself. */
async function expiryOf(engine: Engine): Promise<number | null> {
  try {
    return (await engine.serviceTokens.lookup("self")).expiresAt
  } catch (error) {
    if (!isEngineError(error, "forbidden")) throw error
    await engine.users.account()
    return null
  }
}
