// Tagging 10,000 workspaces with one request, relative to tagging them one by one over a persistent connection. Both are durable when
// answered; of the latter only a part is measured.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startChancery } from "./chancery.ts"
import { median, report, target } from "./figures.ts"
import { measureLoad, rawRequest } from "./load.ts"

const workspaces = 10_000
const rounds = 5
const seconds = 2

const folder = mkdtempSync(join(tmpdir(), "chancery-bench-"))
try {
  await using server = await startChancery(folder)
  const base = `/organizations/${server.organization}/workspaces`
  const ids: string[] = []
  for (let index = 0; index < workspaces; index += 1) {
    const { body } = await server.send("POST", base, {
      data: { type: "workspaces", attributes: { name: `bulk-${index}` } },
    })
    ids.push(body.data.id)
  }
  const oneByOne = async (round: number) => {
    const document = JSON.stringify({ data: [{ type: "tags", attributes: { name: `single-${round}` } }] })
    const { requestsPerSecond, refused } = await measureLoad({
      port: server.port,
      seconds,
      clients: [
        ids.map((id) => rawRequest("POST", `/api/v2/workspaces/${id}/relationships/tags`, server.token, document)),
      ],
    })
    if (refused > 0) throw new Error(`${refused} requests were refused`)
    return requestsPerSecond
  }
  const together = async (round: number) => {
    const began = performance.now()
    const { status, body } = await server.send("POST", `${base}/actions/bulk`, {
      data: { type: "bulk-actions", attributes: { action: "tag", tags: [`many-${round}`], all: true } },
    })
    const done = body.data.attributes["done-count"]
    if (status !== 200 || done !== workspaces) throw new Error(`${status}: ${done} were tagged`)
    return workspaces / ((performance.now() - began) / 1_000)
  }
  await together(-1)
  const single: number[] = []
  const bulk: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    single.push(await oneByOne(round))
    bulk.push(await together(round))
  }
  report("tagged one by one over HTTP", median(single), "workspaces/s")
  report("tagged with one request", median(bulk), "workspaces/s")
  target("with one request / one by one", median(bulk.map((rate, round) => rate / (single[round] ?? Number.NaN))), {
    atLeast: 20,
  })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
