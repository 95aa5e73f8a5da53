// The integration tests of go-tfe, which its authors run against HCP Terraform, against a server on a socket.
import { beforeAll, describe, expect, test } from "vitest"
import type { Edition } from "../../../engine/src/core/edition.ts"
import { openEmbedded } from "../../../engine/src/embedded.ts"
import type { Engine } from "../../../engine/src/engine.ts"
import { startServer } from "../../../engine/src/server/server.ts"
import { defaultKind } from "../../../engine/testing/temporary-database.ts"
import { goTfeTests, type TestProgram } from "./go-tfe-suite/build.ts"
import { expectedFailures } from "./go-tfe-suite/expected-failures.ts"
import { listTests, runTests, type TestResult } from "./go-tfe-suite/run-tests.ts"
import { withExecutors } from "./go-tfe-suite/served-executors.ts"

/** The tests spend most of their time waiting for a run or for a second to pass. */
const parallelism = 6
const suiteTimeoutMs = 600_000

const program = await goTfeTests()

describe.skipIf(program === undefined)("the integration tests of go-tfe", () => {
  let results: readonly TestResult[]

  beforeAll(async () => {
    if (program !== undefined) results = await runSuite(program, { edition: "hosted" })
  }, suiteTimeoutMs)

  test("pass unless they are expected to fail", () => {
    const failed = results.filter(({ name, outcome }) => outcome === "fail" && !expectedFailures.has(name))
    expect(failed.map(({ name, output }) => `${name}\n${output.slice(-4_000)}`)).toEqual([])
  })

  test("fail when they are expected to", () => {
    const failed = new Set(results.filter(({ outcome }) => outcome === "fail").map(({ name }) => name))
    expect([...expectedFailures.keys()].filter((name) => !failed.has(name))).toEqual([])
  })

  test("pass in the expected number", () => {
    const count = (outcome: TestResult["outcome"]) => results.filter((result) => result.outcome === outcome).length
    process.stderr.write(`go-tfe: ${count("pass")} pass, ${count("fail")} fail, ${count("skip")} skip themselves\n`)
    expect(count("pass")).toBeGreaterThanOrEqual(180)
  })
})

describe.skipIf(program === undefined)("the integration tests of go-tfe for Terraform Enterprise", () => {
  test(
    "[F-W15] of admin/terraform-versions pass",
    async () => {
      const results = await runSuite(program as TestProgram, {
        edition: "self-hosted",
        isRun: (name) => name.startsWith("TestAdminTerraformVersions_"),
        enabling: { ENABLE_TFE: "1", ENABLE_BETA: "1" },
        // Terraform Enterprise lists its releases from the beginning, and the tests search for this one.
        prepare: ({ terraformVersions }) =>
          terraformVersions.create({
            version: "1.0.4",
            url: "https://releases.example.com/terraform_1.0.4_linux_amd64.zip",
            sha: "ab".repeat(32),
          }),
      })
      expect(results.length).toBe(3)
      expect(results.filter(({ outcome }) => outcome !== "pass").map(({ output }) => output)).toEqual([])
    },
    suiteTimeoutMs,
  )
})

interface SuiteOptions {
  readonly edition: Edition
  readonly isRun?: (test: string) => boolean
  readonly enabling?: NodeJS.ProcessEnv
  readonly prepare?: (engine: Engine) => Promise<unknown>
}

async function runSuite(
  tests: TestProgram,
  { edition, isRun = () => true, enabling = {}, prepare }: SuiteOptions,
): Promise<readonly TestResult[]> {
  await using place = await defaultKind.place()
  await using engine = await openEmbedded(place.url, {
    edition,
    sealKeys: { text: Buffer.alloc(32).toString("base64") },
  })
  await prepare?.(engine)
  const server = await startServer({ engine: withExecutors(engine) })
  let count = 0
  const signUp = async () => {
    count += 1
    const username = `go-tfe-${count}`
    const { id } = await engine.users.create({ username, email: `${username}@example.com` })
    await engine.users.setSiteAdmin(id, true)
    const { secret } = await engine.tokens.createForUser(id, { description: "go-tfe" })
    return { address: server.url, token: secret }
  }
  try {
    return await runTests(tests, (await listTests(tests)).filter(isRun), { parallelism, signUp, enabling })
  } finally {
    await server.close()
  }
}
