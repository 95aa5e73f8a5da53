// The feed's cost for clients that change workspaces, and its delay for followers: 1,000 followers, each with a filter on one of 100 tags,
// with 500 changes a second.
import { mkdtempSync, rmSync } from "node:fs"
import { Agent, get } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { type RunningChancery, startChancery } from "./chancery.ts"
import { median, report, target } from "./figures.ts"
import { measureLoad, rawRequest } from "./load.ts"

const rounds = 7
const seconds = 2
const clients = 32
const followers = 1_000
const tags = 100
const changesPerSecond = 500
const followedSeconds = 10

const folder = mkdtempSync(join(tmpdir(), "chancery-bench-"))
try {
  await costOfWriting()
  await timeToFollowers()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function newWorkspace(server: RunningChancery, name: string, tag?: string): Promise<string> {
  const tagging = { tags: { data: [{ type: "tags", attributes: { name: tag } }] } }
  const { body } = await server.send("POST", `/organizations/${server.organization}/workspaces`, {
    data: { type: "workspaces", attributes: { name }, ...(tag === undefined ? {} : { relationships: tagging }) },
  })
  return body.data.id
}

async function costOfWriting(): Promise<void> {
  const measured = async (server: RunningChancery) => {
    const ids: string[] = []
    for (let index = 0; index < clients; index += 1) ids.push(await newWorkspace(server, `written-${index}`))
    const load = {
      port: server.port,
      seconds,
      clients: ids.map((id) => [
        rawRequest("POST", `/api/v2/workspaces/${id}/actions/lock`, server.token, '{"reason":"bench"}'),
        rawRequest("POST", `/api/v2/workspaces/${id}/actions/unlock`, server.token),
      ]),
    }
    return async () => {
      const { requestsPerSecond, refused } = await measureLoad(load)
      // If the previous round ended between a lock and its unlock, the round begins with one refused lock per client.
      if (refused > clients) throw new Error(`${refused} requests were refused`)
      return requestsPerSecond
    }
  }
  await using writing = await startChancery(join(folder, "telling"))
  await using silent = await startChancery(join(folder, "silent"), ["--events", "off"])
  const [on, off] = [await measured(writing), await measured(silent)]
  await on()
  await off()
  const ratios: number[] = []
  const rates: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    // The order alternates, because other load on the machine varies.
    const [one, other] = round % 2 === 0 ? [await on(), await off()] : [await off(), await on()].toReversed()
    rates.push(one ?? Number.NaN)
    ratios.push((one ?? Number.NaN) / (other ?? Number.NaN))
  }
  report("writes with the feed on, 32 clients", median(rates), "requests/s")
  target("writes with the feed on / off", median(ratios), { atLeast: 0.8 })
}

async function timeToFollowers(): Promise<void> {
  await using server = await startChancery(join(folder, "followed"))
  const ids: string[] = []
  for (let index = 0; index < tags; index += 1) ids.push(await newWorkspace(server, `event-${index}`, `tag-${index}`))
  const delays: number[] = []
  let opened = 0
  const allReceived = Promise.withResolvers<void>()
  const agent = new Agent({ maxSockets: followers })
  for (let index = 0; index < followers; index += 1)
    get(
      {
        port: server.port,
        agent,
        path: `/api/v2/organizations/${server.organization}/events?filter[tag]=tag-${index % tags}`,
        headers: { authorization: `Bearer ${server.token}`, accept: "text/event-stream" },
      },
      (response) => {
        opened += 1
        if (opened === followers) allReceived.resolve()
        response.setEncoding("utf8")
        response.on("data", (text: string) => {
          const now = Date.now()
          for (const [, at] of text.matchAll(/"at":"([^"]+)"/g)) delays.push(now - Date.parse(at ?? ""))
        })
        response.on("error", () => {})
      },
    ).on("error", (error) => {
      // Ignored after the promise has resolved: the connections are closed then.
      allReceived.reject(error)
    })
  await allReceived.promise
  await sleep(1_000)

  // Changes are sent at a fixed rate, and each waits for the previous one of the same workspace.
  const changing = new Set<Promise<unknown>>()
  const lastOf = new Map<string, Promise<unknown>>()
  const began = performance.now()
  const count = changesPerSecond * followedSeconds
  for (let sent = 0; sent < count;) {
    const due = Math.min(count, Math.floor(((performance.now() - began) / 1_000) * changesPerSecond))
    for (; sent < due; sent += 1) {
      const id = ids[sent % tags] ?? ""
      const verb = Math.floor(sent / tags) % 2 === 0 ? "lock" : "unlock"
      const document = verb === "lock" ? { reason: "" } : undefined
      const before = lastOf.get(id) ?? Promise.resolve()
      const change = before.then(() => server.send("POST", `/workspaces/${id}/actions/${verb}`, document))
      lastOf.set(id, change)
      changing.add(change)
      void change.then(() => changing.delete(change))
    }
    await sleep(2)
  }
  await Promise.all(changing)
  const took = (performance.now() - began) / 1_000
  await sleep(1_500)
  agent.destroy()
  const expected = (count * followers) / tags
  const sorted = delays.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  report("changes", count / took, "a second")
  report("events received by 1,000 followers", sorted.length, `of ${expected}`)
  report("from the change to its followers, at the median", at(0.5), "ms")
  target("events lost", expected - sorted.length, { atMost: 0 })
  target("from the change to its followers, at the 99th percentile", at(0.99), { atMost: 250 }, "ms")
}
