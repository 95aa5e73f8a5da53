// Pages of the workspace list with 1,000 and with 100,000 workspaces, the server's memory throughout, and its start time with the large
// database. Wide pages are compared with `select count(*)` with the page's own where clause.
import { mkdtempSync, rmSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openEmbedded } from "../../engine/src/embedded.ts"
import { decodePage } from "../../engine/src/contracts/tfe/json-api/query.ts"
import { workspaceFilters } from "../../engine/src/contracts/tfe/workspace.ts"
import { decodeQuery } from "../../engine/src/server/tfe/implement.ts"
import { type RunningChancery, startChancery } from "./chancery.ts"
import { median, report, target } from "./figures.ts"
import { plantedCount, seedWorkspaces } from "./list-seed.ts"
import { recordSelects } from "./recorded-selects.ts"

const small = 1_000
const large = 100_000
const rounds = 60
const starts = 5
const organization = "bench"

/** Each matches the planted workspaces and no other. */
const narrow = {
  "two tags": "search[tags]=tag-0,tag-1",
  "search[wildcard-name]": "search[wildcard-name]=*-needle-*",
  "two filter[tagged]":
    "filter[tagged][0][key]=key-0&filter[tagged][0][value]=value-0&filter[tagged][1][key]=key-1&filter[tagged][1][value]=value-0",
  "search[name]": "search[name]=needle",
}
/** Each matches most of the workspaces. */
const wide = {
  "search[name] of all": "search[name]=app",
  "search[wildcard-name] of all": "search[wildcard-name]=*-plain-*",
  "search[exclude-tags] of few": "search[exclude-tags]=tag-7",
  "page 4,000": "page[number]=4000",
}

const folders = { small: folderWith(), large: folderWith() }
try {
  console.log(`  seeding ${small} and ${large} workspaces`)
  await seedWorkspaces(databaseOf(folders.small), organization, small)
  await seedWorkspaces(databaseOf(folders.large), organization, large)

  const ready: number[] = []
  for (let round = 0; round < starts; round += 1) {
    await using server = await startChancery(folders.large)
    ready.push(server.readyAfterMs)
  }
  target("ready to serve on the large store", median(ready), { atMost: 1_000 }, "ms")

  await using few = await startChancery(folders.small)
  await using many = await startChancery(folders.large)
  for (const [name, query] of Object.entries(narrow)) {
    const fewMs: number[] = []
    const manyMs: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      fewMs.push(await pageMs(few, query, plantedCount))
      manyMs.push(await pageMs(many, query, plantedCount))
    }
    report(`${name}, ${small} workspaces`, median(fewMs), "ms")
    report(`${name}, ${large} workspaces`, median(manyMs), "ms")
    target(`${name}: large / small`, median(manyMs) / median(fewMs), { atMost: 3 })
  }

  using reader = new DatabaseSync(databaseOf(folders.large), { readOnly: true })
  for (const [name, query] of Object.entries(wide)) {
    const count = await countOf(query)
    const statement = reader.prepare(count.text)
    const pages: number[] = []
    const counts: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      pages.push(await pageMs(many, query))
      const began = performance.now()
      statement.all(...count.values)
      counts.push(performance.now() - began)
    }
    report(`${name}, page`, median(pages), "ms")
    report(`${name}, count(*)`, median(counts), "ms")
    report(`${name}: page / count(*)`, median(pages) / median(counts), "")
  }
  target("memory of the server", many.peakMemoryMiB(), { atMost: 300 }, "MiB")
} finally {
  for (const folder of Object.values(folders)) rmSync(folder, { recursive: true, force: true })
}

async function pageMs(server: RunningChancery, query: string, expectedCount?: number): Promise<number> {
  const began = performance.now()
  const { body } = await server.send("GET", `/organizations/${organization}/workspaces?${encodeURI(query)}`)
  const elapsed = performance.now() - began
  const total: number = body.meta.pagination["total-count"]
  if (expectedCount !== undefined && total !== expectedCount) throw new Error(`${query} matches ${total}`)
  if (body.data.length !== 20) throw new Error(`${query} shows ${body.data.length}`)
  return elapsed
}

/** Returns the count query that the list sends for this query. */
async function countOf(query: string) {
  await using engine = await openEmbedded(`sqlite:${databaseOf(folders.large)}`)
  const parameters = new URLSearchParams(query)
  const selects = await recordSelects(() =>
    engine.workspaces.list(organization, decodeQuery(workspaceFilters, parameters), decodePage(parameters)),
  )
  const count = selects.find(({ text }) => /^select count\(\*\) as total from/i.test(text))
  if (count === undefined) throw new Error(`the list counts nothing for ${query}`)
  return count
}

function folderWith(): string {
  return mkdtempSync(join(tmpdir(), "chancery-bench-"))
}

function databaseOf(folder: string): string {
  return join(folder, "chancery.db")
}
