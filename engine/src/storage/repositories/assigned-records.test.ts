// Resources assigned to workspaces (remote state consumers, SSH keys, agent pools, retention policies) on every kind of database.
import { describe, expect, test } from "vitest"
import { firstPage } from "../../core/page.ts"
import type { RetentionTarget } from "../../workspaces/state/retention-policy.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { openDatabase } from "../sql/database.ts"
import { databaseKinds, type DatabaseKind } from "../../../testing/temporary-database.ts"

const key = "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"

async function recordsOn(kind: DatabaseKind) {
  const place = await kind.place()
  const testEngine = await populatedEngine({ url: place.url })
  return Object.assign(testEngine, {
    url: place.url,
    async [Symbol.asyncDispose]() {
      await testEngine.engine[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  })
}

describe.each(databaseKinds.filter(({ available }) => available))("$name", (kind) => {
  test("consumers are stored once, by name, and deleted with their workspace", async () => {
    await using records = await recordsOn(kind)
    const { engine, workspace } = records
    const consumers = engine.remoteStateConsumers
    const [producer, a, b] = [await workspace("producer"), await workspace("B"), await workspace("a")]
    const names = async () => (await consumers.list(producer, firstPage)).items.map(({ name }) => name)
    await Promise.all(Array.from({ length: 8 }, () => consumers.add(producer, [a, b, a])))
    expect(await names()).toEqual(["a", "B"])
    await engine.workspaces.forceDelete({ id: b })
    expect(await names()).toEqual(["B"])
    await consumers.replace(producer, [])
    expect(await names()).toEqual([])
    await engine.workspaces.update({ id: producer }, { globalRemoteState: true })
    expect(await names()).toEqual(["B"])
  })

  test("an SSH key has a unique name, and is removed from its workspaces when it is deleted", async () => {
    await using records = await recordsOn(kind)
    const { engine, workspace } = records
    const { id } = await engine.sshKeys.create("acme", { name: "deploy", value: key })
    await expect(engine.sshKeys.create("acme", { name: "deploy", value: key })).rejects.toMatchObject({
      code: "invalid",
      faults: [{ field: ["name"], detail: "Name has already been taken" }],
    })
    const ref = { id: await workspace("web") }
    expect((await engine.workspaces.assignSshKey(ref, id)).sshKeyId).toBe(id)
    await engine.sshKeys.update(id, { name: "other", value: key })
    expect((await engine.sshKeys.list("acme", firstPage)).items).toEqual([{ id, name: "other" }])
    await engine.sshKeys.delete(id)
    expect((await engine.workspaces.get(ref)).sshKeyId).toBeNull()
  })

  test("an agent pool has a unique name, and cannot be deleted while a workspace uses it", async () => {
    await using records = await recordsOn(kind)
    const { engine, workspace } = records
    const { id } = await engine.agentPools.create("acme", { name: "Linux" })
    await expect(engine.agentPools.create("acme", { name: "linux" })).rejects.toMatchObject({ code: "invalid" })
    const user = await workspace("web", { executionMode: "agent", agentPoolId: id })
    expect((await engine.agentPools.list("acme", { search: "INU" }, firstPage)).items).toMatchObject([
      { id, workspaceIds: [user] },
    ])
    await expect(engine.agentPools.delete(id)).rejects.toMatchObject({ code: "conflict" })
    await engine.workspaces.forceDelete({ id: user })
    await engine.agentPools.delete(id)
    await expect(engine.agentPools.get(id)).rejects.toMatchObject({ code: "not-found" })
  })

  test("one of a deletion of a pool and a concurrent use by a workspace is refused", async () => {
    await using records = await recordsOn(kind)
    const { engine, workspace } = records
    for (let round = 0; round < 5; round += 1) {
      const { id } = await engine.agentPools.create("acme", { name: `pool-${round}` })
      const [taken, deleted] = await Promise.allSettled([
        workspace(`w${round}`, { executionMode: "agent", agentPoolId: id }),
        engine.agentPools.delete(id),
      ])
      expect([taken.status, deleted.status].toSorted()).toEqual(["fulfilled", "rejected"])
    }
  })

  test("concurrent callers that set a retention policy set the same one", async () => {
    await using records = await recordsOn(kind)
    const { engine, workspace } = records
    const target: RetentionTarget = { kind: "workspace", id: await workspace("web") }
    const set = Array.from({ length: 16 }, (_, index) =>
      engine.retentionPolicies.set(target, { kind: "delete-older", days: index + 1 }),
    )
    const ids = new Set((await Promise.all(set)).map(({ id }) => id))
    expect(ids.size).toBe(1)
    const policy = await engine.retentionPolicies.set(target, { kind: "dont-delete" })
    expect(ids).not.toContain(policy.id)
    expect(await engine.retentionPolicies.get(target)).toEqual(policy)
    await engine.retentionPolicies.delete(target)
    await expect(engine.retentionPolicies.get(target)).rejects.toMatchObject({ code: "not-found" })
  })
})

test("retention policies are deleted with their workspaces and their organization", async () => {
  const [file] = databaseKinds
  if (file === undefined) throw new Error("no SQLite file")
  await using records = await recordsOn(file)
  const { engine, workspace, url } = records
  const rule = { kind: "dont-delete" } as const
  const ids = [await workspace("one"), await workspace("two")] as const
  await engine.retentionPolicies.set({ kind: "organization", name: "acme" }, rule)
  for (const id of ids) await engine.retentionPolicies.set({ kind: "workspace", id }, rule)
  await using database = await openDatabase(url)
  const left = async () => {
    const rows = await database.read((session) =>
      session.queryMany(session.db.selectFrom("retention_policies").select("target_kind")),
    )
    return rows.map(({ target_kind }) => target_kind).toSorted()
  }
  await engine.workspaces.forceDelete({ id: ids[0] })
  expect(await left()).toEqual(["organization", "workspace"])
  await engine.organizations.delete("acme")
  expect(await left()).toEqual([])
})
