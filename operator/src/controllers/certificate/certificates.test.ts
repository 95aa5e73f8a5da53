// A Certificate with a cluster and an engine of which every single call fails, before or after its effect.
import { openTestEngine } from "@chancery/testing"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Engine } from "@chancery/engine"
import { storedIn } from "./stored-certificate.ts"
import { certificateIndexes, reconcileCertificates } from "./certificates.ts"
import { ApiError, type Cluster } from "../../kube/cluster.ts"
import { conditionsOf, stored } from "../conditions.ts"
import { certificateRole } from "../../api/certificate-role.ts"
import { certificate } from "../../api/certificate.ts"
import { clusterIssuer, issuer } from "../../api/issuer.ts"
import {
  configMaps,
  keyOf,
  type KubernetesObject,
  parseKey,
  type Resource,
  secondTime,
  secrets,
} from "../../kube/kubernetes-object.ts"
import { ObjectStore } from "../../kube/object-store.ts"
import { type ReconcileResult, RequeueAfter, NotReadyError } from "../reconcile-result.ts"
import { ReadYourWrites } from "../../kube/read-your-writes.ts"
import { reconcileIssuers } from "../issuer/issuers.ts"
import type { Reconciler } from "../reconciler.ts"

type Engines = { connect(): Promise<{ readonly engine: Engine }>; isStaying(): Promise<boolean> }

/** Fails the `at`th effect from now on: it is not applied, or its answer is lost. */
interface Fault {
  at: number
  readonly mode: "not made" | "answer lost"
}

class Lost extends Error {}

function faulty(fault: Fault) {
  let count = 0
  return {
    get count() {
      return count
    },
    async effect<Value>(work: () => Promise<Value>): Promise<Value> {
      count += 1
      const fails = count === fault.at
      if (fails && fault.mode === "not made") throw new Lost("connection refused")
      const value = await work()
      if (fails) throw new Lost("connection reset")
      return value
    },
  }
}

/** A cluster in memory, whose object stores are always up to date. */
function memoryCluster(effect: ReturnType<typeof faulty>["effect"]) {
  const stores = new Map<string, ObjectStore>(
    [secrets, configMaps, issuer, clusterIssuer, certificateRole].map(({ plural }) => [plural, new ObjectStore()]),
  )
  stores.set(certificate.plural, new ObjectStore(certificateIndexes))
  let version = 0
  const storeOf = ({ plural }: Resource): ObjectStore => stores.get(plural)!
  const set = (resource: Resource, object: KubernetesObject): KubernetesObject => {
    version += 1
    const { uid = `uid-${version}`, generation = 1 } = object.metadata
    const kept = { ...object, metadata: { ...object.metadata, uid, generation, resourceVersion: String(version) } }
    storeOf(resource).set(kept)
    return kept
  }
  const cluster: Pick<Cluster, "apply" | "dataManagers" | "delete" | "get"> = {
    get: async (resource, key) => storeOf(resource).get(key),
    dataManagers: async () => [],
    apply: async (resource, object, _manager, { dryRun = false } = {}) =>
      // A dry run has no effect.
      dryRun
        ? object
        : effect(async () => {
            const present = storeOf(resource).get(keyOf(object))
            if (object.metadata.uid !== undefined && object.metadata.uid !== present?.metadata.uid)
              throw new ApiError(409, "Conflict", "the uid is another one")
            return set(resource, { ...object, metadata: { ...present?.metadata, ...object.metadata } })
          }),
    delete: (resource, key) => effect(async () => void storeOf(resource).delete(key)),
  }
  return { cluster, storeOf, set }
}

/** Reconciles as the controller does, until no further reconciliation is needed at once. */
async function settle(
  { storeOf, set }: ReturnType<typeof memoryCluster>,
  resource: Resource,
  reconciler: Reconciler,
  key: string,
): Promise<KubernetesObject> {
  for (let look = 0; look < 12; look += 1) {
    const object = storeOf(resource).get(key)!
    const {
      observedGeneration: _1,
      nextAttemptTime: _2,
      conditions: _3,
      ...own
    } = (object["status"] ?? {}) as Record<string, unknown>
    const outcome = await reconciler
      .reconcile(object, {
        signal: new AbortController().signal,
        now: Date.now(),
        quiet: false,
        partial: false,
        turn: 0,
        status: own,
        saveStatus: async () => {},
        record: async () => {},
      })
      .catch((error: unknown): ReconcileResult | undefined => {
        if (error instanceof NotReadyError) return error.outcome
        if (error instanceof Lost || error instanceof RequeueAfter) return undefined
        throw error
      })
    if (outcome === undefined) continue
    const { health, conditions = [], status = own, nextAttemptAt } = outcome
    set(resource, {
      ...object,
      status: {
        ...status,
        observedGeneration: object.metadata.generation,
        ...(nextAttemptAt === undefined ? {} : { nextAttemptTime: secondTime(nextAttemptAt) }),
        conditions: stored([...conditionsOf(health), ...conditions], [], object.metadata.generation ?? 1, Date.now()),
      },
    })
    if (health.is === "ready") return storeOf(resource).get(key)!
    // A change of the spec triggers a retry without waiting for the backoff.
    set(resource, {
      ...storeOf(resource).get(key)!,
      metadata: { ...object.metadata, generation: (object.metadata.generation ?? 1) + 1 },
    })
  }
  return storeOf(resource).get(key)!
}

