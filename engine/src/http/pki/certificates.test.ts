import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { X509Certificate } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openWorld, type World } from "../../testing/world.ts"

let world: World
const folder = mkdtempSync(join(tmpdir(), "chancery-certificates-"))

function openssl(...args: string[]): string {
  return execFileSync("openssl", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
}

/** A CSR for a fresh key on P-256. */
function csrFor(subject: string, ...extensions: string[]): string {
  openssl(
    "req",
    "-new",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-keyout",
    "k.pem",
    "-out",
    "r.pem",
    "-subj",
    subject,
    ...extensions.flatMap((extension) => ["-addext", extension]),
  )
  return readFileSync(join(folder, "r.pem"), "utf8")
}

beforeAll(async () => {
  world = await openWorld()
  await world.pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })
  await world.engine
    .pki("pki")
    .issuers.generateRoot({ commonName: "Test Root", keyType: "ec", issuerName: "root", ttlMs: 2_000_000_000 })
  await world.pki("POST", "/pki/roles/web", {
    body: {
      allowed_domains: "example.com",
      allow_subdomains: true,
      allow_bare_domains: true,
      key_type: "ec",
      ttl: "1h",
      max_ttl: "72h",
    },
  })
})
afterAll(() => world[Symbol.asyncDispose]())

const vault = () => ({ token: null, headers: { "x-vault-token": world.rootToken } })
const issue = (body: object, options = {}) => world.pki("POST", "/pki/issue/web", { body, ...options })

describe("issue:", () => {
  test("the result has all its members", async () => {
    const { status, body } = await issue({ common_name: "www.example.com" })
    expect(status).toBe(200)
    expect(body.data).toEqual({
      expiration: expect.stringMatching(/^\d{10}$/),
      certificate: expect.stringMatching(/^-----BEGIN CERTIFICATE-----\n[^]+\n-----END CERTIFICATE-----$/),
      issuing_ca: expect.stringContaining("BEGIN CERTIFICATE"),
      ca_chain: [body.data.issuing_ca],
      private_key: expect.stringContaining("BEGIN EC PRIVATE KEY"),
      private_key_type: "ec",
      serial_number: expect.stringMatching(/^[0-9a-f]{2}(:[0-9a-f]{2}){1,19}$/),
    })
    expect(body).toMatchObject({ renewable: false, lease_duration: 3600, warnings: "", auth: null })
    expect(body.lease_id).toMatch(/^pki\/issue\/web\/[0-9a-f-]{36}$/)
  })

  test("existing clients hear of numbers, lists and no lease that nobody keeps", async () => {
    const { body } = await issue({ common_name: "www.example.com", ttl: "1000h" }, vault())
    expect(body).toMatchObject({ lease_id: "", lease_duration: 0, data: { expiration: expect.any(Number) } })
    expect(body.warnings).toEqual([expect.stringContaining("longer than permitted")])
  })

  test("a ttl above the maximum of the role is refused", async () => {
    const { status, body } = await issue({ common_name: "www.example.com", ttl: "1000h" })
    expect({ status, errors: body.errors.length }).toEqual({ status: 400, errors: 1 })
    expect(body.errors[0]).toMatch(/ttl/)
  })

  test("DER is base64, and a bundle begins with the key and leaves out the root", async () => {
    const der = await issue({ common_name: "www.example.com", format: "der" })
    const parsed = new X509Certificate(Buffer.from(der.body.data.certificate, "base64"))
    expect(parsed.subject).toBe("CN=www.example.com")
    const bundle = await issue({ common_name: "www.example.com", format: "pem_bundle" })
    expect(bundle.body.data.certificate.match(/BEGIN [A-Z ]+/g)).toEqual(["BEGIN EC PRIVATE KEY", "BEGIN CERTIFICATE"])
    expect(bundle.body.data.private_key).toContain("BEGIN EC PRIVATE KEY")
    const pkcs8 = await issue({ common_name: "www.example.com", private_key_format: "pkcs8" })
    expect(pkcs8.body.data.private_key).toContain("BEGIN PRIVATE KEY")
  })

  test("one name that the role does not allow denies the request, and every one is named", async () => {
    const { status, body } = await issue({ common_name: "www.example.com", alt_names: "a.example.com,b.test,c.test" })
    expect(status).toBe(400)
    expect(body.errors).toEqual([expect.stringContaining("b.test"), expect.stringContaining("c.test")])
  })

  test("roots are left out of the chain where that is asked for", async () => {
    const { body } = await issue({ common_name: "www.example.com", remove_roots_from_chain: true })
    expect(body.data.ca_chain).toEqual([])
  })
})

