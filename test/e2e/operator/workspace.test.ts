// Workspaces through the Kubernetes API and an engine behind a socket, with the operator's own rights.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openEngine, type WorkspaceView } from "@chancery/engine"
import { connection } from "../../../operator/src/api/connection.ts"
import { workspace } from "../../../operator/src/api/workspace.ts"
import { secrets } from "../../../operator/src/kube/kubernetes-object.ts"
import { sharedCluster } from "./cluster.ts"
import { type Actor, administrator, connect, eventually, startEngine, startReplica, summary } from "./fixture.ts"

const cluster = sharedCluster()
const namespace = "workspaces"
const connectionRef = { name: "engine" }
const ready = "Ready=True Available"

interface FieldCase {
  readonly field: string
  readonly first: Record<string, unknown>
  readonly second: Record<string, unknown>
  readonly seen: (view: WorkspaceView) => unknown
  readonly values: readonly [unknown, unknown]
}

const plain = (field: string, first: unknown, second: unknown): FieldCase => ({
  field,
  first: { [field]: first },
  second: { [field]: second },
  seen: (view) => (view as unknown as Record<string, unknown>)[field],
  values: [first, second],
})

describe.skipIf(cluster === undefined)("a Workspace", () => {
  let fixture: { readonly actor: Actor; readonly engine: Awaited<ReturnType<typeof startEngine>> }
  const closing = new AsyncDisposableStack()
  const ids = { pool: "", other: "", key: "", consumer: "", oauth: "" }

  beforeAll(async () => {
    const config = await cluster!.operatorAccess(namespace)
    const engine = closing.use(await startEngine())
    const admin = closing.use(administrator(cluster!.adminAccess()))
    const actor = admin.in(namespace)
    const replica = startReplica(config, namespace, "one", { watched: [namespace] })
    closing.defer(async () => void (await replica.end()))
    await connect(actor, engine)
    const pool = await engine.engine.agentPools.create("acme", { name: "pool" })
    const other = await engine.engine.projects.create("acme", { name: "Other" })
    const key = await engine.engine.sshKeys.create("acme", {
      name: "deploy",
      value: "-----BEGIN PRIVATE KEY-----\nabcd\n-----END PRIVATE KEY-----",
    })
    const consumer = await engine.engine.workspaces.create("acme", { name: "consumer" })
    const client = await engine.engine.vcsConnections.createClient("acme", {
      name: "GitHub",
      serviceProvider: "github",
      httpUrl: "https://github.com",
      apiUrl: "https://api.github.com",
      token: "abc",
    })
    const { items } = await engine.engine.vcsConnections.listTokens("acme", { number: 1, size: 1 })
    const oauth = items[0]?.id ?? client.id
    Object.assign(ids, { pool: pool.id, other: other.id, key: key.id, consumer: consumer.id, oauth })
    fixture = { actor, engine }
  })
  afterAll(() => closing.disposeAsync())

  const apply = (name: string, spec: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}) =>
    fixture.actor.apply(workspace, name, { connectionRef, ...spec }, metadata)
  const until = (name: string, condition: string) => fixture.actor.until(workspace, name, condition)
  const view = (name: string) => fixture.engine.engine.workspaces.get({ organization: "acme", name })

  test.concurrent.each<FieldCase>([
    plain("description", "one", "two"),
    plain("workingDirectory", "a", "b"),
    plain("engineVersion", "1.9.0", "1.9.1"),
    plain("executionMode", "local", "remote"),
    plain("autoApply", true, false),
    plain("autoApplyRunTrigger", true, false),
    plain("allowDestroyPlan", false, true),
    plain("queueAllRuns", true, false),
    plain("speculativeEnabled", false, true),
    plain("fileTriggersEnabled", false, true),
    plain("structuredRunOutputEnabled", false, true),
    plain("globalRemoteState", true, false),
    plain("projectRemoteState", true, false),
    plain("triggerPatterns", ["a/**"], ["a/**", "b/**"]),
    plain("triggerPrefixes", ["a"], []),
  ])("has the $field of its object, also after a change", async ({ field, first, second, seen, values }) => {
    const name = `field-${field.toLowerCase()}`
    await apply(name, first)
    await until(name, ready)
    expect(seen(await view(name))).toEqual(values[0])
    await apply(name, second)
    const shown = await until(name, ready)
    expect(seen(await view(name))).toEqual(values[1])
    expect(summary(shown)).toEqual([ready, "Synced=True InStep"])
  })

  const setting = (
    field: string,
    first: unknown,
    second: unknown,
    see: (name: string) => Promise<unknown>,
    values: unknown[],
  ) => ({
    field,
    first,
    second,
    see,
    values,
  })
  const see = (look: (view: WorkspaceView) => unknown) => async (name: string) => look(await view(name))
  const engineOf = () => fixture.engine.engine

  // An undefined third argument removes the field from the spec. The setting is then reset, or keeps its value.
  test.concurrent.each([
    setting(
      "project",
      { name: "Other" },
      undefined,
      see(({ projectId }) => projectId === ids.other),
      [true, true],
    ),
    setting(
      "sshKey",
      { name: "deploy" },
      undefined,
      see(({ sshKeyId }) => sshKeyId === ids.key),
      [true, false],
    ),
    setting(
      "lock",
      { reason: "by us" },
      undefined,
      see(({ lock }) => (lock.held ? lock.reason : null)),
      ["by us", null],
    ),
    setting(
      "lock",
      { reason: "by us" },
      { reason: "still" },
      see(({ lock }) => (lock.held ? lock.reason : null)),
      ["by us", "still"],
    ),
    setting(
      "dataRetentionPolicy",
      { deleteOlderThanDays: 30 },
      undefined,
      see(({ retentionPolicy }) => retentionPolicy?.kind),
      ["delete-older", undefined],
    ),
    setting(
      "dataRetentionPolicy",
      { deleteOlderThanDays: 30 },
      { dontDelete: true },
      see(({ retentionPolicy }) => retentionPolicy?.kind),
      ["delete-older", "dont-delete"],
    ),
    setting(
      "autoDestroy",
      { activityDuration: "14d" },
      undefined,
      see(({ autoDestroyActivityDuration }) => autoDestroyActivityDuration),
      ["14d", null],
    ),
    setting(
      "autoDestroy",
      { at: "2040-01-01T00:00:00Z" },
      { at: "2041-01-01T00:00:00Z" },
      see(({ autoDestroyAt }) => (autoDestroyAt === null ? null : new Date(autoDestroyAt).getUTCFullYear())),
      [2040, 2041],
    ),
    setting(
      "tags",
      ["one", "two"],
      ["two", "three"],
      see(({ tagNames }) => tagNames.toSorted()),
      [
        ["one", "two"],
        ["three", "two"],
      ],
    ),
    setting(
      "tags",
      ["one"],
      undefined,
      see(({ tagNames }) => tagNames),
      [["one"], []],
    ),
    setting(
      "tagBindings",
      [{ key: "team", value: "web" }],
      [{ key: "tier", value: "gold" }],
      async (name) =>
        (await engineOf().tags.bindings((await view(name)).id)).map(({ key, value }) => `${key}=${value}`),
      [["team=web"], ["tier=gold"]],
    ),
    setting(
      "remoteStateConsumers",
      [{ name: "consumer" }],
      [],
      async (name) =>
        (await engineOf().remoteStateConsumers.list((await view(name)).id, { number: 1, size: 10 })).items.map(
          (each) => each.name,
        ),
      [["consumer"], []],
    ),
    setting(
      "settingOverwrites",
      { executionMode: false },
      undefined,
      see(({ settingOverwrites }) => settingOverwrites.executionMode),
      [false, false],
    ),
  ])("has the $field $first, then $second", async ({ field, first, second, see: look, values }) => {
    const name = `other-${field.toLowerCase()}-${values
      .join("-")
      .replaceAll(/[^a-z0-9]/gi, "")
      .toLowerCase()}`
    const rest = field === "remoteStateConsumers" ? { globalRemoteState: false } : {}
    await apply(name, { ...rest, [field]: first })
    await until(name, ready)
    expect(await look(name)).toEqual(values[0])
    await apply(name, { ...rest, ...(second === undefined ? {} : { [field]: second }) })
    const shown = await until(name, ready)
    expect(await look(name)).toEqual(values[1])
    expect(summary(shown)).toEqual([ready, "Synced=True InStep"])
  })

  test.concurrent("runs on the agents of a pool, and has a repository until it is removed", async () => {
    const vcsRepo = { identifier: "acme/infra", oauthTokenID: ids.oauth, branch: "main" }
    await apply("agents", { executionMode: "agent", agentPool: { name: "pool" }, vcsRepo })
    await until("agents", ready)
    expect(await view("agents")).toMatchObject({
      agentPoolId: ids.pool,
      vcsRepo: { identifier: "acme/infra", branch: "main" },
    })
    await apply("agents", { executionMode: "remote" })
    await until("agents", ready)
    expect(await view("agents")).toMatchObject({ executionMode: "remote", vcsRepo: null })
  })

  test.concurrent("reports its status: id, name, address, lock, number of tags", async () => {
    await engineOf().tags.bindProject(ids.other, [{ key: "cost", value: "42" }])
    await apply("told", {
      project: { id: ids.other },
      tagBindings: [{ key: "team", value: "web" }],
      lock: { reason: "why" },
    })
    const { status } = await until("told", ready)
    const { id } = await view("told")
    expect(status).toMatchObject({
      id,
      name: "told",
      url: `${fixture.engine.url}/app/acme/workspaces/told`,
      locked: true,
      lockedReason: "why",
      resourceCount: 0,
    })
    expect(status["effectiveTagBindings"]).toEqual(
      expect.arrayContaining([
        { key: "team", value: "web" },
        { key: "cost", value: "42", inheritedFrom: ids.other },
      ]),
    )
    expect(status).not.toHaveProperty("createPending")
  })

  test.concurrent("is renamed by its id, and needs no name but that of its object", async () => {
    await apply("renamed")
    const before = await until("renamed", ready)
    await apply("renamed", { name: "Renamed_too" })
    const after = await until("renamed", ready)
    expect(after.status["id"]).toBe(before.status["id"])
    expect((await view("Renamed_too")).id).toBe(before.status["id"])
  })

  test.concurrent("has no tags but its own when they are exclusive, and all of its own otherwise", async () => {
    for (const tagsPolicy of ["Exclusive", "Additive"]) {
      const name = `tags-${tagsPolicy.toLowerCase()}`
      const spec = { tagsPolicy, tags: ["ours"], tagBindings: [{ key: "ours", value: "x" }] }
      await apply(name, { ...spec, tags: ["mine"] })
      const { status } = await until(name, ready)
      const id = String(status["id"])
      await engineOf().tags.add(id, [{ name: "theirs" }])
      await engineOf().tags.bind(id, [{ key: "foreign", value: "y" }])
      await apply(name, { ...spec, tags: ["mine", "more"] })
      await until(name, ready)
      const bindings = (await engineOf().tags.bindings(id)).filter(({ value }) => value !== "").map(({ key }) => key)
      const { tagNames } = await view(name)
      const exclusive = tagsPolicy === "Exclusive"
      expect(tagNames.toSorted()).toEqual(exclusive ? ["mine", "more"] : ["mine", "more", "theirs"])
      expect(bindings.toSorted()).toEqual(exclusive ? ["ours"] : ["foreign", "ours"])
    }
  })

  test.concurrent("shares its state with the workspace of another object, once that exists", async () => {
    await apply("producer", { globalRemoteState: false, remoteStateConsumers: [{ workspaceRef: "reader" }] })
    await until("producer", "Stalled=True ReferenceMissing")
    await apply("reader")
    await until("producer", ready)
    const consumers = await engineOf().remoteStateConsumers.list((await view("producer")).id, { number: 1, size: 10 })
    expect(consumers.items.map(({ name }) => name)).toEqual(["reader"])
  })

  test.concurrent.each([
    { adoptionPolicy: "Never", exists: true, becomes: "Stalled=True NameTaken" },
    { adoptionPolicy: "IfExists", exists: true, becomes: ready },
    { adoptionPolicy: "IfExists", exists: false, becomes: ready },
    { adoptionPolicy: "MustExist", exists: true, becomes: ready },
    { adoptionPolicy: "MustExist", exists: false, becomes: "Stalled=True WorkspaceMissing" },
  ])(
    "with the adoptionPolicy $adoptionPolicy, and an existing workspace: $exists, is $becomes",
    async ({ adoptionPolicy, exists, becomes }) => {
      const name = `adoption-${adoptionPolicy.toLowerCase()}-${exists}`
      const present = exists ? await engineOf().workspaces.create("acme", { name, description: "before" }) : undefined
      await apply(name, { adoptionPolicy, workingDirectory: "after" })
      const shown = await until(name, becomes)
      const adopted = becomes === ready
      const found = await view(name).catch(() => undefined)
      expect(shown.status["id"]).toBe(adopted ? (present ?? found)?.id : undefined)
      // Fields that the spec does not name stay unchanged, and so does a workspace that the object does not own.
      expect(found?.description).toBe(exists ? "before" : adopted ? null : undefined)
      expect(found?.workingDirectory).toBe(adopted ? "after" : exists ? null : undefined)
      const { message } = shown.status.conditions!.find(({ type }) => type === "Ready")!
      expect(message).toContain(adopted ? "exists" : exists ? present!.id : name)
    },
  )

  test.concurrent("adopts a workspace by its id, and not that of another object", async () => {
    const { id } = await engineOf().workspaces.create("acme", { name: "by-id" })
    const spec = { externalID: id, adoptionPolicy: "MustExist", name: "by-id" }
    await apply("first-owner", spec)
    expect((await until("first-owner", ready)).status["id"]).toBe(id)
    await apply("second-owner", spec)
    const second = await until("second-owner", "Stalled=True AlreadyManaged")
    expect(second.status.conditions?.[0]?.message).toContain("workspaces/first-owner")
    await fixture.actor.delete(workspace, "second-owner")
    await untilDeleted("second-owner")
    expect((await view("by-id")).id).toBe(id)
  })

  const ask = (name: string, at: string) =>
    fixture.actor.patch(workspace, name, { metadata: { annotations: { "chancery.dev/reconcile-requested-at": at } } })
  const handled = (name: string, at: string) =>
    eventually(
      () => fixture.actor.shown(workspace, name),
      ({ status }) => status["lastHandledReconcileAt"] === at,
    )
  const untilDeleted = (name: string) =>
    eventually(
      () => fixture.actor.isGone(workspace, name),
      (isGone) => isGone,
    )

  test.concurrent("reverts differences, and leaves unmanaged members alone", async () => {
    await apply("enforced", { description: "as written", autoApply: true })
    const { status } = await until("enforced", ready)
    const id = String(status["id"])
    await engineOf().workspaces.update({ id }, { description: "edited", queueAllRuns: true })
    await ask("enforced", "now")
    const after = await handled("enforced", "now")
    expect(await view("enforced")).toMatchObject({ description: "as written", queueAllRuns: true })
    expect(summary(after)).toEqual([ready, "Synced=True InStep"])
  })

  test.concurrent("with the driftPolicy Report shows differences field by field, and changes nothing", async () => {
    const spec = {
      driftPolicy: "Report",
      description: "as written",
      tags: ["ours"],
      tagBindings: [{ key: "a", value: "b" }],
    }
    await apply("reported", spec)
    const { status } = await until("reported", ready)
    const id = String(status["id"])
    await apply("reported", { ...spec, description: "edited here" })
    const shown = await until("reported", "Synced=False DriftDetected")
    expect(shown.status["drift"]).toEqual([
      { field: "description", desired: '"edited here"', observed: '"as written"' },
    ])
    expect(summary(shown)).toContain(ready)
    await engineOf().workspaces.update({ id }, { description: "edited here", tagBindings: [] })
    await ask("reported", "later")
    const later = await handled("reported", "later")
    expect(later.status["drift"]).toEqual([{ field: "tagBindings", desired: '{"a":"b"}', observed: "{}" }])
    expect(await engineOf().tags.bindings(id, { tags: true })).toMatchObject([{ key: "ours" }])
    await apply("reported", { ...spec, description: "edited here", driftPolicy: "Enforce" })
    const enforced = await until("reported", "Synced=True InStep")
    expect(enforced.status).not.toHaveProperty("drift")
    expect((await engineOf().tags.bindings(id, { tags: true })).map(({ key }) => key).toSorted()).toEqual(["a", "ours"])
  })

  test.concurrent("leaves another user's lock alone, and reports it", async () => {
    await apply("locked")
    const { status } = await until("locked", ready)
    const id = String(status["id"])
    await using otherUser = await openOtherUser()
    await otherUser.workspaces.lock({ id }, { reason: "theirs" })
    await apply("locked", { lock: { reason: "ours" } })
    const shown = await until("locked", "Locked=True LockedByOther")
    expect(summary(shown)).toEqual([ready, "Synced=False LockedByOther", "Locked=True LockedByOther"])
    expect((await view("locked")).lock).toMatchObject({ held: true, reason: "theirs" })
    await otherUser.workspaces.unlock({ id })
    await ask("locked", "now")
    const after = await handled("locked", "now")
    expect(summary(after)).toEqual([ready, "Synced=True InStep"])
    expect((await view("locked")).lock).toMatchObject({ held: true, reason: "ours" })
  })

  /** Opens an engine as a site administrator other than the operator. */
  async function openOtherUser() {
    const { url, engine } = fixture.engine
    const { id } = await engine.users.create({ username: "somebody", siteAdmin: true })
    const { secret } = await engine.tokens.createForUser(id, {})
    return openEngine(url, { token: secret })
  }

  test.concurrent("is not reconciled while it is paused, and is deleted all the same", async () => {
    await apply("paused", { description: "before" })
    const { status } = await until("paused", ready)
    const pause = (value: string | null) =>
      fixture.actor.patch(workspace, "paused", { metadata: { annotations: { "chancery.dev/paused": value } } })
    await pause("true")
    await apply("paused", { description: "after" })
    const paused = await eventually(
      () => fixture.actor.shown(workspace, "paused"),
      ({ metadata: { generation }, status: { conditions = [] } }) =>
        conditions.some((one) => one.type === "Paused" && one.observedGeneration === generation),
    )
    expect(summary(paused)).toEqual([ready, "Paused=True Paused", "Synced=True InStep"])
    expect((await view("paused")).description).toBe("before")
    await pause(null)
    expect(
      summary(
        await eventually(
          () => until("paused", ready),
          (shown) => !summary(shown).includes("Paused=True Paused"),
        ),
      ),
    ).toEqual([ready, "Synced=True InStep"])
    expect((await view("paused")).description).toBe("after")
    await pause("true")
    await fixture.actor.delete(workspace, "paused")
    await untilDeleted("paused")
    await expect(engineOf().workspaces.get({ id: String(status["id"]) })).rejects.toThrow(/does not exist/)
  })

  test.concurrent.each([
    { deletionPolicy: "Retain", locked: false, remains: true },
    { deletionPolicy: "Retain", locked: true, remains: true },
    { deletionPolicy: "Safe", locked: false, remains: false },
    { deletionPolicy: "Force", locked: false, remains: false },
    { deletionPolicy: "Force", locked: true, remains: false },
  ])(
    "deleted with the policy $deletionPolicy, locked by another user: $locked, it remains in the engine: $remains",
    async ({ deletionPolicy, locked, remains }) => {
      const name = `deletion-${deletionPolicy.toLowerCase()}-${locked}`
      await apply(name, { deletionPolicy })
      const { status, metadata } = await until(name, ready)
      const id = String(status["id"])
      expect(metadata.finalizers ?? []).toEqual(deletionPolicy === "Retain" ? [] : ["chancery.dev/external"])
      if (locked) await engineOf().workspaces.lock({ id }, { reason: "somebody" })
      await fixture.actor.delete(workspace, name)
      await untilDeleted(name)
      const found = await engineOf()
        .workspaces.get({ id })
        .then(() => true)
        .catch(() => false)
      expect(found).toBe(remains)
    },
  )

  test.concurrent("is not deleted safely while another user holds the lock, and is once it is released", async () => {
    await apply("blocked")
    const { status } = await until("blocked", ready)
    const id = String(status["id"])
    await engineOf().workspaces.lock({ id }, { reason: "somebody" })
    await fixture.actor.delete(workspace, "blocked")
    await until("blocked", "Reconciling=True DeletionBlocked")
    expect((await view("blocked")).id).toBe(id)
    await engineOf().workspaces.unlock({ id })
    await untilDeleted("blocked")
  })

  test.concurrent("is finalized despite its own lock", async () => {
    await apply("own-lock", { lock: { reason: "ours" } })
    const { status } = await until("own-lock", ready)
    await fixture.actor.delete(workspace, "own-lock")
    await untilDeleted("own-lock")
    await expect(engineOf().workspaces.get({ id: String(status["id"]) })).rejects.toThrow(/does not exist/)
  })

  test.concurrent("whose creation got no response is recognized by its creation mark", async () => {
    const paused = { annotations: { "chancery.dev/paused": "true" } }
    const { metadata } = await apply("begun", { description: "as written" }, paused)
    const token = `chancery-operator/${metadata.uid}`
    const { id } = await engineOf().workspaces.create("acme", { name: "begun", sourceName: token })
    await eventually(
      () => fixture.actor.shown(workspace, "begun"),
      (shown) => summary(shown).includes("Paused=True Paused"),
    )
    await apply("begun", { description: "as written" }, { annotations: {} })
    const { status } = await until("begun", ready)
    expect(status["id"]).toBe(id)
    expect((await view("begun")).description).toBe("as written")
  })

  test.concurrent.each([
    { what: { engineVersion: "nonsense" }, expectedMessage: "spec.engineVersion" },
    { what: { project: { name: "None" } }, expectedMessage: "spec.project" },
    { what: { sshKey: { name: "None" } }, expectedMessage: "spec.sshKey" },
    { what: { tags: ["hc:reserved"] }, expectedMessage: "reserved" },
  ])("a change to $what is rejected, and nothing else is changed", async ({ what, expectedMessage }) => {
    const name = `refused-${Object.keys(what).join().toLowerCase()}`
    await apply(name, { description: "before" })
    await until(name, ready)
    await apply(name, { ...what, description: "before" })
    const shown = await eventually(
      () => fixture.actor.shown(workspace, name),
      (found) => summary(found).some((one) => one.startsWith("Stalled=True")),
    )
    expect(shown.status.conditions?.[0]?.message).toContain(expectedMessage)
    expect(shown.status["id"]).toMatch(/^ws-/)
    expect(await view(name)).toMatchObject({ description: "before", tagNames: [], sshKeyId: null })
  })
})

