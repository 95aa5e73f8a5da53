// The parameters of issue and sign, one by one (P-2.2, P-4.4 and P-4.6 of docs/conformance.md), read from the issued certificates.
import { createPrivateKey, X509Certificate } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { certificateRequest } from "../../../testing/certificate-requests.ts"
import { readIssued } from "../../../testing/issued-certificate.ts"
import { openssl, verifiesStrictly } from "../../../testing/openssl.ts"
import { testRsaKey } from "../../../testing/test-keys.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { subjectAltName } from "../../x509/extensions.ts"
import { readPem, writePem } from "../../x509/pem.ts"

let world: TestEngine
beforeAll(async () => {
  world = await openTestEngine()
  await world.pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })
  const { issuers } = world.engine.pki("pki")
  await issuers.generateRoot({ commonName: "First Root", issuerName: "first", keyType: "ec", ttlMs: 2_600_000_000 })
  await issuers.generateRoot({ commonName: "Second Root", issuerName: "second", keyType: "ec", ttlMs: 2_600_000_000 })
  const role = {
    allowed_domains: "example.com",
    allow_subdomains: true,
    allow_bare_domains: true,
    key_type: "ec",
    ttl: "1h",
  }
  const roles = {
    web: { ...role, ttl: "1h", max_ttl: "72h", allowed_user_ids: "alice,bob*" },
    second: { ...role, issuer_ref: "second" },
    nameless: { ...role, require_cn: false },
    rich: {
      ...role,
      allowed_uri_sans: "spiffe://example.com/*",
      allowed_other_sans: "1.3.6.1.4.1.311.20.2.3;UTF8:*@example.com",
      allow_ip_sans: true,
    },
    narrow: { ...role, allow_ip_sans: false },
    silent: { ...role, no_store_metadata: true },
    endless: { ...role, issuer_ref: "first", not_after_bound: "permit" },
    rsa: { ...role, key_type: "rsa" },
  }
  for (const [name, body] of Object.entries(roles)) await world.pki("POST", `/pki/roles/${name}`, { body })
})
afterAll(() => world[Symbol.asyncDispose]())

const ask = (path: string, body: object) => world.pki("POST", `/pki/${path}`, { body })
const www = { common_name: "www.example.com" }
/** Sends a request in the dialect of Vault clients. */
const askAsExisting = (path: string, body: object) =>
  world.pki("POST", `/pki/${path}`, { body, token: null, headers: { "x-vault-token": world.rootToken } })

async function issued(role: string, body: object = www) {
  const answer = await ask(`issue/${role}`, body)
  expect(answer.body.errors ?? []).toEqual([])
  return { ...answer.body, certificate: readIssued(answer.body.data.certificate) }
}

async function refused(path: string, body: object): Promise<string[]> {
  const { status, body: answer } = await ask(path, body)
  expect(status).toBe(400)
  return answer.errors
}

