// Test fixture of one Certificate with a real engine and an API server in memory. Tests decide which writes it rejects or changes, and set
// the clock.
import type { Engine, IssuedCertificate } from "@chancery/engine"
import { openTestEngine, seededRandom } from "@chancery/testing"
import { sha256 } from "@chancery/engine/x509"
import { storedIn } from "../src/controllers/certificate/stored-certificate.ts"
import { certificateIndexes, reconcileCertificates } from "../src/controllers/certificate/certificates.ts"
import { ApiError } from "../src/kube/cluster.ts"
import { conditionsOf, isOwn, stored, type StoredCondition } from "../src/controllers/conditions.ts"
import type { EventToRecord } from "../src/kube/event-recorder.ts"
import { reconcileIssuers } from "../src/controllers/issuer/issuers.ts"
import { certificateRole } from "../src/api/certificate-role.ts"
import { certificate } from "../src/api/certificate.ts"
import { connection } from "../src/api/connection.ts"
import { clusterIssuer, issuer } from "../src/api/issuer.ts"
import {
  configMaps,
  keyOf,
  type KubernetesObject,
  type Resource,
  secondTime,
  secrets,
} from "../src/kube/kubernetes-object.ts"
import { ObjectStore } from "../src/kube/object-store.ts"
import { type ReconcileResult, NotReadyError, RequeueAfter } from "../src/controllers/reconcile-result.ts"
import { ReadYourWrites } from "../src/kube/read-your-writes.ts"

const key = "team/web"
const dayMs = 86_400_000

interface Status {
  readonly serialNumber?: string
  readonly notAfter?: string
  readonly revision?: number
  readonly issuedBy?: object
  readonly failedIssuanceAttempts?: number
  readonly nextAttemptTime?: string
  readonly secretName?: string
  readonly formerSecrets?: readonly { readonly name: string }[]
  readonly history?: readonly {
    readonly serialNumber: string
    readonly revokedAt?: string
    readonly discarded?: boolean
  }[]
  readonly conditions?: readonly StoredCondition[]
}

/** Outcome of a reconciliation that writes no status. */
const undecidedHealth = { is: "reconciling", reason: "RenewalPaced", message: "" } as const
const undecided = ({ againAfterMs }: RequeueAfter): ReconcileResult => ({ health: undecidedHealth, againAfterMs })

/** Returns the API server's error for a write; undefined admits it. */
export type Rejects = (
  resource: Resource,
  object: KubernetesObject,
  how: { readonly isDryRun: boolean },
) => ApiError | undefined

export const forbidden = (message: string) => new ApiError(403, "Forbidden", message)

