// Writes of different objects do not make each other run again on PostgreSQL, but for those that share a row by design.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import {
  databaseKinds,
  temporaryDatabase,
  type TemporaryDatabase,
} from "../../engine/src/storage/temporary-database.ts"
import { type RecordedMetrics, recordedMetrics } from "../../engine/src/testing/recorded-metrics.ts"
import type { World } from "../../engine/src/testing/world.ts"
import { type Cast, openCast } from "../permissions/cast.ts"
import { ask, endpoints, prepare } from "../permissions/matrix.ts"
import { openPkiCast, type PkiCast } from "../permissions/pki/cast.ts"
import { askPki, pkiEndpoints, preparePki } from "../permissions/pki/matrix.ts"
import { sharedRows } from "./shared-rows.ts"

const clients = 16
const rounds = 2
const retriesPerWrite = 1 / 20
/** A server has at most 1000 auth methods, and each request to one has a method of its own. */
const endpointsPerStore = Math.floor(1000 / (clients * rounds))
const apiWrites = endpoints.filter((endpoint) => !endpoint.startsWith("GET "))
const pkiWrites = pkiEndpoints.filter((endpoint) => !/^(GET|LIST) /.test(endpoint))

const kind = databaseKinds.find(({ name }) => name === "PostgreSQL")
const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

async function newDatabase(): Promise<TemporaryDatabase> {
  if (kind === undefined) throw new Error("no PostgreSQL to test on")
  return opened.use(await temporaryDatabase(kind))
}

const retryCount = (metrics: RecordedMetrics): number => metrics.value("chancery_storage_retries_total")

/** How often transactions ran again for so many requests, all clients at once, and what they were answered. */
async function retriesOf(
  metrics: RecordedMetrics,
  prepared: () => Promise<() => Promise<{ readonly status: number }>>,
): Promise<{ readonly retries: number; readonly writes: number; readonly statuses: readonly number[] }> {
  const statuses: number[] = []
  let retries = 0
  for (let round = 0; round < rounds; round += 1) {
    const requests: (() => Promise<{ readonly status: number }>)[] = []
    for (let client = 0; client < clients; client += 1) requests.push(await prepared())
    const before = retryCount(metrics)
    const answers = await Promise.all(requests.map((request) => request()))
    retries += retryCount(metrics) - before
    statuses.push(...answers.map(({ status }) => status))
  }
  return { retries, writes: statuses.length, statuses }
}

const isServerFault = (status: number): boolean => status >= 500

test("[F-R3] the list of shared rows names only endpoints that write, each with a reason", () => {
  const known = new Set([...apiWrites, ...pkiWrites.map((endpoint) => `/v1 ${endpoint}`)])
  expect(Object.keys(sharedRows).filter((endpoint) => !known.has(endpoint))).toEqual([])
  for (const reason of Object.values(sharedRows)) expect(reason).toMatch(/^[A-Z].{20,}\.$/)
})

describe.runIf(kind?.available)("16 clients that write different objects", () => {
  describe("below /api/v2", () => {
    const metrics = recordedMetrics()
    let cast: Cast
    beforeAll(async () => {
      cast = opened.use(await openCast({ url: (await newDatabase()).url, jobs: false, metrics }))
    })

    test.each(apiWrites.filter((endpoint) => sharedRows[endpoint] === undefined))(
      "[F-R3] make less than one in twenty transactions run again: %s",
      async (endpoint) => {
        const { retries, writes, statuses } = await retriesOf(metrics, async () => {
          const ready = await prepare(endpoint, await cast.newSubject(), "site administrator")
          return () => ask(cast, ready, "site administrator")
        })
        expect(statuses.filter(isServerFault)).toEqual([])
        expect(retries).toBeLessThan(writes * retriesPerWrite)
      },
    )
  })

  const independent = pkiWrites.filter((endpoint) => sharedRows[`/v1 ${endpoint}`] === undefined)
  const shares = Array.from({ length: Math.ceil(independent.length / endpointsPerStore) }, (_, share) =>
    independent.slice(share * endpointsPerStore, (share + 1) * endpointsPerStore),
  )

  describe.each(shares)("below /v1, share %#", (...endpoints) => {
    const metrics = recordedMetrics()
    let cast: PkiCast
    beforeAll(async () => {
      cast = opened.use(await openPkiCast({ url: (await newDatabase()).url, jobs: false, metrics }))
    })

    test.each(endpoints)("[F-R3] make less than one in twenty transactions run again: %s", async (endpoint) => {
      const { retries, writes, statuses } = await retriesOf(metrics, async () => {
        const ready = await preparePki(endpoint, await cast.newSubject(), "root")
        return () => askPki(cast, ready, "root")
      })
      expect(statuses.filter(isServerFault)).toEqual([])
      expect(retries).toBeLessThan(writes * retriesPerWrite)
    })
  })
})

