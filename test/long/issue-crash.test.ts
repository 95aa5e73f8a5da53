// Kills the real server (SIGKILL) at random moments while many clients have certificates issued and signed. Whatever was
// acknowledged is stored and on record, whatever is stored is on record, and no serial number is used twice.
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { execFileSync } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { Agent, request } from "undici"
import { expect, test } from "vitest"
import { openEmbedded } from "../../engine/src/embedded.ts"
import { CrashingServer, randomIntegers } from "./crashing-server.ts"

const kills = process.env["CHANCERY_SHORT"] === "1" ? 15 : 100
const clientCount = 12
const longestRunMs = 400
const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 1_000_000)

interface Acknowledged {
  readonly serialNumber: string
  readonly requestId: string
}

interface Entry {
  readonly type: "request" | "key-use" | "response"
  readonly request_id?: string
  readonly serial_number?: string
}

test(`${kills} kills under ${clientCount} clients lose no certificate and no record of one (seed ${seed})`, async () => {
  const random = randomIntegers(seed)
  const folder = await mkdtemp(join(tmpdir(), "chancery-crash-"))
  const server = await CrashingServer.prepare(folder)
  try {
    const token = await server.rootToken()
    await prepareAuthority(folder)
    const csr = requestFor("crash.example.com", folder)
    const acknowledged: Acknowledged[] = []
    for (let round = 0; round < kills; round += 1) {
      await server.start()
      const agent = new Agent({ connections: clientCount })
      const stop = new AbortController()
      const clients = Array.from({ length: clientCount }, async (_, client) => {
        for (let count = 0; !stop.signal.aborted; count += 1) {
          const [path, members] = (client + count) % 2 === 0 ? ["issue", {}] : ["sign", { csr }]
          try {
            const { statusCode, body } = await request(`${server.url}/v1/pki/${path}/web`, {
              method: "POST",
              dispatcher: agent,
              headers: { "x-service-token": token },
              body: JSON.stringify({ common_name: "crash.example.com", ...members }),
            })
            const answer = JSON.parse(await body.text())
            expect(statusCode).toBe(200)
            acknowledged.push({ serialNumber: answer.data.serial_number, requestId: answer.request_id })
          } catch (error) {
            if (stop.signal.aborted) return
            throw error
          }
        }
      })
      await sleep(random(longestRunMs))
      stop.abort()
      await server.kill()
      await Promise.all(clients)
      await agent.destroy()
    }

    expect(acknowledged.length).toBeGreaterThan(kills)
    const lines = (await readFile(join(folder, "audit.log"), "utf8")).trimEnd().split("\n")
    const entries = lines.map((line) => JSON.parse(line) as Entry)
    const signed = entries.filter(({ type }) => type === "key-use").map(({ serial_number }) => serial_number)
    const stored = storedSerialNumbers(join(folder, "chancery.db"))
    const [onRecord, inStore] = [new Set(signed), new Set(stored)]
    expect([onRecord.size, inStore.size]).toEqual([signed.length, stored.length])
    const idsOf = (wanted: Entry["type"]) =>
      new Set(entries.filter(({ type }) => type === wanted).map(({ request_id }) => request_id))
    const [requests, responses] = [idsOf("request"), idsOf("response")]
    for (const { serialNumber, requestId } of acknowledged) {
      expect([inStore.has(serialNumber), onRecord.has(serialNumber)]).toEqual([true, true])
      expect([requests.has(requestId), responses.has(requestId)]).toEqual([true, true])
    }
    for (const serialNumber of stored) expect(onRecord.has(serialNumber)).toBe(true)
  } finally {
    await server.kill()
    await rm(folder, { recursive: true, force: true })
  }
}, 900_000)

async function prepareAuthority(folder: string): Promise<void> {
  // What happens here is on record as well.
  const auditLog = { file: join(folder, "audit.log") }
  await using engine = await openEmbedded(`sqlite:${join(folder, "chancery.db")}`, { auditLog })
  await engine.mounts.create({ path: "pki" })
  const { issuers, roles } = engine.pki("pki")
  await issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 2_000_000_000 })
  await roles.save("web", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000 })
}

function requestFor(commonName: string, folder: string): string {
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", join(folder, "leaf.pem")]
  return execFileSync("openssl", ["req", "-new", ...curve, "-subj", `/CN=${commonName}`], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  })
}

function storedSerialNumbers(file: string): readonly string[] {
  using database = new DatabaseSync(file)
  expect(database.prepare("pragma integrity_check").all()).toEqual([{ integrity_check: "ok" }])
  const rows = database.prepare("select lower(hex(serial_number)) as hex from certificates").all()
  return rows.map(({ hex }) => (String(hex).match(/../g) ?? []).join(":"))
}
