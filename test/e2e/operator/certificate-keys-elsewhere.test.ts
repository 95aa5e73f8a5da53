// Certificates of CSRs and of certificate authorities on a real API server, with an engine behind a socket.
import { describe, expect, test } from "vitest"
import { openssl } from "../../../engine/testing/openssl.ts"
import {
  apply,
  crt,
  describeCertificate,
  programs,
  reasons,
  setUp,
  text,
  useCertificateFixture,
} from "./certificates-fixture.ts"

const keyOf = () => openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])

describe.skipIf(programs === undefined)("certificates in a cluster", () => {
  useCertificateFixture()

  test("of a CSR are in a Secret without a key, and a Certificate with a key can follow under another secretName", async () => {
    const { certificate, wait, secret, crt: shown } = await setUp("requests")
    const key = keyOf()
    const csr = openssl(
      ["req", "-new", "-key", "key.pem", "-subj", "/CN=device", "-addext", "subjectAltName=DNS:device.example.com"],
      { "key.pem": key },
    )
    await apply(certificate("device", { dnsNames: undefined, csr }))
    await wait(crt, "device", "Ready")
    const issued = await secret("device-tls")
    expect(issued.type).toBe("Opaque")
    expect(Object.keys(issued.data ?? {}).toSorted()).toEqual(["ca.crt", "tls.crt"])
    expect(describeCertificate(issued, "-pubkey")).toBe(openssl(["pkey", "-in", "k", "-pubout"], { k: key }))
    expect(describeCertificate(issued, "-subject", "-ext", "subjectAltName")).toMatch(
      /CN ?= ?device\n[^]*DNS:device\.example\.com/,
    )

    await apply(certificate("device", { secretName: "device-key" }))
    await expect.poll(async () => (await shown("device")).status["secretName"]).toBe("device-key")
    expect((await secret("device-key")).type).toBe("kubernetes.io/tls")
    expect((await secret("device-tls")).data).toEqual(issued.data)
  })

  test("of an authority are signed only if the issuer allows it, and certificates below them verify", async () => {
    const { certificate, issuer, wait, secret, crt: shown } = await setUp("authorities")
    const authority = certificate("team", {
      dnsNames: undefined,
      isCA: true,
      commonName: "Team CA",
      subject: { organizations: ["Example Corp"] },
      maxPathLength: 0,
      nameConstraints: { permitted: { dnsDomains: ["team.example.com"] } },
    })
    await apply(authority)
    await wait(crt, "team", "Stalled")
    expect(reasons(await shown("team"))).toContain("Stalled=True AuthorityNotAllowed")
    await apply(issuer("ca", { allowCertificateAuthorities: true }))
    await wait(crt, "team", "Ready")
    const found = await secret("team-tls")
    expect(describeCertificate(found, "-subject", "-nameopt", "RFC2253")).toBe("subject=CN=Team CA,O=Example Corp\n")

    const key = keyOf()
    const verifies = (name: string) => {
      const request = openssl(["req", "-new", "-key", "key.pem", "-subj", "/O=Leaf"], { "key.pem": key })
      const leaf = openssl(
        ["x509", "-req", "-in", "leaf.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-days", "1", "-extfile", "ext"],
        {
          "leaf.csr": request,
          "ca.crt": text(found, "tls.crt"),
          "ca.key": text(found, "tls.key"),
          ext: `subjectAltName=DNS:${name}\n`,
        },
      )
      return openssl(["verify", "-CAfile", "root.pem", "-untrusted", "ca.pem", "leaf.pem"], {
        "root.pem": text(found, "ca.crt"),
        "ca.pem": text(found, "tls.crt"),
        "leaf.pem": leaf,
      })
    }
    expect(verifies("www.team.example.com")).toBe("leaf.pem: OK\n")
    expect(() => verifies("www.example.org")).toThrow(/permitted subtree violation/)
  })
})
