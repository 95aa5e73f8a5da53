import { spawn } from "node:child_process"

/** Low, because validators share the machine with the rest of a test run. */
const concurrency = 2

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program. A nonzero exit code is an outcome; a program that cannot be started is an error. */
export function run(program: string, args: readonly string[], input = ""): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] })
    // The program may end before it has read everything.
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
 * Runs many commands without input and returns their outcomes in the same order; `stdout` holds both streams. A shell starts them, which
 * takes a third of the time that this process would need.
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

/** Text that no validator prints. */
const end = "-- this command ended with"
const ending = new RegExp(`([^]*?)\n${end} (\\d+)\n`, "g")

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Processes all items and returns the concatenated results, in the order of the items. */
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
