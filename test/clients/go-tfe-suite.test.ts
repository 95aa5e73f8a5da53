// The integration tests of the public Go client, which its authors run against HCP Terraform, against a server on a socket.
import { beforeAll, describe, expect, test } from "vitest"
import { openEmbedded } from "../../engine/src/embedded.ts"
import { startServer } from "../../engine/src/server.ts"
import { usualKind } from "../../engine/src/storage/temporary-database.ts"
import { goTfeTests, type TestProgram } from "./go-tfe-suite/build.ts"
import { expectedFailures } from "./go-tfe-suite/expected-failures.ts"
import { listTests, runTests, type TestResult } from "./go-tfe-suite/run-tests.ts"

/** Most of their time the tests wait, for a run or for a second to pass. */
const parallelism = 6
const suiteTimeoutMs = 600_000

const program = await goTfeTests()

describe.skipIf(program === undefined)("the integration tests of go-tfe", () => {
  let results: readonly TestResult[]

  beforeAll(async () => {
    if (program !== undefined) results = await runSuite(program)
  }, suiteTimeoutMs)

  test("pass unless they are expected to fail", () => {
    const failed = results.filter(({ name, outcome }) => outcome === "fail" && !expectedFailures.has(name))
    expect(failed.map(({ name, output }) => `${name}\n${output.slice(-4_000)}`)).toEqual([])
  })

  test("fail where they are expected to", () => {
    const failed = new Set(results.filter(({ outcome }) => outcome === "fail").map(({ name }) => name))
    expect([...expectedFailures.keys()].filter((name) => !failed.has(name))).toEqual([])
  })

  test("pass in the number that was reached", () => {
    const count = (outcome: TestResult["outcome"]) => results.filter((result) => result.outcome === outcome).length
    process.stderr.write(`go-tfe: ${count("pass")} pass, ${count("fail")} fail, ${count("skip")} skip themselves\n`)
    expect(count("pass")).toBeGreaterThanOrEqual(180)
  })
})

async function runSuite(tests: TestProgram): Promise<readonly TestResult[]> {
  await using place = await usualKind.place()
  await using engine = await openEmbedded(place.url, {
    edition: "hosted",
    sealKeys: { text: Buffer.alloc(32).toString("base64") },
  })
  const server = await startServer({ engine })
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
    return await runTests(tests, await listTests(tests), { parallelism, signUp })
  } finally {
    await server.close()
  }
}
