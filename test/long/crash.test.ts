// Kills the real server (SIGKILL) at random moments while many writers write. After each restart it checks for lost or partial changes.
// Every writer knows the acknowledged changes and the one in flight. The workspace must show the former, or the former and the latter as a
// whole.
import { createHash } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { Agent, request } from "undici"
import { expect, test } from "vitest"
import { crashKinds, openCrashStore } from "./crash-store.ts"
import { sampleOf } from "./sample.ts"
import { CrashingServer, randomIntegers } from "./crashing-server.ts"

const writerCount = 12
/** A kill comes up to this long after up to this many more acknowledged changes, so that slow machines make progress too. */
const longestRunMs = 250
const mostChanges = 4 * writerCount
const timeoutMs = 30_000
const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 1_000_000)

const killCount = process.env["CHANCERY_SHORT"] === "1" ? 20 : 100

test.each(sampleOf(crashKinds, 0))(
  `kills under ${writerCount} writers lose no acknowledged write and leave none half-written on $name (seed ${seed})`,
  async (kind) => {
    const random = randomIntegers(seed)
    await using store = await openCrashStore(kind)
    const server = await CrashingServer.prepare(store)
    try {
      const token = await server.rootToken()
      const writers: Writer[] = []
      for (let round = 0; round <= killCount; round += 1) {
        await server.start()
        const client = new Client(server.url, token)
        if (round === 0)
          for (let index = 0; index < writerCount; index += 1) writers.push(await Writer.create(client, index))
        for (const writer of writers) await writer.verify(client)
        if (round === killCount) break
        const stop = new AbortController()
        const writing = writers.map((writer) => writer.write(client, stop.signal))
        const wanted = total(writers) + random(mostChanges)
        for (let waitedMs = 0; total(writers) < wanted && waitedMs < timeoutMs; waitedMs += 10) await sleep(10)
        await sleep(random(longestRunMs))
        await server.kill()
        stop.abort()
        await Promise.all(writing)
        await client.close()
      }
      await server.kill()
      expect(total(writers)).toBeGreaterThan(killCount * writerCount)
      await store.expectWhole()
    } finally {
      await server.kill()
    }
  },
  900_000,
)

/** Expected content of a writer's workspace. `version` is in two tables, so that a partial change is detected. */
interface Model {
  readonly version: number
  readonly lockedReason: string | null
  readonly serial: number
  readonly created: readonly string[]
}

interface Change {
  readonly send: (client: Client) => Promise<number>
  readonly after: (model: Model) => Model
}

const total = (writers: readonly Writer[]): number =>
  writers.reduce((sum, { acknowledgedCount }) => sum + acknowledgedCount, 0)

class Writer {
  acknowledgedCount = 0
  readonly #index: number
  readonly #id: string
  #model: Model = { version: 0, lockedReason: null, serial: 0, created: [] }
  #inFlight: Change | undefined

  private constructor(index: number, id: string) {
    this.#index = index
    this.#id = id
  }

  static async create(client: Client, index: number): Promise<Writer> {
    const { status, body } = await client.send("POST", "/organizations/default/workspaces", {
      data: {
        type: "workspaces",
        attributes: { name: `writer-${index}`, description: "0" },
        relationships: versionBinding(0),
      },
    })
    expect(status).toBe(201)
    return new Writer(index, body.data.id)
  }

