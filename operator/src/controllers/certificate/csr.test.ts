import { describe, expect, test } from "vitest"
import { openssl } from "../../../../engine/testing/openssl.ts"
import { secrets } from "../../kube/kubernetes-object.ts"
import { openCertificate } from "../../../testing/certificate-fixture.ts"
import { readSigningRequest } from "./csr.ts"

const key = openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
const csrOf = (subject: string, altNames: string, privateKey = key): string =>
  openssl(["req", "-new", "-key", "key.pem", "-subj", subject, "-addext", `subjectAltName=${altNames}`], {
    "key.pem": privateKey,
  })
const csr = csrOf(
  "/CN=device.example.com/UID=alice",
  "DNS:device.example.com,DNS:WWW.example.com,IP:10.1.2.3,email:ops@example.com,URI:urn:x:1",
)
const role = { allowedUserIds: ["*"], allowIpSans: true }

type Opened = Awaited<ReturnType<typeof openCertificate>>
const open = (spec: object, more: object = {}) =>
  openCertificate({ dnsNames: undefined, ...spec }, { ...role, ...more })
const data = (one: Opened) => (one.secret()?.["data"] ?? {}) as Readonly<Record<string, string>>
const shown = (one: Opened, ...args: readonly string[]): string =>
  openssl(["x509", "-in", "tls.crt", "-noout", ...args], {
    "tls.crt": Buffer.from(data(one)["tls.crt"] ?? "", "base64"),
  })

describe("a Certificate with a CSR", () => {
  test.each([
    { useCsrCommonName: true, useCsrSans: true },
    { useCsrCommonName: false, useCsrSans: false },
  ])("has the key and all names of the CSR, and a Secret without a key ($useCsrSans)", async (more) => {
    await using one = await open({ csr, additionalOutputFormats: [{ type: "FullChain" }] }, more)
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(one.secret()?.["type"]).toBe("Opaque")
    expect(Object.keys(data(one)).toSorted()).toEqual(["ca.crt", "fullchain.pem", "tls.crt"])
    expect(shown(one, "-pubkey")).toBe(openssl(["pkey", "-in", "key.pem", "-pubout"], { "key.pem": key }))
    expect(shown(one, "-ext", "subjectAltName")).toMatch(
      /(?=.*DNS:device\.example\.com)(?=.*DNS:www\.example\.com)(?=.*IP Address:10\.1\.2\.3)(?=.*email:ops@example\.com)(?=.*URI:urn:x:1)/is,
    )
    const written = one.secret()
    one.restart()
    await one.look()
    expect(one.secret()).toBe(written)
    expect(await one.issued()).toHaveLength(1)
    expect([...one.storeOf(secrets).keys()]).toEqual(["team/tls"])
  })

  test("is renewed with the same CSR, and restored after a change of the Secret", async () => {
    await using one = await open({ csr, duration: "24h" })
    await one.look()
    const first = one.status.serialNumber
    one.pass(20 * 3_600_000)
    await one.look()
    expect(one.status.serialNumber).not.toBe(first)
    expect(shown(one, "-pubkey")).toBe(openssl(["pkey", "-in", "key.pem", "-pubout"], { "key.pem": key }))
    const good = data(one)
    one.set(secrets, { ...one.secret()!, data: { ...good, "tls.crt": "" } })
    await one.look()
    expect(data(one)).toEqual(good)
    expect(await one.issued()).toHaveLength(2)
  })

  test("is issued again when the CSR has another key or other names", async () => {
    await using one = await open({ csr })
    await one.look()
    const other = openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"])
    one.edit({ csr: csrOf("/CN=device.example.com/UID=alice", "DNS:device.example.com", other) })
    await one.look()
    expect(shown(one, "-pubkey")).toBe(openssl(["pkey", "-in", "key.pem", "-pubout"], { "key.pem": other }))
    one.edit({ csr: csrOf("/CN=device.example.com", "DNS:device.example.com", other) })
    await one.look()
    expect(shown(one, "-subject")).not.toContain("alice")
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(await one.issued()).toHaveLength(3)
  })

  test("needs no organization of the CSR, because the role sets it", async () => {
    await using one = await open({ csr: csrOf("/O=Example Corp/CN=a.example.com", "DNS:a.example.com") })
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(shown(one, "-subject")).not.toContain("Example Corp")
  })

  test.each<{ why: string; spec: object; of?: object; reason: string; message: RegExp }>([
    {
      why: "the role refuses its names",
      spec: { csr },
      of: { allowAnyName: false, allowedDomains: ["example.org"], allowSubdomains: true },
      reason: "EngineRefused",
      message: /device\.example\.com/,
    },
    {
      why: "the role lacks a required usage",
      spec: { csr, usages: ["codeSigning"] },
      reason: "CertificateUnfit",
      message: /The role any does not set the required usages/,
    },
    {
      why: "its signature is wrong",
      spec: { csr: spoiled(csr) },
      reason: "InvalidSpec",
      message: /^spec\.csr: the signature is wrong$/,
    },
    {
      why: "it is no CSR",
      spec: { csr: "-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----\n" },
      reason: "InvalidSpec",
      message: /^spec\.csr: /,
    },
    {
      why: "there are two",
      spec: { csr: `${csr}${csr}` },
      reason: "InvalidSpec",
      message: /^spec\.csr: must be one PEM block/,
    },
    {
      why: "the spec describes another key",
      spec: { csr, privateKey: { algorithm: "RSA" } },
      reason: "InvalidSpec",
      message: /csr and privateKey, keySource are mutually exclusive/,
    },
  ])("stalls, and nothing is issued, when $why", async ({ spec, of, reason, message }) => {
    await using one = await open(spec, of)
    await one.look()
    expect(one.conditions()).toContain(`Stalled=True ${reason}`)
    expect(one.message("Ready")).toMatch(message)
    expect(one.secret()).toBeUndefined()
    expect(await one.issued()).toEqual([])
  })

  test("replaces a Certificate with a key when secretName changes, and the former Secret keeps its key", async () => {
    await using one = await open({ dnsNames: ["device.example.com"] })
    await one.look()
    const former = one.secret()
    one.edit({ dnsNames: undefined, csr, secretName: "device" })
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    const written = one.storeOf(secrets).get("team/device")
    expect(Object.keys(written?.["data"] as object)).toEqual(["tls.crt", "ca.crt"])
    expect(one.secret()).toBe(former)
    one.edit({ dnsNames: ["device.example.com"], csr: undefined, secretName: "tls" })
    await one.look()
    expect(one.conditions()).toEqual(["Ready=True Issued"])
    expect(one.stored().is).toBe("whole")
    expect(await one.issued()).toHaveLength(2)
  })
})

/** Changes the last octet of the signature. */
function spoiled(pem: string): string {
  const der = Buffer.from(pem.replaceAll(/-----.*-----|\n/g, ""), "base64")
  der[der.length - 1] = (der.at(-1) ?? 0) ^ 1
  return `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`
}

test("readSigningRequest returns the public key when the label is the older one", () => {
  const older = csr.replaceAll("CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST")
  expect(readSigningRequest(older).publicKey.spki).toEqual(readSigningRequest(csr).publicKey.spki)
})