let world: Awaited<ReturnType<typeof openTestEngine>>
let engine: Engine
beforeAll(async () => {
  world = await openTestEngine({ jobs: false })
  engine = world.engine
  await engine.mounts.create({ path: "pki", config: { maxLeaseTtlMs: 315_360_000_000 } })
  await engine.pki("pki").issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 300_000_000_000 })
  await engine
    .pki("pki")
    .roles.save("any", { allowAnyName: true, enforceHostnames: false, keyType: "any", ttlMs: 7_776_000_000 })
})
afterAll(() => world[Symbol.asyncDispose]())

/** Signing a certificate is an effect as well. */
const enginesWith = (effect: ReturnType<typeof faulty>["effect"]): Engines => ({
  isStaying: () => Promise.resolve(true),
  connect: async () => ({
    engine: {
      ...engine,
      pki: (mount: string) => {
        const pki = engine.pki(mount)
        const { certificates, revocations } = pki
        return {
          ...pki,
          issuers: pki.issuers,
          roles: pki.roles,
          certificates: {
            get: (serialNumber: string) => certificates.get(serialNumber),
            search: (...args: Parameters<typeof certificates.search>) => certificates.search(...args),
            sign: (...args: Parameters<typeof certificates.sign>) => effect(() => certificates.sign(...args)),
          },
          revocations: {
            revoke: (...args: Parameters<typeof revocations.revoke>) => effect(() => revocations.revoke(...args)),
          },
        }
      },
    } as unknown as Engine,
  }),
})

async function story(fault: Fault) {
  const faults = faulty(fault)
  const memory = memoryCluster(faults.effect)
  const engines = enginesWith(faults.effect)
  const issuers = reconcileIssuers({
    kind: "Issuer",
    trustBundles: undefined,
    cluster: memory.cluster,
    engines,
    storeOf: memory.storeOf,
    namespace: "own",
  })
  const connectionRef = { kind: "Connection", name: "engine" }
  memory.set(issuer, {
    metadata: { name: "ca", namespace: "team" },
    spec: { connectionRef, mount: "pki", defaultRole: "any" },
  })
  await settle(memory, issuer, issuers, "team/ca")
  const runtime = { random: () => 0.5, stopwatch: () => performance.now() }
  const certificates = reconcileCertificates({
    ...memory,
    engines,
    runtime,
    named: (resource) => ({ get: (key) => memory.cluster.get(resource, key) }),
    writes: new ReadYourWrites(runtime.stopwatch),
  })
  memory.set(certificate, {
    metadata: { name: "web", namespace: "team", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: {
      secretName: "tls",
      issuerRef: { name: "ca" },
      dnsNames: ["www.example.com"],
      trust: { publishTo: { configMapName: "trust" } },
      revocationPolicy: { onRotation: true },
    },
  })
  const first = await settle(memory, certificate, certificates, "team/web")
  const { serialNumber } = first["status"] as { readonly serialNumber?: string }
  memory.set(certificate, {
    ...first,
    metadata: { ...first.metadata, annotations: { "chancery.dev/renew-requested-at": "now" } },
  })
  const last = await settle(memory, certificate, certificates, "team/web")
  // A second reconciliation completes what the first could not.
  const settled = (await settle(memory, certificate, certificates, "team/web")) ?? last
  return { memory, faults, settled, serialNumber }
}

interface Settled {
  readonly serialNumber: string
  readonly revision: number
  readonly failedIssuanceAttempts?: number
  readonly lastHandledRenewAt?: string
  readonly history: readonly { readonly serialNumber: string; readonly revokedAt?: string }[]
  readonly conditions: readonly { readonly type: string; readonly status: string }[]
}

describe("a Certificate that is issued and renewed", () => {
  test("has its first certificate revoked, and its temporary keys deleted", async () => {
    const { memory, settled, serialNumber } = await story({ at: 0, mode: "not made" })
    expect(settled["status"]).toMatchObject({
      revision: 2,
      lastHandledRenewAt: "now",
      history: [{ serialNumber, revokedAt: expect.any(String) as string }],
    })
    expect([...memory.storeOf(secrets).keys()]).toEqual(["team/tls"])
  })

  const modes = ["not made", "answer lost"] as const
  test.each(modes)("reaches the same result if any single effect is %s", async (mode) => {
    const whole = await story({ at: 0, mode })
    // The trust bundle; twice a key, a signature, a Secret and the deletion of a key; then a revocation.
    expect(whole.faults.count).toBe(10)
    for (let at = 1; at <= whole.faults.count; at += 1) {
      const { memory, settled, serialNumber } = await story({ at, mode })
      const status = settled["status"] as Settled
      const secret = memory.storeOf(secrets).get("team/tls")
      const stored = storedIn(secret)
      const shown = {
        at,
        stored: stored.is,
        isTold: stored.is === "whole" && stored.serialNumber === status.serialNumber,
        secrets: [...memory.storeOf(secrets).keys()].map((key) => parseKey(key).name),
        ready: status.conditions.some((one) => one.type === "Ready" && one.status === "True"),
        handled: status.lastHandledRenewAt,
        failures: status.failedIssuanceAttempts,
        isRevoked: status.history.some((one) => one.serialNumber === serialNumber && one.revokedAt !== undefined),
        isSecond: status.revision === 2,
      }
      expect(shown).toEqual({
        at,
        stored: "whole",
        isTold: true,
        secrets: ["tls"],
        ready: true,
        handled: "now",
        failures: undefined,
        isRevoked: true,
        isSecond: true,
      })
    }
  })
})
