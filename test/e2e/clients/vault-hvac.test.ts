// hvac, the public Python client of the certificate API, against a server on a socket. Its decoding and its exceptions are requirements of
// the wire format.
import { join } from "node:path"
import { beforeAll, describe, expect, test } from "vitest"
import { pythonWithHvac } from "../../toolchain/hvac.ts"
import { publicProgram } from "../../toolchain/public-program.ts"
import { type Step, scenariosOf, runScenarios, unmet } from "./client-scenario.ts"

/** The scenarios of the program, in its order. */
const scenarios = ["connection", "mounts", "authorities", "certificates", "leases", "access", "userpass"] as const

const python = (await publicProgram(pythonWithHvac)) ?? ""

describe.skipIf(python === "")("hvac", () => {
  let steps: readonly Step[]

  beforeAll(async () => {
    steps = await runScenarios(python, [join(import.meta.dirname, "vault-hvac/scenario.py")])
  })

  test("runs every scenario of this table", () => {
    expect(scenariosOf(steps)).toEqual(scenarios)
  })

  test.each(scenarios)("agrees with the server about %s", (scenario) => {
    expect(steps.filter((step) => step.scenario === scenario).length).toBeGreaterThan(2)
    expect(unmet(steps, scenario)).toEqual([])
  })
})
