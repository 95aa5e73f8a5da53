// The public Python client of the certificate API against a server on a socket: what it reads and which of its own exceptions it
// raises is what the wire format has to satisfy.
import { join } from "node:path"
import { beforeAll, describe, expect, test } from "vitest"
import { pythonWithHvac } from "../../toolchain/hvac.ts"
import { publicProgram } from "../../toolchain/public-program.ts"
import { type Step, storiesOf, tell, unmet } from "./client-scenario.ts"

/** The stories that the program tells, in its order. */
const stories = ["connection", "mounts", "authorities", "certificates", "leases", "access"] as const

const python = (await publicProgram(pythonWithHvac)) ?? ""

describe.skipIf(python === "")("hvac", () => {
  let steps: readonly Step[]

  beforeAll(async () => {
    steps = await tell(python, [join(import.meta.dirname, "vault-hvac/scenario.py")])
  })

  test("tells every story that is asked for here", () => {
    expect(storiesOf(steps)).toEqual(stories)
  })

  test.each(stories)("agrees with the server about %s", (story) => {
    expect(steps.filter((step) => step.story === story).length).toBeGreaterThan(2)
    expect(unmet(steps, story)).toEqual([])
  })
})
