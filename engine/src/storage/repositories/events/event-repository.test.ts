import { describe, expect, test } from "vitest"
import type { OrganizationId, WorkspaceId } from "../../../core/ids.ts"
import { beginning, type EventOrigin } from "../../../events/feed/event.ts"
import { manualClock } from "../../../../testing/manual-clock.ts"
import { seededRandom } from "../../../../testing/seeded-random.ts"
import { keySealer, newKeyText, parseKeyRing } from "../../sealing/key-sealing.ts"
import { repositoriesOver } from "../repositories.ts"
import { databaseKinds, temporaryDatabase, type TemporaryDatabase } from "../../../../testing/temporary-database.ts"

const random = seededRandom(1)
const organizationId = "org-1" as OrganizationId
const workspace = (name: string) => ({ id: `ws-${name}` as WorkspaceId, organizationId, name })
const origin: EventOrigin = {
  actor: { type: "users", id: "user-1" },
  tokenId: "at-1",
  requestId: "request-1",
}

function opened({ database }: TemporaryDatabase) {
  const clock = manualClock(1_000)
  const committed: string[][] = []
  const feed = { committed: (ids: ReadonlySet<string>) => void committed.push([...ids]) }
  const storage = repositoriesOver(database, keySealer(parseKeyRing(newKeyText(random)), random), clock, feed, origin)
  const lock = (name: string) => ({ kind: "workspace.locked", workspace: workspace(name) }) as const
  const read = (position = beginning) => storage.read(({ events }) => events.after(organizationId, position, 100))
  /** Reads until there are `count` events. A transaction of any database of the server may delay them until it ends. */
  const readAll = async (count: number, position = beginning) => {
    let found: Awaited<ReturnType<typeof read>> = []
    await expect.poll(async () => (found = await read(position)).length).toBe(count)
    return found
  }
  return { clock, committed, storage, lock, read, readAll }
}

for (const kind of databaseKinds)
  describe.skipIf(!kind.available)(`events on ${kind.name}`, () => {
    test("are read complete, in the order of writing, from after a position", async () => {
      await using temporary = await temporaryDatabase(kind)
      const { storage, lock, readAll, committed } = opened(temporary)
      await storage.transact(({ events }) => events.append(lock("one")))
      await storage.transact(({ events }) =>
        events.append(lock("two"), {
          kind: "project.created",
          organizationId,
          subject: { type: "projects", id: "prj-1" },
          changed: ["name"],
        }),
      )
      const [first, second, third] = await readAll(3)
      expect(first).toMatchObject({
        kind: "workspace.locked",
        at: 1_000,
        workspace: { id: "ws-one", name: "one" },
        changed: [],
        subject: null,
        origin,
        tags: [],
        readers: null,
      })
      expect(second).toMatchObject({ workspace: { id: "ws-two" } })
      expect(third).toMatchObject({ workspace: null, changed: ["name"], subject: { id: "prj-1" } })
      expect(await readAll(1, second?.position)).toEqual([third])
      await expect.poll(() => storage.read(({ events }) => events.end())).toEqual(third?.position)
      expect(committed).toEqual([[organizationId], [organizationId]])
    })

    test("are rolled back with their change", async () => {
      await using temporary = await temporaryDatabase(kind)
      const { storage, lock, read, committed } = opened(temporary)
      const refused = storage.transact(async ({ events }) => {
        await events.append(lock("one"))
        throw new Error("refused")
      })
      await expect(refused).rejects.toThrow("refused")
      expect(await read()).toEqual([])
      expect(committed).toEqual([])
    })

    test("begin at a time, or at the end when none is later", async () => {
      await using temporary = await temporaryDatabase(kind)
      const { storage, lock, read, clock } = opened(temporary)
      for (const name of ["one", "two", "three"]) {
        await storage.transact(({ events }) => events.append(lock(name)))
        clock.advance(1_000)
      }
      const from = (instant: number) => storage.read(({ events }) => events.before(organizationId, instant))
      const namesFrom = async (instant: number) =>
        (await read(await from(instant))).map((event) => event.workspace?.name)
      await expect.poll(() => namesFrom(2_000)).toEqual(["two", "three"])
      await expect.poll(() => namesFrom(9_000)).toEqual([])
    })

    test("are swept by age, and the position of the last swept event is stored", async () => {
      await using temporary = await temporaryDatabase(kind)
      const { storage, lock, readAll, clock } = opened(temporary)
      for (const name of ["one", "two", "three", "four"]) {
        await storage.transact(({ events }) => events.append(lock(name)))
        clock.advance(1_000)
      }
      const all = await readAll(4)
      const sweep = (before: number, limit: number) => storage.transact(({ events }) => events.sweep(before, limit))
      expect(await storage.read(({ events }) => events.swept())).toBeUndefined()
      expect(await sweep(2_500, 1)).toBe(1)
      expect(await sweep(2_500, 10)).toBe(1)
      expect(await sweep(2_500, 10)).toBe(0)
      expect((await readAll(2)).map((event) => event.workspace?.name)).toEqual(["three", "four"])
      expect(await storage.read(({ events }) => events.swept())).toEqual({ position: all[1]?.position, at: 2_000 })
      // The newest event is never deleted, so that its number is not used again.
      expect(await sweep(99_000, 10)).toBe(1)
      expect((await readAll(1)).map((event) => event.workspace?.name)).toEqual(["four"])
    })
  })

const postgres = databaseKinds.find(({ name }) => name === "PostgreSQL")
describe.skipIf(postgres?.available !== true)("events on PostgreSQL with overlapping transactions", () => {
  test("are not skipped when the first transaction commits last", async () => {
    if (postgres === undefined) return
    await using temporary = await temporaryDatabase(postgres)
    const { storage, lock, read, readAll } = opened(temporary)
    const [written, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = storage.transact(async ({ events }) => {
      await events.append(lock("slow"))
      written.resolve()
      await release.promise
    })
    await written.promise
    await storage.transact(({ events }) => events.append(lock("quick")))
    // The event is committed, but a reader that continued after it would miss the slow one.
    expect(await read()).toEqual([])
    const end = await storage.read(({ events }) => events.end())
    release.resolve()
    await slow
    expect((await readAll(2, end)).map((event) => event.workspace?.name)).toEqual(["slow", "quick"])
  })
})
