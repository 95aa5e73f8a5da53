import { beforeAll, describe, expect, test } from "vitest"
import { firstPage } from "../../engine/src/core/page.ts"
import type { BulkResult, BulkRun } from "../../engine/src/workspaces/bulk/bulk-action.ts"
import { type Users, newUsers } from "./users.ts"
import type { OpenedEngine } from "./engines.ts"
import { newOauthClient, newSshKey } from "./new-records.ts"
import { notFound, refused } from "./refusals.ts"
import { newStateInput } from "./state-cases.ts"

const locking = { access: "custom", custom: { workspaceLocking: true } } as const

export function workspaceCases(engine: () => OpenedEngine): void {
  let testUsers: Users
  beforeAll(async () => {
    testUsers = await newUsers(engine())
  })

  describe("a workspace", () => {
    test("is created with defaults, and read by id and by name", async () => {
      const name = testUsers.newName("plain")
      const { workspaces } = testUsers.owner.engine
      const made = await workspaces.create(testUsers.organization, { name })
      expect(made).toMatchObject({
        name,
        organizationName: testUsers.organization,
        description: null,
        executionMode: "remote",
        agentPoolId: null,
        settingOverwrites: { executionMode: false, agentPool: false },
        lock: { held: false },
        allowDestroyPlan: true,
        globalRemoteState: false,
        vcsRepo: null,
        tagNames: [],
        resourceCount: 0,
        isDestroyable: true,
        permissions: { canUpdate: true, canForceDelete: true },
      })
      expect(await workspaces.get({ id: made.id })).toEqual(made)
      expect(await workspaces.get({ organization: testUsers.organization, name })).toEqual(made)
      expect(await workspaces.get({ organization: testUsers.organization.toUpperCase(), name })).toEqual(made)
    })

    test("is created with every member, and changed member by member", async () => {
      const { workspaces, vcsConnections, projects } = testUsers.owner.engine
      const client = await vcsConnections.createClient(testUsers.organization, newOauthClient)
      const project = await projects.create(testUsers.organization, { name: testUsers.newName("project") })
      const input = {
        name: testUsers.newName("full"),
        description: "ünïcode ☂",
        executionMode: "local",
        allowDestroyPlan: false,
        autoApply: true,
        autoApplyRunTrigger: true,
        autoDestroyAt: Date.UTC(2099, 1, 2, 3, 4, 5, 678),
        fileTriggersEnabled: true,
        globalRemoteState: true,
        queueAllRuns: true,
        speculativeEnabled: false,
        structuredRunOutputEnabled: false,
        engineVersion: "1.9.0",
        triggerPatterns: ["/a/**/*", "/b"],
        workingDirectory: "net",
        sourceName: "contract",
        sourceUrl: "https://example.com/contract",
        projectId: project.id,
        vcsRepo: {
          identifier: "acme/net",
          oauthTokenId: client.tokenIds[0] ?? "",
          branch: "main",
          ingressSubmodules: true,
        },
      } as const
      const made = await workspaces.create(testUsers.organization, {
        ...input,
        tagBindings: [{ key: "env", value: "prod" }],
        tags: [{ name: "net" }],
      })
      const { vcsRepo, ...plain } = input
      expect(made).toMatchObject({
        ...plain,
        tagNames: ["net"],
        vcsRepo: { ...vcsRepo, githubAppInstallationId: null, tagsRegex: null, serviceProvider: "github" },
      })
      expect(await workspaces.get(made)).toEqual(made)
      const changed = await workspaces.update(made, {
        name: `${input.name}-2`,
        description: null,
        autoDestroyAt: null,
        vcsRepo: null,
        triggerPatterns: [],
      })
      expect(changed).toEqual({
        ...made,
        name: `${input.name}-2`,
        description: null,
        autoDestroyAt: null,
        vcsRepo: null,
        oauthClientName: null,
        triggerPatterns: [],
        updatedAt: changed.updatedAt,
      })
      expect(changed.updatedAt).toBeGreaterThanOrEqual(made.updatedAt)
    })

    test("is rejected with every fault of its input named", async () => {
      const { workspaces } = testUsers.owner.engine
      await expect(
        workspaces.create(testUsers.organization, {
          name: "no spaces",
          autoDestroyActivityDuration: "soon",
          engineVersion: "nonsense",
          tagBindings: [{ key: "", value: "x" }],
        }),
      ).rejects.toMatchObject({
        code: "invalid",
        faults: expect.arrayContaining(
          [["name"], ["autoDestroyActivityDuration"], ["engineVersion"], ["tagBindings", 0, "key"]].map((field) =>
            expect.objectContaining({ field }),
          ),
        ),
      })
      const { id, name } = await testUsers.newWorkspace()
      await expect(workspaces.create(testUsers.organization, { name })).rejects.toMatchObject(
        refused("invalid", ["name"]),
      )
      await expect(workspaces.update({ id }, { vcsRepo: { identifier: "acme/net" } })).rejects.toMatchObject({
        code: "invalid",
      })
    })

    test.each(["", ".", "..", "a/b", "a%2Fb", "ünïcode", "x".repeat(20_000), "none"])(
      "is not found by the name %j",
      async (name) => {
        const { workspaces } = testUsers.owner.engine
        await expect(workspaces.get({ organization: testUsers.organization, name })).rejects.toMatchObject(notFound)
        await expect(workspaces.get({ id: name })).rejects.toMatchObject(notFound)
      },
    )

    test.each(["a\0b", "a\ud800b"])(
      "is rejected when it contains text that the store cannot save: %j",
      async (text) => {
        const { workspaces } = testUsers.owner.engine
        const { id } = await testUsers.newWorkspace()
        const badRequest = refused("bad-request")
        await expect(workspaces.update({ id }, { description: text })).rejects.toMatchObject(badRequest)
        await expect(workspaces.get({ id: text })).rejects.toMatchObject(badRequest)
        await expect(workspaces.get({ organization: testUsers.organization, name: text })).rejects.toMatchObject(
          badRequest,
        )
        await expect(workspaces.list(testUsers.organization, { name: text }, firstPage)).rejects.toMatchObject(
          badRequest,
        )
      },
    )

    test("is read but not changed by readers", async () => {
      const { id } = await testUsers.newWorkspace()
      const { engine: reader } = await testUsers.newMemberOn(id, { access: "read" })
      expect(await reader.workspaces.get({ id })).toMatchObject({
        id,
        permissions: { canUpdate: false, canLock: false },
      })
      await expect(reader.workspaces.update({ id }, { autoApply: true })).rejects.toMatchObject(notFound)
      await expect(reader.workspaces.lock({ id }, { reason: "" })).rejects.toMatchObject(notFound)
      await expect(reader.workspaces.safeDelete({ id })).rejects.toMatchObject(notFound)
      await expect(reader.workspaces.create(testUsers.organization, { name: "any" })).rejects.toMatchObject(notFound)
    })

    test("is assigned an SSH key and loses it", async () => {
      const { workspaces, sshKeys } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      const key = await sshKeys.create(testUsers.organization, { ...newSshKey, name: testUsers.newName("key") })
      expect(await workspaces.assignSshKey({ id }, key.id)).toMatchObject({ id, sshKeyId: key.id })
      expect(await workspaces.assignSshKey({ id }, null)).toMatchObject({ id, sshKeyId: null })
      await expect(workspaces.assignSshKey({ id }, "sshkey-none")).rejects.toMatchObject(notFound)
    })

    test("moves to a project together with others, or not at all", async () => {
      const { workspaces, projects } = testUsers.owner.engine
      const project = await projects.create(testUsers.organization, { name: testUsers.newName("project") })
      const [one, two] = [await testUsers.newWorkspace(), await testUsers.newWorkspace()]
      await expect(workspaces.moveToProject(project.id, [one.id, "ws-none"])).rejects.toMatchObject({
        name: "EngineError",
      })
      expect((await workspaces.get(one)).projectId).toBe(one.projectId)
      await workspaces.moveToProject(project.id, [one.id, two.id])
      expect((await projects.get(project.id)).counts.workspaces).toBe(2)
    })
  })

  describe("the list of workspaces", () => {
    let list: Users
    const all = ["alpha-net", "alpha-web", "beta-net", "gamma"]
    beforeAll(async () => {
      list = await newUsers(engine())
      for (const name of all.toReversed())
        await list.newWorkspace({
          name,
          tags: [{ name: name.split("-")[0] ?? "" }],
          tagBindings: [{ key: "part", value: name.split("-")[1] ?? "none" }],
        })
    })

    test.each([
      { query: {}, names: all },
      { query: { name: "NET" }, names: ["alpha-net", "beta-net"] },
      { query: { wildcardName: "*-net" }, names: ["alpha-net", "beta-net"] },
      { query: { wildcardName: "alpha-*" }, names: ["alpha-net", "alpha-web"] },
      { query: { tags: ["alpha"] }, names: ["alpha-net", "alpha-web"] },
      { query: { tags: ["alpha", "part"] }, names: ["alpha-net", "alpha-web"] },
      { query: { tags: ["alpha", "beta"] }, names: [] },
      { query: { excludeTags: ["alpha", "beta"] }, names: ["gamma"] },
      { query: { tagged: [{ key: "part", value: "net" }] }, names: ["alpha-net", "beta-net"] },
      { query: { tagged: [{ key: "part" }, { value: "web" }] }, names: ["alpha-web"] },
      { query: { projectId: "prj-none" }, names: [] },
      { query: { currentRunStatus: ["applied"] }, names: [] },
      { query: { name: "none" }, names: [] },
      { query: { name: "%" }, names: [] },
      { query: { tags: [] }, names: all },
      { query: { tags: ["alpha", "no,tag"] }, names: [] },
      { query: { excludeTags: [] }, names: all },
      { query: { excludeTags: ["no,tag", "alpha", "beta"] }, names: ["gamma"] },
      { query: { currentRunStatus: [] }, names: [] },
      { query: { tagged: [] }, names: all },
    ])("answers $names to $query", async ({ query, names }) => {
      const page = await list.owner.engine.workspaces.list(
        list.organization,
        { ...query, sort: { key: "name", descending: false } },
        firstPage,
      )
      expect(page.items.map(({ name }) => name)).toEqual(names)
      expect(page).toMatchObject({ number: 1, size: 20, totalCount: names.length })
    })

    test("is sorted in either direction, and paged", async () => {
      const { workspaces } = list.owner.engine
      const sort = { key: "name", descending: true } as const
      const names = async (number: number) => {
        const page = await workspaces.list(list.organization, { sort }, { number, size: 3 })
        expect(page).toMatchObject({ number, size: 3, totalCount: 4 })
        return page.items.map(({ name }) => name)
      }
      expect(await names(1)).toEqual(["gamma", "beta-net", "alpha-web"])
      expect(await names(2)).toEqual(["alpha-net"])
      expect(await names(3)).toEqual([])
    })

    test("shows each caller only permitted workspaces", async () => {
      const [first] = (await list.owner.engine.workspaces.list(list.organization, {}, firstPage)).items
      const { engine: reader } = await list.newMemberOn(first?.id ?? "", { access: "read" })
      const seen = await reader.workspaces.list(list.organization, {}, firstPage)
      expect(seen.items.map(({ id }) => id)).toEqual([first?.id])
    })
  })

  describe("a lock", () => {
    test("is acquired with a reason, rejected to a second user, and released by its holder", async () => {
      const { id, name } = await testUsers.newWorkspace()
      const holder = await testUsers.newMemberOn(id, locking)
      const other = await testUsers.newMemberOn(id, locking)
      const locked = await holder.engine.workspaces.lock(
        { organization: testUsers.organization, name },
        { reason: "mine" },
      )
      expect(locked.lock).toEqual({
        held: true,
        by: { kind: "users", id: holder.id },
        reason: "mine",
        since: expect.any(Number),
      })
      await expect(other.engine.workspaces.lock({ id }, { reason: "" })).rejects.toMatchObject(refused("conflict"))
      await expect(holder.engine.workspaces.lock({ id }, { reason: "" })).rejects.toMatchObject(refused("conflict"))
      await expect(other.engine.workspaces.unlock({ id })).rejects.toMatchObject(refused("conflict"))
      await expect(other.engine.workspaces.forceUnlock({ id })).rejects.toMatchObject(notFound)
      expect((await holder.engine.workspaces.unlock({ id })).lock).toEqual({ held: false })
      await expect(holder.engine.workspaces.unlock({ id })).rejects.toMatchObject(refused("conflict"))
    })

    test("with a ttl is extended by its holder, shows its expiry to others, and expires", async () => {
      const { id } = await testUsers.newWorkspace()
      const holder = await testUsers.newMemberOn(id, locking)
      const other = await testUsers.newMemberOn(id, locking)
      const locked = await holder.engine.workspaces.lock({ id }, { reason: "mine", ttlMs: 60_000 })
      expect(locked.lock).toEqual({
        held: true,
        by: { kind: "users", id: holder.id },
        reason: "mine",
        since: expect.any(Number),
        end: { at: expect.any(Number), ttlMs: 60_000 },
      })
      expect((await holder.engine.workspaces.get({ id })).lock).toEqual(locked.lock)
      const toOthers = {
        ...refused("conflict"),
        facts: {
          lockedBy: { type: "users", id: holder.id, name: expect.any(String) },
          lockedReason: "mine",
          lockedAt: expect.any(String),
          lockedUntil: expect.any(String),
        },
        retryAfterMs: expect.any(Number),
      }
      await expect(other.engine.workspaces.lock({ id }, { reason: "" })).rejects.toMatchObject(toOthers)
      await expect(other.engine.workspaces.extendLock({ id })).rejects.toMatchObject(toOthers)
      for (const ttlMs of [999, Number.NaN])
        await expect(holder.engine.workspaces.extendLock({ id }, { ttlMs })).rejects.toMatchObject(
          refused("invalid", ["ttl"]),
        )
      const again = await holder.engine.workspaces.extendLock({ id })
      expect(again.lock).toMatchObject({ held: true, reason: "mine", end: { ttlMs: 60_000 } })
      await holder.engine.workspaces.extendLock({ id }, { ttlMs: 1_000 })
      await expect
        .poll(async () => (await other.engine.workspaces.get({ id })).lock, { timeout: 10_000, interval: 200 })
        .toEqual({ held: false })
      await expect(holder.engine.workspaces.extendLock({ id })).rejects.toMatchObject(refused("conflict"))
      await other.engine.workspaces.lock({ id }, { reason: "next" })
    })

    test("is broken by an administrator of the workspace", async () => {
      const { id } = await testUsers.newWorkspace()
      const holder = await testUsers.newMemberOn(id, locking)
      await holder.engine.workspaces.lock({ id }, { reason: "" })
      const admin = await testUsers.newMemberOn(id, { access: "admin" })
      expect((await admin.engine.workspaces.forceUnlock({ id })).lock).toEqual({ held: false })
      await expect(admin.engine.workspaces.forceUnlock({ id })).rejects.toMatchObject(refused("conflict"))
    })

    test("of a team belongs to the whole team", async () => {
      const { id } = await testUsers.newWorkspace()
      const { teamId } = await testUsers.newMemberOn(id, locking)
      const { secret } = await testUsers.owner.engine.tokens.createForTeam(teamId, {})
      const team = await engine().as(secret)
      expect((await team.workspaces.lock({ id }, { reason: "" })).lock).toMatchObject({
        by: { kind: "teams", id: teamId },
      })
    })

    test("is acquired by one of many concurrent requests", async () => {
      const { id } = await testUsers.newWorkspace()
      const lockers = await Promise.all([1, 2, 3].map(() => testUsers.newMemberOn(id, locking)))
      const contenders = [...lockers, ...lockers, ...lockers, ...lockers]
      const outcomes = await Promise.allSettled(
        contenders.map(({ engine: it }) => it.workspaces.lock({ id }, { reason: "" })),
      )
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
      const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []))
      expect(reasons).toEqual(reasons.map(() => expect.objectContaining({ code: "conflict" })))
    })

    test("cannot be released while a state upload is pending", async () => {
      const { workspaces, stateVersions } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      await workspaces.lock({ id }, { reason: "" })
      await stateVersions.create({ id }, { ...newStateInput(1), state: null, jsonState: null })
      await expect(workspaces.unlock({ id })).rejects.toMatchObject({
        ...refused("pending"),
        message: expect.stringContaining("still pending"),
      })
      expect((await workspaces.forceUnlock({ id })).lock).toEqual({ held: false })
    })
  })

  describe("a bulk action", () => {
    const partsOf = async ({ results }: BulkRun) => {
      const parts: (readonly BulkResult[])[] = []
      for await (const part of results) parts.push(part)
      return parts
    }
    const outcomesOf = async (run: BulkRun) =>
      Object.fromEntries(
        (await partsOf(run)).flat().map(({ name, outcome, refusal }) => [name, refusal?.code ?? outcome]),
      )

    test("is applied to the workspaces of a filter, reported for each, and not repeated for the same key", async () => {
      const { owner, newName } = testUsers
      const organization = newName("bulk")
      await owner.engine.organizations.create({ name: organization, email: "bulk@example.com" })
      const { workspaces, bulkActions, tags } = owner.engine
      const [a, b] = [
        await workspaces.create(organization, { name: "a", tags: [{ name: "net" }] }),
        await workspaces.create(organization, { name: "b", tags: [{ name: "net" }] }),
      ]
      await workspaces.create(organization, { name: "c" })
      await workspaces.lock({ id: b.id }, { reason: "mine", ttlMs: 60_000 })
      const request = {
        action: { kind: "lock", reason: "freeze", ttlMs: 60_000 },
        query: { tags: ["net"], sort: { key: "name", descending: true } },
        idempotencyKey: "freeze",
      } as const
      const dry = await bulkActions.run(organization, { ...request, dryRun: true })
      expect([dry.totalCount, await outcomesOf(dry)]).toEqual([2, { b: "conflict", a: "done" }])
      expect((await workspaces.get({ id: a.id })).lock.held).toBe(false)
      const first = await bulkActions.run(organization, request)
      const parts = await partsOf(first)
      expect(parts.flat()).toEqual([
        {
          workspaceId: b.id,
          name: "b",
          outcome: "refused",
          refusal: {
            code: "conflict",
            detail: expect.stringContaining('for the reason "mine"'),
            facts: {
              lockedBy: { type: "users", id: owner.id, name: expect.any(String) },
              lockedReason: "mine",
              lockedAt: expect.any(String),
              lockedUntil: expect.any(String),
            },
          },
        },
        { workspaceId: a.id, name: "a", outcome: "done" },
      ])
      expect((await workspaces.get({ id: a.id })).lock).toMatchObject({ held: true, reason: "freeze" })
      await workspaces.unlock({ id: a.id })
      const again = await bulkActions.run(organization, request)
      expect([again.id, await partsOf(again)]).toEqual([first.id, parts])
      expect((await workspaces.get({ id: a.id })).lock.held).toBe(false)
      await expect(
        bulkActions.run(organization, { ...request, action: { ...request.action, reason: "other" } }),
      ).rejects.toMatchObject(refused("unprocessable"))

      const tag = { action: { kind: "tag", tags: ["blue"] }, all: true, owner: "ops" } as const
      expect(await outcomesOf(await bulkActions.run(organization, tag))).toEqual({ a: "done", b: "done", c: "done" })
      expect(await outcomesOf(await bulkActions.run(organization, tag))).toEqual({
        a: "unchanged",
        b: "unchanged",
        c: "unchanged",
      })
      const [blue] = await tags.bindings(a.id, { owners: true, tags: true })
      expect(blue).toMatchObject({ key: "blue", owners: ["ops"] })
      const bindings = [{ key: "env", value: "prod" }]
      const bound = await bulkActions.run(organization, { action: { kind: "bind", bindings }, query: { name: "c" } })
      expect(await outcomesOf(bound)).toEqual({ c: "done" })
      const tagged = { tagged: [{ key: "env", value: "prod" }] }
      const deleted = await bulkActions.run(organization, { action: { kind: "safe-delete" }, query: tagged })
      expect(await outcomesOf(deleted)).toEqual({ c: "done" })
      const untag = await bulkActions.run(organization, { action: { kind: "untag", tags: ["net"] }, all: true })
      expect(await outcomesOf(untag)).toEqual({ a: "done", b: "done" })
    })

    test("is rejected whole when the request is invalid", async () => {
      const { organization, owner } = testUsers
      const { bulkActions } = owner.engine
      const unlock = { action: { kind: "unlock" } } as const
      await expect(bulkActions.run(organization, unlock)).rejects.toMatchObject(refused("invalid", ["all"]))
      await expect(bulkActions.run(organization, { ...unlock, all: true, query: { name: "a" } })).rejects.toMatchObject(
        refused("invalid", ["all"]),
      )
      await expect(
        bulkActions.run(organization, {
          action: { kind: "lock", reason: "r".repeat(10_001), ttlMs: 1 },
          all: true,
          idempotencyKey: "k",
        }),
      ).rejects.toMatchObject(refused("invalid", ["reason"], ["ttl"]))
      const move = { action: { kind: "move", projectId: "prj-none" }, all: true } as const
      await expect(bulkActions.run(organization, move)).rejects.toMatchObject(notFound)
      await expect(bulkActions.run("nobody-has-this", { ...unlock, all: true })).rejects.toMatchObject(notFound)
    })
  })

  describe("deletion", () => {
    test("is safe when no resources are managed", async () => {
      const { workspaces, stateVersions } = testUsers.owner.engine
      const empty = await testUsers.newWorkspace()
      await workspaces.lock(empty, { reason: "" })
      await expect(workspaces.safeDelete(empty)).rejects.toMatchObject(refused("conflict"))
      await workspaces.unlock(empty)
      await workspaces.safeDelete({ organization: testUsers.organization, name: empty.name })
      await expect(workspaces.get(empty)).rejects.toMatchObject(notFound)

      const managing = await testUsers.newWorkspace()
      await workspaces.lock(managing, { reason: "" })
      await stateVersions.create(managing, newStateInput(1))
      await workspaces.unlock(managing)
      await expect(workspaces.safeDelete(managing)).rejects.toMatchObject(refused("conflict"))
      await workspaces.forceDelete(managing)
      await expect(workspaces.get(managing)).rejects.toMatchObject(notFound)
    })

    test("by force is forbidden, not hidden, to readers", async () => {
      const { id } = await testUsers.newWorkspace()
      const { engine: admin } = await testUsers.newMemberOn(id, { access: "admin" })
      await expect(admin.workspaces.forceDelete({ id })).rejects.toMatchObject(refused("forbidden"))
    })

    test("happens once for concurrent requests", async () => {
      const { id } = await testUsers.newWorkspace()
      const outcomes = await Promise.allSettled(
        Array.from({ length: 6 }, () => testUsers.owner.engine.workspaces.forceDelete({ id })),
      )
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    })
  })

  describe("the remote state consumers", () => {
    test("are added, replaced and removed, and listed in pages", async () => {
      const { remoteStateConsumers: consumers } = testUsers.owner.engine
      const [producer, a, b] = [
        await testUsers.newWorkspace(),
        await testUsers.newWorkspace(),
        await testUsers.newWorkspace(),
      ]
      const listed = async () => (await consumers.list(producer.id, firstPage)).items.map(({ id }) => id).toSorted()
      await consumers.add(producer.id, [a.id, b.id])
      await consumers.add(producer.id, [a.id])
      await consumers.remove(producer.id, [])
      expect(await listed()).toEqual([a.id, b.id].toSorted())
      expect(await consumers.list(producer.id, { number: 2, size: 1 })).toMatchObject({
        totalCount: 2,
        number: 2,
        size: 1,
      })
      await consumers.remove(producer.id, [a.id, a.id])
      expect(await listed()).toEqual([b.id])
      await consumers.replace(producer.id, [a.id])
      expect(await listed()).toEqual([a.id])
    })

    test("are rejected when invalid", async () => {
      const { remoteStateConsumers: consumers, workspaces } = testUsers.owner.engine
      const [producer, a] = [await testUsers.newWorkspace(), await testUsers.newWorkspace()]
      await expect(consumers.add(producer.id, [a.id, producer.id])).rejects.toMatchObject(
        refused("unprocessable", ["data", 1, "id"]),
      )
      await expect(consumers.add(producer.id, ["ws-none"])).rejects.toMatchObject(notFound)
      await workspaces.update(producer, { globalRemoteState: true })
      await expect(consumers.replace(producer.id, [a.id])).rejects.toMatchObject(refused("unprocessable"))
      expect((await consumers.list(producer.id, firstPage)).totalCount).toBeGreaterThan(1)
    })
  })
}
