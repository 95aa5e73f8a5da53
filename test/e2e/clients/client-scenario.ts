// Runs programs that walk through the certificate API with a public client, against a server on a socket.
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { startServer } from "../../../engine/src/server/server.ts"
import { openTestEngine } from "../../../engine/testing/test-engine.ts"

/** A line of JSON that such a program prints. */
export interface Step {
  readonly story: string
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

/** Every step of every story, told to a server with nothing in it. */
export async function tell(program: string, args: readonly string[] = []): Promise<readonly Step[]> {
  await using world = await openTestEngine()
  const server = await startServer({ engine: world.engine })
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      env: { CHANCERY_ADDRESS: server.url, CHANCERY_TOKEN: world.rootToken },
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

export const storiesOf = (steps: readonly Step[]): readonly string[] => [...new Set(steps.map(({ story }) => story))]

/** Of one story: what did not hold, and why. */
export const unmet = (steps: readonly Step[], title: string): readonly string[] =>
  steps.filter(({ story, ok }) => story === title && !ok).map(({ name, detail }) => `${name}: ${detail}`)
