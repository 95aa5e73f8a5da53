// Statements sent to PostgreSQL for the two most frequent operations, besides those that begin and end a transaction. Requests here are
// sequential; many concurrent requests share the first query.
import { type RawBuilder, sql } from "kysely"
import { Client } from "pg"
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest"
import { document, made, newOrganization, newTeam, newUser, one } from "../../../../testing/users.ts"
import { recordedMetrics } from "../../../../testing/recorded-metrics.ts"
import { openTestEngine, type TestEngine } from "../../../../testing/test-engine.ts"
import { openDatabase } from "../../sql/database.ts"
import { databaseKinds } from "../../../../testing/temporary-database.ts"

const postgres = databaseKinds.find(({ name }) => name === "PostgreSQL")!

afterEach(() => vi.restoreAllMocks())

/** Returns the statements that `work` sends to the server, in order. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = []
  const query = Client.prototype.query as (this: Client, ...given: unknown[]) => unknown
  vi.spyOn(Client.prototype, "query").mockImplementation(function recorded(this: Client, ...given: unknown[]) {
    const [first] = given as [string | { readonly text: string }]
    sent.push(typeof first === "string" ? first : first.text)
    return query.apply(this, given) as never
  })
  await work()
  return sent
}

const isFrame = (text: string): boolean => /^(begin|commit)\b/i.test(text)

describe.runIf(postgres.available)("PostgreSQL runs", () => {
  const closing = new AsyncDisposableStack()
  const metrics = recordedMetrics()
  const replicaMetrics = recordedMetrics()
  let url: string
  let testEngine: TestEngine
  let replica: TestEngine
  let workspace: string
  let member: string

  beforeAll(async () => {
    url = closing.use(await postgres.place()).url
    testEngine = closing.use(await openTestEngine({ url, jobs: false, metrics }))
    replica = closing.use(await openTestEngine({ url, jobs: false, metrics: replicaMetrics }))
    await testEngine.pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })
    await testEngine.engine.pki("pki").issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 2_000_000_000 })
    const role = { allow_any_name: true, key_type: "ec", ttl: "1h" }
    await testEngine.pki("POST", "/pki/roles/web", { body: role })
    await newOrganization(testEngine, "acme")
    workspace = (
      await made(testEngine, "POST", "/organizations/acme/workspaces", document("workspaces", { name: "net" }))
    ).id
    const ada = await newUser(testEngine, "ada")
    const team = await newTeam(testEngine, "acme", "platform", { members: [ada] })
    const grant = document(
      "team-workspaces",
      { access: "admin" },
      { team: one("teams", team), workspace: one("workspaces", workspace) },
    )
    await made(testEngine, "POST", "/team-workspaces", grant)
    member = ada.token
  })
  afterAll(() => closing.disposeAsync())

  const issue = async (by = testEngine) => {
    const body = { common_name: "www.example.com", alt_names: "api.example.com,web.example.com" }
    const answer = await by.pki("POST", "/pki/issue/web", { token: testEngine.rootToken, body })
    expect(answer.status).toBe(200)
    return answer.body.data.serial_number as string
  }

  test("two statements for a certificate that is stored with its names", async () => {
    await issue()
    let serial = ""
    const sent = await statementsOf(async () => (serial = await issue()))
    expect(sent.filter(isFrame)).toHaveLength(2)
    expect(sent.filter((text) => !isFrame(text))).toEqual([
      expect.stringContaining('from "generations"'),
      expect.stringContaining("insert into certificates"),
    ])
    const read = await testEngine.pki("GET", `/pki/cert/${serial}`)
    expect(read.status).toBe(200)
  })

  for (const [who, path] of [
    ["an administrator", ""],
    ["a member of a team that was let in", "member"],
  ])
    test(`three statements for a lock of ${who}`, async () => {
      const token = path === "" ? testEngine.rootToken : member
      const act = async (action: string) => {
        const answer = await testEngine.request("POST", `/workspaces/${workspace}/actions/${action}`, {
          token,
          body: {},
        })
        expect(answer.status).toBe(200)
        expect(answer.body.data.attributes.locked).toBe(action === "lock")
      }
      await act("lock")
      await act("unlock")
      const sent = await statementsOf(() => act("lock"))
      expect(sent.filter(isFrame)).toHaveLength(2)
      expect(sent.filter((text) => !isFrame(text))).toHaveLength(3)
      const seen = await testEngine.request("GET", `/workspaces/${workspace}`)
      expect(seen.body.data.attributes.locked).toBe(true)
      const lockings = "/organizations/acme/events?filter[kind]=workspace.locked&page[size]=100"
      // The feed ends before the first uncommitted transaction of any client.
      await expect
        .poll(async () => (await testEngine.request("GET", lockings)).body.data)
        .toHaveLength(path === "" ? 2 : 4)
      await act("unlock")
    })

  test("one more statement when another replica changed the role, which applies at once", async () => {
    await issue(replica)
    const narrower = { allowed_domains: "other.example", allow_any_name: false, key_type: "ec", ttl: "1h" }
    expect((await testEngine.pki("POST", "/pki/roles/web", { body: narrower })).status).toBe(200)
    const body = { common_name: "www.example.com" }
    const refused = await replica.pki("POST", "/pki/issue/web", { token: testEngine.rootToken, body })
    expect(refused.status).toBe(400)
    const wider = { allow_any_name: true, key_type: "ec", ttl: "1h" }
    expect((await testEngine.pki("POST", "/pki/roles/web", { body: wider })).status).toBe(200)
    // The cached role would refuse the request, so this replica checks whether the role has changed.
    await issue(replica)
  })

  test("no statement for requests with a revoked token on any replica", async () => {
    const { secret } = await testEngine.engine.serviceTokens.create({ policies: ["root"] })
    const issueBy = (token: string) =>
      replica.pki("POST", "/pki/issue/web", { token, body: { common_name: "www.example.com" } })
    expect((await issueBy(secret)).status).toBe(200)
    expect((await testEngine.pki("POST", "/auth/token/revoke", { body: { token: secret } })).status).toBe(204)
    expect((await issueBy(secret)).status).toBe(403)
  })

  test("no statement twice when both replicas store many certificates concurrently", async () => {
    await issue()
    await issue(replica)
    const retries = () => [metrics, replicaMetrics].map((counted) => counted.value("chancery_storage_retries_total"))
    const before = retries()
    await Promise.all(Array.from({ length: 200 }, (_, index) => issue(index % 2 === 0 ? testEngine : replica)))
    expect(retries()).toEqual(before)
  })

  test("no statement for names of deleted certificates", async () => {
    await issue()
    await using database = await openDatabase(url)
    const count = async (query: RawBuilder<{ count: number }>) =>
      (await database.read((session) => session.queryOne(query)))?.count
    const all = sql<{ count: number }>`select count(*) as count from certificate_names`
    const orphans = sql<{ count: number }>`select count(*) as count from certificate_names
      where certificate_number not in (select number from certificates)`
    const before = (await count(all)) ?? 0
    await database.transact((session) =>
      session.execute(sql`delete from certificates where number = (select max(number) from certificates)`),
    )
    expect([await count(all), await count(orphans)]).toEqual([before - 3, 0])
    await testEngine.engine.mounts.delete("pki")
    expect(await count(all)).toBe(0)
  })
})