export async function openCertificate(spec: object, role: object = {}, issuerSpec: object = {}) {
  await using opening = new AsyncDisposableStack()
  let now = Date.parse("2026-01-01T00:00:00Z")
  const clock = { now: () => now }
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const digest = (text: string) => sha256(Buffer.from(text))
  const runtime = { clock, random: seededRandom(1), log, digest }
  const testEngine = opening.use(await openTestEngine({ jobs: false, runtime }))
  const engine: Engine = testEngine.engine
  await engine.mounts.create({ path: "pki", config: { maxLeaseTtlMs: 3_650 * dayMs } })
  const pki = engine.pki("pki")
  await pki.issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 3_000 * dayMs })
  const any = { allowAnyName: true, enforceHostnames: false, allowedUriSans: ["*"], keyType: "any", ttlMs: 90 * dayMs }
  await pki.roles.save("any", { ...any, ...role })

  const stores = new Map(
    [secrets, configMaps, issuer, clusterIssuer, certificateRole].map(({ plural }) => [plural, new ObjectStore()]),
  )
  stores.set(certificate.plural, new ObjectStore(certificateIndexes))
  const storeOf = ({ plural }: Resource) => {
    const store = stores.get(plural) ?? new ObjectStore()
    stores.set(plural, store)
    return store
  }
  let version = 0
  const set = (resource: Resource, object: KubernetesObject) => {
    version += 1
    const { uid = `uid-${version}`, generation = 1 } = object.metadata
    const kept = { ...object, metadata: { ...object.metadata, uid, generation, resourceVersion: String(version) } }
    storeOf(resource).set(kept)
    return kept
  }
  let rejects: Rejects = () => undefined
  let otherWriter = (written: KubernetesObject) => written
  const cluster = {
    get: async (resource: Resource, place: string) => storeOf(resource).get(place),
    async apply(resource: Resource, object: KubernetesObject, _manager: string, { dryRun = false } = {}) {
      const rejection = rejects(resource, object, { isDryRun: dryRun })
      if (rejection !== undefined) throw rejection
      if (dryRun) return object
      const present = storeOf(resource).get(keyOf(object))
      const written = set(resource, { ...object, metadata: { ...present?.metadata, ...object.metadata } })
      if (keyOf(object) === "team/tls") set(resource, otherWriter(written))
      return written
    },
    delete: async (resource: Resource, place: string) => void storeOf(resource).delete(place),
    dataManagers: async () => ["chancery-certificate", "vault-sync"],
  }
  let isLost = false
  let answer = (issued: IssuedCertificate) => issued
  const heard = {
    pki(mount: string) {
      const family = engine.pki(mount)
      const { certificates } = family
      return {
        roles: family.roles,
        issuers: family.issuers,
        revocations: family.revocations,
        certificates: {
          get: (serialNumber: string) => certificates.get(serialNumber),
          search: (...args: Parameters<typeof certificates.search>) => certificates.search(...args),
          issue: (...args: Parameters<typeof certificates.issue>) => certificates.issue(...args),
          async sign(...args: Parameters<typeof certificates.sign>) {
            const issued = await certificates.sign(...args)
            if (isLost) throw new TypeError("the process ends here")
            return issued
          },
          async signIntermediate(...args: Parameters<typeof certificates.signIntermediate>) {
            const issued = await certificates.signIntermediate(...args)
            if (isLost) throw new TypeError("the process ends here")
            return answer(issued)
          },
        },
      }
    },
  } as unknown as Engine
  const engines = {
    connect: async () => ({ engine: heard }),
    isStaying: async () => {
      const used = storeOf(connection).get("team/engine")
      return used !== undefined && used.metadata.deletionTimestamp === undefined
    },
  }
  const connectionRef = { kind: "Connection", name: "engine" }
  const events: EventToRecord[] = []
  const request = (status: object) => ({
    signal: new AbortController().signal,
    now,
    quiet: false,
    partial: false,
    turn: 0,
    status: status as Record<string, unknown>,
    async saveStatus(saved: object) {
      const object = present()
      const { observedGeneration, conditions = [] } = (object["status"] ?? {}) as Record<string, unknown>
      set(certificate, { ...object, status: { ...saved, observedGeneration, conditions } })
    },
    record: async (happening: EventToRecord) => void events.push(happening),
  })
  set(connection, { metadata: { name: "engine", namespace: "team" }, spec: {} })
  const ca = set(issuer, {
    metadata: { name: "ca", namespace: "team" },
    spec: { connectionRef, mount: "pki", defaultRole: "any", ...issuerSpec },
  })
  const issuers = reconcileIssuers({
    kind: "Issuer",
    trustBundles: undefined,
    cluster,
    engines,
    storeOf,
    namespace: "own",
  })
  const { health, status } = await issuers.reconcile(ca, request({}))
  set(issuer, {
    ...ca,
    status: { ...status, observedGeneration: 1, conditions: stored(conditionsOf(health), [], 1, now) },
  })
  const open = () => {
    const runtime = { random: () => 0.5, stopwatch: () => now }
    return reconcileCertificates({
      cluster,
      storeOf,
      engines,
      runtime,
      named: (resource) => ({ get: (place) => cluster.get(resource, place) }),
      writes: new ReadYourWrites(runtime.stopwatch),
    })
  }
  let reconciler = open()
  set(certificate, {
    metadata: { name: "web", namespace: "team", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { secretName: "tls", issuerRef: { name: "ca" }, dnsNames: ["www.example.com"], ...spec },
  })
  const present = (): KubernetesObject => {
    const object = storeOf(certificate).get(key)
    if (object === undefined) throw new Error(`there is no Certificate ${key}`)
    return object
  }
  const statusOf = () => (present()["status"] ?? {}) as Status

  /** Reconciles once and writes the status as the controller does. */
  async function look(): Promise<ReconcileResult> {
    const object = present()
    const { conditions: before = [], ...rest } = statusOf()
    const { nextAttemptTime: _, ...own } = rest
    const { observedGeneration: __, ...known } = own as Record<string, unknown>
    const outcome = await reconciler.reconcile(object, request(known)).catch((error: unknown): ReconcileResult => {
      if (error instanceof NotReadyError) return error.outcome
      if (error instanceof RequeueAfter) return undecided(error)
      throw error
    })
    if (outcome.health === undecidedHealth) return outcome
    const conditions = outcome.conditions ?? before.filter(isOwn)
    set(certificate, {
      ...object,
      status: {
        ...(outcome.status ?? known),
        observedGeneration: object.metadata.generation,
        ...(outcome.nextAttemptAt === undefined ? {} : { nextAttemptTime: secondTime(outcome.nextAttemptAt) }),
        conditions: stored(
          [...conditionsOf(outcome.health), ...conditions],
          before,
          object.metadata.generation ?? 1,
          now,
        ),
      },
    })
    return outcome
  }

  const closing = opening.move()
  return {
    engine,
    events,
    storeOf,
    set,
    look,
    get status() {
      return statusOf()
    },
    get now() {
      return now
    },
    secret: () => storeOf(secrets).get("team/tls"),
    stored: () => storedIn(storeOf(secrets).get("team/tls")),
    /** Returns the conditions as `Type=Status Reason`. */
    conditions: () => (statusOf().conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`),
    message: (type: string) => statusOf().conditions?.find((each) => each.type === type)?.message ?? "",
    reject: (next: Rejects) => void (rejects = next),
    /** Changes the Secret each time after the operator has written it. */
    contend: (writer: (written: KubernetesObject) => KubernetesObject) => void (otherWriter = writer),
    /** Changes what the engine answers to sign-intermediate. */
    answer: (next: typeof answer) => void (answer = next),
    loseAnswers: (lost: boolean) => void (isLost = lost),
    pass: (ms: number) => void (now += ms),
    edit(change: object) {
      const object = present()
      const { generation = 1 } = object.metadata
      set(certificate, {
        ...object,
        metadata: { ...object.metadata, generation: generation + 1 },
        spec: { ...(object["spec"] as object), ...change },
      })
    },
    finalize: async () => reconciler.finalize?.(present(), request(statusOf())),
    /** Starts another process, without memory. */
    restart: () => void (reconciler = open()),
    /** Reconciles at the scheduled times until `ms` milliseconds have passed. */
    async lookFor(ms: number): Promise<void> {
      for (const end = now + ms; now < end;) {
        const { nextAttemptAt = Infinity, againAfterMs } = await look()
        const pollMs = againAfterMs ?? (nextAttemptAt === Infinity ? 60_000 : Infinity)
        now = Math.min(nextAttemptAt, now + pollMs, end)
      }
    },
    /** Returns the leaf certificates that the engine has issued. */
    async issued() {
      const { items } = await pki.certificates.search({ role: "any" })
      return items.map(({ serialNumber, status, revokedAt }) => ({ serialNumber, status, revokedAt }))
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}
