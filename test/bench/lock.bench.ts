// Durable lock + unlock cycles over HTTP from 32 concurrent clients. The baseline is one bare SQLite connection that changes a single row
// twice, each time with its own durable commit.
import { mkdtempSync, rmSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { median, report } from "./figures.ts"
import { measureLoad, rawRequest } from "./load.ts"
import { startChancery } from "./chancery.ts"

const rounds = 5
const seconds = 2
const clients = 32

const folder = mkdtempSync(join(tmpdir(), "chancery-bench-"))
try {
  await using server = await startChancery(folder)
  const ids: string[] = []
  for (let index = 0; index < clients; index += 1) {
    const { body } = await server.send("POST", `/organizations/${server.organization}/workspaces`, {
      data: { type: "workspaces", attributes: { name: `locked-${index}` } },
    })
    ids.push(body.data.id)
  }
  const load = {
    port: server.port,
    seconds,
    clients: ids.map((id) => [
      rawRequest("POST", `/api/v2/workspaces/${id}/actions/lock`, server.token, '{"reason":"bench"}'),
      rawRequest("POST", `/api/v2/workspaces/${id}/actions/unlock`, server.token),
    ]),
  }
  const cycles = async () => {
    const { requestsPerSecond, refused } = await measureLoad(load)
    // If the previous round ended between a lock and its unlock, the round begins with one refused lock per client.
    if (refused > clients) throw new Error(`${refused} requests were refused`)
    return requestsPerSecond / 2
  }
  await cycles()
  const ours: number[] = []
  const bare: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await cycles())
    bare.push(bareCycles(join(folder, `bare-${round}.db`)))
  }
  report("lock + unlock over HTTP, 32 clients", median(ours), "cycles/s")
  report("two durable updates, bare SQLite", median(bare), "cycles/s")
  report("lock cycles / bare cycles", median(ours.map((rate, round) => rate / (bare[round] ?? Number.NaN))), "")
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function bareCycles(file: string): number {
  using database = new DatabaseSync(file)
  database.exec(
    "pragma journal_mode = wal; pragma synchronous = full; create table locks (id text primary key, locked_at integer)",
  )
  database.exec("insert into locks values ('ws', null)")
  const lock = database.prepare("update locks set locked_at = ? where id = 'ws'")
  const unlock = database.prepare("update locks set locked_at = null where id = 'ws'")
  const began = performance.now()
  let count = 0
  while (performance.now() - began < seconds * 1000) {
    lock.run(count)
    unlock.run()
    count += 1
  }
  return count / ((performance.now() - began) / 1000)
}
