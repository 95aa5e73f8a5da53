import { beforeAll, describe, expect, test } from "vitest"
import { openssl } from "../../../../engine/testing/openssl.ts"
import { issuer } from "../../api/issuer.ts"
import { openCertificate } from "../../../testing/certificate-fixture.ts"

const ca = { isCA: true, commonName: "Team CA", dnsNames: undefined, privateKey: { algorithm: "RSA" } }
const allowing = { allowCertificateAuthorities: true }

type Opened = Awaited<ReturnType<typeof openCertificate>>
const open = (spec: object = {}, issuerSpec: object = allowing) => openCertificate({ ...ca, ...spec }, {}, issuerSpec)

const text = (one: Opened, key: string): string =>
  Buffer.from(((one.secret()?.["data"] ?? {}) as Record<string, string>)[key] ?? "", "base64").toString()
const shown = (one: Opened, ...args: readonly string[]): string =>
  openssl(["x509", "-in", "tls.crt", "-noout", ...args], { "tls.crt": text(one, "tls.crt") })
const authorities = async (one: Opened) =>
  (await one.engine.pki("pki").certificates.search({ name: "Team CA" })).items.map(({ serialNumber, status }) => ({
    serialNumber,
    status,
  }))

/** Signs a leaf with the authority of the Secret, and verifies it. */
function verifiesLeaf(one: Opened, altName: string): boolean {
  const key = openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
  const request = openssl(["req", "-new", "-key", "leaf.key", "-subj", "/O=Leaf"], { "leaf.key": key })
  const leaf = openssl(
    ["x509", "-req", "-in", "leaf.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-days", "1", "-extfile", "ext"],
    {
      "leaf.csr": request,
      "ca.crt": text(one, "tls.crt"),
      "ca.key": text(one, "tls.key"),
      ext: `subjectAltName=${altName}\nauthorityKeyIdentifier=keyid\nbasicConstraints=CA:FALSE\n`,
    },
  )
  try {
    const time = String(Math.floor(Date.now() / 1_000) + 60)
    openssl(["verify", "-attime", time, "-CAfile", "root.pem", "-untrusted", "ca.pem", "leaf.pem"], {
      "root.pem": text(one, "ca.crt"),
      "ca.pem": text(one, "tls.crt"),
      "leaf.pem": leaf,
    })
    return true
  } catch {
    return false
  }
}

