// Runs each top-level test in its own process, so that a panic ends only that test.
import { execFile, spawn } from "node:child_process"
import { promisify } from "node:util"
import type { TestProgram } from "./build.ts"
import { type Api, playRuns } from "./executor.ts"

export interface TestResult {
  readonly name: string
  readonly outcome: "pass" | "fail" | "skip"
  readonly seconds: number
  readonly output: string
}

const timeoutMs = 120_000

/** Returns true for tests that read endless logs until a timeout of their own. They start first, so that they do not prolong the suite. */
const isSlow = (name: string): boolean => /^TestLogReader_|CostEstimate/.test(name)

export async function listTests({ binary, folder }: TestProgram): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(binary, ["-test.list", "^Test"], { cwd: folder })
  const names = stdout.split("\n").filter((line) => line.startsWith("Test"))
  return names.toSorted((one, other) => Number(isSlow(other)) - Number(isSlow(one)))
}

interface RunOptions {
  readonly parallelism: number
  /** Returns the token of a new user: some tests change the user that runs them. */
  readonly signUp: () => Promise<Api>
  /** Environment variables that enable tests which skip themselves otherwise. */
  readonly enabling?: NodeJS.ProcessEnv
}

export async function runTests(
  program: TestProgram,
  names: readonly string[],
  { parallelism, signUp, enabling = {} }: RunOptions,
): Promise<readonly TestResult[]> {
  const waiting = names.values()
  const results: TestResult[] = []
  const worker = async (): Promise<void> => {
    for (const name of waiting) results.push(await runTest(program, await signUp(), name, enabling))
  }
  await Promise.all(Array.from({ length: parallelism }, worker))
  return results
}

async function runTest(program: TestProgram, api: Api, name: string, enabling: NodeJS.ProcessEnv): Promise<TestResult> {
  const ended = new AbortController()
  const playing = playRuns(api, ended.signal)
  const started = performance.now()
  try {
    const output = await outputOf(program, name, { ...environmentFor(api), ...enabling })
    return { name, outcome: outcomeOf(name, output), seconds: (performance.now() - started) / 1000, output }
  } finally {
    ended.abort()
    await playing
  }
}

async function outputOf({ binary, folder }: TestProgram, name: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(binary, ["-test.run", `^${name}$`, "-test.v", "-test.timeout", `${timeoutMs}ms`], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text))
  await new Promise((resolve, reject) => child.once("close", resolve).once("error", reject))
  return output
}

/**
 * Returns the environment of a test. Without ENABLE_TFE the tests expect the hosted edition. No other variables are passed on, because
 * go-tfe reads tokens and switches from them.
 */
const environmentFor = ({ address, token }: Api): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  TFE_ADDRESS: address,
  TFE_TOKEN: token,
})

/** Classifies a test by its line in the output. A process without that line has panicked or run out of time. */
export function outcomeOf(name: string, output: string): TestResult["outcome"] {
  const [, word] = new RegExp(`^--- (PASS|FAIL|SKIP): ${name} `, "m").exec(output) ?? []
  if (word === "SKIP") return "skip"
  return word === "PASS" && !/^panic: /m.test(output) ? "pass" : "fail"
}
