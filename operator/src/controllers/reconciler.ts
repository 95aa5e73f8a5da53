// What a kind does with its objects. The frame around it (`controller.ts`) holds finalizers, pauses, waits, retries, and writes
// the status, at most once and only if it differs.
import type { Kind } from "../api/definition.ts"
import { specFaults } from "../api/rules.ts"
import type { Happening } from "../kube/event-recorder.ts"
import type { KubernetesObject } from "../kube/kubernetes-object.ts"
import { type Outcome, type OwnStatus, stalled } from "./reconcile-result.ts"

/** One look at one object. */
export interface Visit {
  readonly signal: AbortSignal
  readonly now: number
  /**
   * Nothing was edited or asked for since the last look, which found all well: it is merely time to look again, and one call
   * to the engine is enough.
   */
  readonly quiet: boolean
  /** How many quiet looks came before. By it, and not by the clock, questions take turns: polls keep no exact time. */
  readonly turn: number
  /** The kind's own members of the status, as they were written last. */
  readonly status: OwnStatus
  /**
   * Writes them at once, for what must be known after a crash; `status` is them from then on. Fails when somebody has changed
   * the object since it was read, and then nothing may be done.
   */
  saveStatus(status: OwnStatus): Promise<void>
  /** Tells of something beside what the conditions say, which is told when it changes. */
  record(happening: Happening): Promise<void>
}

/** Both may throw `Unsettled`; whatever else they throw is a failure that the log tells of, and is repeated. */
export interface Reconciler {
  /** Its name, and whether this object leaves something behind that has to be cleaned up. */
  readonly finalizer?: { readonly name: string; needed(object: KubernetesObject): boolean }
  /** The object has its finalizer, and is neither paused nor being deleted. */
  reconcile(object: KubernetesObject, visit: Visit): Promise<Outcome>
  /** Cleans up after an object that is being deleted, paused or not. Undefined when that is done. */
  finalize?(object: KubernetesObject, visit: Visit): Promise<Outcome | undefined>
}

/** Throws `Unsettled` for what no apiserver of today would admit: objects outlive definitions, and folders admit everything. */
export function parsedSpec<Spec>(kind: Kind<Spec>, object: KubernetesObject): Spec {
  const found = known.get(object)
  // Whoever knows the object knows its kind: it is looked at as no other.
  if (found !== undefined) return found as Spec
  const faults = specFaults(kind, object["spec"])
  if (faults.length > 0)
    throw stalled("InvalidSpec", faults.map(({ field, message }) => `${field}: ${message}`).join("; "))
  const spec = kind.spec.parse(object["spec"])
  known.set(object, spec)
  return spec
}

/** An authority, or the way to an engine, is looked at for each of ten thousand certificates. */
const known = new WeakMap<KubernetesObject, unknown>()
