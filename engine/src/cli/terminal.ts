import { text } from "node:stream/consumers"

/** Input, output and environment of a command. Tests pass their own. */
export interface Terminal {
  /** Prints results, which other programs may parse. */
  out(text: string): void
  /** Resolves once the reader of `out` has read the buffered text, or has closed. */
  drained?(): Promise<void>
  /** Prints a message to the user. */
  say(text: string): void
  /** Reads standard input to its end. */
  input(): Promise<string>
  /** Stream for progress bars; undefined if standard error is not a terminal. */
  readonly screen?: NodeJS.WriteStream
  readonly environment: Readonly<Record<string, string | undefined>>
}

// A reader may close the pipe early, as in `chancery --help | head`. Later output is dropped without an error.
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
