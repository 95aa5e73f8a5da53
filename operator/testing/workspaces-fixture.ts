// Test fixture of Workspaces with a real engine and without a controller. Secrets and ConfigMaps are in a folder.
import { createHash } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { type Engine, EngineError, isEngineError } from "@chancery/engine"
import { openTestEngine } from "@chancery/testing"
import type { ApiError } from "../src/kube/cluster.ts"
import { DirectoryCluster } from "../src/local/directory-cluster.ts"
import { workspace } from "../src/api/workspace.ts"
import { configMaps, type KubernetesObject, placeOf, type Resource, secrets } from "../src/kube/kubernetes-object.ts"
import { ObjectStore } from "../src/kube/object-store.ts"
import { type ReconcileResult, type OwnStatus, NotReadyError } from "../src/controllers/reconcile-result.ts"
import { managedSelector } from "../src/kube/owned-objects.ts"
import { ReadYourWrites } from "../src/kube/read-your-writes.ts"
import type { ReconcileRequest } from "../src/controllers/reconciler.ts"
import type { PublicationParts } from "../src/controllers/workspace/output-publication.ts"
import { projectOf } from "../src/controllers/project/project-references.ts"
import { reconcileWorkspaces, workspaceIdOf } from "../src/controllers/workspace/workspaces.ts"

/** Outcome of a call: executed, not received, executed without a response, or rejected with this error. */
export type SimulatedFate = "done" | "lost" | "answer lost" | EngineError

/** Wraps an engine to record its calls and to lose them as the test decides. */
function overheard(engine: Engine, fateOf: (call: string) => SimulatedFate = () => "done") {
  const calls: string[] = []
  const unavailable = () => new EngineError("unavailable", "No answer came.")
  const family = (name: string, members: object): unknown =>
    new Proxy(members, {
      get(target, method) {
        const present: unknown = Reflect.get(target, method, target)
        if (typeof present !== "function") return present
        return async (...args: readonly unknown[]) => {
          const call = `${name}.${String(method)}`
          calls.push(call)
          const fate = fateOf(call)
          if (fate === "lost") throw unavailable()
          if (fate instanceof EngineError) throw fate
          const answer: unknown = await present.apply(target, args)
          if (fate === "answer lost") throw unavailable()
          return answer
        }
      },
    })
  const proxied = new Proxy(engine, {
    get: (target, name) => family(String(name), Reflect.get(target, name, target) as object),
  })
  return { proxied, calls }
}

const lookEveryMs = 20
const maxLooks = 5_000

export type WorkspacesFixture = Awaited<ReturnType<typeof openWorkspaces>>

