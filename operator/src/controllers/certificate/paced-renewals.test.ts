// A Certificate of an issuer that limits the renewals that can wait.
import { describe, expect, test } from "vitest"
import { certificate } from "../../api/certificate.ts"
import { issuer } from "../../api/issuer.ts"
import { openCertificate } from "../../../testing/certificate-fixture.ts"
import { secrets } from "../../kube/kubernetes-object.ts"

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Opens a Certificate whose issuer renewed another one just now. */
async function openPaced(spec: object = {}) {
  const one = await openCertificate(spec)
  const setIssuer = (change: object) => {
    const ca = one.storeOf(issuer).get("team/ca")!
    one.set(issuer, { ...ca, spec: { ...(ca["spec"] as object), ...change } })
  }
  const setLast = (at: number) =>
    one.set(certificate, {
      metadata: { name: "other", namespace: "team" },
      spec: { secretName: "other-tls", issuerRef: { name: "ca" }, dnsNames: ["other.example.com"] },
      status: { lastPacedRenewalTime: new Date(at).toISOString() },
    })
  const request = (token: string) => {
    const object = one.storeOf(certificate).get("team/web")!
    const annotations = { ...object.metadata.annotations, "chancery.dev/renew-requested-at": token }
    one.set(certificate, { ...object, metadata: { ...object.metadata, annotations } })
  }
  setIssuer({ renewals: { maxPerHour: 1 } })
  await one.look()
  setLast(one.now)
  return { one, request, setIssuer }
}

describe("a Certificate of an issuer with a pace", () => {
  test("waits for its turn, which the status shows, and stays ready when its renewal was requested", async () => {
    const { one, request } = await openPaced()
    await using _ = one
    const [first, now] = [one.status.serialNumber, one.now]
    request("now")
    await one.lookFor(10 * minuteMs)
    expect(one.conditions()).toEqual(["Ready=True Issued", "Issuing=True RenewRequested"])
    expect(one.message("Issuing")).toContain(
      "The Issuer ca limits such renewals to 1 an hour; this one begins at 2026-",
    )
    expect(Date.parse(one.status.nextAttemptTime ?? "")).toBe(now + hourMs)
    expect(one.status.serialNumber).toBe(first)

    // Another process, 10 minutes later, announces the same turn.
    one.restart()
    await one.lookFor(minuteMs)
    expect(Date.parse(one.status.nextAttemptTime ?? "")).toBe(now + hourMs)
    await one.lookFor(45 * minuteMs)
    expect(one.status.serialNumber).toBe(first)
    await one.lookFor(5 * minuteMs)
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(one.status).toMatchObject({
      revision: 2,
      lastHandledRenewAt: "now",
      lastPacedRenewalTime: "2026-01-01T01:00:00.000Z",
    })
    expect(one.status.nextAttemptTime).toBeUndefined()
    expect(one.events.map(({ reason }) => reason)).toEqual(["Renewed"])
  })

  test("waits, and stays ready, when the default role of the issuer changed", async () => {
    const { one, setIssuer } = await openPaced()
    await using _ = one
    await one.engine.pki("pki").roles.save("other", { allowAnyName: true, keyType: "any" })
    setIssuer({ defaultRole: "other" })
    await one.lookFor(10 * minuteMs)
    expect(one.conditions()).toEqual(["Ready=True Issued", "Issuing=True SpecChanged"])
    await one.lookFor(hourMs)
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(one.status.revision).toBe(2)
  })

  test("is renewed at once when its Secret is gone, it was revoked, or its spec changed", async () => {
    const { one, request } = await openPaced()
    await using _ = one
    request("now")
    await one.lookFor(minuteMs)
    expect(one.status.revision).toBe(1)
    one.storeOf(secrets).delete("team/tls")
    await one.look()
    expect(one.status).toMatchObject({ revision: 2, lastHandledRenewAt: "now" })
    request("again")
    await one.lookFor(minuteMs)
    expect(one.status.revision).toBe(2)
    await one.engine.pki("pki").revocations.revoke({ serialNumber: String(one.status.serialNumber) })
    await one.lookFor(11 * minuteMs)
    expect(one.status.revision).toBe(3)
    one.edit({ dnsNames: ["api.example.com"] })
    await one.look()
    expect(one.status.revision).toBe(4)
    expect(one.conditions()).toEqual(["Ready=True Issued"])
  })

  test.each(["Auto", "Disabled"])(
    "is renewed at once when it is close to its expiry (renewalPolicy %s)",
    async (renewalPolicy) => {
      const { one, request } = await openPaced({ renewalPolicy, renewalWindows: undefined })
      await using _ = one
      one.pass(80 * dayMs)
      one.set(certificate, {
        ...one.storeOf(certificate).get("team/other")!,
        status: { lastPacedRenewalTime: new Date(one.now).toISOString() },
      })
      request("now")
      await one.look()
      expect(one.status.revision).toBe(2)
    },
  )
})
