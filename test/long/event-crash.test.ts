// Kills the real server (SIGKILL) at random moments while many writers write, and compares the feed with the workspaces. Each acknowledged
// change has its event and each event its change, in the order of the changes. A follower gets every event once, across all restarts.
import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import type { Engine } from "../../engine/src/engine.ts"
import type { EventView } from "../../engine/src/events/feed/events.ts"
import { openEngine } from "../../engine/src/open.ts"
import { crashKinds, openCrashStore } from "./crash-store.ts"
import { sampleOf } from "./sample.ts"
import { CrashingServer, randomIntegers } from "./crashing-server.ts"

const kills = process.env["CHANCERY_SHORT"] === undefined ? 100 : 8
const writerCount = 8
const longestRunMs = 300
const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 1_000_000)
const organization = "default"

test.each(sampleOf(crashKinds, 5))(
  `${kills} kills under ${writerCount} writers lose no event and invent none on $name (seed ${seed})`,
  async (kind) => {
    const random = randomIntegers(seed)
    await using store = await openCrashStore(kind)
    const server = await CrashingServer.prepare(store)
    const stopping = new AbortController()
    try {
      const token = await server.rootToken()
      await server.start()
      await using patient = await openEngine(server.url, { token })
      const followed = listening(patient, stopping.signal)
      const writers: Writer[] = []
      let acknowledged = 0
      for (let round = 0; round < kills; round += 1) {
        if (round > 0) await server.start()
        const engine = await openEngine(server.url, { token, patienceMs: 0 })
        for (let index = writers.length; index < writerCount; index += 1)
          writers.push(await Writer.create(engine, index))
        for (const writer of writers) await writer.verify(engine)
        const stop = new AbortController()
        const writing = writers.map((writer) => writer.write(engine, stop.signal))
        await sleep(random(longestRunMs))
        await server.kill()
        stop.abort()
        acknowledged += (await Promise.all(writing)).reduce((sum, count) => sum + count, 0)
        await engine[Symbol.asyncDispose]()
      }
      await server.start()
      for (const writer of writers) await writer.verify(patient)
      expect(acknowledged).toBeGreaterThan(kills)

      const eventIds = (await allEvents(patient)).map(({ id }) => id)
      expect(new Set(eventIds).size).toBe(eventIds.length)
      const began = eventIds.indexOf((await followed.first) ?? "")
      await expect.poll(() => followed.ids.length, { timeout: 120_000 }).toBe(eventIds.length - began)
      expect(followed.ids).toEqual(eventIds.slice(began))
    } finally {
      stopping.abort()
      await server.kill()
    }
  },
  1_800_000,
)

/** Follows the feed until the signal aborts, across restarts of the server. */
function listening(engine: Engine, signal: AbortSignal) {
  const ids: string[] = []
  const first = Promise.withResolvers<string | undefined>()
  const follow = async () => {
    for await (const { id } of await engine.events.follow(organization, {}, { signal })) {
      ids.push(id)
      first.resolve(id)
    }
  }
  follow().catch((error: unknown) => first.reject(error))
  return { ids, first: first.promise }
}

async function allEvents(engine: Engine, workspaceId?: string, after?: string): Promise<readonly EventView[]> {
  const found: EventView[] = []
  const query = workspaceId === undefined ? {} : { workspaces: [workspaceId] }
  for (let since = after; ;) {
    const page = await engine.events.list(organization, { ...query, ...(since === undefined ? {} : { since }) }, 100)
    found.push(...page.items)
    since = page.cursor
    if (!page.more) return found
  }
}

type Step = "workspace.locked" | "workspace.updated" | "workspace.unlocked"
const steps: readonly Step[] = ["workspace.locked", "workspace.updated", "workspace.unlocked"]

class Writer {
  readonly #id: string
  /** Steps acknowledged since the last check, and the one whose answer was lost. */
  #acknowledged: Step[] = []
  #inFlight: Step | undefined
  #done = 0
  #cursor: string

  private constructor(id: string, cursor: string) {
    this.#id = id
    this.#cursor = cursor
  }

  static async create(engine: Engine, index: number): Promise<Writer> {
    const { id } = await engine.workspaces.create(organization, { name: `writer-${index}`, description: "0" })
    const [created] = await allEvents(engine, id)
    expect(created?.kind).toBe("workspace.created")
    return new Writer(id, created?.id ?? "")
  }

  /** Locks, updates and unlocks until the server is gone. Returns the number of acknowledged steps. */
  async write(engine: Engine, signal: AbortSignal): Promise<number> {
    let count = 0
    while (!signal.aborted) {
      const step = steps[this.#done % steps.length] as Step
      this.#inFlight = step
      try {
        await this.#take(engine, step)
      } catch {
        return count
      }
      this.#acknowledged.push(step)
      this.#inFlight = undefined
      this.#done += 1
      count += 1
    }
    return count
  }

  async #take({ workspaces }: Engine, step: Step): Promise<void> {
    const ref = { id: this.#id }
    if (step === "workspace.locked") await workspaces.lock(ref, { reason: "" })
    else if (step === "workspace.unlocked") await workspaces.unlock(ref)
    else await workspaces.update(ref, { description: String(this.#done) })
  }

  /** Checks that the events since the last check are the acknowledged steps, with or without the one in flight, and match the workspace. */
  async verify(engine: Engine): Promise<void> {
    const events = await allEvents(engine, this.#id, this.#cursor)
    const kinds = events.map(({ kind }) => kind)
    const lost = this.#inFlight === undefined ? [] : [[...this.#acknowledged, this.#inFlight]]
    expect([this.#acknowledged, ...lost]).toContainEqual(kinds)
    if (kinds.length > this.#acknowledged.length) this.#done += 1
    this.#cursor = events.at(-1)?.id ?? this.#cursor
    this.#acknowledged = []
    this.#inFlight = undefined
    const { lock, description } = await engine.workspaces.get({ id: this.#id })
    expect(lock.held).toBe(this.#done % steps.length !== 0)
    const updates = Math.floor((this.#done + 1) / steps.length)
    expect(description).toBe(updates === 0 ? "0" : String((updates - 1) * steps.length + 1))
  }
}
