import { X509Certificate } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { challengeResponder } from "../../toolchain/acme.ts"
import { acmeGoFolder, goProgram } from "../../toolchain/go-modules.ts"
import { publicProgram } from "../../toolchain/public-program.ts"
import { goAccount, goClient } from "./acme-go.ts"
import { runOrder, rowsOf } from "./acme-matrix.ts"
import { type AcmeFixture, namesInChain, openAcmeFixture } from "./acme-fixture.ts"

const program = (await goProgram(acmeGoFolder)) ?? ""
const responder = (await publicProgram(challengeResponder)) ?? ""
const hourMs = 3_600_000

describe.skipIf(program === "" || responder === "").each(["caddy", "cert-manager"] as const)("%s", (library) => {
  let fixture: AcmeFixture

  beforeAll(async () => {
    fixture = await openAcmeFixture(responder)
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const client = goClient(program, library)
  test.concurrent.each(rowsOf(client))("$title: obtains, renews and revokes", async (row) => {
    expect(await runOrder(client, fixture, row)).toEqual(row.outcome)
  })

  const account = (id: string) =>
    goAccount({ program, library }, fixture, {
      id,
      challenge: "http-01",
      directory: fixture.directory(),
      binding: undefined,
    })
  const lifetimeOf = (bundle: string) => {
    const { validFromDate, validToDate } = new X509Certificate(bundle)
    return validToDate.getTime() - validFromDate.getTime()
  }

  test.concurrent("is told to renew in the last third of a certificate's life, and at once after revocation (RFC 9773)", async () => {
    const { succeeds, bundle } = account("told")
    await succeeds("obtain", "told.example.net")
    const renewalInfo = async () => JSON.parse(await succeeds("renewal-info")) as { start: string; end: string }
    const certificate = await bundle()
    const { validFromDate, validToDate } = new X509Certificate(certificate)
    const { start, end } = await renewalInfo()
    expect(Date.parse(start)).toBeGreaterThanOrEqual(
      validFromDate.getTime() + Math.floor((lifetimeOf(certificate) * 2) / 3) - 1_000,
    )
    expect(Date.parse(end)).toBeGreaterThan(Date.parse(start))
    expect(Date.parse(end)).toBeLessThan(validToDate.getTime())
    await fixture.revoke(certificate)
    expect(Date.parse((await renewalInfo()).end)).toBeLessThan(Date.now())
    await succeeds("renew", "told.example.net")
    expect(Date.parse((await renewalInfo()).start)).toBeGreaterThan(Date.now())
  })

  test.concurrent("rolls its key over, and continues as the same account", async () => {
    const { succeeds, bundle } = account("rolled")
    await succeeds("obtain", "rolled.example.net")
    const first = await bundle()
    await succeeds("roll-over")
    // Only the account that ordered the certificate may revoke it.
    await succeeds("-reason", "1", "revoke")
    expect(await fixture.revocation(first)).toBe("Key Compromise")
    await succeeds("obtain", "rolled.example.net")
    expect(namesInChain(await bundle(), fixture.root)).toEqual(["DNS:rolled.example.net"])
  })

  test.concurrent("chooses a profile, a lifetime and the chain", async () => {
    const { run, succeeds, bundle } = account("choosy")
    await succeeds("-profile", "brief", "obtain", "brief.example.net")
    expect(lifetimeOf(await bundle())).toBeLessThan(2 * hourMs)
    await succeeds("-valid-for", "48h", "obtain", "brief.example.net")
    expect(Math.abs(lifetimeOf(await bundle()) - 48 * hourMs)).toBeLessThan(0.1 * hourMs)
    await succeeds("-preferred-root", "Other Root", "obtain", "brief.example.net")
    expect(namesInChain(await bundle(), fixture.otherRoot)).toEqual(["DNS:brief.example.net"])
    expect(await run("-profile", "endless", "obtain", "brief.example.net")).toMatchObject({
      code: 1,
      text: expect.stringContaining("endless"),
    })
  })
})
