// Runs programs that exercise the certificate API with a public client, against a server on a socket.
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { startServer } from "../../../engine/src/server/server.ts"
import { openTestEngine } from "../../../engine/testing/test-engine.ts"

/** A line of JSON that such a program prints. */
export interface Step {
  readonly scenario: string
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

/** Runs all scenarios of the program against an empty server, and returns their steps. */
export async function runScenarios(program: string, args: readonly string[] = []): Promise<readonly Step[]> {
  await using testEngine = await openTestEngine()
  const server = await startServer({ engine: testEngine.engine })
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      env: { CHANCERY_ADDRESS: server.url, CHANCERY_TOKEN: testEngine.rootToken },
      maxBuffer: 16 * 1024 * 1024,
    })
    return stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Step)
  } finally {
    await server.close()
  }
}

export const scenariosOf = (steps: readonly Step[]): readonly string[] => [
  ...new Set(steps.map(({ scenario }) => scenario)),
]

/** Returns the failed steps of one scenario, each with its reason. */
export const unmet = (steps: readonly Step[], title: string): readonly string[] =>
  steps.filter(({ scenario, ok }) => scenario === title && !ok).map(({ name, detail }) => `${name}: ${detail}`)
