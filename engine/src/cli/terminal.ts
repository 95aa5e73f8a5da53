import { text } from "node:stream/consumers"

/** Where a command reads from and writes to besides the store, so that it can be run inside a test. */
export interface Terminal {
  /** Results, which another program may read. */
  out(text: string): void
  /** Resolves once the reader of `out` has read the buffered text, or has closed. */
  drained?(): Promise<void>
  /** What is said to the person at the terminal. */
  say(text: string): void
  /** All of standard input. */
  input(): Promise<string>
  /** Where a person looks on, and lines can be drawn anew; nowhere in a script. */
  readonly screen?: NodeJS.WriteStream
  readonly environment: Readonly<Record<string, string | undefined>>
}

// Whoever reads may stop reading: `chancery --help | head`. What is said after that reaches nobody, and hurts nobody.
const ignoreClosed = (error: NodeJS.ErrnoException): void => {
  if (error.code !== "EPIPE") throw error
}
process.stdout.on("error", ignoreClosed)
process.stderr.on("error", ignoreClosed)

export const processTerminal: Terminal = {
  out: (line) => void process.stdout.write(`${line}\n`),
  async drained() {
    const { stdout } = process
    if (!stdout.writableNeedDrain || stdout.destroyed) return
    await new Promise<void>((resolve) => {
      for (const event of ["drain", "close", "error"]) stdout.once(event, () => resolve())
    })
  },
  say: (line) => void process.stderr.write(`${line}\n`),
  input: () => text(process.stdin),
  ...(process.stderr.isTTY ? { screen: process.stderr } : {}),
  environment: process.env,
}
