// Implementation of `Cluster` with the Kubernetes API.
import type { ApiClient } from "./api-client.ts"
import { ApiError, type Cluster, type Followed, type Following, isOutdated } from "./cluster.ts"
import { apiVersionOf, keyOf, type KubernetesObject, type ObjectKey, type Resource } from "./kubernetes-object.ts"
import { Reflector } from "./reflector.ts"
import type { OperatorRuntime } from "../runtime.ts"

export interface KubernetesClusterOptions {
  readonly api: Pick<
    ApiClient,
    "apply" | "applyStatus" | "create" | "dataManagers" | "delete" | "get" | "list" | "mergePatch" | "watch"
  >
  readonly runtime: Pick<OperatorRuntime, "log" | "random" | "timers">
  /** Namespaces to watch. Default: all. */
  readonly namespaces?: readonly string[]
  /** True if cluster-scoped objects are accessible. Default: true unless `namespaces` is set. */
  readonly clusterWide?: boolean
}

const accessReviews: Resource = {
  group: "authorization.k8s.io",
  version: "v1",
  plural: "subjectaccessreviews",
  kind: "SubjectAccessReview",
  scope: "Cluster",
}

export class KubernetesCluster implements Cluster {
  readonly #options: KubernetesClusterOptions

  constructor(options: KubernetesClusterOptions) {
    this.#options = options
  }

  follow(...[what, store, changed]: Parameters<Cluster["follow"]>): Following {
    const { api, runtime } = this.#options
    const ending = new AbortController()
    const reflectors = this.#scopesOf(what).map(
      (scope) => new Reflector({ ...what, ...scope, api, runtime, store, changed }),
    )
    const running = Promise.all(reflectors.map((reflector) => reflector.run(ending.signal)))
    return {
      get hasSynced() {
        return reflectors.every((reflector) => reflector.hasSynced)
      },
      async whenSynced() {
        await Promise.all(reflectors.map((reflector) => reflector.whenSynced()))
      },
      async stop() {
        ending.abort()
        await running
      },
    }
  }

  #scopesOf({ resource, namespace }: Followed): readonly { readonly namespace?: string }[] {
    const { namespaces, clusterWide = namespaces === undefined } = this.#options
    if (resource.scope === "Cluster") return clusterWide ? [{}] : []
    return namespaces === undefined || namespace !== undefined ? [{}] : namespaces.map((one) => ({ namespace: one }))
  }

  async get(resource: Resource, key: ObjectKey): Promise<KubernetesObject | undefined> {
    try {
      return await this.#options.api.get(resource, key)
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined
      throw error
    }
  }

  apply(...args: Parameters<Cluster["apply"]>): Promise<KubernetesObject> {
    return this.#options.api.apply(...args)
  }

  dataManagers(...args: Parameters<Cluster["dataManagers"]>): Promise<readonly string[]> {
    return this.#options.api.dataManagers(...args)
  }

  applyStatus(...args: Parameters<Cluster["applyStatus"]>): Promise<KubernetesObject> {
    return this.#options.api.applyStatus(...args)
  }

  setFinalizers(...[resource, object, finalizers]: Parameters<Cluster["setFinalizers"]>): Promise<KubernetesObject> {
    const { uid, resourceVersion } = object.metadata
    return this.#options.api.mergePatch(resource, keyOf(object), { metadata: { uid, resourceVersion, finalizers } })
  }

  async isPermitted(
    ...[{ username: user, ...others }, resourceAttributes]: Parameters<Cluster["isPermitted"]>
  ): Promise<boolean> {
    const spec = { user, ...others, resourceAttributes }
    // Its name is unused: the API answers such an object and stores none.
    const review = { apiVersion: apiVersionOf(accessReviews), kind: accessReviews.kind, metadata: { name: "" }, spec }
    const { status } = await this.#options.api.create(accessReviews, review)
    return (status as { readonly allowed?: unknown } | undefined)?.allowed === true
  }

  async delete(resource: Resource, key: ObjectKey, uid?: string): Promise<void> {
    try {
      await this.#options.api.delete(resource, key, uid)
    } catch (error) {
      // The object is gone, or another one has its name now.
      if (!isOutdated(error)) throw error
    }
  }
}
