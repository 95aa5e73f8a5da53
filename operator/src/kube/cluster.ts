// Where objects are kept, as reconcilers see it: the Kubernetes API is one such place, a folder of manifests another.
import type { KubernetesObject, ObjectKey, Resource } from "./kubernetes-object.ts"
import type { ObjectStore } from "./object-store.ts"

/** What the cluster refused; `status` and `reason` are words of the Kubernetes API, wherever the objects are kept. */
export class ApiError extends Error {
  readonly status: number
  readonly reason: string
  constructor(status: number, reason: string, message: string) {
    super(message)
    this.name = "ApiError"
    this.status = status
    this.reason = reason
  }
}

export interface Followed {
  readonly resource: Resource
  /** Every one that the cluster gives access to unless given. */
  readonly namespace?: string
  /** One object alone. */
  readonly name?: string
  readonly labelSelector?: string
}

/** `found`: it was there when the watch began. `previous` is the object as it was before. */
export type Changed = (key: ObjectKey, how: "found" | "changed", previous: KubernetesObject | undefined) => void

export interface Following {
  /** The store has held everything at some moment. */
  readonly hasSynced: boolean
  whenSynced(): Promise<void>
  stop(): Promise<void>
}

export interface StatusWrite {
  /** Whoever changed the object since this version makes the write fail with 409. */
  readonly resourceVersion?: string
}

export interface ApplyOptions {
  /** Everything is checked, and nothing is written. */
  readonly dryRun?: boolean
}

/**
 * Objects that are written carry their `metadata.uid` where they are known to exist: then nothing is ever written to another
 * one of the same name, and one that is gone is not made again (409). Answers have no `managedFields`.
 */
export interface Cluster {
  /** Keeps what matches in the store, and calls `changed` after each change of it, until stopped. No failure ends it. */
  follow(what: Followed, store: ObjectStore, changed: Changed): Following
  /** As it is now; undefined where there is none. */
  get(resource: Resource, key: ObjectKey): Promise<KubernetesObject | undefined>
  /**
   * Server-side apply, which takes fields from others where it must: what `fieldManager` applied before and leaves out now goes
   * away. Makes the object unless it has a uid.
   */
  apply(
    resource: Resource,
    object: KubernetesObject,
    fieldManager: string,
    options?: ApplyOptions,
  ): Promise<KubernetesObject>
  /** Names the managers that own a member of `data`, as `metadata.managedFields` has them. */
  dataManagers(resource: Resource, key: ObjectKey): Promise<readonly string[]>
  /** The same for the status alone. */
  applyStatus(
    resource: Resource,
    object: KubernetesObject,
    status: unknown,
    fieldManager: string,
    options?: StatusWrite,
  ): Promise<KubernetesObject>
  /** Exactly these; refused with 409 when the object is not as it was given any more. */
  setFinalizers(resource: Resource, object: KubernetesObject, finalizers: readonly string[]): Promise<KubernetesObject>
  /** What is gone already is done. With a uid no other object of the same name is deleted. */
  delete(resource: Resource, key: ObjectKey, uid?: string): Promise<void>
}

/** What has changed or gone since it was read: to be looked at again, and no failure. */
export const isOutdated = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 409 || error.status === 404)

/** Answers that mean the same for the same request until an object changes; 500: an admission webhook that fails. */
const rejections: ReadonlySet<number> = new Set([400, 403, 405, 413, 422, 500])

/** Whether the API server refuses a request, by a policy, a quota, a right that is missing, or a rule of its own. */
export const isRejection = (error: unknown): error is ApiError =>
  error instanceof ApiError && rejections.has(error.status)
