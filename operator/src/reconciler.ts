// What a kind does with its objects. The frame around it (`controller.ts`) holds finalizers, pauses, waits, retries, and writes
// the status, at most once and only if it differs.
import type { Happening } from "./event-recorder.ts"
import type { KubernetesObject } from "./kubernetes-object.ts"
import type { Outcome, OwnStatus } from "./outcome.ts"

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
