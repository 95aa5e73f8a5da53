// Creates, tags and locks over HTTP on PostgreSQL, from 1, 4 and 16 clients that each write their own workspaces in one organization. Also
// counts retried transactions: writes of different workspaces do not conflict.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { request } from "undici"
import { startDurablePostgres } from "../toolchain/postgres.ts"
import { type RunningChancery, startChancery } from "./chancery.ts"
import { report, target } from "./figures.ts"
import { measureLoad, rawRequest } from "./load.ts"

const seconds = 5
const clientCounts = [1, 4, 16]
const workspacesPerClient = 20
const tagNames = Array.from({ length: 50 }, (_, index) => `pool-${index}`)
/** More creates than a client makes in a round. */
const createsPerClient = 5_000
const maxRetriesPerWrite = 1 / 20

const folder = mkdtempSync(join(tmpdir(), "chancery-bench-"))
const postgres = await startDurablePostgres()
try {
  const sealKey = Buffer.alloc(32, "seal").toString("base64")
  await using server = await startChancery(folder, [], { url: postgres.url, sealKey })
  const workspaces = `/organizations/${server.organization}/workspaces`
  const tag = (name: string) => ({ type: "tags", attributes: { name } })
  await server.send("POST", `/organizations/${server.organization}/tags`, { data: tagNames.map(tag) })

  let prefix = 0
  for (const count of clientCounts) {
    const clients = Array.from({ length: count }, (_, index) => index)
    prefix += 1
    await measure(
      server,
      `creates, ${count} clients`,
      clients.map((client) =>
        Array.from({ length: createsPerClient }, (_, index) => {
          const attributes = { name: `made-${prefix}-${client}-${index}` }
          const body = JSON.stringify({ data: { type: "workspaces", attributes } })
          return rawRequest("POST", `/api/v2${workspaces}`, server.token, body)
        }),
      ),
    )

    const owned = await Promise.all(
      clients.map(async (client) => {
        const ids: string[] = []
        for (let index = 0; index < workspacesPerClient; index += 1) {
          const attributes = { name: `own-${prefix}-${client}-${index}` }
          const { body } = await server.send("POST", workspaces, { data: { type: "workspaces", attributes } })
          ids.push(body.data.id)
        }
        return ids
      }),
    )
    await measure(
      server,
      `tags of a pool of ${tagNames.length}, ${count} clients`,
      owned.map((ids) =>
        tagNames.flatMap((name) =>
          ids.map((id) => {
            const body = JSON.stringify({ data: [tag(name)] })
            return rawRequest("POST", `/api/v2/workspaces/${id}/relationships/tags`, server.token, body)
          }),
        ),
      ),
    )
    await measure(
      server,
      `locks and unlocks, ${count} clients`,
      owned.map((ids) =>
        ids.flatMap((id) =>
          ["lock", "unlock"].map((action) =>
            rawRequest("POST", `/api/v2/workspaces/${id}/actions/${action}`, server.token, "{}"),
          ),
        ),
      ),
    )
  }
} finally {
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function measure(server: RunningChancery, name: string, clients: readonly (readonly string[])[]): Promise<void> {
  const before = await retriesOf(server)
  const { requestsPerSecond, p99Ms, refused } = await measureLoad({ port: server.port, seconds, clients })
  const retries = (await retriesOf(server)) - before
  if (refused > 0) throw new Error(`${name}: ${refused} requests were refused`)
  report(name, requestsPerSecond, `/s, p99 ${p99Ms.toFixed(0)} ms, ${retries} retries`)
  target(`${name}: retries per write`, retries / (requestsPerSecond * seconds), { atMost: maxRetriesPerWrite })
}

async function retriesOf({ port }: RunningChancery): Promise<number> {
  const answer = await request(`http://127.0.0.1:${port}/metrics`)
  const [, count] = /^chancery_storage_retries_total (\d+)$/m.exec(await answer.body.text()) ?? []
  if (count === undefined) throw new Error("the server does not count its retries")
  return Number(count)
}