describe("the result of issue:", () => {
  test("[P-2.2-r1] [P-2.2-r2] [P-2.2-r3] [P-2.2-r4] [P-2.2-r5] [P-2.2-r6] [P-2.2-r7] [P-4.4-p2] every member has its type", async () => {
    const { data, certificate, ...envelope } = await issued("web")
    expect(Object.keys(data).toSorted()).toEqual([
      "ca_chain",
      "certificate",
      "expiration",
      "issuing_ca",
      "not_before",
      "private_key",
      "private_key_type",
      "serial_number",
    ])
    const x509 = new X509Certificate(data.certificate)
    expect(data.expiration).toBe(String(x509.validToDate.getTime() / 1000))
    expect(new X509Certificate(data.issuing_ca).subject).toBe("CN=First Root")
    expect(data.ca_chain).toEqual([data.issuing_ca])
    expect(x509.checkPrivateKey(createPrivateKey(data.private_key))).toBe(true)
    expect(data.private_key_type).toBe("ec")
    expect(data.serial_number).toMatch(/^[0-9a-f]{2}(:[0-9a-f]{2}){1,19}$/)
    expect(data.serial_number.replaceAll(":", "").toUpperCase()).toBe(x509.serialNumber)
    expect(envelope.lease_id).toMatch(/^pki\/issue\/web\/[0-9a-f-]{36}$/)
    expect(envelope).toMatchObject({ renewable: false, warnings: "", auth: null })
    // The duration is in whole seconds, and one may end before the answer is written.
    expect([3_599, 3_600]).toContain(envelope.lease_duration)
    expect(JSON.stringify(await world.pki("GET", `/pki/cert/${data.serial_number}`))).not.toContain("PRIVATE KEY")
    expect(certificate.subject).toBe("CN=www.example.com")
  })

  test("Vault clients receive numbers, lists and no lease unless one exists", async () => {
    const { body } = await askAsExisting("issue/web", { ...www, ttl: "1000h" })
    expect(body).toMatchObject({ lease_id: "", lease_duration: 0, data: { expiration: expect.any(Number) } })
    expect(body.warnings).toEqual([expect.stringContaining("longer than permitted")])
  })

  test("[P-4.4-r1] [P-4.4-r2] [P-4.4-p1] the role chooses the issuer, unless the path does", async () => {
    expect((await issued("web")).certificate.issuer).toBe("CN=First Root")
    expect((await issued("second")).certificate.issuer).toBe("CN=Second Root")
    const { body } = await ask("issuer/second/issue/web", www)
    expect(readIssued(body.data.certificate).issuer).toBe("CN=Second Root")
    expect(await refused("issue/absent", www)).toEqual(["unknown role: absent"])
    expect((await ask("issuer/absent/issue/web", www)).status).toBe(404)
  })

  test("[P-1-n6] an issuer is referenced by id, by name, or as the default", async () => {
    const { mapping } = await world.engine
      .pki("pki")
      .issuers.import((await ask("issuer/second/issue/web", www)).body.data.issuing_ca, "issuers/import/cert")
    const [id = ""] = mapping.keys()
    for (const [reference, subject] of [
      [id, "Second"],
      ["second", "Second"],
      ["default", "First"],
    ] as const) {
      const { body } = await ask(`issuer/${reference}/issue/web`, www)
      expect(readIssued(body.data.certificate).issuer).toBe(`CN=${subject} Root`)
    }
  })
})

describe("[F-P13] not_before is in the response of", () => {
  test.each(["issue/web", "issuer/first/issue/web", "sign/web", "issuer/first/sign/web"])("%s", async (path) => {
    const csr = path.includes("sign/") ? { csr: (await certificateRequest()).csr } : {}
    const native = (await ask(path, { ...www, ...csr })).body.data
    expect(native.not_before).toBe(String(readIssued(native.certificate).notBefore / 1_000))
    const vault = (await askAsExisting(path, { ...www, ...csr })).body.data
    expect(vault.not_before).toBe(readIssued(vault.certificate).notBefore / 1_000)
  })
})

