// A log of 100 MB that an executor appends, and that a reader polls at the same time as the CLI of Terraform does, with the memory of the
// server.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Agent } from "undici"
import { startChancery } from "./chancery.ts"
import { report } from "./figures.ts"
import { openBenchPool, planLogPath } from "./run-claims.ts"

const megabyte = 1_000_000
const logBytes = 100 * megabyte
/** Chunk of `chancery agent`. */
const chunkBytes = 256 * 1024
/** Slice of the CLI of Terraform, and its pause at the end of an unfinished log. */
const sliceBytes = 64 * 1024
const pauseMs = 500
const endOfText = 0x03

const folder = mkdtempSync(join(tmpdir(), "chancery-bench-"))
try {
  await using server = await startChancery(folder)
  await using pool = await openBenchPool(server)
  const run = await pool.queuePlan(await pool.createWorkspace("bench"))
  const claims = pool.agent.runClaims
  const claim = await claims.claim({ kind: "own-pool" }, { name: "bench", leaseMs: 60_000, waitMs: 5_000 })
  if (claim === undefined) throw new Error("no run was claimed")
  await claims.report(claim.id, { status: "planning", hasChanges: null })
  const path = await planLogPath(server, run)
  const log = logText()
  report("server before the log", server.memoryMiB(), "MiB")

  const began = performance.now()
  const [writtenMs, { readMs, requests, longestMs }] = await Promise.all([write(claim.id), read()])
  report("log appended", logBytes / megabyte / (writtenMs / 1_000), "MB/s")
  report("log appended and read", logBytes / megabyte / (readMs / 1_000), "MB/s")
  report("requests of the reader", requests, "")
  report("longest request of the reader", longestMs, "ms")
  report("server after the log", server.memoryMiB(), "MiB")
  report("server at its peak", server.peakMemoryMiB(), "MiB")

  async function write(id: string): Promise<number> {
    for (let offset = 0; offset < log.length;)
      offset = await claims.appendLog(id, "plan", offset, log.subarray(offset, offset + chunkBytes))
    const elapsedMs = performance.now() - began
    await claims.report(id, { status: "planned_and_finished", hasChanges: false })
    return elapsedMs
  }

  async function read() {
    const connection = new Agent({ connections: 1 })
    let offset = 0
    let count = 0
    let longest = 0
    for (;;) {
      const sentAt = performance.now()
      const answer = await connection.request({
        origin: `http://127.0.0.1:${server.port}`,
        path: `${path}${path.includes("?") ? "&" : "?"}limit=${sliceBytes}&offset=${offset}`,
        method: "GET",
      })
      const bytes = await answer.body.bytes()
      longest = Math.max(longest, performance.now() - sentAt)
      if (answer.statusCode !== 200) throw new Error(`the log answers ${answer.statusCode}`)
      count += 1
      offset += bytes.length
      if (bytes.at(-1) === endOfText) break
      if (bytes.length === 0) await sleep(pauseMs)
    }
    await connection.close()
    // The log is enclosed in two characters.
    if (offset !== log.length + 2) throw new Error(`the log has ${offset} bytes instead of ${log.length + 2}`)
    return { readMs: performance.now() - began, requests: count, longestMs: longest }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Returns lines like those of a plan with many resources. */
function logText(): Buffer {
  const lines: string[] = []
  for (let size = 0, index = 0; size < logBytes; index += 1) {
    const line = `module.network[${index % 97}].aws_route.private[${index}]: Refreshing state... [id=r-rtb-${(index * 2_654_435_761) % 4_294_967_296}]\n`
    lines.push(line)
    size += line.length
  }
  return Buffer.from(lines.join("")).subarray(0, logBytes)
}