describe("sign:", () => {
  test("a CSR made by OpenSSL is signed, for the key in it and without one in the answer", async () => {
    const csr = csrFor("/CN=www.example.com", "subjectAltName=DNS:www.example.com,DNS:api.example.com")
    const { status, body } = await world.pki("POST", "/pki/sign/web", { body: { csr, common_name: "www.example.com" } })
    expect(status).toBe(200)
    expect(body.data).not.toHaveProperty("private_key")
    writeFileSync(join(folder, "c.pem"), body.data.certificate)
    writeFileSync(join(folder, "ca.pem"), body.data.issuing_ca)
    expect(openssl("verify", "-x509_strict", "-CAfile", "ca.pem", "c.pem")).toContain("OK")
    expect(openssl("x509", "-in", "c.pem", "-noout", "-pubkey")).toBe(openssl("pkey", "-in", "k.pem", "-pubout"))
    expect(openssl("x509", "-in", "c.pem", "-noout", "-ext", "subjectAltName")).toContain("DNS:api.example.com")
  })

  test("the specification asks for a common name, existing clients leave it to the CSR", async () => {
    const csr = csrFor("/CN=www.example.com")
    const refused = await world.pki("POST", "/pki/sign/web", { body: { csr } })
    expect(refused.body.errors).toEqual([expect.stringContaining("common_name")])
    expect((await world.pki("POST", "/pki/sign/web", { body: { csr }, ...vault() })).status).toBe(200)
  })
})

