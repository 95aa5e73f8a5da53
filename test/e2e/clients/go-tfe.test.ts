// go-tfe, the public Go client that existing tools link, against a server on a socket. Its decoding and its error types are requirements of
// the wire format.
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { beforeAll, describe, expect, test } from "vitest"
import { openEmbedded } from "../../../engine/src/embedded.ts"
import { defaultKind } from "../../../engine/testing/temporary-database.ts"
import { startServer } from "../../../engine/src/server/server.ts"
import { goProgram, goTfeFolder } from "../../toolchain/go-modules.ts"

/** The scenarios of the program, in its order. */
const scenarios = [
  "connection",
  "organizations",
  "projects",
  "workspaces",
  "workspace settings",
  "workspace lists",
  "locks",
  "deletion",
  "flat tags",
  "tag bindings",
  "remote state consumers",
  "SSH keys",
  "agent pools",
  "data retention policies",
  "teams",
  "tokens",
  "variables",
  "state versions",
  "runs",
  "executed runs",
  "VCS connections",
] as const

interface Step {
  readonly scenario: string
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

const program = await goProgram(goTfeFolder)

describe.skipIf(program === undefined)("the public Go client", () => {
  let steps: readonly Step[]

  beforeAll(async () => {
    steps = await runScenarios(program ?? "")
  })

  test("runs every scenario of this table", () => {
    expect([...new Set(steps.map(({ scenario }) => scenario))]).toEqual(scenarios)
  })

  test.each(scenarios)("agrees with the server about %s", (scenario) => {
    const own = steps.filter((step) => step.scenario === scenario)
    expect(own.length).toBeGreaterThan(1)
    expect(own.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`)).toEqual([])
  })
})

async function runScenarios(program: string): Promise<Step[]> {
  await using place = await defaultKind.place()
  await using engine = await openEmbedded(place.url, { sealKeys: { text: Buffer.alloc(32).toString("base64") } })
  const { caller, tokens } = engine
  if (caller.kind !== "user") throw new Error("the engine acts as a user")
  const { secret } = await tokens.createForUser(caller.userId, { description: "go-tfe" })
  const server = await startServer({ engine })
  try {
    const { stdout } = await promisify(execFile)(program, {
      env: { CHANCERY_ADDRESS: server.url, CHANCERY_TOKEN: secret },
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
