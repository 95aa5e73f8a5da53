// Port to stored Kubernetes objects. Implemented by the Kubernetes API and by a folder of manifests.
import type { KubernetesObject, ObjectKey, Resource } from "./kubernetes-object.ts"
import type { ObjectStore } from "./object-store.ts"

/** Rejection by the cluster. `status` and `reason` have the values of the Kubernetes API in all implementations. */
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
  /** Default: all namespaces that the operator may access. */
  readonly namespace?: string
  /** Restricts to one object. */
  readonly name?: string
  readonly labelSelector?: string
}

/** Called after each change. `found`: the object existed when the watch began. `previous` is the object before the change. */
export type Changed = (key: ObjectKey, how: "found" | "changed", previous: KubernetesObject | undefined) => void

export interface Following {
  /** True once the store has held all matching objects. */
  readonly hasSynced: boolean
  whenSynced(): Promise<void>
  stop(): Promise<void>
}

export interface StatusWrite {
  /** The write fails with 409 if the object has changed since this version. */
  readonly resourceVersion?: string
}

export interface ApplyOptions {
  /** Validates the request without writing. */
  readonly dryRun?: boolean
}

/** User of the cluster, as a request of the certificates API names its author. */
export interface ClusterUser {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** Action on an object. Without a namespace, on a cluster-scoped one. */
export interface ObjectAccess {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly namespace?: string
  readonly name: string
}

/**
 * Access to objects. Objects that are known to exist are written with their `metadata.uid`. Such a write never changes another object of
 * the same name, and never recreates a deleted one (409). Returned objects have no `managedFields`.
 */
export interface Cluster {
  /** Keeps matching objects in the store, and calls `changed` after each change, until stopped. Failures are retried. */
  follow(what: Followed, store: ObjectStore, changed: Changed): Following
  /** Reads the current object, not a cached one. Returns undefined if it does not exist. */
  get(resource: Resource, key: ObjectKey): Promise<KubernetesObject | undefined>
  /**
   * Server-side apply with force: takes over fields of other managers, and removes fields that `fieldManager` applied before and omits now.
   * Creates the object unless it has a uid.
   */
  apply(
    resource: Resource,
    object: KubernetesObject,
    fieldManager: string,
    options?: ApplyOptions,
  ): Promise<KubernetesObject>
  /** Returns the field managers that own a member of `data`, from `metadata.managedFields`. */
  dataManagers(resource: Resource, key: ObjectKey): Promise<readonly string[]>
  /** Server-side apply to the status only. */
  applyStatus(
    resource: Resource,
    object: KubernetesObject,
    status: unknown,
    fieldManager: string,
    options?: StatusWrite,
  ): Promise<KubernetesObject>
  /** Replaces the finalizers. Rejected with 409 if the object has changed since it was read. */
  setFinalizers(resource: Resource, object: KubernetesObject, finalizers: readonly string[]): Promise<KubernetesObject>
  /** Returns whether the cluster's authorization permits a user an action. */
  isPermitted(user: ClusterUser, access: ObjectAccess): Promise<boolean>
  /** Deletes the object, or does nothing if it is gone. With a uid, never deletes another object of the same name. */
  delete(resource: Resource, key: ObjectKey, uid?: string): Promise<void>
}

/** Returns whether the object changed or was deleted after it was read. Callers read it again; this is not a failure. */
export const isOutdated = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 409 || error.status === 404)

/** Statuses that repeat for the same request until an object changes. 500 means a failing admission webhook. */
const rejections: ReadonlySet<number> = new Set([400, 403, 405, 413, 422, 500])

/** Returns whether the API server rejects the request itself: by a policy, a quota, a missing permission or a validation rule. */
export const isRejection = (error: unknown): error is ApiError =>
  error instanceof ApiError && rejections.has(error.status)