export async function openWorkspaces() {
  await using opening = new AsyncDisposableStack()
  const testEngine = opening.use(await openTestEngine())
  const engine: Engine = testEngine.engine
  await engine.organizations.create({ name: "acme", email: "acme@example.com" })
  const folder = await mkdtemp(join(tmpdir(), "chancery-workspaces-"))
  opening.defer(() => rm(folder, { recursive: true, force: true }))
  const start = Date.parse("2026-01-01T00:00:00Z")
  let drawn = 0
  // A different value at each call, and the same sequence in every run.
  const random = () => ((drawn += 1) * 0.618_033_988_749) % 1
  const runtime = { clock: { now: () => start }, random }
  const cluster = await DirectoryCluster.open({ folder, kinds: [], runtime })
  const stores = new Map([configMaps, secrets].map((resource) => [resource, new ObjectStore()]))
  const writes = new ReadYourWrites(() => performance.now())
  for (const [resource, store] of stores) {
    await cluster
      .follow({ resource, labelSelector: managedSelector }, store, (key) => {
        writes.writerOf(placeOf(resource, key), store.get(key)?.metadata.resourceVersion)
      })
      .whenSynced()
  }
  const storeOf = (resource: Resource): ObjectStore => stores.get(resource) ?? new ObjectStore()
  let rejects: (resource: Resource, object: KubernetesObject) => ApiError | undefined = () => undefined
  const rejecting: PublicationParts["cluster"] = {
    get: (...args) => cluster.get(...args),
    delete: (...args) => cluster.delete(...args),
    async apply(...args) {
      const rejection = rejects(args[0], args[1])
      if (rejection !== undefined) throw rejection
      return cluster.apply(...args)
    },
  }

  const projects = new ObjectStore({ project: projectOf })

  /** Opens one object, with a replacement of the controller. */
  function open(name: string, spec: Record<string, unknown>, fateOf?: (call: string) => SimulatedFate) {
    const { proxied, calls } = overheard(engine, fateOf)
    const store = new ObjectStore({ workspaceId: workspaceIdOf })
    const reconciler = reconcileWorkspaces({
      cluster: rejecting,
      storeOf,
      writes,
      named: (resource) => ({ get: (key) => cluster.get(resource, key) }),
      feeds: { need() {}, taken: () => new Set() },
      engines: {
        connect: async () => ({ engine: proxied, organization: "acme", url: "https://engine.example/api/v2" }),
      },
      clusterName: "test",
      workspaces: store,
      projects,
    })
    const saved: OwnStatus[] = []
    const happened: string[] = []
    let status: OwnStatus = {}
    let conditions: ReconcileResult["conditions"]
    let againAfterMs: number | undefined
    let told = ""
    let now = start
    let polls = 0
    let written = spec
    const object = (): KubernetesObject => ({
      metadata: { name, namespace: "team", uid: `uid-of-${name}`, generation: 1 },
      spec: workspace.spec.parse({ connectionRef: { name: "engine" }, ...written }),
      status: { ...status, ...(conditions === undefined ? {} : { conditions }) },
    })
    const request = (quiet: boolean): ReconcileRequest => ({
      signal: new AbortController().signal,
      now,
      quiet,
      partial: quiet,
      turn: quiet ? (polls += 1) - 1 : polls,
      get status() {
        return status
      },
      async saveStatus(next) {
        saved.push(next)
        status = next
      },
      record: async ({ reason }) => void happened.push(reason),
    })
    async function looked(look: () => Promise<ReconcileResult | undefined>): Promise<string> {
      calls.length = 0
      let outcome: ReconcileResult | undefined
      try {
        outcome = await look()
      } catch (error) {
        if (!(error instanceof NotReadyError)) throw error
        outcome = error.outcome
      }
      if (outcome === undefined) return "gone"
      status = outcome.status ?? status
      conditions = outcome.conditions ?? conditions
      againAfterMs = outcome.againAfterMs
      told = outcome.health.message
      store.set({ ...object(), status })
      return outcome.health.reason
    }
    return {
      calls,
      saved,
      happened,
      store,
      get status() {
        return status
      },
      get told() {
        return told
      },
      get againAfterMs() {
        return againAfterMs
      },
      /** Returns the condition as `True Reason`, or an empty string if there is none. */
      condition: (type: string): string =>
        (conditions ?? [])
          .filter((one) => one.type === type)
          .map((one) => `${one.status} ${one.reason}`)
          .join(),
      message: (type: string): string => (conditions ?? []).find((one) => one.type === type)?.message ?? "",
      edit: (next: Record<string, unknown>) => (written = next),
      pass: (milliseconds: number) => (now += milliseconds),
      look: () => looked(() => reconciler.reconcile(object(), request(false))),
      poll: () => looked(() => reconciler.reconcile(object(), request(true))),
      part: () => looked(async () => reconciler.finalize?.(object(), request(false))),
    }
  }
  /** Uploads the next state as Terraform does, and waits until its outputs are available. For large states, a background job reads them. */
  async function putState(id: string, serial: number, outputs: Readonly<Record<string, unknown>>): Promise<void> {
    await engine.workspaces.lock({ id }, { reason: "" })
    const state = JSON.stringify({
      version: 4,
      terraform_version: "1.11.4",
      serial,
      lineage: `lineage of ${id}`,
      outputs,
      resources: [],
    })
    const attributes = {
      serial,
      lineage: `lineage of ${id}`,
      md5: createHash("md5").update(state).digest("hex"),
      state: Buffer.from(state).toString("base64"),
    }
    const body = { data: { type: "state-versions", attributes } }
    const { status, body: answer } = await testEngine.request("POST", `/workspaces/${id}/state-versions`, { body })
    if (status !== 201) throw new Error(JSON.stringify(answer))
    await engine.workspaces.unlock({ id })
    for (let look = 0; look < maxLooks; look += 1) {
      try {
        await engine.stateVersions.currentOutputs({ id })
        return
      } catch (error) {
        if (!isEngineError(error, "pending")) throw error
        await sleep(lookEveryMs)
      }
    }
    throw new Error("the outputs were never read")
  }
  const closing = opening.move()
  /** Sets the function that decides which writes the API server rejects. */
  const reject = (next: typeof rejects) => void (rejects = next)
  return { engine, cluster, projects, open, putState, reject, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}
