// The variables of a workspace, with values from Secrets and ConfigMaps of a real API server, read with the operator's own rights.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { workspace } from "../../../operator/src/api/workspace.ts"
import { configMaps, secrets } from "../../../operator/src/kube/kubernetes-object.ts"
import { sharedCluster } from "./cluster.ts"
import { type Actor, administrator, connect, eventually, startEngine, startReplica } from "./fixture.ts"

const cluster = sharedCluster()
const namespace = "variables"
const ready = "Ready=True Available"

describe.skipIf(cluster === undefined)("a Workspace with variables", () => {
  let actor: Actor
  let engine: Awaited<ReturnType<typeof startEngine>>
  const closing = new AsyncDisposableStack()

  beforeAll(async () => {
    const config = await cluster!.operatorAccess(namespace)
    engine = closing.use(await startEngine())
    actor = closing.use(administrator(cluster!.adminAccess())).in(namespace)
    const replica = startReplica(config, namespace, "one", { watched: [namespace] })
    closing.defer(async () => void (await replica.end()))
    await connect(actor, engine)
  })
  afterAll(() => closing.disposeAsync())

  const apply = (name: string, variables: readonly object[] | undefined, more: object = {}) =>
    actor.apply(workspace, name, {
      connectionRef: { name: "engine" },
      ...more,
      ...(variables === undefined ? {} : { variables }),
    })
  const until = (name: string, condition: string) => actor.until(workspace, name, condition)
  const variablesOf = async (name: string) => {
    const { id } = await engine.engine.workspaces.get({ organization: "acme", name })
    return engine.engine.variables.list({ id })
  }
  const reportedVariables = async (name: string) =>
    (await variablesOf(name))
      .map(({ category, key, value, sensitive }) => [category, key, sensitive ? "*" : value].join(" "))
      .toSorted()
  const eventuallyReported = (name: string, expected: readonly string[]) =>
    eventually(
      () => reportedVariables(name),
      (found) => JSON.stringify(found) === JSON.stringify(expected),
    )
  /** Requests a complete reconciliation, not only of the part that is next. */
  const ask = (name: string) =>
    actor.patch(workspace, name, { metadata: { annotations: { "chancery.dev/reconcile-requested-at": "once" } } })
  const config = (name: string, data: Record<string, string>) =>
    cluster!.kubectl(
      ["apply", "-f", "-"],
      JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data }),
    )
  const secret = (name: string, key: string, more: object = {}) => ({
    valueFrom: { secretKeyRef: { name, key, ...more } },
  })
  const fromConfig = (name: string, key: string, more: object = {}) => ({
    valueFrom: { configMapKeyRef: { name, key, ...more } },
  })

  test.concurrent("sets them as declared, and reveals no sensitive value", async () => {
    await actor.putToken("s3cret", "made")
    await config("made", { region: "eu" })
    await apply("made", [
      { key: "size", value: "[1]", hcl: true },
      { key: "TOKEN", category: "env", ...secret("made", "token") },
      { key: "region", ...fromConfig("made", "region") },
    ])
    await until("made", ready)
    expect(await reportedVariables("made")).toEqual(["env TOKEN *", "terraform region eu", "terraform size [1]"])
    const all = await cluster!.kubectl(["get", "workspaces.chancery.dev,events", "-n", namespace, "-o", "json"])
    expect(all).not.toMatch(new RegExp(`s3cret|${Buffer.from("s3cret").toString("base64")}`))
    await apply("made", [{ key: "size", value: "[2]", hcl: true }])
    await eventuallyReported("made", ["terraform size [2]"])
    await apply("made", undefined)
    await eventuallyReported("made", [])
  })

  test.concurrent("follows a Secret and a ConfigMap when they change, and writes nothing when they do not", async () => {
    await actor.putToken("one", "followed")
    await config("followed", { a: "1" })
    await apply("followed", [
      { key: "hidden", ...secret("followed", "token") },
      { key: "open", ...fromConfig("followed", "a") },
    ])
    await until("followed", ready)
    const versions = async () =>
      (await variablesOf("followed")).map(({ key, versionId }) => `${key} ${versionId}`).toSorted()
    const first = await versions()
    await config("followed", { a: "2" })
    await eventuallyReported("followed", ["terraform hidden *", "terraform open 2"])
    const second = await versions()
    expect(second[0]).toBe(first[0])
    await actor.putToken("two", "followed")
    await eventually(versions, (found) => found[0] !== second[0])
    const { metadata } = await until("followed", ready)
    const third = await versions()
    await ask("followed")
    const request = await eventually(
      () => actor.shown(workspace, "followed"),
      ({ status }) => status["lastHandledReconcileAt"] === "once",
    )
    expect(await versions()).toEqual(third)
    expect(request.metadata.generation).toBe(metadata.generation)
  })

  test.concurrent.each([
    { from: secret("late-secret", "token"), condition: "Stalled=True SecretMissing", names: "Secret late-secret" },
    {
      from: fromConfig("late-config", "token"),
      condition: "Stalled=True ConfigMapMissing",
      names: "ConfigMap late-config",
    },
  ])("waits with $condition, and continues once the source exists", async ({ from, condition, names }) => {
    const name = names.endsWith("secret") ? "late-secret" : "late-config"
    await apply(name, [{ key: "a", ...from }], { description: "x" })
    const waiting = await until(name, condition)
    expect(waiting.status.conditions?.[0]?.message).toContain(names)
    expect(waiting.status).not.toHaveProperty("id")
    if (name === "late-secret") await actor.putToken("here", name)
    else await config(name, { token: "here" })
    await until(name, ready)
    expect(await reportedVariables(name)).toEqual([name === "late-secret" ? "terraform a *" : "terraform a here"])
  })

  test.concurrent("sets a variable from an optional source for as long as the source exists", async () => {
    await apply("optional", [{ key: "a", ...secret("optional", "token", { optional: true }) }])
    await until("optional", ready)
    expect(await reportedVariables("optional")).toEqual([])
    await actor.putToken("here", "optional")
    await eventuallyReported("optional", ["terraform a *"])
    await actor.delete(secrets, "optional")
    await eventuallyReported("optional", [])
  })

  test.concurrent("reverts changes by others, and leaves unmanaged variables alone", async () => {
    await apply("drifting", [{ key: "a", value: "1" }])
    const { status } = await until("drifting", ready)
    const ref = { id: String(status["id"]) }
    const [a] = await engine.engine.variables.list(ref)
    const theirs = { description: "", category: "env", hcl: false, sensitive: false } as const
    await engine.engine.variables.create(ref, { ...theirs, key: "THEIRS", value: "t" })
    await engine.engine.variables.update(ref, a!.id, { value: "edited" })
    await eventuallyReported("drifting", ["env THEIRS t", "terraform a 1"])
    const { status: after } = await until("drifting", ready)
    expect(after["variables"]).toEqual([{ category: "terraform", key: "a" }])
  })

  test.concurrent("is finalized together with its Secrets and ConfigMaps, which it does not own", async () => {
    await actor.putToken("x", "kept")
    await config("kept", { a: "1" })
    await apply("kept", [
      { key: "a", ...secret("kept", "token") },
      { key: "b", ...fromConfig("kept", "a") },
    ])
    await until("kept", ready)
    await actor.delete(workspace, "kept")
    await eventually(
      () => actor.isGone(workspace, "kept"),
      (isDeleted) => isDeleted,
    )
    for (const resource of [secrets, configMaps]) expect(await actor.isGone(resource, "kept")).toBe(false)
  })
})
