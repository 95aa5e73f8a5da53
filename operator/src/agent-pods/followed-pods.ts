// Pods of an agent, kept up to date by one watch for all of its runs.
import type { ApiClient } from "../kube/api-client.ts"
import { ApiError } from "../kube/cluster.ts"
import { KubernetesCluster } from "../kube/kubernetes-cluster.ts"
import { keyOf, type ObjectKey, reaches } from "../kube/kubernetes-object.ts"
import { ObjectStore } from "../kube/object-store.ts"
import type { OperatorRuntime } from "../runtime.ts"
import { type Pod, pods } from "./pod.ts"

export interface FollowedPods extends AsyncDisposable {
  /**
   * Waits until the pod differs from `known`, at most `waitMs` or until the signal aborts. Returns the pod as it is now, or undefined if it
   * is gone. Returns `known` if the cluster does not answer.
   */
  next(known: Pod, waitMs: number, signal: AbortSignal): Promise<Pod | undefined>
}

export function followPods(
  api: ApiClient,
  namespace: string,
  labelSelector: string,
  runtime: Pick<OperatorRuntime, "log" | "random" | "timers">,
): FollowedPods {
  const store = new ObjectStore()
  const waiting = new Map<ObjectKey, () => void>()
  const cluster = new KubernetesCluster({ api, runtime })
  const following = cluster.follow({ resource: pods, namespace, labelSelector }, store, (key) => waiting.get(key)?.())

  /** The watch can be behind a pod that was just created or read. */
  function newer(known: Pod): Pod | undefined {
    const { uid, resourceVersion = "" } = known.metadata
    const watched = store.get(keyOf(known))
    if (watched === undefined || watched.metadata.uid !== uid) return undefined
    const { resourceVersion: version } = watched.metadata
    return version !== resourceVersion && reaches(version, resourceVersion) ? watched : undefined
  }

  async function read(known: Pod): Promise<Pod | undefined> {
    try {
      const pod = await api.get(pods, keyOf(known))
      return pod.metadata.uid === known.metadata.uid ? pod : undefined
    } catch (error) {
      return error instanceof ApiError && error.status === 404 ? undefined : known
    }
  }

  return {
    async next(known, waitMs, signal) {
      const key = keyOf(known)
      if (newer(known) === undefined && !signal.aborted)
        await new Promise<void>((resolve) => {
          const end = (): void => {
            cancel()
            signal.removeEventListener("abort", end)
            waiting.delete(key)
            resolve()
          }
          const cancel = runtime.timers.after(waitMs, end)
          signal.addEventListener("abort", end)
          waiting.set(key, end)
        })
      // Reads the pod itself after each wait without an event, so that a watch that is down delays a run and does not stop it.
      return newer(known) ?? (await read(known))
    },
    [Symbol.asyncDispose]: () => following.stop(),
  }
}
