// Tests that the clients of the rolling upgrade detect failures: if they accepted a server that dies, its test could not fail.
import { expect, test } from "vitest"
import { respond } from "../bench/acme-orders.ts"
import { run, serve, temporaryFolder } from "../cli/chancery.ts"
import { prepare, UpgradeLoad } from "./upgrade-load.ts"

test("a server that is killed instead of drained fails requests, and each kind of client reports it", async () => {
  await using folder = await temporaryFolder()
  let thumbprint = ""
  await using responder = await respond(() => thumbprint)
  const environment = {
    CHANCERY_DATA: folder.path,
    CHANCERY_RATE_LIMIT: "off",
    CHANCERY_ACCESS_LOG: "off",
    CHANCERY_ACME_HTTP_PORT: String(responder.port),
    CHANCERY_ACME_CHALLENGE_RANGES: "loopback",
  }
  await run(["organization", "create", "default", "--email", "upgrade@example.com"], { environment })
  const token = (await run(["token", "create", "--user", "root"], { environment })).out.trim()
  await using served = await serve(["serve"], { environment })
  await prepare(served.url, token)
  await using load = new UpgradeLoad(served.url, token)
  await load.begin((text) => (thumbprint = text))
  await load.untilAllHaveGoneOn(2)
  expect(load.failures).toEqual([])

  served.child.kill("SIGKILL")
  const kinds = ["issue", "keep", "contend", "order"]
  await expect.poll(() => load.failures.map(({ request }) => request)).toEqual(expect.arrayContaining(kinds))
  // The requests that failed, in addition to the failed rounds of each client.
  const requests = load.failures.filter(({ request }) => !kinds.includes(request))
  expect(requests.length).toBeGreaterThan(0)
  const broken = /closed|ECONNREFUSED|ECONNRESET|terminated/
  expect(requests.filter(({ answered }) => !broken.test(answered))).toEqual([])
})
