// A file to which only whole lines are appended. Lines are in the file when `write` returns, and on disk after a sync, which all waiting
// callers share. If the file is moved away, a new one of the same name is created.
import { closeSync, fdatasync, fstatSync, fsyncSync, openSync, readSync, statSync, writeSync } from "node:fs"
import { dirname } from "node:path"
import { promisify } from "node:util"
import { secondMs, type Clock } from "../core/time.ts"
import { nextTurn, type Timers } from "../core/timers.ts"
import type { AuditSink } from "./audit-sink.ts"

/** System calls that fail with the disk. Tests replace them. */
export interface FileCalls {
  write(descriptor: number, bytes: string | Uint8Array): number
  sync(descriptor: number): Promise<void>
}

/** A fifth of a second in total. */
const fullPipeAttempts = 100
const fullPipeWaitMs = 2

const systemCalls: FileCalls = {
  write: patiently((descriptor, bytes) =>
    typeof bytes === "string" ? writeSync(descriptor, bytes) : writeSync(descriptor, bytes),
  ),
  sync: promisify(fdatasync),
}

/** Retries writes to a full pipe, which do not block. Blocks the event loop between attempts, to give the reader time. */
function patiently(write: FileCalls["write"]): FileCalls["write"] {
  return (descriptor, bytes) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return write(descriptor, bytes)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || attempt >= fullPipeAttempts) throw error
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fullPipeWaitMs)
      }
    }
  }
}

export interface AuditFileOptions {
  /** Path of the file. Default: standard output. */
  readonly path: string | undefined
  readonly clock: Clock
  readonly timers: Timers
  readonly onFailure: (error: unknown) => void
  readonly calls?: FileCalls
}

/** Delay after which lines are synced even if no caller waits for them. */
const unsyncedForMs = 250
/** Maximum characters of appended lines in memory. */
const maxAppended = 1 << 16
/** Interval at which the file is checked for having been moved away. */
const lookEveryMs = secondMs

export class AuditFile implements AuditSink {
  readonly #options: AuditFileOptions
  readonly #calls: FileCalls
  #open: OpenFile | undefined
  /** Files that are no longer written to. They are closed after their last sync. */
  #left: OpenFile[] = []
  #appended = ""
  #unsynced = false
  #failureCount = 0
  #lookedAt: number
  #writing: Promise<void> | undefined
  #running: Promise<void> | undefined
  #following: Promise<void> | undefined
  #cancelTimer: (() => void) | undefined

  constructor(options: AuditFileOptions) {
    this.#options = options
    this.#calls = options.calls ?? systemCalls
    this.#lookedAt = options.clock.now()
  }

  /** Opens the file, or creates it with mode 0600. Throws if that fails. */
  open(): void {
    this.#open ??= openFile(this.#options.path)
  }

  /** Increases when written or appended lines that were not yet synced may be lost. */
  get failureCount(): number {
    return this.#failureCount
  }

  /** Writes whole lines. Throws if they cannot be written. */
  write(lines: string): void {
    this.#syncSoon()
    this.#writeNow(lines)
  }

