// Events of the operator, in the order of time.
import { ApiError } from "../kube/cluster.ts"
import type { KubernetesObject, Resource } from "../kube/kubernetes-object.ts"
import { type OperatorRuntime, pause } from "../runtime.ts"
import { type ClusterAccess, listAll } from "./cluster-access.ts"

export interface ShownEvent {
  readonly uid: string
  readonly at: string
  readonly type: string
  readonly reason: string
  readonly object: string
  readonly namespace: string
  readonly count: number
  readonly message: string
}

const events: Resource = { group: "events.k8s.io", version: "v1", plural: "events", kind: "Event" }
/** Value of `reportingController` in `event-recorder.ts`. */
const ours = "reportingController=chancery.dev/operator"

export function shownEvent(event: KubernetesObject): ShownEvent {
  const { eventTime, series, type, reason, note, regarding, metadata } = event as KubernetesObject & {
    readonly eventTime?: string | null
    readonly series?: { readonly count?: number; readonly lastObservedTime?: string } | null
    readonly type?: string
    readonly reason?: string
    readonly note?: string
    readonly regarding?: { readonly kind?: string; readonly name?: string; readonly namespace?: string }
  }
  const created = metadata["creationTimestamp"] as string | undefined
  return {
    uid: metadata.uid ?? "",
    at: series?.lastObservedTime ?? eventTime ?? created ?? "",
    type: type ?? "",
    reason: reason ?? "",
    object: `${regarding?.kind ?? ""}/${regarding?.name ?? ""}`,
    namespace: regarding?.namespace ?? "",
    count: series?.count ?? 1,
    message: note ?? "",
  }
}

export const byTime = (one: ShownEvent, other: ShownEvent): number => Date.parse(one.at) - Date.parse(other.at)

/** Returns the operator's events, oldest first. With `uid`, those about this object. */
export async function listEvents(
  access: Pick<ClusterAccess, "api">,
  namespace: string | undefined,
  uid?: string,
): Promise<readonly ShownEvent[]> {
  const fieldSelector = uid === undefined ? ours : `${ours},regarding.uid=${uid}`
  const found = await listAll(access, events, namespace, { fieldSelector })
  return found.map(shownEvent).toSorted(byTime)
}

const retryMs = 2_000

/** Calls `happened` for the present events, oldest first, and then for each new or repeated one, until the signal aborts. */
export async function followEvents(
  { api }: Pick<ClusterAccess, "api">,
  runtime: Pick<OperatorRuntime, "timers">,
  namespace: string | undefined,
  happened: (event: ShownEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const known = new Map<string, number>()
  const show = (event: ShownEvent) => {
    if (known.get(event.uid) === event.count) return
    known.set(event.uid, event.count)
    happened(event)
  }
  let isFirst = true
  while (!signal.aborted) {
    try {
      const { items, resourceVersion } = await api.list(events, namespace, { fieldSelector: ours }, signal)
      const listed = items.map(shownEvent).toSorted(byTime)
      for (const event of listed) show(event)
      const present = new Set(listed.map(({ uid }) => uid))
      for (const uid of known.keys()) if (!present.has(uid)) known.delete(uid)
      isFirst = false
      for await (const { type, object } of api.watch(
        events,
        namespace,
        { fieldSelector: ours, resourceVersion },
        signal,
      )) {
        if (type === "ADDED" || type === "MODIFIED") show(shownEvent(object))
        else if (type === "ERROR") break
      }
    } catch (error) {
      if (signal.aborted) return
      // The first request reports wrong credentials, missing rights and an unreachable server.
      if (isFirst || (error instanceof ApiError && error.status === 403)) throw error
    }
    await pause(retryMs, { timers: runtime.timers }, signal)
  }
}
