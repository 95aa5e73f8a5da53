import { sql } from "kysely"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { CommitQueue, type Commits, largestShare, type QueuedWork } from "./commit-queue.ts"
import { openDatabase } from "./database.ts"
import { bumpGeneration, readGeneration } from "./generations.ts"
import { type Session, UniqueViolation } from "./session.ts"
import { databaseKinds, temporaryDatabase, type TemporaryDatabase } from "./temporary-database.ts"

const committers = 2

/** What is taken together, in the order of the takings; each one stands until it is let go. */
function recordedQueue(spoils: (works: readonly string[]) => readonly string[] = () => []) {
  const takings: string[][] = []
  const names = new Map<QueuedWork, string>()
  const nameOf = (work: QueuedWork) => names.get(work) ?? ""
  const told: string[] = []
  const tell = (work: QueuedWork) => {
    told.push(nameOf(work))
    work.resolve(undefined)
  }
  const commits: Commits = {
    together: async (works) => {
      takings.push(works.map(nameOf))
      const left = spoils(works.map(nameOf))
      for (const work of works) if (!left.includes(nameOf(work))) tell(work)
      return works.filter((work) => left.includes(nameOf(work)))
    },
    alone: async (work) => {
      takings.push([nameOf(work)])
      tell(work)
    },
  }
  const queue = new CommitQueue(commits, committers)
  const add = (name: string) =>
    new Promise<unknown>((resolve, reject) => {
      const work: QueuedWork = {
        isolation: "serializable",
        alone: false,
        span: undefined,
        work: async () => name,
        resolve,
        reject,
      }
      names.set(work, name)
      queue.add(work)
    })
  return { takings, told, add }
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `${index}`)

describe("works that wait", () => {
  test("are shared out among the committers, and one that comes alone is done alone", async () => {
    const { takings, add } = recordedQueue()
    await add("first")
    await Promise.all(numbered(6).map(add))
    expect(takings.slice(0, 3)).toEqual([["first"], ["0", "1", "2"], ["3", "4"]])
    expect(takings.flat().toSorted()).toEqual([...numbered(6), "first"])
  })

  test("are never more at once than a transaction should hold", async () => {
    const { takings, add } = recordedQueue()
    await Promise.all(numbered(5 * largestShare).map(add))
    expect(Math.max(...takings.map(({ length }) => length))).toBe(largestShare)
    expect(takings.flat()).toHaveLength(5 * largestShare)
  })

  test("are done one by one, before those that came later, where they were spoiled together", async () => {
    const { takings, told, add } = recordedQueue((works) => (works.includes("1") ? works : []))
    await Promise.all(numbered(6).map(add))
    expect(takings[0]).toEqual(["0", "1", "2"])
    for (const name of ["0", "1", "2"]) expect(takings).toContainEqual([name])
    expect(told.toSorted()).toEqual(numbered(6))
  })
})

const postgres = databaseKinds.find(({ name }) => name === "PostgreSQL")!

describe.runIf(postgres.available)("on PostgreSQL", () => {
  let opened: TemporaryDatabase
  beforeEach(async () => (opened = await temporaryDatabase(postgres)))
  afterEach(() => opened[Symbol.asyncDispose]())

  const works = 200
  const settled = (make: (index: number) => Promise<unknown>) =>
    Promise.allSettled(Array.from({ length: works }, (_, index) => make(index)))
  const count = async () => {
    const query = sql<{ count: number }>`select count(*) as count from generations where family like 'own/%'`
    return (await opened.database.read((session) => session.first(query)))?.count
  }
  const insert = (session: Session, family: string) =>
    session.run(session.db.insertInto("generations").values({ family, number: 1 }))

  test("many works share a commit, and each has its own answer", async () => {
    const { database } = opened
    const before = database.activity.commitCount
    const answers = await settled((index) =>
      database.transact(async (session) => {
        await insert(session, `own/${index}`)
        return index
      }),
    )
    expect(answers).toEqual(Array.from({ length: works }, (_, value) => ({ status: "fulfilled", value })))
    expect(await count()).toBe(works)
    expect(database.activity.commitCount - before).toBeLessThan(works / 4)
    expect(database.activity.write.waitingCount).toBe(0)
  })

  test("one that fails, however it does, leaves nothing behind and takes nobody with it", async () => {
    const { database } = opened
    await database.transact((session) => insert(session, "own/taken"))
    const answers = await settled((index) =>
      database.transact(async (session) => {
        await insert(session, `own/${index}`)
        if (index % 40 === 7) await insert(session, "own/taken")
        if (index % 40 === 9) throw new Error(`no ${index}`)
      }),
    )
    const failureAt = (index: number) =>
      ({ 7: { reason: expect.any(UniqueViolation) }, 9: { reason: new Error(`no ${index}`) } })[index % 40]
    expect(answers).toEqual(
      answers.map((_, index) => {
        const failure = failureAt(index)
        return failure === undefined ? { status: "fulfilled" } : { status: "rejected", ...failure }
      }),
    )
    expect(await count()).toBe(works - 10 + 1)
  })

  test("one that refuses before it has written hears of it without a second run", async () => {
    const { database } = opened
    const before = database.activity.commitCount
    let runs = 0
    // Nobody writes, so that nothing else begins any of them again.
    const answers = await settled((index) =>
      database.transact(async (session) => {
        await readGeneration(session, "own/none")
        if (index !== 100) return
        runs += 1
        throw new Error("refused")
      }),
    )
    expect(answers.filter(({ status }) => status === "rejected")).toHaveLength(1)
    expect(runs).toBe(1)
    expect(database.activity.commitCount - before).toBeLessThan(works / 4)
  })

  test("those that contend for one row, here and from another replica, all have their turn", async () => {
    const { database, url } = opened
    await using replica = await openDatabase(url)
    const answers = await settled((index) =>
      (index % 2 === 0 ? database : replica).transact((session) => bumpGeneration(session, "own/hot")),
    )
    expect(answers.filter(({ status }) => status === "rejected")).toEqual([])
    expect(await database.read((session) => readGeneration(session, "own/hot"))).toBe(works)
  })
})
