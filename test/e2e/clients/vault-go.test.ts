// HashiCorp's and OpenBao's Go clients of the certificate API, which existing tools link, against a server on a socket. Their decoding and
// their error types are requirements of the wire format.
import { beforeAll, describe, expect, test } from "vitest"
import { goProgram, vaultGoFolder } from "../../toolchain/go-modules.ts"
import { type Step, scenariosOf, runScenarios, unmet } from "./client-scenario.ts"

/** The scenarios of the program, in its order. */
const scenarios = [
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
  "auth methods",
  "AppRole",
  "Kubernetes",
  "refusals",
  "OpenBao's client",
] as const

const program = await goProgram(vaultGoFolder)

describe.skipIf(program === undefined)("the public Go clients of the certificate API", () => {
  let steps: readonly Step[]

  beforeAll(async () => {
    steps = await runScenarios(program ?? "")
  })

  test("run every scenario of this table", () => {
    expect(scenariosOf(steps)).toEqual(scenarios)
  })

  test.each(scenarios)("agree with the server about %s", (scenario) => {
    expect(steps.filter((step) => step.scenario === scenario).length).toBeGreaterThan(2)
    expect(unmet(steps, scenario)).toEqual([])
  })
})
