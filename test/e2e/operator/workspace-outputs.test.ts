// The outputs of a workspace's state in a ConfigMap and a Secret of a real API server, written with the operator's own rights.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { workspace } from "../../../operator/src/api/workspace.ts"
import {
  configMaps,
  type KubernetesObject,
  type Resource,
  secrets,
} from "../../../operator/src/kube/kubernetes-object.ts"
import { sharedCluster } from "./cluster.ts"
import { type Actor, administrator, connect, eventually, startEngine, startReplica, summary } from "./fixture.ts"
import { putState } from "./workspace-state.ts"

const cluster = sharedCluster()
const namespace = "outputs"
const ready = "Ready=True Available"
const published = "OutputsPublished=True OutputsPublished"

describe.skipIf(cluster === undefined)("a Workspace that publishes outputs", () => {
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

  const apply = (name: string, outputs?: object) =>
    actor.apply(workspace, name, {
      connectionRef: { name: "engine" },
      ...(outputs === undefined ? {} : { outputs }),
    })
  const textsOf = ({ kind, data = {} }: KubernetesObject & { readonly data?: Record<string, string> }) =>
    kind === "Secret"
      ? Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64").toString()]))
      : data
  const contentOf = async (resource: Resource, name: string) => textsOf(await actor.shown(resource, name))
  async function withState(name: string, outputs: Record<string, unknown>) {
    await apply(name, {})
    const { status } = await actor.until(workspace, name, "OutputsPublished=False StateMissing")
    await putState(engine, String(status["id"]), 1, outputs)
    await actor.until(workspace, name, published)
    return String(status["id"])
  }

  test.concurrent("writes them to a ConfigMap and a Secret, which follow its state and are deleted with the object", async () => {
    const id = await withState("followed", {
      region: { value: "eu", type: "string" },
      zones: { value: ["a", "b"], type: ["list", "string"] },
      password: { value: "s3cret", type: "string", sensitive: true },
    })
    expect(await contentOf(configMaps, "followed-outputs")).toEqual({ region: "eu", zones: '["a","b"]' })
    expect(await contentOf(secrets, "followed-outputs")).toEqual({ password: "s3cret" })
    expect(
      await cluster!.kubectl(["get", "workspaces.chancery.dev,events", "-n", namespace, "-o", "json"]),
    ).not.toContain("s3cret")
    await putState(engine, id, 2, { password: { value: "other", type: "string", sensitive: true } })
    // The engine's event feed triggers the reconciliation.
    await eventually(
      () => contentOf(secrets, "followed-outputs"),
      ({ password }) => password === "other",
    )
    expect(await contentOf(configMaps, "followed-outputs")).toEqual({})
    await actor.delete(workspace, "followed")
    await eventually(
      () => actor.isGone(workspace, "followed"),
      (isDeleted) => isDeleted,
    )
    // No garbage collector runs in this control plane, so the test checks the owner references.
    const { metadata } = await actor.shown(secrets, "followed-outputs")
    expect(metadata["ownerReferences"]).toMatchObject([{ kind: "Workspace", name: "followed", controller: true }])
  })

  test.concurrent.each([configMaps, secrets])(
    "restores its $kind at once when another writer edits or deletes it",
    async (resource) => {
      const name = `restored-${resource.plural}`
      await withState(name, {
        plain: { value: "1", type: "string" },
        hidden: { value: "2", type: "string", sensitive: true },
      })
      const whole = resource === configMaps ? { plain: "1" } : { hidden: "2" }
      const is = (content: Record<string, string>) => JSON.stringify(content) === JSON.stringify(whole)
      const foreign = resource === configMaps ? { plain: "x" } : { hidden: "eA==" }
      await actor.patch(resource, `${name}-outputs`, { data: foreign })
      await eventually(() => contentOf(resource, `${name}-outputs`), is)
      await actor.delete(resource, `${name}-outputs`)
      await eventually(() => contentOf(resource, `${name}-outputs`).catch(() => ({})), is)
      expect(summary(await actor.until(workspace, name, published))).toContain(ready)
    },
  )

  test.concurrent("leaves a Secret alone that it does not own, and reports it", async () => {
    await actor.putToken("x", "taken-outputs")
    await apply("taken", {})
    const shown = await actor.until(workspace, "taken", "OutputsPublished=False SecretNameConflict")
    expect(summary(shown)).toContain(ready)
    expect(await contentOf(secrets, "taken-outputs")).toEqual({ token: "x" })
    await apply("taken", { secretName: "free" })
    await actor.until(workspace, "taken", "OutputsPublished=False StateMissing")
  })

  test.concurrent("removes them when its spec no longer has outputs", async () => {
    await withState("withdrawn", { a: { value: "1", type: "string" } })
    await apply("withdrawn")
    for (const resource of [configMaps, secrets])
      await eventually(
        () => actor.isGone(resource, "withdrawn-outputs"),
        (isDeleted) => isDeleted,
      )
    const { status } = await actor.until(workspace, "withdrawn", ready)
    expect(status).not.toHaveProperty("outputs")
  })
})
