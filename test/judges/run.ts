import { spawn } from "node:child_process"

/** Judges share the machine with the rest of a test run. */
const concurrency = 2

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program without input. What it finds wrong is an outcome; that it could not be run is an error. */
export function run(program: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] })
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
