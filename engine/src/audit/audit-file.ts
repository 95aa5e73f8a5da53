// A file that is only appended to, by whole lines. What is written is in the file when `write` returns; what is synced is on
// disk, and all who wait share one sync. A file that was moved away is left for a new one of the same name.
import { closeSync, fdatasync, fstatSync, fsyncSync, openSync, readSync, statSync, writeSync } from "node:fs"
import { dirname } from "node:path"
import { promisify } from "node:util"
import { secondMs, type Clock } from "../core/time.ts"
import { nextTurn, type Timers } from "../core/timers.ts"
import type { AuditSink } from "./audit-sink.ts"

/** The calls that fail when a disk does; tests let them. */
export interface FileCalls {
  write(descriptor: number, bytes: string | Uint8Array): number
  sync(descriptor: number): Promise<void>
}

/** A fifth of a second in all. */
const fullPipeAttempts = 100
const fullPipeWaitMs = 2

const systemCalls: FileCalls = {
  write: patiently((descriptor, bytes) =>
    typeof bytes === "string" ? writeSync(descriptor, bytes) : writeSync(descriptor, bytes),
  ),
  sync: promisify(fdatasync),
}

/** A pipe that is full does not block: whoever reads it is given a moment, in which nothing else is done. */
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
  /** Standard output where there is none. */
  readonly path: string | undefined
  readonly clock: Clock
  readonly timers: Timers
  readonly onFailure: (error: unknown) => void
  readonly calls?: FileCalls
}

/** What nobody waits for is on disk after this time all the same. */
const unsyncedForMs = 250
/** No more than this stays in memory. */
const appendedMaximum = 1 << 16
/** How often to see whether the file was moved away. */
const lookEveryMs = secondMs

export class AuditFile implements AuditSink {
  readonly #options: AuditFileOptions
  readonly #calls: FileCalls
  #open: OpenFile | undefined
  /** No longer written to; closed once their last lines are synced. */
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

  /** Throws where the file cannot be opened; it is made, for its owner alone, where it is missing. */
  open(): void {
    this.#open ??= openFile(this.#options.path)
  }

  /** Grows when something that was written or appended, and not yet synced, may be lost. */
  get failureCount(): number {
    return this.#failureCount
  }

  /** Whole lines. Throws where they cannot be written. */
  write(lines: string): void {
    this.#syncSoon()
    this.#writeNow(lines)
  }

  /** Whole lines; it resolves when they are in the file, in one call with all others of this turn. */
  written(lines: string): Promise<void> {
    this.append(lines)
    return (this.#writing ??= this.#writeSoon())
  }

  /** Whole lines, written with the next ones or before the next sync. */
  append(lines: string): void {
    this.#appended += lines
    this.#syncSoon()
    if (this.#appended.length < appendedMaximum) return
    try {
      this.#writeNow("")
    } catch {
      // Counted: whoever depends on these lines waits for the next sync, and sees that something was lost.
    }
  }

  /** Resolves when all that was written or appended so far is on disk; rejects where that failed. */
  synced(): Promise<void> {
    if (this.#unsynced) {
      return (this.#following ??= this.#follow())
    }
    return this.#following ?? this.#running ?? Promise.resolve()
  }

  /** The next line goes into the file that has the name by then. */
  leave(): void {
    if (this.#open !== undefined) this.#left.push(this.#open)
    this.#open = undefined
  }

  async close(): Promise<void> {
    this.#cancelTimer?.()
    // A failure is told by `onFailure`; nobody is left who could do anything about it.
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
      // Whoever depends on it asks for itself, and hears of it.
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
    // Opened anew, the file may be another, or the fault be over.
    this.leave()
    this.#options.onFailure(error)
  }
}

interface OpenFile {
  readonly descriptor: number
  /** A device or a pipe has nothing to sync and no name to lose. */
  readonly regular: boolean
  readonly device: number
  readonly inode: number
  /** Its last line has no end: whoever wrote it was stopped in the middle. */
  torn: boolean
}

/** Not by a name such as /dev/stdout, which leads nowhere where it is a socket. */
const standardOutput = 1

function openFile(path: string | undefined): OpenFile {
  if (path === undefined) return { descriptor: standardOutput, regular: false, device: 0, inode: 0, torn: false }
  const descriptor = openSync(path, "a+", 0o600)
  try {
    const status = fstatSync(descriptor)
    const { dev: device, ino: inode, size } = status
    const regular = status.isFile()
    // Its name, too, must outlive a loss of power.
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
      if (more === 0) throw new Error("the audit log takes no more bytes")
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