describe("sign-verbatim:", () => {
  test("subject, names and usages are the CSR's own", async () => {
    const csr = csrFor(
      "/CN=anything at all/O=Elsewhere",
      "subjectAltName=DNS:x.test",
      "keyUsage=critical,digitalSignature",
      "extendedKeyUsage=codeSigning",
      "tlsfeature=status_request",
    )
    const { status, body } = await world.pki("POST", "/pki/sign-verbatim", { body: { csr } })
    expect(status).toBe(200)
    expect(Object.keys(body.data).toSorted()).toEqual(["ca_chain", "certificate", "issuing_ca", "serial_number"])
    expect(body.lease_id).toMatch(/^pki\/sign-verbatim\//)
    writeFileSync(join(folder, "v.pem"), body.data.certificate)
    const text = openssl("x509", "-in", "v.pem", "-noout", "-text", "-nameopt", "RFC2253")
    expect(text).toContain("O=Elsewhere,CN=anything at all")
    expect(text).toContain("Code Signing")
    expect(text).toContain("TLS Feature")
    expect(text).not.toContain("CA:TRUE")
  })

  test("[P-7-n5] the request of an intermediate CA is refused", async () => {
    const csr = csrFor("/CN=Sub CA", "basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign")
    const { status, body } = await world.pki("POST", "/pki/sign-verbatim", { body: { csr } })
    expect({ status, ...body }).toEqual({ status: 400, errors: [expect.stringContaining("intermediate CA")] })
  })

  test("usages that are given count only where the CSR asks for none", async () => {
    const body = (csr: string) => ({
      csr,
      key_usage: ["DigitalSignature"],
      ext_key_usage: "ClientAuth",
      ext_key_usage_oids: "1.2.3.4",
    })
    const plain = await world.pki("POST", "/pki/sign-verbatim", { body: body(csrFor("/CN=a")) })
    writeFileSync(join(folder, "p.pem"), plain.body.data.certificate)
    expect(openssl("x509", "-in", "p.pem", "-noout", "-ext", "extendedKeyUsage")).toMatch(
      /TLS Web Client Authentication, 1\.2\.3\.4/,
    )
    const own = await world.pki("POST", "/pki/sign-verbatim", {
      body: body(csrFor("/CN=a", "extendedKeyUsage=emailProtection")),
    })
    writeFileSync(join(folder, "o.pem"), own.body.data.certificate)
    expect(openssl("x509", "-in", "o.pem", "-noout", "-ext", "extendedKeyUsage")).toMatch(/E-mail Protection\s*$/)
  })

  test("user ids are added to the subject as they are, and an unknown role is refused", async () => {
    const csr = csrFor("/CN=a")
    const { body } = await world.pki("POST", "/pki/sign-verbatim/web", { body: { csr, user_ids: "alice,bob" } })
    writeFileSync(join(folder, "u.pem"), body.data.certificate)
    expect(openssl("x509", "-in", "u.pem", "-noout", "-subject", "-nameopt", "RFC2253")).toContain(
      "UID=bob,UID=alice,CN=a",
    )
    expect((await world.pki("POST", "/pki/sign-verbatim/none", { body: { csr } })).body.errors).toEqual([
      "unknown role: none",
    ])
  })
})

describe("sign-self-issued:", () => {
  const selfIssued = () => {
    openssl(
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-keyout",
      "s.key",
      "-out",
      "s.pem",
      "-subj",
      "/CN=Old Root",
      "-days",
      "10",
    )
    return readFileSync(join(folder, "s.pem"), "utf8")
  }

  test("the same certificate comes back under the issuer's name", async () => {
    const certificate = selfIssued()
    const { status, body } = await world.pki("POST", "/pki/root/sign-self-issued", { body: { certificate } })
    expect(status).toBe(200)
    expect(Object.keys(body.data)).toEqual(["certificate", "issuing_ca"])
    expect(body).toMatchObject({ lease_id: "", lease_duration: 0 })
    const [before, after] = [new X509Certificate(certificate), new X509Certificate(body.data.certificate)]
    expect(after.subject).toBe(before.subject)
    expect(after.serialNumber).toBe(before.serialNumber)
    expect(after.publicKey.equals(before.publicKey)).toBe(true)
    expect(after.issuer).toBe("CN=Test Root")
    expect(after.verify(new X509Certificate(body.data.issuing_ca).publicKey)).toBe(true)
  })

  test("what is no self-issued CA certificate is refused", async () => {
    const issued = await issue({ common_name: "www.example.com" })
    const leaf = await world.pki("POST", "/pki/root/sign-self-issued", {
      body: { certificate: issued.body.data.certificate },
    })
    expect(leaf.body.errors).toEqual([expect.stringContaining("given certificate is not a CA certificate")])
    const two = await world.pki("POST", "/pki/issuer/root/sign-self-issued", {
      body: { certificate: `${selfIssued()}\n${selfIssued()}` },
    })
    expect(two.body.errors).toEqual([expect.stringContaining("2 certificates found in PEM file, expected 1")])
  })
})

describe("sign-intermediate:", () => {
  test("the certificate is that of an authority below the issuer, and leads its chain", async () => {
    const { status, body } = await world.pki("POST", "/pki/root/sign-intermediate", {
      body: {
        csr: csrFor("/CN=ignored"),
        common_name: "Test Sub CA",
        organization: "Example",
        max_path_length: 0,
        permitted_dns_domains: ".example.com,example.org",
        ttl: "240h",
        not_before_duration: "60s",
      },
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ lease_id: "", lease_duration: 0 })
    expect(body.data.ca_chain).toEqual([body.data.certificate, body.data.issuing_ca])
    writeFileSync(join(folder, "i.pem"), body.data.certificate)
    writeFileSync(join(folder, "ca.pem"), body.data.issuing_ca)
    expect(openssl("verify", "-x509_strict", "-CAfile", "ca.pem", "i.pem")).toContain("OK")
    const text = openssl("x509", "-in", "i.pem", "-noout", "-text", "-nameopt", "RFC2253")
    expect(text).toContain("CA:TRUE, pathlen:0")
    expect(text).toContain("Subject: CN=Test Sub CA,O=Example")
    expect(text).toMatch(/Permitted:\s+DNS:\.example\.com\s+DNS:example\.org/)
  })

  test("with use_csr_values, names and usages are the CSR's", async () => {
    const csr = csrFor("/CN=From CSR", "subjectAltName=DNS:ca.example.com", "keyUsage=critical,dataEncipherment")
    const { body } = await world.pki("POST", "/pki/issuer/root/sign-intermediate", {
      body: { csr, use_csr_values: true },
    })
    writeFileSync(join(folder, "i.pem"), body.data.certificate)
    const text = openssl("x509", "-in", "i.pem", "-noout", "-text", "-nameopt", "RFC2253")
    expect(text).toContain("Subject: CN=From CSR")
    expect(text).toContain("DNS:ca.example.com")
    expect(text).toMatch(/Data Encipherment, Certificate Sign, CRL Sign/)
  })
})