describe.skipIf(cluster === undefined)("a Workspace without its connection", () => {
  const own = "orphans"
  const closing = new AsyncDisposableStack()
  let actor: Actor
  let engine: Awaited<ReturnType<typeof startEngine>>
  beforeAll(async () => {
    const config = await cluster!.operatorAccess(own)
    engine = closing.use(await startEngine())
    actor = closing.use(administrator(cluster!.adminAccess())).in(own)
    const replica = startReplica(config, own, "one", { watched: [own] })
    closing.defer(async () => void (await replica.end()))
    await connect(actor, engine)
  })
  afterAll(() => closing.disposeAsync())

  test("[F-K4] is finalized although the token's Secret is deleted, and its workspace is deleted unless retained", async () => {
    await actor.apply(workspace, "retained", { connectionRef, deletionPolicy: "Retain" })
    await actor.apply(workspace, "safe", { connectionRef })
    await actor.until(workspace, "retained", ready)
    await actor.until(workspace, "safe", ready)
    await actor.delete(connection, "engine")
    const connectionInUse = await actor.until(connection, "engine", "Reconciling=True ConnectionInUse")
    expect(connectionInUse.metadata.finalizers).toEqual(["chancery.dev/in-use"])
    await actor.delete(secrets, "engine")
    await actor.delete(workspace, "retained")
    await eventually(
      () => actor.isGone(workspace, "retained"),
      (untilDeleted) => untilDeleted,
    )
    await actor.delete(workspace, "safe")
    await eventually(
      () => actor.isGone(workspace, "safe"),
      (untilDeleted) => untilDeleted,
    )
    // The last object that used the connection is gone.
    await eventually(
      () => actor.isGone(connection, "engine"),
      (untilDeleted) => untilDeleted,
    )
    const { workspaces } = engine.engine
    expect((await workspaces.get({ organization: "acme", name: "retained" })).name).toBe("retained")
    await expect(workspaces.get({ organization: "acme", name: "safe" })).rejects.toMatchObject({ code: "not-found" })
  })
})

