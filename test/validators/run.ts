import { spawn } from "node:child_process"

/** Judges share the machine with the rest of a test run. */
const concurrency = 2

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** What a program finds wrong is an outcome; that it could not be run is an error. */
export function run(program: string, args: readonly string[], input = ""): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] })
    // It may end before it has read everything.
    child.stdin.on("error", () => undefined)
    child.stdin.end(input)
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    child.stdout.on("data", (bytes: Buffer) => stdout.push(bytes))
    child.stderr.on("data", (bytes: Buffer) => stderr.push(bytes))
    child.on("error", reject)
    child.on("close", (code, signal) => {
      if (code === null) reject(new Error(`${program} was ended by ${signal}`))
      else resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() })
    })
  })
}

/**
 * Runs many commands, each without input, and gives their outcomes in the same order; `stdout` holds both streams. A shell
 * starts them, which costs a third of what this process would take.
 */
export async function runEach(commands: readonly (readonly string[])[]): Promise<readonly Outcome[]> {
  const size = Math.ceil(commands.length / concurrency)
  const shares = Array.from({ length: concurrency }, (_, index) => commands.slice(index * size, (index + 1) * size))
  return (await Promise.all(shares.map(runInShell))).flat()
}

async function runInShell(commands: readonly (readonly string[])[]): Promise<readonly Outcome[]> {
  const script = commands.map(
    (command) => `${command.map(quoted).join(" ")} </dev/null 2>&1; printf '\\n${end} %s\\n' $?\n`,
  )
  const { stdout, stderr } = await run("sh", ["-s"], script.join(""))
  const outcomes = [...stdout.matchAll(ending)].map(([, printed = "", code]) => ({
    code: Number(code),
    stdout: printed,
    stderr: "",
  }))
  if (outcomes.length !== commands.length) throw new Error(`the shell ended early: ${stderr.slice(-1_000)}`)
  return outcomes
}

/** Nothing that a judge prints. */
const end = "-- this command ended with"
const ending = new RegExp(`([^]*?)\n${end} (\\d+)\n`, "g")

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** What the work gives for every item, in the items' order. */
export async function each<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const results: (readonly Result[])[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const index = next++
      results[index] = await work(items[index]!, index)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return results.flat()
}
