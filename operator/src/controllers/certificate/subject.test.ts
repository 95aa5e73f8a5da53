import { describe, expect, test } from "vitest"
import { openssl } from "../../../../engine/testing/openssl.ts"
import { openCertificate } from "../../../testing/certificate-fixture.ts"

const role = {
  organization: ["Example Corp"],
  ou: ["Shop", "Web"],
  country: ["CH"],
  locality: ["Bern"],
  province: ["BE"],
  streetAddress: ["Bundesplatz 3"],
  postalCode: ["3003"],
  allowedSerialNumbers: ["4*"],
  requireCn: false,
}
const subject = {
  organizations: ["Example Corp"],
  organizationalUnits: ["Web", "Shop"],
  countries: ["CH"],
  localities: ["Bern"],
  provinces: ["BE"],
  streetAddresses: ["Bundesplatz 3"],
  postalCodes: ["3003"],
  serialNumber: "42",
}

type Opened = Awaited<ReturnType<typeof openCertificate>>

function shownSubject(one: Opened): string {
  const encoded = ((one.secret()?.["data"] ?? {}) as Readonly<Record<string, string>>)["tls.crt"] ?? ""
  return openssl(["x509", "-in", "tls.crt", "-noout", "-subject", "-nameopt", "RFC2253"], {
    "tls.crt": Buffer.from(encoded, "base64"),
  })
}

describe("the subject of a certificate", () => {
  test("has the attributes of the spec when the role sets the same", async () => {
    await using one = await openCertificate({ subject }, role)
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(shownSubject(one)).toBe(
      "subject=serialNumber=42,postalCode=3003,street=Bundesplatz 3,ST=BE,L=Bern,OU=Web,OU=Shop,O=Example Corp,C=CH\n",
    )
    await one.look()
    expect(await one.issued()).toHaveLength(1)
  })

  test("is as the role sets it when the spec omits it", async () => {
    await using one = await openCertificate({ subject: { countries: ["CH"] } }, role)
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(shownSubject(one)).toContain("OU=Web,OU=Shop,O=Example Corp,C=CH")
  })

  test.each<{ given: object; of?: object; message: string }>([
    {
      given: { organizations: ["Other Corp"] },
      message: "The role any sets another subject: spec.subject.organizations: expected Other Corp, got Example Corp.",
    },
    {
      given: { organizationalUnits: ["Shop"] },
      message: "The role any sets another subject: spec.subject.organizationalUnits: expected Shop, got Shop, Web.",
    },
    {
      given: { countries: ["DE"], localities: ["Berlin"] },
      message:
        "The role any sets another subject: spec.subject.countries: expected DE, got CH; spec.subject.localities: expected Berlin, got Bern.",
    },
    {
      given: { provinces: ["ZH"], streetAddresses: ["Bahnhofstrasse 1"], postalCodes: ["8001"] },
      of: { province: [], streetAddress: [], postalCode: [] },
      message:
        "The role any sets another subject: spec.subject.provinces: expected ZH, got none; spec.subject.streetAddresses: expected Bahnhofstrasse 1, got none; spec.subject.postalCodes: expected 8001, got none.",
    },
    {
      given: { serialNumber: "42" },
      of: { allowedSerialNumbers: [] },
      message: "The role any sets another subject: spec.subject.serialNumber: expected 42, got none.",
    },
  ])(
    "stalls the Certificate, and nothing is issued, when $given differs from the role",
    async ({ given, of, message }) => {
      await using one = await openCertificate({ subject: given }, { ...role, ...of })
      await one.look()
      expect(one.conditions()).toEqual([
        "Ready=False CertificateUnfit",
        "Stalled=True CertificateUnfit",
        "Issuing=True SecretMissing",
      ])
      expect(one.message("Ready")).toBe(message)
      expect(await one.issued()).toEqual([])
    },
  )

  test("is refused by the engine when the role does not allow the serial number", async () => {
    await using one = await openCertificate({ subject: { serialNumber: "7" } }, role)
    await one.look()
    expect(one.conditions()).toContain("Stalled=True EngineRefused")
    expect(one.message("Ready")).toContain("7")
    expect(await one.issued()).toEqual([])
  })

  test("is compared after a change of the spec, and the present certificate stays when the role sets another", async () => {
    await using one = await openCertificate({ subject }, role)
    await one.look()
    const before = one.secret()
    one.edit({ subject: { ...subject, organizations: ["Other Corp"] } })
    await one.look()
    expect(one.conditions()).toContain("Stalled=True CertificateUnfit")
    expect(one.secret()).toBe(before)
    await one.engine.pki("pki").roles.update("any", { organization: ["Other Corp"] })
    await one.lookFor(3_600_000)
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(shownSubject(one)).toContain("O=Other Corp")
  })

  test("has the serial number when the engine generates the key", async () => {
    await using one = await openCertificate({ subject, keySource: "Engine" }, { ...role, keyType: "ec" })
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(shownSubject(one)).toContain("serialNumber=42")
  })
})