describe.runIf(kind?.available)("16 clients in one organization", () => {
  const writesEach = 12
  const metrics = recordedMetrics()
  let world: World
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await world.request(method, path, body === undefined ? {} : { body })
    if (answer.status >= 300)
      throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const newWorkspace = async (name: string): Promise<string> => {
    const body = { data: { type: "workspaces", attributes: { name } } }
    return (await send("POST", "/organizations/busy/workspaces", body)).data.id
  }
  const everyone = <T>(work: (client: number) => Promise<T>) =>
    Promise.all(Array.from({ length: clients }, (_, client) => work(client)))
  const retriesIn = async (work: () => Promise<unknown>) => {
    const before = retryCount(metrics)
    await work()
    return retryCount(metrics) - before
  }

  beforeAll(async () => {
    const { openWorld } = await import("../../engine/src/testing/world.ts")
    world = opened.use(await openWorld({ url: (await newDatabase()).url, jobs: false, metrics }))
    const attributes = { name: "busy", email: "busy@example.com" }
    await send("POST", "/organizations", { data: { type: "organizations", attributes } })
  })

  test("[F-R1] create workspaces of different names without a transaction that runs again", async () => {
    const retries = await retriesIn(() =>
      everyone(async (client) => {
        for (let index = 0; index < writesEach; index += 1) await newWorkspace(`made-${client}-${index}`)
      }),
    )
    expect(retries).toBeLessThan(clients * writesEach * retriesPerWrite)
  })

  test("[F-R1] of those who create one name at once one does", async () => {
    const body = { data: { type: "workspaces", attributes: { name: "contended" } } }
    const answers = await everyone(() => world.request("POST", "/organizations/busy/workspaces", { body }))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 422)).toHaveLength(clients - 1)
  })

  test("[F-R2] add tags of a pool to different workspaces without a transaction that runs again", async () => {
    const pool = Array.from({ length: 50 }, (_, index) => `pool-${index}`)
    const tag = (name: string) => ({ type: "tags", attributes: { name } })
    await send("POST", "/organizations/busy/tags", { data: pool.map(tag) })
    const ids = await everyone((client) => newWorkspace(`tagged-${client}`))
    const retries = await retriesIn(() =>
      everyone(async (client) => {
        for (let index = 0; index < writesEach; index += 1) {
          const name = pool[(client * 7 + index * 3) % pool.length] ?? ""
          await send("POST", `/workspaces/${ids[client]}/relationships/tags`, { data: [tag(name)] })
        }
      }),
    )
    expect(retries).toBeLessThan(clients * writesEach * retriesPerWrite)
  })

  test("[F-R2] a tag that all of them take from their workspaces at once leaves the pool, and none that one still carries", async () => {
    const data = [{ type: "tags", attributes: { name: "shared" } }]
    const path = (id: string | undefined) => `/workspaces/${id}/relationships/tags`
    const ids = await everyone((client) => newWorkspace(`shared-${client}`))
    const pool = async () => (await send("GET", "/organizations/busy/tags?q=shared")).data
    for (let round = 0; round < 5; round += 1) {
      await everyone((client) => send("POST", path(ids[client]), { data }))
      expect((await pool())[0].attributes["instance-count"]).toBe(clients)
      await everyone((client) => (client === 0 ? Promise.resolve() : send("DELETE", path(ids[client]), { data })))
      expect((await pool())[0].attributes["instance-count"]).toBe(1)
      await everyone((client) => send("POST", path(ids[client]), { data }))
      await everyone((client) => send("DELETE", path(ids[client]), { data }))
      expect(await pool()).toEqual([])
    }
  })

  test("[F-R3] a tag that one holder takes while another deletes it from the pool is carried afterwards", async () => {
    const data = (one: object) => ({ data: [{ type: "tags", ...one }] })
    const as = (holder: string) => ({ "x-chancery-owner": holder })
    const id = await newWorkspace("held")
    const path = `/workspaces/${id}/relationships/tags`
    for (let round = 0; round < 20; round += 1) {
      const name = { attributes: { name: `held-${round}` } }
      const made = await send("POST", "/organizations/busy/tags", data(name))
      const [taken, deleted] = await Promise.all([
        world.request("POST", path, { body: data(name), headers: as("taker") }),
        world.request("DELETE", "/organizations/busy/tags", {
          body: data({ id: made.data[0].id }),
          headers: as("deleter"),
        }),
      ])
      expect(taken.status).toBe(204)
      expect([204, 409]).toContain(deleted.status)
      expect((await send("GET", `${path}?q=held-${round}`)).data).toHaveLength(1)
      await world.request("DELETE", path, { body: data(name), headers: as("taker") })
    }
  })

  test("[F-R3] of changes of one workspace at once each holds: no limit is passed, and no binding is lost", async () => {
    const id = await newWorkspace("one")
    const bind = (key: string) => ({ data: [{ type: "tag-bindings", attributes: { key, value: "v" } }] })
    const answers = await everyone((client) =>
      world.request("PATCH", `/workspaces/${id}/tag-bindings`, { body: bind(`key-${client}`) }),
    )
    const done = answers.filter(({ status }) => status === 200)
    expect(answers.filter(({ status }) => isServerFault(status))).toEqual([])
    expect(done).toHaveLength(10)
    expect((await send("GET", `/workspaces/${id}/tag-bindings`)).data).toHaveLength(10)
  })
})