describe.skipIf(cluster === undefined)("an operator with an embedded engine", () => {
  test("needs no connection, and persists its data on its volume", async () => {
    const own = "embedding"
    await using closing = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), "chancery-embedded-"))
    closing.defer(() => rm(folder, { recursive: true, force: true }))
    const config = await cluster!.operatorAccess(own)
    const actor = closing.use(administrator(cluster!.adminAccess())).in(own)
    const embedded = { folder, name: "inside", organization: "acme" }
    const inside = { connectionRef: { kind: "ClusterConnection", name: "inside" } }
    const first = startReplica(config, own, "one", { watched: [own], embedded })
    await actor.apply(workspace, "inner", { ...inside, description: "one" })
    const { status } = await actor.until(workspace, "inner", ready)
    expect(status).not.toHaveProperty("url")
    await first.end()
    const second = startReplica(config, own, "two", { watched: [own], embedded })
    closing.defer(async () => void (await second.end()))
    await actor.apply(workspace, "inner", { ...inside, description: "two" })
    expect((await actor.until(workspace, "inner", ready)).status["id"]).toBe(status["id"])
  })
})

describe.skipIf(cluster === undefined)("a Connection of a namespace", () => {
  test("reaches no forbidden address, given literally or by name", async () => {
    const own = "tenants"
    await using closing = new AsyncDisposableStack()
    const config = await cluster!.operatorAccess(own)
    const engine = closing.use(await startEngine())
    const actor = closing.use(administrator(cluster!.adminAccess())).in(own)
    const addresses = { kinds: ["private"], ranges: [] } as const
    const replica = startReplica(config, own, "one", { watched: [own], addresses })
    closing.defer(async () => void (await replica.end()))
    await actor.putToken(engine.token)
    const { port } = new URL(engine.url)
    const reach = (baseURL: string) =>
      actor.apply(connection, "engine", { baseURL, tokenSecretRef: { name: "engine" }, organization: "acme" })
    for (const host of ["127.0.0.1", "localhost", "169.254.169.254", "[::1]"]) {
      await reach(`http://${host}:${port}`)
      await actor.until(connection, "engine", "Stalled=True AddressNotAllowed")
    }
    await actor.apply(workspace, "waits", { connectionRef })
    const waits = await actor.until(workspace, "waits", "Reconciling=True ConnectionNotReady")
    expect(waits.status).not.toHaveProperty("id")
  })
})

