/** Where a command reads from and writes to besides the store, so that it can be run inside a test. */
export interface Terminal {
  /** Results, which another program may read. */
  out(text: string): void
  /** What is said to the person at the terminal. */
  say(text: string): void
  readonly environment: Readonly<Record<string, string | undefined>>
}

export const processTerminal: Terminal = {
  out: (text) => void process.stdout.write(`${text}\n`),
  say: (text) => void process.stderr.write(`${text}\n`),
  environment: process.env,
}
