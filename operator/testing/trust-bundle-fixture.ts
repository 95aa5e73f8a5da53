// Test fixture of one TrustBundle with an API server in memory, namespaces and issuers.
import type { ApiError } from "../src/kube/cluster.ts"
import { certificateIndexes } from "../src/controllers/certificate/certificates.ts"
import { conditionsOf, stored, type StoredCondition } from "../src/controllers/conditions.ts"
import type { EventToRecord } from "../src/kube/event-recorder.ts"
import { reconcileTrustBundles, trustBundleIndexes } from "../src/controllers/trust-bundle/trust-bundles.ts"
import { certificate } from "../src/api/certificate.ts"
import { clusterIssuer, issuer } from "../src/api/issuer.ts"
import { trustBundle } from "../src/api/trust-bundle.ts"
import {
  configMaps,
  keyOf,
  type KubernetesObject,
  namespaces,
  parseKey,
  type Resource,
  secrets,
} from "../src/kube/kubernetes-object.ts"
import { ObjectStore } from "../src/kube/object-store.ts"
import { type ReconcileResult, NotReadyError } from "../src/controllers/reconcile-result.ts"
import { ReadYourWrites } from "../src/kube/read-your-writes.ts"
import type { TrustBundleStatus } from "../src/controllers/trust-bundle/bundle-status.ts"

const managedLabel = "controller.chancery.dev/managed"

/** Returns the API server's error for a write or a deletion; undefined admits it. */
type Rejects = (resource: Resource, key: string) => ApiError | undefined

export function openTrustBundle(spec: object) {
  let now = Date.parse("2026-01-01T00:00:00Z")
  let version = 0
  const all = [secrets, configMaps, namespaces, issuer, clusterIssuer]
  const stores = new Map(all.map(({ plural }) => [plural, new ObjectStore()]))
  stores.set(certificate.plural, new ObjectStore(certificateIndexes))
  stores.set(trustBundle.plural, new ObjectStore(trustBundleIndexes))
  /** Objects without the label of the operator, which it does not watch. */
  const foreign = new Map<string, KubernetesObject>()
  const storeOf = ({ plural }: Resource): ObjectStore => {
    const store = stores.get(plural)
    if (store === undefined) throw new Error(`there is no store of ${plural}`)
    return store
  }
  const set = (resource: Resource, object: KubernetesObject): KubernetesObject => {
    version += 1
    const { uid = `uid-${version}`, generation = 1 } = object.metadata
    const kept = { ...object, metadata: { ...object.metadata, uid, generation, resourceVersion: String(version) } }
    storeOf(resource).set(kept)
    return kept
  }
  let rejects: Rejects = () => undefined
  const writes: string[] = []
  const check = (resource: Resource, key: string, verb: string) => {
    const rejection = rejects(resource, key)
    if (rejection !== undefined) throw rejection
    writes.push(`${verb} ${resource.plural} ${key}`)
  }
  const cluster = {
    get: async (resource: Resource, key: string) =>
      storeOf(resource).get(key) ?? foreign.get(`${resource.plural} ${key}`),
    async apply(resource: Resource, object: KubernetesObject) {
      check(resource, keyOf(object), "apply")
      return set(resource, object)
    },
    async delete(resource: Resource, key: string, uid?: string) {
      check(resource, key, "delete")
      if (uid === undefined) throw new Error("a deletion must have a uid")
      storeOf(resource).delete(key)
    },
  }
  const reconciler = reconcileTrustBundles({
    cluster,
    storeOf,
    writes: new ReadYourWrites(() => now),
    named: (resource) => ({ get: (key) => cluster.get(resource, key) }),
    namespace: "own",
  })
  const events: EventToRecord[] = []
  set(trustBundle, { metadata: { name: "internal" }, spec })
  const present = (): KubernetesObject => {
    const object = storeOf(trustBundle).get("internal")
    if (object === undefined) throw new Error("there is no TrustBundle")
    return object
  }
  type Status = TrustBundleStatus & { readonly conditions?: readonly StoredCondition[] }
  const statusOf = () => (present()["status"] ?? {}) as Status

  async function look(): Promise<ReconcileResult> {
    const object = present()
    const { conditions: before = [], observedGeneration: _, ...own } = statusOf()
    const outcome = await reconciler
      .reconcile(object, {
        signal: new AbortController().signal,
        now,
        quiet: false,
        partial: false,
        turn: 0,
        status: own,
        saveStatus: async () => {},
        record: async (happening) => void events.push(happening),
      })
      .catch((error: unknown): ReconcileResult => {
        if (error instanceof NotReadyError) return error.outcome
        throw error
      })
    const conditions = stored(conditionsOf(outcome.health), before, 1, now)
    set(trustBundle, { ...object, status: { ...(outcome.status ?? own), observedGeneration: 1, conditions } })
    return outcome
  }
  const dataIn = (resource: Resource, key: string, name: string): string | undefined => {
    const data = storeOf(resource).get(key)?.["data"] as Readonly<Record<string, string>> | undefined
    const text = data?.[name]
    return text === undefined || resource === configMaps ? text : Buffer.from(text, "base64").toString()
  }
  return {
    look,
    set,
    storeOf,
    events,
    writes,
    status: statusOf,
    conditions: () => (statusOf().conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`),
    message: () => statusOf().conditions?.find(({ type }) => type === "Ready")?.message ?? "",
    pass: (ms: number) => void (now += ms),
    reject: (next: Rejects) => void (rejects = next),
    namespace: (name: string, labels: Readonly<Record<string, string>> = {}) =>
      set(namespaces, { metadata: { name, labels } }),
    /** Creates an object of another owner. */
    foreign: (resource: Resource, key: string, data: object) =>
      void foreign.set(`${resource.plural} ${key}`, { metadata: { ...parseKey(key), uid: "foreign" }, data }),
    foreignData: (resource: Resource, key: string) => foreign.get(`${resource.plural} ${key}`)?.["data"],
    issuer: (resource: Resource, key: string, caChain?: string) =>
      set(resource, { metadata: parseKey(key), spec: {}, ...(caChain === undefined ? {} : { status: { caChain } }) }),
    edit: (change: object) =>
      void set(trustBundle, { ...present(), spec: { ...(present()["spec"] as object), ...change } }),
    configMap: (key: string, name = "ca.crt") => dataIn(configMaps, key, name),
    secret: (key: string, name = "ca.crt") => dataIn(secrets, key, name),
    managedLabel,
  }
}