describe("a Certificate with isCA", () => {
  test("is an intermediate authority below the issuer, with subject and path length of the spec", async () => {
    await using one = await open({
      subject: { organizations: ["Example Corp"], organizationalUnits: ["Shop"], countries: ["CH"] },
      maxPathLength: 0,
      usages: ["keyCertSign", "cRLSign"],
      additionalOutputFormats: [{ type: "FullChain" }],
    })
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(shown(one, "-subject", "-nameopt", "RFC2253")).toBe("subject=CN=Team CA,OU=Shop,O=Example Corp,C=CH\n")
    expect(shown(one, "-ext", "basicConstraints,keyUsage")).toMatch(
      /CA:TRUE, pathlen:0[^]*Digital Signature, Certificate Sign, CRL Sign/,
    )
    const files = { "ca.pem": text(one, "tls.crt"), "root.pem": text(one, "ca.crt") }
    expect(files["ca.pem"].split("BEGIN CERTIFICATE")).toHaveLength(2)
    expect(text(one, "fullchain.pem").split("BEGIN CERTIFICATE")).toHaveLength(3)
    const time = String(Math.floor(one.now / 1_000) + 60)
    const args = ["verify", "-x509_strict", "-attime", time, "-CAfile", "root.pem", "ca.pem"]
    expect(openssl(args, files)).toBe("ca.pem: OK\n")
    const written = one.secret()
    await one.look()
    expect(one.secret()).toBe(written)
    expect(await authorities(one)).toHaveLength(1)
    expect(await one.issued()).toEqual([])
  })

  test("is refused, and nothing is signed, when the issuer does not allow it", async () => {
    await using one = await open({}, {})
    await one.look()
    expect(one.conditions()).toEqual([
      "Ready=False AuthorityNotAllowed",
      "Stalled=True AuthorityNotAllowed",
      "Issuing=True SecretMissing",
    ])
    expect(one.message("Ready")).toBe(
      "The Issuer ca signs no certificate authorities; set its allowCertificateAuthorities, or remove isCA.",
    )
    expect(await authorities(one)).toEqual([])
    expect(one.secret()).toBeUndefined()
  })

  test("stays in use when the issuer no longer allows it, and is not renewed", async () => {
    await using one = await open({ duration: "24h" })
    await one.look()
    const written = one.secret()
    const present = one.storeOf(issuer).get("team/ca")!
    one.set(issuer, { ...present, spec: { ...(present["spec"] as object), allowCertificateAuthorities: false } })
    one.pass(20 * 3_600_000)
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued", "Issuing=True RenewalDue"])
    expect(one.message("Issuing")).toContain("The Issuer ca signs no certificate authorities")
    expect(one.secret()).toBe(written)
  })

  test("is issued again when the spec changes between leaf and authority, or the constraints change", async () => {
    await using one = await open()
    await one.look()
    const serials = [one.status.serialNumber]
    for (const change of [
      { nameConstraints: { excluded: { dnsDomains: ["evil.example"] } } },
      { nameConstraints: undefined },
      { maxPathLength: 0 },
      { isCA: false, maxPathLength: undefined },
      { isCA: true },
    ]) {
      one.edit(change)
      await one.look()
      expect(one.conditions()).toEqual(["Ready=True Issued"])
      serials.push(one.status.serialNumber)
    }
    expect(new Set(serials).size).toBe(6)
    expect(shown(one, "-ext", "basicConstraints")).toContain("CA:TRUE")
  })

  test("is not issued again when its constraints are only spelled differently", async () => {
    await using one = await open({
      nameConstraints: {
        permitted: { dnsDomains: ["Bücher.example", ".example.com"], ipRanges: ["10.1.2.3/8", "2001:DB8::/32"] },
        excluded: { emailAddresses: ["ops@example.com", ".example.net"], uriDomains: [".Example.org"] },
      },
    })
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(shown(one, "-ext", "nameConstraints")).toMatch(/DNS:xn--bcher-kva\.example[^]*10\.0\.0\.0\/255\.0\.0\.0/)
    one.edit({ revisionHistoryLimit: 2 })
    await one.look()
    expect(await authorities(one)).toHaveLength(1)
  })

  test("is refused by the engine when a constraint is malformed", async () => {
    await using one = await open({ nameConstraints: { permitted: { dnsDomains: ["a..b"] } } })
    await one.look()
    expect(one.conditions()).toContain("Stalled=True EngineRefused")
    expect(one.message("Ready")).toContain("permitted_dns_domains")
    expect(await authorities(one)).toEqual([])
  })

  test("is not used, but revoked, when a server answers with the chain of another authority", async () => {
    await using one = await open({ maxPathLength: 1 })
    await one.engine.pki("pki").issuers.generateRoot({ commonName: "Other", keyType: "ec", ttlMs: 3_000 * 86_400_000 })
    const { items } = await one.engine.pki("pki").certificates.search({ name: "Other" })
    const other = await one.engine.pki("pki").certificates.get(items[0]?.serialNumber ?? "")
    one.answer((issued) => ({ ...issued, issuingCa: other.certificate, caChain: [other.certificate] }))
    await one.look()
    expect(one.conditions()).toContain("Stalled=True CertificateUnfit")
    expect(one.message("Ready")).toBe(
      "The engine issued a CA certificate that no client accepts: its chain does not contain its issuer.",
    )
    expect(one.secret()).toBeUndefined()
    expect((await authorities(one)).map(({ status }) => status)).toEqual(["revoked"])
  })

  test("is revoked when its answer is lost in a restart, and another one is issued", async () => {
    await using one = await open()
    one.loseAnswers(true)
    await expect(one.look()).rejects.toThrow("the process ends here")
    one.loseAnswers(false)
    one.restart()
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    const all = await authorities(one)
    expect(all.map(({ status }) => status).toSorted()).toEqual(["revoked", "valid"])
    expect(all.find(({ status }) => status === "valid")?.serialNumber).toBe(one.status.serialNumber)
  })

  test("keeps its key with rotationPolicy Never, so that its certificates stay valid", async () => {
    await using one = await open({ privateKey: { rotationPolicy: "Never" }, duration: "24h" })
    await one.look()
    const [key, serial] = [text(one, "tls.key"), one.status.serialNumber]
    one.pass(20 * 3_600_000)
    await one.look()
    expect(one.status.serialNumber).not.toBe(serial)
    expect(text(one, "tls.key")).toBe(key)
    expect((await authorities(one)).map(({ status }) => status)).toEqual(["valid", "valid"])
  })
})

describe("certificates below an authority with name constraints, in OpenSSL", () => {
  let one: Opened
  beforeAll(async () => {
    one = await open({
      notAfter: "2031-01-01T00:00:00Z",
      nameConstraints: {
        permitted: { dnsDomains: ["example.com"], ipRanges: ["10.0.0.0/8"], uriDomains: [".example.com"] },
        excluded: { dnsDomains: ["secret.example.com"], emailAddresses: ["example.net"] },
      },
    })
    await one.look()
    return () => one[Symbol.asyncDispose]()
  })

  test.each([
    { altName: "DNS:www.example.com", is: true },
    { altName: "DNS:www.example.org", is: false },
    { altName: "DNS:a.secret.example.com", is: false },
    { altName: "IP:10.1.2.3", is: true },
    { altName: "IP:192.0.2.1", is: false },
    { altName: "URI:https://www.example.com/a", is: true },
    { altName: "URI:https://www.example.org/a", is: false },
    { altName: "email:ops@example.com", is: true },
    { altName: "email:ops@example.net", is: false },
  ])("verify with $altName: $is", ({ altName, is }) => {
    expect(verifiesLeaf(one, altName)).toBe(is)
  })
})
