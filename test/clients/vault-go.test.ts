// The public Go clients of the certificate API, HashiCorp's and OpenBao's, which existing tools link, against a server on a
// socket: what they decode and which of their own errors they raise is what the wire format has to satisfy.
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { beforeAll, describe, expect, test } from "vitest"
import { openEmbedded } from "../../engine/src/embedded.ts"
import { usualKind } from "../../engine/src/storage/temporary-database.ts"
import { startServer } from "../../engine/src/server.ts"
import { goProgram, vaultGoFolder } from "../toolchain/go-modules.ts"

/** The stories that the program tells, in its order. */
const stories = [
  "connection",
  "mounts",
  "preflights",
  "roots",
  "intermediates",
  "settings",
  "roles",
  "certificates",
  "revocation",
  "open reads",
  "leases",
  "policies",
  "capabilities",
  "tokens",
  "token renewal",
  "refusals",
  "OpenBao's client",
] as const

interface Step {
  readonly story: string
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

const program = await goProgram(vaultGoFolder)

describe.skipIf(program === undefined)("the public Go clients of the certificate API", () => {
  let steps: readonly Step[]

  beforeAll(async () => {
    steps = await tell(program ?? "")
  })

  test("tell every story that is asked for here", () => {
    expect([...new Set(steps.map(({ story }) => story))]).toEqual(stories)
  })

  test.each(stories)("agree with the server about %s", (story) => {
    const told = steps.filter((step) => step.story === story)
    expect(told.length).toBeGreaterThan(2)
    expect(told.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`)).toEqual([])
  })
})

async function tell(storyteller: string): Promise<Step[]> {
  await using place = await usualKind.place()
  await using engine = await openEmbedded(place.url, { sealKeys: { text: Buffer.alloc(32).toString("base64") } })
  const { caller, tokens } = engine
  if (caller.kind !== "user") throw new Error("the engine acts as a user")
  const { secret } = await tokens.createForUser(caller.userId, { description: "vault-go" })
  const server = await startServer({ engine })
  try {
    const { stdout } = await promisify(execFile)(storyteller, {
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
