// hvac, the public Python client of the certificate API, against a server on a socket. Its decoding and its exceptions are requirements of
// the wire format.
import { join } from "node:path"
import { beforeAll, describe, expect, test } from "vitest"
import { pythonWithHvac } from "../../toolchain/hvac.ts"
import { publicProgram } from "../../toolchain/public-program.ts"
import { type Step, storiesOf, tell, unmet } from "./client-scenario.ts"

/** The scenarios of the program, in its order. */
const stories = ["connection", "mounts", "authorities", "certificates", "leases", "access"] as const

const python = (await publicProgram(pythonWithHvac)) ?? ""

describe.skipIf(python === "")("hvac", () => {
  let steps: readonly Step[]

  beforeAll(async () => {
    steps = await tell(python, [join(import.meta.dirname, "vault-hvac/scenario.py")])
  })

  test("runs every scenario of this table", () => {
    expect(storiesOf(steps)).toEqual(stories)
  })

  test.each(stories)("agrees with the server about %s", (story) => {
    expect(steps.filter((step) => step.story === story).length).toBeGreaterThan(2)
    expect(unmet(steps, story)).toEqual([])
  })
})
