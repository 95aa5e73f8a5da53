// The 8 requests of a `terraform plan`, as recorded in `test/e2e/clients/terraform/requests.test.ts`, in order on a persistent connection,
// with 100,000 workspaces present.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Agent } from "undici"
import { stateFile, stateVersionDocument } from "../../engine/testing/state-file.ts"
import { startChancery } from "./chancery.ts"
import { median, report, target } from "./figures.ts"
import { seedWorkspaces } from "./list-seed.ts"

const workspaces = 100_000
const planned = 50
const resources = 200
const rounds = 400
const warmups = 50
const organization = "bench"

const folder = mkdtempSync(join(tmpdir(), "chancery-bench-"))
try {
  console.log(`  seeding ${workspaces} workspaces`)
  await seedWorkspaces(join(folder, "chancery.db"), organization, workspaces)
  await using server = await startChancery(folder)
  const origin = `http://127.0.0.1:${server.port}`
  const connection = new Agent({ connections: 1, pipelining: 1 })
  const state = stateFile({ instances: resources, outputs: { address: { value: "10.0.0.1", type: "string" } } })

  const targets: { readonly id: string; readonly name: string }[] = []
  for (let page = 1; targets.length < planned; page += 1) {
    // Far from one another in the database.
    const { body } = await server.send("GET", `/organizations/${organization}/workspaces?page[number]=${page * 90}`)
    const [{ id, attributes }] = body.data
    await server.send("POST", `/workspaces/${id}/actions/lock`, { reason: "seeding" })
    await server.send("POST", `/workspaces/${id}/state-versions`, stateVersionDocument(state, { inline: true }))
    await server.send("POST", `/workspaces/${id}/actions/unlock`)
    targets.push({ id, name: attributes.name })
  }

  const byRequest = new Map<string, number[]>()
  const totals: number[] = []
  for (let round = -warmups; round < rounds; round += 1) {
    const timings = await plan(targets.at(round % planned) as (typeof targets)[number])
    if (round < 0) continue
    totals.push(timings.reduce((sum, [, elapsedMs]) => sum + elapsedMs, 0))
    for (const [name, elapsedMs] of timings) byRequest.set(name, [...(byRequest.get(name) ?? []), elapsedMs])
  }
  for (const [name, elapsedMs] of byRequest) report(name, median(elapsedMs), "ms")
  target("8 requests of a plan, median", median(totals), { atMost: 15 }, "ms")
  await connection.close()

  /** Returns the time of each request until the last byte of its answer, in ms. */
  async function plan({ id, name }: (typeof targets)[number]): Promise<readonly (readonly [string, number])[]> {
    const timings: [string, number][] = []
    const ask = async (
      what: string,
      method: "GET" | "POST",
      url: string,
      options: AskOptions = {},
    ): Promise<string> => {
      const { accept = "application/vnd.api+json", body } = options
      const began = performance.now()
      const answer = await connection.request({
        origin,
        method,
        path: url,
        headers: {
          accept,
          "accept-encoding": "gzip",
          authorization: `Bearer ${server.token}`,
          "user-agent": "go-tfe",
          "terraform-version": "1.11.4",
          "x-terraform-integration": "cloud",
          ...(method === "POST" ? { "content-type": "application/vnd.api+json" } : {}),
        },
        body: body ?? null,
      })
      const text = await answer.body.text()
      timings.push([what, performance.now() - began])
      if (answer.statusCode >= 300) throw new Error(`${method} ${url} answers ${answer.statusCode}: ${text}`)
      return text
    }
    const base = "/api/v2"
    const byName = `${base}/organizations/${organization}/workspaces/${name}`
    await ask("ping", "GET", `${base}/ping`)
    await ask("entitlement set", "GET", `${base}/organizations/${organization}/entitlement-set`)
    await ask("workspace by name", "GET", byName)
    await ask("workspace by name", "GET", byName)
    const reason = '{"data":{"type":"","attributes":{"reason":"Locked by Terraform"}}}\n'
    await ask("lock", "POST", `${base}/workspaces/${id}/actions/lock`, { body: reason })
    const current = await ask("current state version", "GET", `${base}/workspaces/${id}/current-state-version`)
    const { pathname, search } = new URL(JSON.parse(current).data.attributes["hosted-state-download-url"])
    const downloaded = await ask("download", "GET", pathname + search, { accept: "application/json" })
    if (downloaded !== state.text) throw new Error("another state came back")
    await ask("unlock", "POST", `${base}/workspaces/${id}/actions/unlock`)
    return timings
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

interface AskOptions {
  readonly accept?: string
  readonly body?: string
}