describe("the parameters of issue:", () => {
  test("[P-4.4-r3] common_name is required unless the role disables it, and must be allowed", async () => {
    expect(await refused("issue/web", {})).toEqual([expect.stringContaining("common_name")])
    expect(await refused("issue/web", { common_name: "www.example.org" })).toEqual([
      expect.stringContaining("common name www.example.org not allowed by this role"),
    ])
    const { certificate } = await issued("nameless", { alt_names: "www.example.com" })
    expect(certificate).toMatchObject({ subject: "", names: ["dns:www.example.com"] })
  })

  test("[P-4.4-r4] alt_names are host names and e-mail addresses, and each forbidden one is named", async () => {
    const { certificate } = await issued("web", { ...www, alt_names: "api.example.com, post@example.com" })
    expect(certificate.names).toEqual(["dns:www.example.com", "dns:api.example.com", "email:post@example.com"])
    expect(await refused("issue/web", { ...www, alt_names: "api.example.com,b.test,c.test" })).toEqual([
      expect.stringContaining("b.test"),
      expect.stringContaining("c.test"),
    ])
  })

  test("[P-4.4-r5] ip_sans are allowed unless the role forbids them", async () => {
    const ip_sans = "192.0.2.1,2001:db8::1"
    expect((await issued("web", { ...www, ip_sans })).certificate.names).toEqual([
      "dns:www.example.com",
      "ip:c0000201",
      "ip:20010db8000000000000000000000001",
    ])
    expect(await refused("issue/narrow", { ...www, ip_sans })).not.toEqual([])
    expect(await refused("issue/web", { ...www, ip_sans: "192.0.2" })).toEqual([
      expect.stringContaining('the value "192.0.2" is not a valid IP address'),
    ])
  })

  test("[P-4.4-r6] a URI that does not match fails the request", async () => {
    const { certificate } = await issued("rich", { ...www, uri_sans: "spiffe://example.com/web" })
    expect(certificate.names).toContain("uri:spiffe://example.com/web")
    expect(
      await refused("issue/rich", { ...www, uri_sans: "spiffe://example.com/web,https://example.org/" }),
    ).toHaveLength(1)
  })

  test("[P-4.4-r7] other_sans are typed strings, in an array or comma-separated, and must match", async () => {
    const upn = (name: string) => `1.3.6.1.4.1.311.20.2.3;UTF8:${name}@example.com`
    for (const other_sans of [`${upn("a")},${upn("b")}`, [upn("a"), upn("b")], JSON.stringify([upn("a"), upn("b")])])
      expect((await issued("rich", { ...www, other_sans })).certificate.names).toEqual([
        "dns:www.example.com",
        "other:1.3.6.1.4.1.311.20.2.3;a@example.com",
        "other:1.3.6.1.4.1.311.20.2.3;b@example.com",
      ])
    expect(
      await refused("issue/rich", { ...www, other_sans: "1.3.6.1.4.1.311.20.2.3;IA5:a@example.com" }),
    ).toHaveLength(1)
    expect(await refused("issue/rich", { ...www, other_sans: "1.2.3.4;UTF8:a" })).toEqual([
      expect.stringContaining("other SAN OID 1.2.3.4 not allowed by this role"),
    ])
  })

  test("[P-4.4-r8] [F-P12] the lifetime is the requested one up to the maximum, else the role's", async () => {
    const lifetime = async (body: object) => {
      const { certificate, lease_duration } = await issued("web", { ...www, ...body })
      // Validity includes its last second; notBefore is backdated by 30 seconds.
      const seconds = (certificate.notAfter - certificate.notBefore) / 1_000 + 1 - 30
      // The lease lasts for the lifetime that remains when the answer is written.
      expect([seconds - 1, seconds]).toContain(lease_duration)
      return seconds
    }
    expect(await lifetime({})).toBe(3_600)
    expect(await lifetime({ ttl: "2h" })).toBe(7_200)
    expect(await lifetime({ ttl: 259_200 })).toBe(259_200)
    expect(await lifetime({ ttl: "72h1s" })).toBe(259_200)
    expect(await lifetime({ ttl: "1000h" })).toBe(259_200)
  })

  describe("[F-P12] a ttl above the maximum is truncated with a warning", () => {
    const warning = 'TTL "1000h" is longer than permitted maxTTL "72h", so maxTTL is being used'
    const headers = (): Record<string, Record<string, string>> => ({
      native: { "x-service-token": world.rootToken },
      vault: { "x-vault-token": world.rootToken },
      Bearer: { authorization: `Bearer ${world.rootToken}` },
      both: { "x-service-token": world.rootToken, "x-vault-token": world.rootToken, "x-vault-request": "true" },
    })
    test.each<[verb: string, dialect: string, warnings: unknown]>(
      ["issue", "sign", "sign-verbatim"].flatMap((verb) => [
        [verb, "native", warning],
        [verb, "vault", [warning]],
        [verb, "Bearer", [warning]],
        [verb, "both", warning],
      ]),
    )("by %s when the headers are %s", async (verb, dialect, warnings) => {
      const subject = verb === "sign-verbatim" ? [[{ type: oids.commonName, value: "www.example.com" }]] : []
      const csr = verb === "issue" ? {} : { csr: (await certificateRequest({ subject })).csr }
      const names = verb === "sign-verbatim" ? {} : www
      const { status, body } = await world.pki("POST", `/pki/${verb}/web`, {
        body: { ...names, ...csr, ttl: "1000h" },
        token: null,
        headers: headers()[dialect]!,
      })
      expect([status, body.warnings]).toEqual([200, warnings])
      const { notBefore, notAfter } = readIssued(body.data.certificate)
      expect((notAfter - notBefore) / 1_000 + 1 - 30).toBe(259_200)
    })
  })

  test("[P-4.4-r9] the format is PEM, DER or a bundle", async () => {
    const pem = (await issued("web", { ...www, format: "pem" })).data
    expect(pem.certificate).toMatch(/^-----BEGIN CERTIFICATE-----/)
    const der = (await issued("web", { ...www, format: "der" })).data
    for (const text of [der.certificate, der.issuing_ca, ...der.ca_chain])
      expect(new X509Certificate(Buffer.from(text, "base64")).issuer).toBe("CN=First Root")
    const { body } = await ask("issue/web", { ...www, format: "pem_bundle" })
    expect(body.data.certificate.match(/BEGIN [A-Z ]+/g)).toEqual(["BEGIN EC PRIVATE KEY", "BEGIN CERTIFICATE"])
    expect(await refused("issue/web", { ...www, format: "p12" })).toEqual([expect.stringContaining("format")])
  })

  test("[P-4.4-r10] the key is in its traditional format, or in PKCS #8 except in a bundle", async () => {
    const key = async (role: string, body: object) => (await ask(`issue/${role}`, { ...www, ...body })).body.data
    expect((await key("web", {})).private_key).toMatch(/^-----BEGIN EC PRIVATE KEY/)
    expect((await key("rsa", {})).private_key).toMatch(/^-----BEGIN RSA PRIVATE KEY/)
    expect((await key("web", { private_key_format: "pkcs8" })).private_key).toMatch(/^-----BEGIN PRIVATE KEY/)
    const der = Buffer.from((await key("web", { format: "der" })).private_key, "base64")
    expect(createPrivateKey({ key: der, format: "der", type: "sec1" }).asymmetricKeyType).toBe("ec")
    expect((await key("web", { format: "der", private_key_format: "pkcs8" })).private_key).toMatch(
      /^-----BEGIN PRIVATE KEY/,
    )
    const bundle = await key("web", { format: "pem_bundle", private_key_format: "pkcs8" })
    expect(bundle.certificate).toMatch(/^-----BEGIN EC PRIVATE KEY/)
    expect(bundle.private_key).toMatch(/^-----BEGIN PRIVATE KEY/)
  })

  test("[P-4.4-r11] exclude_cn_from_sans omits the common name from the alternative names", async () => {
    const body = { ...www, alt_names: "api.example.com", exclude_cn_from_sans: true }
    expect((await issued("web", body)).certificate.names).toEqual(["dns:api.example.com"])
  })

  test("[P-4.4-r12] not_after is used as it is, up to the last supported time", async () => {
    const inTwoDays = new Date(Date.now() + 172_800_000).toISOString().replace(/\.\d+Z$/, "Z")
    const { certificate } = await issued("web", { ...www, not_after: inTwoDays })
    expect(certificate.notAfter).toBe(Date.parse(inTwoDays))
    const endless = { not_after: "9999-12-31T23:59:59Z" }
    expect(await refused("issue/endless", { ...www, ...endless })).toEqual([
      expect.stringContaining("beyond the expiration of the CA"),
    ])
    const root = await world.engine
      .pki("pki")
      .issuers.generateRoot({ commonName: "Endless", keyType: "ec", notAfter: 253_402_300_799_000 })
    const { body } = await ask(`issuer/${root.issuerId}/issue/endless`, { ...www, ...endless })
    expect(readIssued(body.data.certificate).notAfter).toBe(253_402_300_799_000)
    expect(body.data.expiration).toBe("253402300799")
  })

  test("[P-4.4-r13] remove_roots_from_chain omits roots from the chain", async () => {
    expect((await issued("web", { ...www, remove_roots_from_chain: true })).data.ca_chain).toEqual([])
  })

  test("[P-4.4-r14] user_ids are in the subject when the role allows them", async () => {
    const { certificate } = await issued("web", { ...www, user_ids: "alice,bobby" })
    expect(certificate.subject).toBe("UID=bobby,UID=alice,CN=www.example.com")
    expect(await refused("issue/web", { ...www, user_ids: "alice,carol" })).toEqual([
      expect.stringContaining("user_id carol is not allowed by this role"),
    ])
  })

  test("[P-4.4-r15] cert_metadata is stored with the serial number unless the role forbids it", async () => {
    const { data } = await issued("web", { ...www, cert_metadata: "b3duZXI=" })
    const kept = await world.pki("GET", `/pki/cert-metadata/${data.serial_number}`)
    expect(kept.body.data.cert_metadata).toBe("b3duZXI=")
    expect((await issued("silent", { ...www, cert_metadata: "" })).data.serial_number).toBeTruthy()
    expect(await refused("issue/silent", { ...www, cert_metadata: "b3duZXI=" })).toEqual([
      expect.stringContaining("cert_metadata"),
    ])
    expect(await refused("issue/web", { ...www, cert_metadata: "not base64" })).toEqual([
      expect.stringContaining("base64"),
    ])
  })

  test("a rejected request stores nothing", async () => {
    const before = (await world.pki("LIST", "/pki/certs")).body.data.keys
    await refused("issue/web", { ...www, alt_names: "other.test" })
    expect((await world.pki("LIST", "/pki/certs")).body.data.keys).toEqual(before)
  })
})

