// Every status of a Workspace as GitOps tools see it, sampled from a watch, next to the state of the engine at that moment.
import { request } from "undici"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { workspace } from "../../../operator/src/api/workspace.ts"
import { argoHealth } from "./argo-cd.ts"
import { sharedCluster } from "./cluster.ts"
import { courseOf, type KStatus, kstatus, kstatuses, kstatusProgram } from "./kstatus.ts"
import { type Actor, administrator, connect, eventually, type Shown, startEngine, startReplica } from "./fixture.ts"

const cluster = sharedCluster()
const namespace = "lives"
const connectionRef = { name: "engine" }

describe.skipIf(cluster === undefined || kstatusProgram === undefined)("throughout its life a Workspace", () => {
  const closing = new AsyncDisposableStack()
  let actor: Actor
  let api: ReturnType<typeof administrator>["api"]
  let engine: Awaited<ReturnType<typeof startEngine>>
  let replica: { end(): Promise<unknown>; readonly url: Promise<string> }
  let config: Awaited<ReturnType<NonNullable<typeof cluster>["operatorAccess"]>>

  beforeAll(async () => {
    config = await cluster!.operatorAccess(namespace)
    engine = closing.use(await startEngine())
    const admin = closing.use(administrator(cluster!.adminAccess()))
    api = admin.api
    actor = admin.in(namespace)
    replica = startReplica(config, namespace, "one", { watched: [namespace] })
    closing.defer(async () => void (await replica.end()))
    await connect(actor, engine)
  })
  afterAll(() => closing.disposeAsync())

  /** Records everything that a watch of the object reports from now on. */
  function sampled(name: string) {
    const ending = new AbortController()
    const samples: { readonly shown: Shown; readonly type: string }[] = []
    const watching = (async () => {
      const query = { fieldSelector: `metadata.name=${name}`, allowWatchBookmarks: "false" }
      for await (const { type, object } of api.watch(workspace, namespace, query, ending.signal)) {
        samples.push({ shown: object as Shown, type })
      }
    })().catch((error: unknown) => {
      if (!ending.signal.aborted) throw error
    })
    return {
      samples,
      async [Symbol.asyncDispose]() {
        ending.abort()
        await watching
      },
    }
  }

  test("is Current only while the engine matches its spec, from the apply to the delete", async () => {
    await using life = sampled("life")
    const apply = (spec: Record<string, unknown>) => actor.apply(workspace, "life", { connectionRef, ...spec })
    await apply({ description: "one" })
    await actor.until(workspace, "life", "Ready=True Available")
    await apply({ description: "two" })
    await actor.until(workspace, "life", "Ready=True Available")
    await apply({ description: "two", project: { name: "None" } })
    await actor.until(workspace, "life", "Stalled=True ReferenceMissing")
    await engine.engine.projects.create("acme", { name: "None" })
    await apply({ description: "three", project: { name: "None" } })
    const { status } = await actor.until(workspace, "life", "Ready=True Available")
    const id = String(status["id"])
    await engine.engine.workspaces.lock({ id }, { reason: "somebody" })
    await actor.delete(workspace, "life")
    await actor.until(workspace, "life", "Reconciling=True DeletionBlocked")
    await engine.engine.workspaces.unlock({ id })
    await eventually(
      () => actor.isGone(workspace, "life"),
      (isDeleted) => isDeleted,
    )
    await eventually(
      async () => life.samples.at(-1)?.type,
      (type) => type === "DELETED",
    )

    const statuses = await kstatuses(life.samples.map(({ shown }) => shown))
    const samples = life.samples.map(({ shown }, index) => ({ shown, is: statuses[index]! }))
    expect(courseOf(statuses)).toEqual([
      "InProgress",
      "Current",
      "InProgress",
      "Current",
      "InProgress",
      "Failed",
      "InProgress",
      "Current",
      "Terminating",
    ])
    const healths: Readonly<Record<KStatus, readonly string[]>> = {
      Current: ["Healthy"],
      InProgress: ["Progressing"],
      Failed: ["Degraded"],
      Terminating: ["Progressing", "Degraded"],
    }
    for (const { shown, is } of samples) expect(healths[is]).toContain((await argoHealth(shown)).status)
    // An object that counts as current has an id, by which the workspace can be found.
    for (const { shown, is } of samples) expect(is !== "Current" || typeof shown.status["id"] === "string").toBe(true)
    for (const { shown } of samples) {
      const types = (shown.status.conditions ?? []).map(({ type }) => type)
      expect(types.includes("Reconciling") && types.includes("Stalled")).toBe(false)
      expect(types.length === 0 || (types.includes("Ready") && types.includes("Synced"))).toBe(true)
    }
  })

  test("costs three writes to create, and none to reconcile again", async () => {
    const metrics = async () => (await request(`${await replica.url}/metrics`)).body.text()
    const patches = async () =>
      Number(/rest_client_requests_total\{code="200",method="PATCH"\} (\d+)/.exec(await metrics())?.[1] ?? 0)
    const before = await patches()
    await actor.apply(workspace, "cheap", { connectionRef, description: "x", tags: ["a"] })
    const made = await actor.until(workspace, "cheap", "Ready=True Available")
    // One patch adds the finalizer, one announces the creation, and one records the result.
    expect((await patches()) - before).toBe(3)
    await replica.end()
    replica = startReplica(config, namespace, "two", { watched: [namespace] })
    await eventually(metrics, (text) =>
      /controller_runtime_reconcile_total\{controller="workspaces",result="requeue_after"\} [1-9]/.test(text),
    )
    expect(await metrics()).not.toMatch(/chancery_operator_status_writes_total\{controller="workspaces"\}/)
    const again = await actor.shown(workspace, "cheap")
    expect(again.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
  })

  test("has the conditions of an object not yet reconciled, and so is not finished, while no operator runs", async () => {
    await replica.end()
    await actor.apply(workspace, "unseen", { connectionRef })
    expect(await kstatus(await actor.shown(workspace, "unseen"))).toBe("InProgress")
  })
})
