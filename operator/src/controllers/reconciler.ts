// Port of a kind's own work. The controller (`controller.ts`) handles finalizers, pauses, delays, retries, and the status, which it writes
// at most once and only if it differs.
import type { Kind } from "../api/definition.ts"
import { specFaults } from "../api/rules.ts"
import type { EventToRecord } from "../kube/event-recorder.ts"
import type { KubernetesObject } from "../kube/kubernetes-object.ts"
import { type ReconcileResult, type OwnStatus, stalled } from "./reconcile-result.ts"

/** One reconciliation of an object. */
export interface ReconcileRequest {
  readonly signal: AbortSignal
  readonly now: number
  /**
   * Nothing was edited or requested since the last reconciliation, which found the object ready.
   */
  readonly quiet: boolean
  /** Comparing one part of the object is enough, because further polls compare the others. False unless `quiet`. */
  readonly partial: boolean
  /** Number of earlier quiet reconciliations. Queries take turns by it, not by the clock, because polls are not exactly periodic. */
  readonly turn: number
  /** The kind's own members of the status, as last written. */
  readonly status: OwnStatus
  /**
   * Writes the own status at once, for facts that must survive a crash. Rejects if the object has changed since it was read; the caller
   * must not continue then.
   */
  saveStatus(status: OwnStatus): Promise<void>
  /** Records an event, in addition to those for changes of the condition Ready. */
  record(happening: EventToRecord): Promise<void>
}

/** Both methods may throw `Unsettled`. Other errors are logged as failures and retried. */
export interface Reconciler {
  /** Name of the finalizer, and whether this object needs cleanup at deletion. */
  readonly finalizer?: { readonly name: string; needed(object: KubernetesObject): boolean }
  /** Reconciles an object that has its finalizer, is not paused, and is not being deleted. */
  reconcile(object: KubernetesObject, request: ReconcileRequest): Promise<ReconcileResult>
  /** Cleans up after an object under deletion, even if it is paused. Returns undefined when done. */
  finalize?(object: KubernetesObject, request: ReconcileRequest): Promise<ReconcileResult | undefined>
}

/** Throws `Unsettled` if the current schema would reject the spec: objects may predate it, and folders of manifests have no admission. */
export function parsedSpec<Spec>(kind: Kind<Spec>, object: KubernetesObject): Spec {
  const found = known.get(object)
  // Callers pass the kind of the object, so the cached spec has the right type.
  if (found !== undefined) return found as Spec
  const faults = specFaults(kind, object["spec"])
  if (faults.length > 0)
    throw stalled("InvalidSpec", faults.map(({ field, message }) => `${field}: ${message}`).join("; "))
  const spec = kind.spec.parse(object["spec"])
  known.set(object, spec)
  return spec
}

/** Cache, because an issuer or a connection is parsed for each of up to ten thousand certificates. */
const known = new WeakMap<KubernetesObject, unknown>()
