// A server with two million certificates in its database, relative to one with none: start time, issuing rate, and peak memory.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { randomBytes } from "node:crypto"
import { type RunningChancery, startChancery } from "./chancery.ts"
import { median, report, target } from "./figures.ts"
import { measureLoad, rawRequest } from "./load.ts"

const stored = 2_000_000
const rounds = 5
const starts = 5
const seconds = 3
const clients = 32

const folders = ["none", "many"].map((name) => mkdtempSync(join(tmpdir(), `chancery-bench-${name}-`))) as [
  string,
  string,
]
try {
  for (const folder of folders) await prepare(folder)
  const began = performance.now()
  fill(join(folders[1], "chancery.db"))
  report(`writing ${stored.toLocaleString("en")} certificates`, (performance.now() - began) / 1000, "s")

  const startTimes: { none: number; many: number }[] = []
  for (let start = 0; start < starts; start += 1)
    startTimes.push({ none: await startTime(folders[0]), many: await startTime(folders[1]) })
  report("start with none", median(startTimes.map(({ none }) => none)), "ms")
  target("start with two million / with none", median(startTimes.map(({ none, many }) => many / none)), {
    atMost: 1.2,
  })

  await using none = await startChancery(folders[0])
  await using many = await startChancery(folders[1])
  const rates: { none: number; many: number }[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const pair = { none: await issueRate(none), many: await issueRate(many) }
    // The first round includes the effects of caches and of the compiler.
    if (round > 0) rates.push(pair)
  }
  report("issue with none", median(rates.map((pair) => pair.none)), "per second")
  report(`issue with ${stored.toLocaleString("en")}`, median(rates.map((pair) => pair.many)), "per second")
  target("issue with two million / with none", median(rates.map((pair) => pair.many / pair.none)), { atLeast: 0.8 })
  target("peak memory with two million", many.peakMemoryMiB(), { atMost: 400 }, "MiB")
} finally {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}

/** Creates one CA, one role and one certificate. */
async function prepare(folder: string): Promise<void> {
  await using server = await startChancery(folder)
  await server.pki("POST", "/sys/mounts/pki", { type: "pki" })
  await server.pki("POST", "/pki/root/generate/internal", { common_name: "Bench Root", key_type: "ec", ttl: "700h" })
  const role = { allowed_domains: "example.com", allow_subdomains: true, key_type: "ec", ttl: "600h" }
  await server.pki("POST", "/pki/roles/web", role)
  await server.pki("POST", "/pki/issue/web", { common_name: "www.example.com" })
}

/** Inserts copies of the certificate, each with its own serial number, names and expiry. */
function fill(file: string): void {
  using database = new DatabaseSync(file)
  database.exec("pragma synchronous = off; pragma cache_size = -1000000; pragma wal_autocheckpoint = 100000")
  database.function("random_serial_number", () => {
    const octets = randomBytes(20)
    octets[0] = 1 + ((octets[0] ?? 0) & 0x3f)
    return octets
  })
  const columns = ["mount_id", "certificate", "issuer_id", "role", "common_name", "not_before", "not_after"]
  const known = "(select * from certificates where role = 'web' limit 1)"
  const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${stored})`
  const values = columns.map((name) => (name === "not_after" ? "not_after + n" : name)).join(", ")
  database.exec(`
    begin;
    insert into certificates (${columns.join(", ")}, serial_number)
      ${numbers} select ${values}, random_serial_number() from numbers, ${known};
    insert into certificate_names (mount_id, name, certificate_number)
      select mount_id, 'moc.elpmaxe.' || lower(hex(randomblob(8))), number from certificates where role = 'web';
    commit;
    pragma wal_checkpoint(truncate)`)
}

async function startTime(folder: string): Promise<number> {
  await using server = await startChancery(folder)
  return server.readyAfterMs
}

async function issueRate({ port, token }: RunningChancery): Promise<number> {
  const body = JSON.stringify({ common_name: "www.example.com", alt_names: "api.example.com" })
  const request = rawRequest("POST", "/v1/pki/issue/web", token, body)
  const load = { port, seconds, clients: Array.from({ length: clients }, () => [request]) }
  const { requestsPerSecond, refused } = await measureLoad(load)
  if (refused > 0) throw new Error(`${refused} requests were refused`)
  return requestsPerSecond
}
