// Concurrent writes in one organization on PostgreSQL: no transaction is retried needlessly, and no write is lost.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { recordedMetrics } from "../../engine/testing/recorded-metrics.ts"
import { openTestEngine, type TestEngine } from "../../engine/testing/test-engine.ts"
import { clients, isServerFault, kind, newPostgresDatabase, retriesPerWrite, retryCount } from "./retries.ts"

const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

describe.runIf(kind?.available)("16 clients in one organization", () => {
  const writesEach = 12
  const metrics = recordedMetrics()
  let testEngine: TestEngine
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await testEngine.request(method, path, body === undefined ? {} : { body })
    if (answer.status >= 300)
      throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const newWorkspace = async (name: string): Promise<string> => {
    const body = { data: { type: "workspaces", attributes: { name } } }
    return (await send("POST", "/organizations/busy/workspaces", body)).data.id
  }
  const allClients = <T>(work: (client: number) => Promise<T>) =>
    Promise.all(Array.from({ length: clients }, (_, client) => work(client)))
  const retriesIn = async (work: () => Promise<unknown>) => {
    const before = retryCount(metrics)
    await work()
    return retryCount(metrics) - before
  }

  beforeAll(async () => {
    testEngine = opened.use(
      await openTestEngine({ url: (await newPostgresDatabase(opened)).url, jobs: false, metrics }),
    )
    const attributes = { name: "busy", email: "busy@example.com" }
    await send("POST", "/organizations", { data: { type: "organizations", attributes } })
  })

  test("[F-R1] create workspaces of different names without repeating a transaction", async () => {
    const retries = await retriesIn(() =>
      allClients(async (client) => {
        for (let index = 0; index < writesEach; index += 1) await newWorkspace(`made-${client}-${index}`)
      }),
    )
    expect(retries).toBeLessThan(clients * writesEach * retriesPerWrite)
  })

  test("[F-R1] create one workspace of one name at once, and the others fail", async () => {
    const body = { data: { type: "workspaces", attributes: { name: "contended" } } }
    const answers = await allClients(() => testEngine.request("POST", "/organizations/busy/workspaces", { body }))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 422)).toHaveLength(clients - 1)
  })

  test("[F-R2] add tags of the pool to different workspaces without repeating a transaction", async () => {
    const pool = Array.from({ length: 50 }, (_, index) => `pool-${index}`)
    const tag = (name: string) => ({ type: "tags", attributes: { name } })
    await send("POST", "/organizations/busy/tags", { data: pool.map(tag) })
    const ids = await allClients((client) => newWorkspace(`tagged-${client}`))
    const retries = await retriesIn(() =>
      allClients(async (client) => {
        for (let index = 0; index < writesEach; index += 1) {
          const name = pool[(client * 7 + index * 3) % pool.length] ?? ""
          await send("POST", `/workspaces/${ids[client]}/relationships/tags`, { data: [tag(name)] })
        }
      }),
    )
    expect(retries).toBeLessThan(clients * writesEach * retriesPerWrite)
  })

  test("[F-R2] a tag that all clients remove from their workspaces at once leaves the pool, and no tag still in use does", async () => {
    const data = [{ type: "tags", attributes: { name: "shared" } }]
    const path = (id: string | undefined) => `/workspaces/${id}/relationships/tags`
    const ids = await allClients((client) => newWorkspace(`shared-${client}`))
    const pool = async () => (await send("GET", "/organizations/busy/tags?q=shared")).data
    for (let round = 0; round < 5; round += 1) {
      await allClients((client) => send("POST", path(ids[client]), { data }))
      expect((await pool())[0].attributes["instance-count"]).toBe(clients)
      await allClients((client) => (client === 0 ? Promise.resolve() : send("DELETE", path(ids[client]), { data })))
      expect((await pool())[0].attributes["instance-count"]).toBe(1)
      await allClients((client) => send("POST", path(ids[client]), { data }))
      await allClients((client) => send("DELETE", path(ids[client]), { data }))
      expect(await pool()).toEqual([])
    }
  })

  test("[F-R3] a tag that one client adds while another deletes it from the pool is present afterwards", async () => {
    const data = (one: object) => ({ data: [{ type: "tags", ...one }] })
    const as = (holder: string) => ({ "x-chancery-owner": holder })
    const id = await newWorkspace("held")
    const path = `/workspaces/${id}/relationships/tags`
    for (let round = 0; round < 20; round += 1) {
      const name = { attributes: { name: `held-${round}` } }
      const made = await send("POST", "/organizations/busy/tags", data(name))
      const [taken, deleted] = await Promise.all([
        testEngine.request("POST", path, { body: data(name), headers: as("taker") }),
        testEngine.request("DELETE", "/organizations/busy/tags", {
          body: data({ id: made.data[0].id }),
          headers: as("deleter"),
        }),
      ])
      expect(taken.status).toBe(204)
      expect([204, 409]).toContain(deleted.status)
      expect((await send("GET", `${path}?q=held-${round}`)).data).toHaveLength(1)
      await testEngine.request("DELETE", path, { body: data(name), headers: as("taker") })
    }
  })

  test("[F-R3] concurrent changes of one workspace all hold: no limit is exceeded, and no binding is lost", async () => {
    const id = await newWorkspace("one")
    const bind = (key: string) => ({ data: [{ type: "tag-bindings", attributes: { key, value: "v" } }] })
    const answers = await allClients((client) =>
      testEngine.request("PATCH", `/workspaces/${id}/tag-bindings`, { body: bind(`key-${client}`) }),
    )
    const done = answers.filter(({ status }) => status === 200)
    expect(answers.filter(({ status }) => isServerFault(status))).toEqual([])
    expect(done).toHaveLength(10)
    expect((await send("GET", `/workspaces/${id}/tag-bindings`)).data).toHaveLength(10)
  })
})