  /** Writes until the server is gone. */
  async write(client: Client, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const change = this.#next()
      this.#inFlight = change
      let status: number
      try {
        status = await change.send(client)
      } catch {
        return
      }
      expect(status).toBeGreaterThanOrEqual(200)
      expect(status).toBeLessThan(300)
      this.#model = change.after(this.#model)
      this.#inFlight = undefined
      this.acknowledgedCount += 1
    }
  }

  /** Returns the next step of the cycle: update, lock, state, unlock, create. */
  #next(): Change {
    const model = this.#model
    const path = `/workspaces/${this.#id}`
    if (model.lockedReason !== null && model.serial < model.version) {
      const serial = model.version
      return {
        send: (client) => client.status("POST", `${path}/state-versions`, stateVersion(serial)),
        after: (before) => ({ ...before, serial }),
      }
    }
    if (model.lockedReason !== null)
      return {
        send: (client) => client.status("POST", `${path}/actions/unlock`),
        after: (before) => ({ ...before, lockedReason: null }),
      }
    if (model.created.length < model.version / 4) {
      const name = `created-${this.#index}-${model.created.length}`
      return {
        send: (client) => client.status("POST", "/organizations/default/workspaces", newWorkspace(name)),
        after: (before) => ({ ...before, created: [...before.created, name] }),
      }
    }
    if (model.version > model.serial) {
      const reason = `version ${model.version}`
      return {
        send: (client) => client.status("POST", `${path}/actions/lock`, { reason }),
        after: (before) => ({ ...before, lockedReason: reason }),
      }
    }
    const version = model.version + 1
    return {
      send: (client) =>
        client.status("PATCH", path, {
          data: {
            type: "workspaces",
            attributes: { description: String(version) },
            relationships: versionBinding(version),
          },
        }),
      after: (before) => ({ ...before, version }),
    }
  }

  /**
   * Checks that the workspace shows the acknowledged changes, with or without the one in flight. Its content is the expected one from here
   * on.
   */
  async verify(client: Client): Promise<void> {
    const acceptable = [this.#model, ...(this.#inFlight === undefined ? [] : [this.#inFlight.after(this.#model)])]
    const found = await this.#observe(client, acceptable.at(-1)?.created ?? [])
    expect(acceptable).toContainEqual(found)
    this.#model = found
    this.#inFlight = undefined
  }

  async #observe(client: Client, names: readonly string[]): Promise<Model> {
    const { body: workspace } = await client.send("GET", `/workspaces/${this.#id}`)
    const { attributes } = workspace.data
    const { body: bindings } = await client.send("GET", `/workspaces/${this.#id}/tag-bindings`)
    expect(bindings.data.map((binding: { attributes: unknown }) => binding.attributes)).toMatchObject([
      { key: "version", value: attributes.description },
    ])
    const state = await client.send("GET", `/workspaces/${this.#id}/current-state-version?include=outputs`)
    const serial: number = state.status === 404 ? 0 : state.body.data.attributes.serial
    expect(attributes["resource-count"]).toBe(resourcesAt(serial))
    if (serial > 0) {
      const { body: outputs } = await client.send("GET", `/workspaces/${this.#id}/current-state-version-outputs`)
      expect(outputs.data[0].attributes.value).toBe(serial)
    }
    const last = names.at(-1)
    const created = last === undefined || (await this.#createdWhole(client, last)) ? names : names.slice(0, -1)
    return { version: Number(attributes.description), lockedReason: attributes["locked-reason"], serial, created }
  }

  async #createdWhole(client: Client, name: string): Promise<boolean> {
    const { status, body } = await client.send("GET", `/organizations/default/workspaces/${name}`)
    if (status === 404) return false
    expect(body.data.attributes["tag-names"]).toEqual(["crash"])
    const { body: bindings } = await client.send("GET", `/workspaces/${body.data.id}/tag-bindings`)
    const pairs = bindings.data.map(({ attributes }: { attributes: { key: string; value: string } }) => [
      attributes.key,
      attributes.value,
    ])
    expect(pairs).toEqual([["name", name]])
    const { body: found } = await client.send("GET", `/organizations/default/workspaces?search%5Bname%5D=${name}`)
    expect(found.data.map((workspace: { id: string }) => workspace.id)).toContain(body.data.id)
    return true
  }
}

const versionBinding = (version: number) => ({
  "tag-bindings": { data: [{ type: "tag-bindings", attributes: { key: "version", value: String(version) } }] },
})

const newWorkspace = (name: string) => ({
  data: {
    type: "workspaces",
    attributes: { name },
    relationships: {
      "tag-bindings": { data: [{ type: "tag-bindings", attributes: { key: "name", value: name } }] },
      tags: { data: [{ type: "tags", attributes: { name: "crash" } }] },
    },
  },
})

const resourcesAt = (serial: number): number => serial % 4

function stateVersion(serial: number) {
  const state = JSON.stringify({
    version: 4,
    terraform_version: "1.11.4",
    serial,
    lineage: "crash",
    outputs: { serial: { value: serial, type: "number" } },
    resources: Array.from({ length: resourcesAt(serial) }, (_, index) => ({
      mode: "managed",
      type: "null_resource",
      name: `r${index}`,
      provider: 'provider["registry.terraform.io/hashicorp/null"]',
      instances: [{ schema_version: 0, attributes: { id: String(index) } }],
    })),
  })
  return {
    data: {
      type: "state-versions",
      attributes: {
        serial,
        lineage: "crash",
        md5: createHash("md5").update(state).digest("hex"),
        state: Buffer.from(state).toString("base64"),
      },
    },
  }
}

class Client {
  readonly #url: string
  readonly #token: string
  readonly #agent = new Agent({ connections: writerCount, headersTimeout: 30_000 })

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  // oxlint-disable-next-line typescript/no-explicit-any
  async send(method: string, path: string, document?: unknown): Promise<{ status: number; body: any }> {
    const { statusCode, body } = await request(`${this.#url}/api/v2${path}`, {
      method: method as "GET",
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/vnd.api+json" },
      ...(document === undefined ? {} : { body: JSON.stringify(document) }),
    })
    const text = await body.text()
    return { status: statusCode, body: text === "" ? undefined : JSON.parse(text) }
  }

  async status(method: string, path: string, document?: unknown): Promise<number> {
    return (await this.send(method, path, document)).status
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }
}
