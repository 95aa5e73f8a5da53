// Uploads and downloads of 10 MB states, relative to the necessary work on the same bytes: MD5, compression, sealing and storing, or the
// reverse.
import { createHash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { Agent, request } from "undici"
import { systemRuntime } from "../../engine/src/core/runtime.ts"
import { keySealer, newKeyText, parseKeyRing } from "../../engine/src/storage/sealing/key-sealing.ts"
import { largeState } from "../long/large-states.ts"
import { startChancery } from "./chancery.ts"
import { report } from "./figures.ts"

const megabyte = 1_000_000
const stateBytes = 10 * megabyte
const rounds = 25
/** Size of the server's own chunks. */
const chunkBytes = 1024 * 1024 - 64

const folder = mkdtempSync(join(tmpdir(), "chancery-bench-state-"))
const state = largeState({ serial: 1, lineage: "bench", atLeastBytes: stateBytes, seed: 1 })
const bytes = Buffer.concat([...state.pieces()])
const { random } = systemRuntime()
const sealer = keySealer(parseKeyRing(newKeyText(random)), random)

try {
  await using server = await startChancery(join(folder, "server"))
  using database = new DatabaseSync(join(folder, "alone.db"))
  // Written as durably as the server's own.
  database.exec("pragma journal_mode = wal; pragma synchronous = full")
  database.exec("create table chunks (state integer, chunk integer, sealed blob, primary key (state, chunk)) strict")
  const insert = database.prepare("insert into chunks values (?, ?, ?)")
  const select = database.prepare("select sealed from chunks where state = ? order by chunk")
  const agent = new Agent({ connections: 1 })
  const { body } = await server.send("POST", `/organizations/${server.organization}/workspaces`, {
    data: { type: "workspaces", attributes: { name: "bench" } },
  })
  const workspace = `/workspaces/${body.data.id}`
  await server.send("POST", `${workspace}/actions/lock`)

  const times: { up: number; down: number; aloneUp: number; aloneDown: number }[] = []
  for (let round = -2; round < rounds; round += 1) {
    const aloneUp = await timed(() => storeAlone(round))
    const version = await announce(round)
    const up = await timed(() => upload(version["hosted-state-upload-url"]))
    const aloneDown = await timed(() => readAlone(round))
    const shown = (await server.send("GET", `${workspace}/current-state-version`)).body.data.attributes
    const down = await timed(() => download(shown["hosted-state-download-url"]))
    // The first rounds include the effects of caches and of the compiler.
    if (round < 0) continue
    times.push({ up, down, aloneUp, aloneDown })
  }
  // Other load slows a process down that waits for another one, so the minimum is the actual cost when two processes take turns.
  const least = (name: "up" | "down" | "aloneUp" | "aloneDown") => Math.min(...times.map((one) => one[name]))
  const speed = (name: "up" | "down") => bytes.length / megabyte / (least(name) / 1_000)
  report("upload of 10 MB", speed("up"), "MB/s")
  report("download of 10 MB", speed("down"), "MB/s")
  report("upload / MD5, compression, sealing and storing alone", least("aloneUp") / least("up"), "")
  report("download / reading, opening and decompression alone", least("aloneDown") / least("down"), "")
  await agent.close()

  async function storeAlone(round: number): Promise<void> {
    if (createHash("md5").update(bytes).digest("hex") !== state.md5) throw new Error("another state")
    const compressed = zstdCompressSync(bytes)
    const chunks = Array.from({ length: Math.ceil(compressed.length / chunkBytes) }, (_, index) =>
      sealer.seal(`alone#${index}`, compressed.subarray(index * chunkBytes, (index + 1) * chunkBytes)),
    )
    database.exec("begin immediate")
    for (const [index, sealed] of chunks.entries()) insert.run(round, index, sealed)
    database.exec("commit")
  }

  async function readAlone(round: number): Promise<void> {
    const chunks = select.all(round).map(({ sealed }) => sealed as Uint8Array)
    const opened = chunks.map((sealed, index) => sealer.open(`alone#${index}`, sealed))
    if (
      createHash("md5")
        .update(zstdDecompressSync(Buffer.concat(opened)))
        .digest("hex") !== state.md5
    )
      throw new Error("another state")
  }

  async function announce(round: number) {
    const attributes = { serial: 1, lineage: "bench", md5: state.md5, force: true }
    const answer = await server.send("POST", `${workspace}/state-versions`, {
      data: { type: "state-versions", attributes },
    })
    if (answer.status !== 201) throw new Error(`round ${round}: ${answer.status}`)
    return answer.body.data.attributes
  }

  async function upload(address: string): Promise<void> {
    const answer = await request(address, { method: "PUT", dispatcher: agent, body: bytes })
    if (answer.statusCode !== 204)
      throw new Error(`the upload answers ${answer.statusCode}: ${await answer.body.text()}`)
    await answer.body.dump()
  }

  async function download(address: string): Promise<void> {
    const answer = await request(address, { dispatcher: agent })
    const hash = createHash("md5")
    for await (const piece of answer.body) hash.update(piece)
    if (hash.digest("hex") !== state.md5) throw new Error("another state came back")
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
