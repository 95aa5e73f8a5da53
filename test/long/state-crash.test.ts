// Kills the real server (SIGKILL) at random moments while clients upload states; some uploads break off half-way themselves. Every
// acknowledged version is kept byte for byte, and one whose answer was lost is stored entirely or not at all. The current state follows the
// locks (docs/decisions/state-at-unlock.md).
import { createHash } from "node:crypto"
import { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { Agent, request } from "undici"
import { expect, test } from "vitest"
import { crashKinds, openCrashStore } from "./crash-store.ts"
import { sampleOf } from "./sample.ts"
import { CrashingServer, randomIntegers } from "./crashing-server.ts"
import { type LargeState, largeState } from "./large-states.ts"

const kills = process.env["CHANCERY_SHORT"] === "1" ? 15 : 100
const writerCount = 6
/** A kill comes up to this long after up to this many more acknowledged states, so that slow machines make progress too. */
const longestRunMs = 300
const mostStates = 5
const timeoutMs = 30_000
/** Small states take another path through the server than those of several chunks. */
const sizes = [1_000, 100_000, 1_000_000, 6_000_000]
const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 1_000_000)

test.each(sampleOf(crashKinds, 1))(
  `${kills} kills under ${writerCount} uploading clients keep every acknowledged state on $name (seed ${seed})`,
  async (kind) => {
    const random = randomIntegers(seed)
    await using store = await openCrashStore(kind)
    const server = await CrashingServer.prepare(store)
    try {
      const token = await server.rootToken()
      const writers: Writer[] = []
      for (let round = 0; round <= kills; round += 1) {
        await server.start()
        const client = new Client(server.url, token)
        if (round === 0)
          for (let index = 0; index < writerCount; index += 1) writers.push(await Writer.create(client, index, random))
        for (const writer of writers) await writer.verify(client, { all: round === kills })
        if (round === kills) {
          await client.close()
          break
        }
        const stop = new AbortController()
        const writing = writers.map((writer) => writer.write(client, stop.signal))
        const wanted = total(writers) + random(mostStates)
        for (let waitedMs = 0; total(writers) < wanted && waitedMs < timeoutMs; waitedMs += 10) await sleep(10)
        await sleep(random(longestRunMs))
        await server.kill()
        stop.abort()
        await Promise.all(writing)
        await client.close()
      }
      await server.kill()
      const acknowledged = total(writers)
      const brokenOff = writers.reduce((sum, writer) => sum + writer.brokenOffCount, 0)
      console.log(`${acknowledged} states acknowledged, ${brokenOff} uploads broken off by their clients`)
      expect(acknowledged).toBeGreaterThan(kills)
      expect(brokenOff).toBeGreaterThan(0)
      await store.expectWhole()
    } finally {
      await server.kill()
    }
  },
  1_800_000,
)

const total = (writers: readonly Writer[]): number =>
  writers.reduce((sum, { acknowledgedCount }) => sum + acknowledgedCount, 0)

interface Sent {
  readonly id: string
  readonly md5: string
  readonly intermediate: boolean
}

class Writer {
  readonly #workspace: string
  readonly #random: (limit: number) => number
  readonly #acknowledged: Sent[] = []
  #verifiedCount = 0
  #serial = 0
  #current: string | undefined
  /** Newest version of the current lock, which becomes current when the lock ends. */
  #newestOfLock: string | undefined
  #uploading: Sent | undefined
  #unlocking = false
  brokenOffCount = 0

  private constructor(workspace: string, random: (limit: number) => number) {
    this.#workspace = workspace
    this.#random = random
  }

  static async create(client: Client, index: number, random: (limit: number) => number): Promise<Writer> {
    const document = { type: "workspaces", attributes: { name: `states-${index}` } }
    const { body } = await client.send("POST", "/organizations/default/workspaces", document)
    return new Writer(body.data.id, random)
  }

  get acknowledgedCount(): number {
    return this.#acknowledged.length
  }

