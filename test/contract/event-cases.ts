// The event feed: permitted readers get each event in order, once, and can resume at a cursor.
import { beforeAll, describe, expect, test } from "vitest"
import type { Engine } from "../../engine/src/engine.ts"
import type { EventQuery, EventView } from "../../engine/src/events/feed/events.ts"
import { type Users, newUsers } from "./users.ts"
import type { OpenedEngine } from "./engines.ts"
import { notFound, refused } from "./refusals.ts"

export function eventCases(engine: () => OpenedEngine): void {
  let testUsers: Users
  beforeAll(async () => {
    testUsers = await newUsers(engine())
  })

  /** Reads all events that match the query, page by page. */
  async function allEvents(of: Engine, query: EventQuery, pageSize = 3): Promise<readonly EventView[]> {
    const found: EventView[] = []
    for (let since = query.since; ;) {
      const page = await of.events.list(
        testUsers.organization,
        { ...query, ...(since === undefined ? {} : { since }) },
        pageSize,
      )
      found.push(...page.items)
      since = page.cursor
      if (!page.more) return found
    }
  }

  /** Reads until at least `count` events match: an event can become readable shortly after its change. */
  async function untilEventCount(count: number, of: Engine, query: EventQuery): Promise<readonly EventView[]> {
    let found: readonly EventView[] = []
    await expect.poll(async () => (found = await allEvents(of, query)).length).toBeGreaterThanOrEqual(count)
    return found
  }

  /** Takes the next `count` events of a followed feed. Missing events make the test time out. */
  async function taken(events: AsyncIterable<EventView>, count: number): Promise<readonly EventView[]> {
    const found: EventView[] = []
    for await (const event of events) {
      found.push(event)
      if (found.length === count) break
    }
    return found
  }

  const kinds = (events: readonly EventView[]) => events.map(({ kind }) => kind)

  test("the events of a workspace are complete and in order, with names and no values", async () => {
    const { engine: own, id: ownerId } = testUsers.owner
    const { id, name } = await testUsers.newWorkspace({ tags: [{ name: "net" }] })
    await own.workspaces.update({ id }, { description: "changed", autoApply: true })
    await own.workspaces.lock({ id }, { reason: "work" })
    await own.workspaces.unlock({ id })
    await own.tags.remove(id, [{ name: "net" }])
    await own.workspaces.safeDelete({ id })
    const events = await untilEventCount(6, own, { workspaces: [id] })
    expect(kinds(events)).toEqual([
      "workspace.created",
      "workspace.updated",
      "workspace.locked",
      "workspace.unlocked",
      "workspace.untagged",
      "workspace.deleted",
    ])
    expect(events[0]).toMatchObject({
      organizationName: testUsers.organization,
      workspace: { id, name },
      tags: [{ key: "net", value: "" }],
      subject: null,
      actor: { type: "users", id: ownerId, name: expect.any(String) },
    })
    expect(events[1]?.changed.toSorted()).toEqual(["autoApply", "description"])
    expect(events[5]?.tags).toEqual([])
  })

  describe("a filter", () => {
    test.each([
      { by: "kind", query: { kinds: ["workspace.locked"] }, expected: ["workspace.locked"] },
      { by: "all kinds of a thing", query: { kinds: ["variable.*"] }, expected: ["variable.created"] },
      { by: "tag, in any case", query: { tags: ["EDGE"] }, expected: ["workspace.created", "workspace.locked"] },
    ])("by $by returns matching events only", async ({ query, expected }) => {
      const { engine: own } = testUsers.owner
      const before = (
        await own.events.list(testUsers.organization, { since: new Date(Date.now() + 60_000).toISOString() })
      ).cursor
      const { id } = await testUsers.newWorkspace({ tags: [{ name: "edge" }] })
      const other = await testUsers.newWorkspace()
      await own.workspaces.lock({ id }, { reason: "" })
      const variable = {
        key: "region",
        value: "eu",
        description: "",
        category: "terraform",
        hcl: false,
        sensitive: false,
      } as const
      await own.variables.create({ id: other.id }, variable)
      // Events of earlier tests can become readable after the cursor `before` was read.
      const here = { ...query, workspaces: [id, other.id], since: before }
      expect(kinds(await untilEventCount(expected.length, own, here))).toEqual(expected)
    })

    test("with an unknown kind or start is rejected", async () => {
      const { events } = testUsers.owner.engine
      const parameter = (name: string) => ({
        ...refused("bad-request"),
        faults: [expect.objectContaining({ parameter: name })],
      })
      await expect(events.list(testUsers.organization, { kinds: ["workspace.lokced"] })).rejects.toMatchObject(
        parameter("filter[kind]"),
      )
      await expect(events.follow(testUsers.organization, { since: "yesterday" })).rejects.toMatchObject(
        parameter("since"),
      )
    })
  })

  test("a position that does not exist is gone, and the error has the oldest position", async () => {
    const { events } = testUsers.owner.engine
    await expect(events.follow(testUsers.organization, { since: "czzzzzz-zzzzzz" })).rejects.toMatchObject({
      code: "gone",
      facts: { oldest: expect.any(String) },
    })
  })

  test("a follower receives new events, and from its last position those that it missed", async () => {
    const { engine: own } = testUsers.owner
    const { id } = await testUsers.newWorkspace()
    // The event of the creation can become readable after the feed was opened, so the query leaves that kind out.
    const query = { workspaces: [id], kinds: ["workspace.locked", "workspace.unlocked", "workspace.updated"] }
    const following = await own.events.follow(testUsers.organization, query)
    const first = taken(following, 2)
    await own.workspaces.lock({ id }, { reason: "" })
    await own.workspaces.unlock({ id })
    const seen = await first
    expect(kinds(seen)).toEqual(["workspace.locked", "workspace.unlocked"])
    await own.workspaces.update({ id }, { description: "meanwhile" })
    await untilEventCount(3, own, query)
    const again = await own.events.follow(testUsers.organization, { ...query, since: seen[0]?.id ?? "" })
    expect(kinds(await taken(again, 2))).toEqual(["workspace.unlocked", "workspace.updated"])
  })

  test("an abort signal ends the following", async () => {
    const stopping = new AbortController()
    const following = await testUsers.owner.engine.events.follow(
      testUsers.organization,
      {},
      { signal: stopping.signal },
    )
    const rest = taken(following, 1_000_000)
    stopping.abort()
    expect((await rest).length).toBeLessThan(1_000)
  })

  describe("a user whose team has access to one workspace", () => {
    test("receives the events of that workspace, until its deletion, and of no other", async () => {
      const { engine: own } = testUsers.owner
      const { id } = await testUsers.newWorkspace()
      const member = await testUsers.newMemberOn(id, { access: "read" })
      const other = await testUsers.newWorkspace()
      await untilEventCount(1, own, { workspaces: [other.id] })
      const since = (await untilEventCount(1, own, { workspaces: [id] })).at(-1)?.id ?? ""
      const following = await member.engine.events.follow(testUsers.organization, { since })
      const seen = taken(following, 3)
      await own.workspaces.lock({ id: other.id }, { reason: "" })
      await own.workspaces.lock({ id }, { reason: "" })
      await own.workspaces.unlock({ id })
      // Waits until both events have reached the follower: of a deleted workspace, only the deletion is reported.
      await expect.poll(async () => kinds(await allEvents(member.engine, { workspaces: [id], since }))).toHaveLength(2)
      await new Promise((resolve) => void setTimeout(resolve, 1_500))
      await own.workspaces.forceDelete({ id })
      expect(kinds(await seen)).toEqual(["workspace.locked", "workspace.unlocked", "workspace.deleted"])
      expect(kinds(await allEvents(member.engine, { workspaces: [other.id] }))).toEqual([])
    })

    test("receives none of them after the access is removed", async () => {
      const { engine: own } = testUsers.owner
      const { id } = await testUsers.newWorkspace()
      const member = await testUsers.newMemberOn(id, { access: "read" })
      const [access] = (await own.teamWorkspaces.list(id, { number: 1, size: 1 })).items
      await own.workspaces.lock({ id }, { reason: "" })
      expect(await untilEventCount(1, member.engine, { workspaces: [id], kinds: ["workspace.locked"] })).toHaveLength(1)
      await own.teamWorkspaces.delete(access?.id ?? "")
      expect(await allEvents(member.engine, { workspaces: [id] })).toEqual([])
    })
  })

  test("revoking a token ends the event streams that it opened", async () => {
    const person = await testUsers.newMember({ readWorkspaces: true })
    const following = await person.engine.events.follow(testUsers.organization, {})
    const rest = taken(following, 1_000_000)
    const [token] = (await person.engine.tokens.listForUser(person.id, { number: 1, size: 1 })).items
    await testUsers.owner.engine.workspaces.create(testUsers.organization, { name: testUsers.newName("told") })
    await person.engine.tokens.delete(token?.id ?? "")
    await expect(rest).rejects.toMatchObject(refused("unauthenticated"))
  })

  test("strangers receive no events", async () => {
    const { events } = testUsers.stranger.engine
    await expect(events.list(testUsers.organization, {})).rejects.toMatchObject(notFound)
    await expect(events.follow(testUsers.organization, {})).rejects.toMatchObject(notFound)
  })
}