describe("sign:", () => {
  const named = () =>
    certificateRequest({
      subject: [[{ type: oids.commonName, value: "www.example.com" }]],
      extensions: [subjectAltName([{ kind: "dns", value: "csr.example.com" }], { critical: false })],
    })

  test("[P-4.6-r1] [P-4.6-r2] [P-4.6-p1] a CSR is signed by the role's issuer or that of the path", async () => {
    const { csr, privateKey } = await named()
    for (const [path, issuer] of [
      ["sign/second", "Second"],
      ["issuer/first/sign/second", "First"],
    ] as const) {
      const { body } = await ask(path, { ...www, csr })
      const certificate = readIssued(body.data.certificate)
      expect(certificate).toMatchObject({
        issuer: `CN=${issuer} Root`,
        names: ["dns:www.example.com", "dns:csr.example.com"],
      })
      expect(Buffer.from(certificate.publicKey)).toEqual(Buffer.from(privateKey.publicKey.spki))
      expect(body.data).not.toHaveProperty("private_key")
      expect(body.data).not.toHaveProperty("private_key_type")
      expect(body.lease_id).toMatch(/^pki\/sign\/second\//)
    }
    const bundle = await ask("sign/second", { ...www, csr, format: "pem_bundle" })
    expect(bundle.body.data.certificate.match(/BEGIN [A-Z ]+/g)).toEqual(["BEGIN CERTIFICATE"])
    expect(await refused("sign/web", { ...www })).toEqual([expect.stringContaining('"csr" is empty')])
    expect(await refused("sign/web", { csr })).toEqual([expect.stringContaining("common_name")])
    // Vault clients leave the common name to the CSR.
    expect(readIssued((await askAsExisting("sign/web", { csr })).body.data.certificate)).toMatchObject({
      subject: "CN=www.example.com",
    })
  })

  test("[F-K3] sign needs no common_name when the role requires none", async () => {
    const { csr } = await certificateRequest({
      subject: [],
      extensions: [subjectAltName([{ kind: "dns", value: "csr.example.com" }], { critical: false })],
    })
    const { body } = await ask("sign/nameless", { csr })
    expect(readIssued(body.data.certificate)).toMatchObject({ subject: "", names: ["dns:csr.example.com"] })
  })

  test("a CSR of OpenSSL is signed, and OpenSSL verifies the certificate", async () => {
    const key = testRsaKey(2048).pem("pkcs8")
    const names = "subjectAltName=DNS:www.example.com,DNS:api.example.com"
    const made = ["req", "-new", "-key", "key.pem", "-subj", "/CN=www.example.com", "-addext", names]
    const role = { allowed_domains: "example.com", allow_subdomains: true, key_type: "rsa", ttl: "1h" }
    await ask("roles/openssl", role)
    const { body } = await ask("sign/openssl", { ...www, csr: openssl(made, { "key.pem": key }) })
    const { certificate, issuing_ca: root } = body.data
    expect(verifiesStrictly(certificate, root)).toBe(true)
    expect(readIssued(certificate).names).toEqual(["dns:www.example.com", "dns:api.example.com"])
    expect(new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))).toBe(true)
  })

  test.each(["any", "ec"])("an RSA issuer honours the signature bits of a role for %s keys", async (keyType) => {
    await world.pki("POST", `/sys/mounts/rsa-${keyType}`, { body: { type: "pki" } })
    const { issuers, roles } = world.engine.pki(`rsa-${keyType}`)
    await issuers.generateRoot({ commonName: "RSA Root", keyType: "rsa" })
    await roles.save("web", { keyType, signatureBits: 384, allowAnyName: true, ttlMs: 3_600_000 })
    const { csr } = await certificateRequest()
    const { body } = await world.pki("POST", `/rsa-${keyType}/sign/web`, { body: { ...www, csr } })
    expect(readIssued(body.data.certificate).signatureAlgorithm).toBe("SHA384WithRSA")
  })

  test("a CSR that was changed, has a weak key, or is not a CSR is rejected", async () => {
    const { csr } = await named()
    const [block] = readPem(csr, 65_536)
    const changed = Uint8Array.from(block?.bytes ?? [])
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
    const spoiled = writePem("CERTIFICATE REQUEST", changed)
    expect(await refused("sign/web", { ...www, csr: spoiled })).toEqual([
      expect.stringContaining("request signature invalid"),
    ])
    expect(await refused("sign/web", { ...www, csr: "none" })).toEqual([
      expect.stringContaining("csr contains no data"),
    ])
    const rsa = await certificateRequest({ algorithm: { type: "rsa", bits: 2048 } })
    expect(await refused("sign/web", { ...www, csr: rsa.csr })).toEqual([
      expect.stringContaining("role requires keys of type ec"),
    ])
  })
})
