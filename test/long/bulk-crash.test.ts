// Kills the real server (SIGKILL) at random moments while a bulk action runs and a lock expires, and repeats the request. A request with an
// idempotency key is executed once per workspace: a second lock would be refused, a second unlock would change nothing, and the feed would
// have more events than locks. No lock outlives its `ttl`, whatever happens.
import { setTimeout as sleep } from "node:timers/promises"
import { request } from "undici"
import { expect, test } from "vitest"
import { crashKinds, openCrashStore } from "./crash-store.ts"
import { sampleOf } from "./sample.ts"
import { CrashingServer, randomIntegers } from "./crashing-server.ts"

const kills = process.env["CHANCERY_SHORT"] === "1" ? 15 : 100
const workspaceCount = 2_300
const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 1_000_000)

interface Answer {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

test.each(sampleOf(crashKinds, 2))(
  `${kills} kills leave no bulk action half done or reported twice, and no lock past its expiry, on $name (seed ${seed})`,
  async (kind) => {
    const random = randomIntegers(seed)
    await using store = await openCrashStore(kind)
    const server = await CrashingServer.prepare(store)
    try {
      const token = await server.rootToken()
      const send = async (method: "GET" | "POST", path: string, document?: object, key?: string): Promise<Answer> => {
        const { statusCode, body } = await request(`${server.url}/api/v2${path}`, {
          method,
          headers: {
            authorization: `Bearer ${token}`,
            ...(document === undefined ? {} : { "content-type": "application/vnd.api+json" }),
            ...(key === undefined ? {} : { "idempotency-key": key }),
          },
          ...(document === undefined ? {} : { body: JSON.stringify(document) }),
        })
        const text = await body.text()
        return { status: statusCode, body: text === "" ? undefined : JSON.parse(text) }
      }
      const create = async (name: string, tags: readonly string[]): Promise<string> => {
        const { status, body } = await send("POST", "/organizations/default/workspaces", {
          data: {
            type: "workspaces",
            attributes: { name },
            relationships: { tags: { data: tags.map((tag) => ({ type: "tags", attributes: { name: tag } })) } },
          },
        })
        expect(status).toBe(201)
        return body.data.id
      }
      const bulk = (round: number): Promise<Answer> =>
        send(
          "POST",
          "/organizations/default/workspaces/actions/bulk?search[tags]=many",
          { data: { type: "bulk-actions", attributes: { action: round % 2 === 0 ? "lock" : "unlock" } } },
          `round-${round}`,
        )

      await server.start()
      const mortal = await create("mortal", [])
      const many: string[] = []
      for (let index = 0; index < workspaceCount; index += 1) many.push(await create(`many-${index}`, ["many"]))
      // Measures the duration of an action on this machine, so that the kills fall into it.
      const began = performance.now()
      for (const round of [-2, -1]) expect((await bulk(round)).status).toBe(200)
      const runMs = Math.ceil((performance.now() - began) / 2)
      let cut = 0
      for (let round = 0; round < kills; round += 1) {
        const locked = await send("POST", `/workspaces/${mortal}/actions/lock`, { reason: `round ${round}`, ttl: 1 })
        expect(locked.status).toBe(200)
        const pending = bulk(round).then(
          ({ status }) => status,
          () => "cut",
        )
        await sleep(random(runMs))
        await server.kill()
        if ((await pending) === "cut") cut += 1
        await server.start()
        const { status, body } = await bulk(round)
        expect([status, body?.errors]).toEqual([200, undefined])
        const { results, ...summary } = body.data.attributes
        expect(summary).toMatchObject({ "done-count": workspaceCount, "unchanged-count": 0, "refused-count": 0 })
        expect(new Set(results.map(({ id }: { id: string }) => id))).toEqual(new Set(many))
        const until = Date.parse(locked.body.data.attributes["locked-until"])
        await sleep(Math.max(0, until - Date.now()))
        expect((await send("GET", `/workspaces/${mortal}`)).body.data.attributes.locked).toBe(false)
      }
      // A job records the expiry of the lock within seconds.
      const recorded = () => store.rows("select kind from events where kind = 'workspace.lock-expired'")
      await expect.poll(async () => (await recorded()).length, { timeout: 60_000, interval: 500 }).toBe(kills)
      await server.kill()
      expect(cut).toBeGreaterThan(kills / 4)

      const counted = await store.rows(
        "select kind, workspace_id, count(*) as count from events group by kind, workspace_id",
      )
      const counts = (wanted: string): Map<string, number> =>
        new Map(
          counted
            .filter((row) => row["kind"] === wanted)
            .map((row) => [String(row["workspace_id"]), Number(row["count"])]),
        )
      const [taken, released, expired] = [
        counts("workspace.locked"),
        counts("workspace.unlocked"),
        counts("workspace.lock-expired"),
      ]
      expect([taken.get(mortal), expired.get(mortal)]).toEqual([kills, kills])
      // The two timed actions count as well.
      const [locks, unlocks] = [1 + Math.ceil(kills / 2), 1 + Math.floor(kills / 2)]
      for (const id of many) expect([taken.get(id), released.get(id)]).toEqual([locks, unlocks])
      await store.expectWhole()
    } finally {
      await server.kill()
    }
  },
  1_800_000,
)
