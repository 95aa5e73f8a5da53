// Mutates valid inputs and tries them on every parser of untrusted input, in a separate process. An input that ends or blocks that process
// is reported as well.
import { type ChildProcess, fork } from "node:child_process"
import { createHash } from "node:crypto"
import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import {
  type Attempted,
  type AttemptMessage,
  type AttemptSettings,
  maxFaults,
  readRecord,
  recordHeadLength,
} from "./attempt.ts"

/** A longer attempt counts as endless. */
const usualHangMs = 30_000

/** Milliseconds within which the first attempt must begin; it includes opening the targets. */
const openingMs = 120_000

/** Heap of the process that tries inputs. An input that needs more is an attack. */
const heapMegabytes = 768

export interface Fault {
  readonly target: string
  readonly complaint: string
  /** Path of the saved input. */
  readonly file: string
}

export interface SlowInput {
  readonly target: string
  readonly ms: number
  readonly byteCount: number
  readonly file: string
}

export interface FuzzReport {
  readonly seed: number
  /** Keyed by target. */
  readonly attempts: ReadonlyMap<string, number>
  readonly faults: readonly Fault[]
  /** Inputs below the size that is refused unread, with their durations. */
  readonly slow: readonly SlowInput[]
}

interface FuzzOptions {
  readonly seconds: number
  readonly seed: number
  /** Default: all targets. */
  readonly targets?: readonly string[]
  /** The file that opens the targets; the fuzzer's own tests replace it. */
  readonly module?: string
  readonly hangMs?: number
}

export async function fuzz({
  seconds,
  seed,
  targets = [],
  module = join(import.meta.dirname, "targets.ts"),
  hangMs = usualHangMs,
}: FuzzOptions): Promise<FuzzReport> {
  const folder = join(tmpdir(), `chancery-fuzz-${seed}`)
  await mkdir(folder, { recursive: true })
  const attempts = new Map<string, number>()
  const faults: Fault[] = []
  const slow: SlowInput[] = []
  const keep = async (target: string, input: Uint8Array) => {
    const file = join(folder, `${target.replaceAll(/\W+/g, "-")}-${digest(input)}`)
    await writeFile(file, input)
    return file
  }
  const deadline = Date.now() + seconds * 1_000
  // A process that a fault has ended is replaced by another, which makes other inputs.
  for (let round = 0; Date.now() < deadline && faults.length < maxFaults; round += 1) {
    const current = join(folder, "current")
    const milliseconds = deadline - Date.now()
    const settings: AttemptSettings = { seed: seed + round, module, targets, current, milliseconds }
    const child = fork(join(import.meta.dirname, "attempts.ts"), [JSON.stringify(settings)], {
      execArgv: [`--max-old-space-size=${heapMegabytes}`],
    })
    const reports: Promise<void>[] = []
    child.on("message", (message: AttemptMessage) => reports.push(note(message)))
    const ending = await endOf(child, current, hangMs)
    await Promise.all(reports)
    const attempted = existsSync(current) ? readRecord(readFileSync(current)) : undefined
    if (ending !== undefined) faults.push(await fault(ending, attempted))
    if (ending !== undefined && attempted === undefined) break
  }
  await rm(join(folder, "current"), { force: true })
  if (faults.length + slow.length === 0) await rm(folder, { recursive: true })
  return { seed, attempts, faults, slow }

  async function note(message: AttemptMessage): Promise<void> {
    const { target } = message
    if (message.kind === "count") {
      attempts.set(target, (attempts.get(target) ?? 0) + message.count)
      return
    }
    const input = Buffer.from(message.input, "base64")
    const file = await keep(target, input)
    if (message.kind === "fault") faults.push({ target, complaint: message.complaint, file })
    else slow.push({ target, ms: message.ms, byteCount: input.length, file })
  }

  async function fault(complaint: string, attempted: Attempted | undefined): Promise<Fault> {
    if (attempted === undefined) return { target: "none", complaint, file: "" }
    return { target: attempted.target, complaint, file: await keep(attempted.target, attempted.input) }
  }
}

/** Returns undefined if the process ended normally. */
async function endOf(child: ChildProcess, current: string, hangMs: number): Promise<string | undefined> {
  const ended = new Promise<string | undefined>((resolve) => {
    child.on("close", (code, signal) => {
      resolve(code === 0 ? undefined : `the process ended with ${signal ?? code}`)
    })
  })
  const pending = Symbol("pending")
  let progress = ""
  let since = Date.now()
  for (;;) {
    const ending = await Promise.race([ended, setTimeout(1_000, pending)])
    if (ending !== pending) return ending
    const now = attemptNumber(current)
    if (now !== progress) {
      progress = now
      since = Date.now()
      continue
    }
    const limit = progress === "" ? openingMs : hangMs
    if (Date.now() - since <= limit) continue
    child.kill("SIGKILL")
    await ended
    return `no end after ${limit / 1_000} seconds`
  }
}

/** Returns the head of the file that the process writes before each attempt. */
function attemptNumber(current: string): string {
  if (!existsSync(current)) return ""
  const file = openSync(current, "r")
  const head = Buffer.alloc(recordHeadLength)
  readSync(file, head, 0, head.length, 0)
  closeSync(file)
  return head.toString("hex")
}

const digest = (input: Uint8Array): string => createHash("sha256").update(input).digest("hex").slice(0, 12)