  /** Writes whole lines in one call with all others of this turn of the event loop. Resolves when they are in the file. */
  written(lines: string): Promise<void> {
    this.append(lines)
    return (this.#writing ??= this.#writeSoon())
  }

  /** Buffers whole lines. They are written with the next ones or before the next sync. */
  append(lines: string): void {
    this.#appended += lines
    this.#syncSoon()
    if (this.#appended.length < maxAppended) return
    try {
      this.#writeNow("")
    } catch {
      // The failure is counted. Callers that depend on these lines detect the loss at the next sync.
    }
  }

  /** Resolves when all lines written or appended so far are on disk. Rejects if that failed. */
  synced(): Promise<void> {
    if (this.#unsynced) {
      return (this.#following ??= this.#follow())
    }
    return this.#following ?? this.#running ?? Promise.resolve()
  }

  /** Opens the file by name again for the next line. */
  leave(): void {
    if (this.#open !== undefined) this.#left.push(this.#open)
    this.#open = undefined
  }

  async close(): Promise<void> {
    this.#cancelTimer?.()
    // `onFailure` has reported the failure; no caller remains that could handle it.
    await this.synced().catch(() => {})
    this.leave()
    for (const file of this.#left.splice(0)) closeFile(file)
  }

  #writeNow(lines: string): void {
    const text = this.#appended + lines
    this.#appended = ""
    try {
      writeWhole((this.#open ??= openFile(this.#options.path)), text, this.#calls)
    } catch (error) {
      this.#fail(error)
      throw error
    }
  }

  async #writeSoon(): Promise<void> {
    await nextTurn()
    this.#writing = undefined
    this.#writeNow("")
  }

  #syncSoon(): void {
    this.#unsynced = true
    this.#cancelTimer ??= this.#options.timers.after(unsyncedForMs, () => {
      this.#cancelTimer = undefined
      // Callers that depend on the sync wait for it themselves and get the error.
      this.synced().catch(() => {})
    })
  }

  async #follow(): Promise<void> {
    await this.#running?.catch(() => {})
    await nextTurn()
    this.#following = undefined
    this.#running = this.#sync()
    try {
      await this.#running
    } finally {
      this.#running = undefined
    }
  }

  async #sync(): Promise<void> {
    this.#unsynced = false
    if (this.#appended !== "") this.#writeNow("")
    const leftCount = this.#left.length
    const files = this.#open === undefined ? [...this.#left] : [...this.#left, this.#open]
    try {
      for (const file of files) if (file.regular) await this.#calls.sync(file.descriptor)
    } catch (error) {
      this.#fail(error)
      throw error
    } finally {
      for (const file of this.#left.splice(0, leftCount)) closeFile(file)
    }
    this.#leaveIfMoved()
  }

  #leaveIfMoved(): void {
    const now = this.#options.clock.now()
    if (now - this.#lookedAt < lookEveryMs) return
    this.#lookedAt = now
    if (this.#open !== undefined && !hasName(this.#open, this.#options.path)) this.leave()
  }

  #fail(error: unknown): void {
    this.#failureCount += 1
    this.#appended = ""
    // The reopened file may be a different one, or the failure may be over.
    this.leave()
    this.#options.onFailure(error)
  }
}

interface OpenFile {
  readonly descriptor: number
  /** False for a device or a pipe, which cannot be synced or moved away. */
  readonly regular: boolean
  readonly device: number
  readonly inode: number
  /** The last line is incomplete, because its writer was interrupted. */
  torn: boolean
}

/** By descriptor and not as /dev/stdout, which cannot be opened if it is a socket. */
const standardOutput = 1

function openFile(path: string | undefined): OpenFile {
  if (path === undefined) return { descriptor: standardOutput, regular: false, device: 0, inode: 0, torn: false }
  const descriptor = openSync(path, "a+", 0o600)
  try {
    const status = fstatSync(descriptor)
    const { dev: device, ino: inode, size } = status
    const regular = status.isFile()
    // The directory entry of a new file must also survive a power failure.
    if (regular && size === 0) syncFolder(dirname(path))
    return { descriptor, regular, device, inode, torn: regular && size > 0 && lastByte(descriptor, size) !== lineEnd }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function closeFile({ descriptor }: OpenFile): void {
  if (descriptor !== standardOutput) closeSync(descriptor)
}

const lineEnd = 0x0a

function lastByte(descriptor: number, size: number): number | undefined {
  const last = new Uint8Array(1)
  return readSync(descriptor, last, 0, 1, size - 1) === 1 ? last[0] : undefined
}

function syncFolder(path: string): void {
  const descriptor = openSync(path, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function writeWhole(file: OpenFile, lines: string, calls: FileCalls): void {
  if (lines === "") return
  const text = file.torn ? `\n${lines}` : lines
  file.torn = true
  let written = calls.write(file.descriptor, text)
  const length = Buffer.byteLength(text)
  if (written < length) {
    const bytes = Buffer.from(text)
    while (written < length) {
      const more = calls.write(file.descriptor, bytes.subarray(written))
      if (more === 0) throw new Error("the audit log accepts no more bytes")
      written += more
    }
  }
  file.torn = false
}

function hasName({ regular, device, inode }: OpenFile, path: string | undefined): boolean {
  if (!regular || path === undefined) return true
  const named = statSync(path, { throwIfNoEntry: false })
  return named !== undefined && named.dev === device && named.ino === inode
}