describe.skipIf(cluster === undefined)("the objects of a connection with a rate limit", () => {
  test("stay within it together, and all become ready", async () => {
    const own = "limited"
    await using closing = new AsyncDisposableStack()
    const config = await cluster!.operatorAccess(own)
    const engine = closing.use(await startEngine())
    const actor = closing.use(administrator(cluster!.adminAccess())).in(own)
    const replica = startReplica(config, own, "one", { watched: [own] })
    closing.defer(async () => void (await replica.end()))
    const [rps, burst, count] = [25, 5, 12]
    await connect(actor, engine, { rateLimit: { rps, burst } })
    const begunAt = performance.now()
    const names = Array.from({ length: count }, (_, index) => `limited-${index}`)
    await Promise.all(names.map((name) => actor.apply(workspace, name, { connectionRef })))
    await Promise.all(names.map((name) => actor.until(workspace, name, ready)))
    const tookMs = performance.now() - begunAt
    // Creating a workspace takes at least three requests: to create it, to read it, and to set its tags.
    expect(tookMs).toBeGreaterThanOrEqual(((3 * count - burst) / rps) * 1_000)
    const { totalCount } = await engine.engine.workspaces.list("acme", {}, { number: 1, size: 100 })
    expect(totalCount).toBe(count)
  })
})