  /** Writes until the server is gone. */
  async write(client: Client, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#step(client)
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error
        return
      }
    }
  }

  async #step(client: Client): Promise<void> {
    const chance = this.#random(100)
    const intermediate = chance < 20
    const breaksOff = chance >= 85
    this.#serial += 1
    const state = largeState({
      serial: this.#serial,
      lineage: this.#workspace,
      atLeastBytes: sizes[this.#random(sizes.length)] ?? 0,
      seed: this.#random(2 ** 31),
    })
    const { serial, lineage, md5 } = state
    const made = await client.send("POST", `/workspaces/${this.#workspace}/state-versions`, {
      type: "state-versions",
      attributes: { serial, lineage, md5, intermediate },
    })
    expect(made.status).toBe(201)
    const { id, attributes } = made.body.data
    const address = attributes["hosted-state-upload-url"]
    if (breaksOff) {
      await client.breakOff(address, state)
      this.brokenOffCount += 1
      return
    }
    this.#uploading = { id, md5, intermediate }
    expect(await client.upload(address, state)).toBe(204)
    this.#finished(this.#uploading)
    this.#uploading = undefined
    if (!intermediate) return
    this.#unlocking = true
    expect((await client.send("POST", `/workspaces/${this.#workspace}/actions/unlock`)).status).toBe(200)
    this.#unlocked()
    expect((await client.send("POST", `/workspaces/${this.#workspace}/actions/lock`)).status).toBe(200)
  }

  #finished(sent: Sent): void {
    this.#acknowledged.push(sent)
    this.#newestOfLock = sent.id
    if (!sent.intermediate) this.#current = sent.id
  }

  #unlocked(): void {
    this.#unlocking = false
    this.#current = this.#newestOfLock ?? this.#current
    this.#newestOfLock = undefined
  }

  async verify(client: Client, { all }: { readonly all: boolean }): Promise<void> {
    const uploading = this.#uploading
    this.#uploading = undefined
    if (uploading !== undefined) {
      const { status } = (await client.send("GET", `/state-versions/${uploading.id}`)).body.data.attributes
      expect(status).toBeOneOf(["pending", "finalized"])
      // Its answer was lost, but it is complete, which is checked below.
      if (status === "finalized") this.#finished(uploading)
    }
    const { attributes, relationships } = (await client.send("GET", `/workspaces/${this.#workspace}`)).body.data
    if (this.#unlocking && attributes.locked === false) this.#unlocked()
    this.#unlocking = false
    expect(relationships["current-state-version"].data?.id).toBe(this.#current)
    for (const { id, md5 } of this.#acknowledged.slice(all ? 0 : this.#verifiedCount))
      expect([id, await client.md5Of(id)]).toEqual([id, md5])
    this.#verifiedCount = this.#acknowledged.length
    if (attributes.locked === false)
      expect((await client.send("POST", `/workspaces/${this.#workspace}/actions/lock`)).status).toBe(200)
  }
}

class Unanswered extends Error {}

class Client {
  readonly #url: string
  readonly #token: string
  readonly #agent = new Agent({ connections: writerCount * 2 })

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  // oxlint-disable-next-line typescript/no-explicit-any
  async send(method: "GET" | "POST", path: string, document?: object): Promise<{ status: number; body: any }> {
    return answered(async () => {
      const { statusCode, body } = await request(`${this.#url}/api/v2${path}`, {
        method,
        dispatcher: this.#agent,
        headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/vnd.api+json" },
        ...(document === undefined ? {} : { body: JSON.stringify({ data: document }) }),
      })
      const text = await body.text()
      return { status: statusCode, body: text === "" ? undefined : JSON.parse(text) }
    })
  }

  async upload(address: string, state: LargeState): Promise<number> {
    return answered(async () => {
      const { statusCode, body } = await request(address, {
        method: "PUT",
        dispatcher: this.#agent,
        headers: { "content-length": String(state.bytes) },
        body: Readable.from(state.pieces()),
      })
      await body.dump()
      return statusCode
    })
  }

  /** Uploads as a client that is killed: the connection ends in the middle of the body. */
  async breakOff(address: string, state: LargeState): Promise<void> {
    let sent = 0
    const half = function* () {
      for (const piece of state.pieces()) {
        if (sent > 0 && sent + piece.length > state.bytes / 2) throw new Error("broken off")
        sent += piece.length
        yield piece
      }
    }
    const outcome = request(address, {
      method: "PUT",
      dispatcher: this.#agent,
      headers: { "content-length": String(state.bytes + 1) },
      body: Readable.from(half()),
    })
    const ended = await outcome.then(
      () => "answered",
      () => "broken off",
    )
    expect(ended).toBe("broken off")
  }

  async md5Of(id: string): Promise<string> {
    const { body } = await request(`${this.#url}/api/v2/state-versions/${id}/download`, {
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${this.#token}` },
    })
    const hash = createHash("md5")
    for await (const piece of body) hash.update(piece)
    return hash.digest("hex")
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }
}

async function answered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (typeof (error as { code?: unknown }).code === "string")
      throw new Unanswered("the server is gone", { cause: error })
    throw error
  }
}
