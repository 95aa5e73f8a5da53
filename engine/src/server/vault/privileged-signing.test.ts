// Privileged signing, parameter by parameter (P-4.8, P-4.10 and P-4.11 of docs/conformance.md), read from the issued certificates.
import { execFileSync } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { certificateRequest, type RequestToMake } from "../../../testing/certificate-requests.ts"
import { readIssued } from "../../../testing/issued-certificate.ts"
import { verifiesStrictly } from "../../../testing/openssl.ts"
import { testRsaKey } from "../../../testing/test-keys.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { assembleCertificate, encodeTbsCertificate, parseCertificate } from "../../x509/certificate.ts"
import { readCertificatePem } from "../../x509/certificate-pem.ts"
import { basicConstraints, extendedKeyUsage, keyUsage, subjectAltName } from "../../x509/extensions.ts"
import { readPublicKey, subjectKeyIdentifier } from "../../x509/public-key.ts"
import { writePem } from "../../x509/pem.ts"

let world: TestEngine
beforeAll(async () => {
  world = await openTestEngine()
  await world.pki("POST", "/sys/mounts/pki", { body: { type: "pki", config: { max_lease_ttl: "1000h" } } })
  const { issuers } = world.engine.pki("pki")
  const root = { ttlMs: 3_500_000_000 }
  await issuers.generateRoot({ ...root, commonName: "EC Root", issuerName: "ec", keyType: "ec" })
  await issuers.generateRoot({
    ...root,
    commonName: "Short Root",
    issuerName: "short",
    keyType: "ec",
    maxPathLength: 2,
  })
  await issuers.generateRoot({ ...root, commonName: "Last Root", issuerName: "last", keyType: "ec", maxPathLength: 0 })
  await issuers.import(`${testRsaKey(2048).pem("pkcs8")}\n`, "issuers/import/bundle")
  const { keyId } = await issuers.generateRoot({ ...root, commonName: "RSA Root", issuerName: "rsa", keyType: "rsa" })
  expect(keyId).toBeTruthy()
  await world.pki("POST", "/pki/roles/lent", {
    body: {
      ttl: "2h",
      max_ttl: "3h",
      no_store: true,
      issuer_ref: "short",
      not_before_duration: "90s",
      no_store_metadata: true,
    },
  })
  await world.pki("POST", "/pki/roles/keeping", { body: {} })
})
afterAll(() => world[Symbol.asyncDispose]())

const commonName = (value: string) => [[{ type: oids.commonName, value }]]
const csrOf = async (request: RequestToMake = {}) =>
  (await certificateRequest({ subject: commonName("From CSR"), ...request })).csr
const ask = (path: string, body: object) => world.pki("POST", `/pki/${path}`, { body })

async function signed(path: string, body: object) {
  const answer = await ask(path, body)
  expect(answer.body.errors ?? []).toEqual([])
  return { ...answer.body, certificate: readIssued(answer.body.data.certificate) }
}

async function refused(path: string, body: object): Promise<string[]> {
  const { status, body: answer } = await ask(path, body)
  expect(status).toBe(400)
  return answer.errors
}

const lifetimeSeconds = ({ notBefore, notAfter }: { notBefore: number; notAfter: number }) =>
  (notAfter - notBefore) / 1_000 + 1

/** Lowers the mount's max_lease_ttl during `work`. The issuers then outlive the maximum. */
async function maxWith(max_lease_ttl: string, work: () => Promise<void>): Promise<void> {
  const tune = (body: object) => world.pki("POST", "/sys/mounts/pki/tune", { body })
  expect((await tune({ max_lease_ttl })).status).toBe(204)
  await work()
  await tune({ max_lease_ttl: "1000h" })
}

describe("sign-intermediate:", () => {
  const intermediate = async (body: object = {}, path = "root/sign-intermediate", request: RequestToMake = {}) =>
    signed(path, { csr: await csrOf(request), common_name: "Sub CA", ttl: "24h", ...body })

  test("[P-4.8-r1] [P-4.8-r2] [P-4.8-p2] the default issuer signs, or the selected one, without a lease", async () => {
    const byDefault = await intermediate()
    expect(byDefault.certificate.issuer).toBe("CN=EC Root")
    expect(byDefault).toMatchObject({ lease_id: "", lease_duration: 0, renewable: false })
    expect(byDefault.data).toEqual({
      not_before: String(byDefault.certificate.notBefore / 1_000),
      expiration: String(byDefault.certificate.notAfter / 1_000),
      certificate: expect.any(String),
      issuing_ca: expect.any(String),
      ca_chain: [byDefault.data.certificate, byDefault.data.issuing_ca],
      serial_number: expect.any(String),
    })
    expect((await intermediate({}, "issuer/rsa/sign-intermediate")).certificate.issuer).toBe("CN=RSA Root")
    expect((await world.pki("GET", `/pki/cert/${byDefault.data.serial_number}`)).status).toBe(200)
  })

  test("[P-4.8-p1] the certificate is a CA with the issuer's URLs, ignores the CSR's subject, and ends with its issuer", async () => {
    const { settings } = world.engine.pki("pki")
    await settings.changeUrls({
      issuingCertificates: ["http://pki.example/ca"],
      crlDistributionPoints: ["http://pki.example/crl"],
    })
    const { certificate, data, warnings } = await intermediate({ ttl: "999h" }, "root/sign-intermediate", {
      extensions: [subjectAltName([{ kind: "dns", value: "csr.example" }], { critical: false })],
    })
    expect(certificate.values.basicConstraints).toEqual({ isCa: true })
    expect(certificate.values.keyUsage).toEqual(expect.arrayContaining(["keyCertSign", "cRLSign"]))
    expect(certificate.values.crlDistributionPoints).toEqual([["http://pki.example/crl"]])
    expect(certificate.names.filter((name: string) => name.includes("csr"))).toEqual([])
    const issuer = new X509Certificate((await world.pki("GET", "/pki/cert/ca")).body.data.certificate)
    expect(certificate.notAfter).toBe(issuer.validToDate.getTime())
    expect(warnings).not.toBe("")
    expect(verifiesStrictly(data.certificate, data.issuing_ca)).toBe(true)
    await settings.changeUrls({ issuingCertificates: [], crlDistributionPoints: [] })
  })

  test("[P-4.8-r3] [P-4.8-r4] a CSR and a common name are required", async () => {
    expect(await refused("root/sign-intermediate", { common_name: "Sub CA" })).toEqual([
      expect.stringContaining('"csr" is empty'),
    ])
    expect(await refused("root/sign-intermediate", { csr: await csrOf() })).toEqual([
      expect.stringContaining("common_name"),
    ])
  })

  describe("[F-P18] without a common_name", () => {
    const organization = { organization: "Example", country: "CH" }
    const spiffe = { uri_sans: "spiffe://example.com" }
    const nameless: RequestToMake = { subject: [] }
    const cases: { why: string; body: object; request?: RequestToMake; subject: string; names: string[] }[] = [
      {
        why: "an organization, a country and a URI, as SPIRE sends them,",
        body: { ...organization, ...spiffe, common_name: "" },
        request: nameless,
        subject: "C=CH,O=Example",
        names: ["uri:spiffe://example.com"],
      },
      { why: "an organization", body: organization, request: nameless, subject: "C=CH,O=Example", names: [] },
      { why: "the CSR's common name", body: organization, subject: "CN=From CSR,C=CH,O=Example", names: [] },
      {
        why: "the CSR's common name, a host name,",
        body: {},
        request: { subject: commonName("sub.example.com") },
        subject: "CN=sub.example.com",
        names: ["dns:sub.example.com"],
      },
    ]
    const askAsVault = (path: string, body: object) =>
      world.pki("POST", `/pki/${path}`, { body, headers: { "x-vault-request": "true" } })

    test.each(
      ["root/sign-intermediate", "issuer/ec/sign-intermediate"].flatMap((path) =>
        cases.map((one) => ({ path, ...one })),
      ),
    )("$why name an intermediate at $path in the vault dialect", async ({ path, body, request, subject, names }) => {
      const answer = await askAsVault(path, { csr: await csrOf(request), ttl: "24h", ...body })
      expect(answer.body.errors ?? []).toEqual([])
      const certificate = readIssued(answer.body.data.certificate)
      const [parts, expected] = [certificate.subject, subject].map((text) => text.split(",").toSorted())
      expect([parts, certificate.names]).toEqual([expected, names])
      expect(verifiesStrictly(answer.body.data.certificate, answer.body.data.issuing_ca)).toBe(true)
    })

    test.each(cases)("$why are rejected in the native dialect", async ({ body, request }) => {
      expect(await refused("root/sign-intermediate", { csr: await csrOf(request), ttl: "24h", ...body })).toEqual([
        '"common_name" is required unless "use_csr_values" is true',
      ])
    })

    test("a CSR with two common names is rejected", async () => {
      const csr = await csrOf({ subject: [...commonName("one"), ...commonName("two")] })
      const answer = await askAsVault("root/sign-intermediate", { csr, ...organization })
      expect([answer.status, answer.body.errors]).toEqual([400, ["csr: the CSR contains more than one common name"]])
    })

    test.each([{}, spiffe])("%o is rejected, because a CA requires a subject", async (body) => {
      const answer = await askAsVault("root/sign-intermediate", { csr: await csrOf(nameless), ...body })
      expect([answer.status, answer.body.errors]).toEqual([
        400,
        [expect.stringMatching(/^a CA certificate must have a subject/)],
      ])
    })

    test.each([
      { path: "sign/free", subject: "" },
      { path: "issuer/ec/sign/free", subject: "" },
      { path: "sign-verbatim", subject: "" },
      { path: "issuer/ec/sign-verbatim", subject: "" },
      { path: "sign-verbatim/free", subject: "" },
    ])("a CSR with only a URI is signed at $path in the vault dialect", async ({ path, subject }) => {
      const role = { require_cn: false, allow_any_name: true, allowed_uri_sans: "*", key_type: "any" }
      await world.pki("POST", "/pki/roles/free", { body: role })
      const extensions = [subjectAltName([{ kind: "uri", value: "spiffe://example.com" }], { critical: false })]
      const { body } = await askAsVault(path, { csr: await csrOf({ subject: [], extensions }) })
      expect(body.errors ?? []).toEqual([])
      expect(readIssued(body.data.certificate)).toMatchObject({ subject, names: ["uri:spiffe://example.com"] })
    })
  })

  test("[P-4.8-r5] [P-4.8-r9] names of every kind are used, including the common name unless it is excluded", async () => {
    const names = {
      alt_names: "ca.example.com,ca@example.com",
      ip_sans: "192.0.2.1",
      uri_sans: "https://ca.example/",
      other_sans: "1.2.3.4;UTF8:x",
    }
    const { certificate } = await intermediate({ ...names, common_name: "sub.example.com" })
    const others = [
      "dns:ca.example.com",
      "email:ca@example.com",
      "ip:c0000201",
      "uri:https://ca.example/",
      "other:1.2.3.4;x",
    ]
    expect(certificate.names).toEqual(expect.arrayContaining(["dns:sub.example.com", ...others]))
    const without = await intermediate({ ...names, common_name: "sub.example.com", exclude_cn_from_sans: true })
    expect(without.certificate.names.toSorted()).toEqual(others.toSorted())
  })

  test("[P-4.8-r6] [F-P12] the lifetime is limited by the mount, and may exceed the issuer's on request", async () => {
    expect(lifetimeSeconds((await intermediate({ ttl: "48h" })).certificate)).toBe(48 * 3_600 + 30)
    const backdated = await intermediate({ ttl: "48h", not_before_duration: "60s" })
    expect(lifetimeSeconds(backdated.certificate)).toBe(48 * 3_600 + 60)
    const { certificate, data } = await intermediate({ ttl: "999h" })
    expect(certificate.notAfter).toBe(readIssued(data.issuing_ca).notAfter)
    await maxWith("800h", async () => {
      const { certificate, warnings } = await intermediate({ ttl: "801h" })
      expect(lifetimeSeconds(certificate)).toBe(800 * 3_600 + 30)
      expect(warnings).toBe('TTL "801h" is longer than permitted maxTTL "800h", so maxTTL is being used')
    })
  })

  test("[P-4.8-r7] the format is PEM, DER or a bundle without the root", async () => {
    const der = await ask("root/sign-intermediate", { csr: await csrOf(), common_name: "Sub CA", format: "der" })
    expect(new X509Certificate(Buffer.from(der.body.data.certificate, "base64")).ca).toBe(true)
    const bundle = await ask("root/sign-intermediate", {
      csr: await csrOf(),
      common_name: "Sub CA",
      format: "pem_bundle",
    })
    expect(bundle.body.data.certificate.match(/BEGIN CERTIFICATE/g)).toHaveLength(1)
  })

  test.each([
    { issuer: "ec", asked: -1, given: undefined, why: "no limit where the signer has none" },
    { issuer: "ec", asked: 0, given: 0, why: "zero is zero" },
    { issuer: "ec", asked: 3, given: 3, why: "any number" },
    { issuer: "short", asked: -1, given: 1, why: "one less than the signer's" },
    { issuer: "short", asked: 0, given: 0, why: "below the signer's" },
  ])("[P-4.8-r8] [P-8-r4] a path length of $asked under $issuer is $given: $why", async ({ issuer, asked, given }) => {
    const { certificate } = await intermediate({ max_path_length: asked }, `issuer/${issuer}/sign-intermediate`)
    expect(certificate.values.basicConstraints?.maxPathLength).toBe(given)
  })

  test("a path length beyond the signer's is rejected", async () => {
    const body = { csr: await csrOf(), common_name: "Sub CA" }
    expect(await refused("issuer/short/sign-intermediate", { ...body, max_path_length: 2 })).toEqual([
      expect.stringContaining("max_path_length"),
    ])
    expect(await refused("issuer/last/sign-intermediate", body)).toEqual([
      expect.stringContaining("max path length of zero"),
    ])
  })

  test("[P-4.8-r10] use_csr_values uses the subject, names, usages and extensions of the CSR", async () => {
    const { certificate } = await intermediate(
      { use_csr_values: true, alt_names: "ignored.example" },
      "root/sign-intermediate",
      {
        extensions: [
          subjectAltName([{ kind: "dns", value: "csr.example" }], { critical: false }),
          keyUsage(["dataEncipherment"]),
          extendedKeyUsage([oids.clientAuth]),
        ],
      },
    )
    expect(certificate).toMatchObject({ subject: "CN=From CSR", names: ["dns:csr.example"] })
    expect(certificate.values.keyUsage).toEqual(expect.arrayContaining(["dataEncipherment", "keyCertSign", "cRLSign"]))
    expect(certificate.values.extendedKeyUsage).toEqual([oids.clientAuth])
  })

  test("[P-4.8-r11] permitted_dns_domains adds name constraints, from an array or a string", async () => {
    for (const permitted_dns_domains of [".example.com,example.org", [".example.com", "example.org"]]) {
      const { certificate } = await intermediate({ permitted_dns_domains })
      expect(certificate.values.nameConstraints?.permitted).toEqual([
        expect.objectContaining({ kind: "dns", value: ".example.com" }),
        expect.objectContaining({ kind: "dns", value: "example.org" }),
      ])
    }
  })

  test("[P-4.8-r12] [P-4.8-r13] the subject contains all given values", async () => {
    const { certificate, data } = await intermediate({
      ou: ["Ops", "Security"],
      organization: "Example",
      country: "CH",
      locality: "Bern",
      province: "BE",
      street_address: "Street 1",
      postal_code: "3000",
      serial_number: "42",
    })
    for (const part of [
      "OU=Ops",
      "OU=Security",
      "O=Example",
      "C=CH",
      "L=Bern",
      "ST=BE",
      "STREET=Street 1",
      "CN=Sub CA",
    ])
      expect(certificate.subject).toContain(part)
    expect(certificate.subject).toMatch(/(serialNumber|2\.5\.4\.5|SERIALNUMBER)=.*42/i)
    expect(certificate.subject).toMatch(/(postalCode|2\.5\.4\.17)=.*3000/i)
    expect(data.serial_number.length).toBeGreaterThan(40)
  })

  test("[P-4.8-r15] not_after is used as it is", async () => {
    const end = new Date(Date.now() + 432_000_000).toISOString().replace(/\.\d+Z$/, "Z")
    expect((await intermediate({ not_after: end, ttl: "" })).certificate.notAfter).toBe(Date.parse(end))
  })

  test.each([
    { issuer: "rsa", bits: 0, pss: false, algorithm: "SHA256WithRSA" },
    { issuer: "rsa", bits: 384, pss: false, algorithm: "SHA384WithRSA" },
    { issuer: "rsa", bits: 512, pss: true, algorithm: "SHA512WithRSAPSS" },
    { issuer: "ec", bits: 512, pss: true, algorithm: "ECDSAWithSHA256" },
  ])(
    "[P-4.8-r16] [P-4.8-r18] $issuer signs with $algorithm for $bits bits",
    async ({ issuer, bits, pss, algorithm }) => {
      const { certificate } = await intermediate(
        { signature_bits: bits, use_pss: pss },
        `issuer/${issuer}/sign-intermediate`,
      )
      expect(certificate.signatureAlgorithm).toBe(algorithm)
    },
  )

  test("[P-4.8-r17] the key identifier is the given one, or computed", async () => {
    const given = (await intermediate({ skid: "01:02:0A" })).certificate
    expect(Buffer.from(given.values.subjectKeyIdentifier ?? [])).toEqual(Buffer.from([1, 2, 10]))
    const own = (await intermediate()).certificate
    expect(Buffer.from(own.values.subjectKeyIdentifier ?? [])).toEqual(
      Buffer.from(subjectKeyIdentifier(readPublicKey(own.publicKey))),
    )
  })
})

describe("sign-self-issued:", () => {
  const endingBeforeItBegins = (pem: string) => {
    const read = parseCertificate(readCertificatePem(pem))
    const turned = encodeTbsCertificate({ ...read, notBefore: read.notAfter, notAfter: read.notBefore })
    return writePem("CERTIFICATE", assembleCertificate(turned, read.signatureAlgorithm, read.signature))
  }

  const selfIssued = async () => {
    const { body } = await world.pki("GET", "/pki/cert/ca")
    return body.data.certificate as string
  }

  test("[P-4.10-r1] [P-4.10-r2] [P-4.10-p1] [P-2.2-p1] only the issuer, its key identifier and its lists change", async () => {
    const certificate = await selfIssued()
    const before = readIssued(certificate)
    for (const [path, issuer] of [
      ["root/sign-self-issued", "EC"],
      ["issuer/rsa/sign-self-issued", "RSA"],
    ] as const) {
      const { data, certificate: after, ...envelope } = await signed(path, { certificate })
      expect(Object.keys(data)).toEqual(["certificate", "issuing_ca"])
      expect(envelope).toMatchObject({ lease_id: "", lease_duration: 0, renewable: false, auth: null })
      expect(after).toMatchObject({
        subject: before.subject,
        issuer: `CN=${issuer} Root`,
        notBefore: before.notBefore,
        notAfter: before.notAfter,
      })
      const { authorityKeyIdentifier: _before, ...kept } = before.values
      const { authorityKeyIdentifier: named, ...stayed } = after.values
      expect(stayed).toEqual(kept)
      const ca = readIssued(data.issuing_ca)
      expect(named?.keyIdentifier).toEqual(ca.values.subjectKeyIdentifier)
      const [old, crossed] = [new X509Certificate(certificate), new X509Certificate(data.certificate)]
      expect(crossed.serialNumber).toBe(old.serialNumber)
      expect(crossed.publicKey.equals(old.publicKey)).toBe(true)
      expect(crossed.verify(new X509Certificate(data.issuing_ca).publicKey)).toBe(true)
    }
  })

  test("anything but one self-issued CA certificate is rejected", async () => {
    const { data: leaf } = await signed("sign-verbatim", { csr: await csrOf() })
    const { data: below } = await signed("root/sign-intermediate", { csr: await csrOf(), common_name: "Sub CA" })
    const root = await selfIssued()
    for (const [certificate, detail] of [
      [leaf.certificate, "given certificate is not a CA certificate"],
      [below.certificate, "given certificate is not self-issued"],
      [endingBeforeItBegins(root), "given certificate has a notAfter before its notBefore"],
      [`${root}\n${root}`, "2 certificates found in PEM file, expected 1"],
    ])
      expect(await refused("issuer/ec/sign-self-issued", { certificate })).toEqual([expect.stringContaining(detail)])
  })

  test("a certificate that is signed with SHA-1 is rejected", async () => {
    const folder = mkdtempSync(join(tmpdir(), "chancery-sha1-"))
    const rsa = ["-newkey", "rsa:2048", "-nodes", "-keyout", join(folder, "k.pem"), "-out", join(folder, "c.pem")]
    execFileSync("openssl", ["req", "-x509", "-sha1", ...rsa, "-subj", "/CN=Old Root"], { stdio: "ignore" })
    const certificate = readFileSync(join(folder, "c.pem"), "utf8")
    rmSync(folder, { recursive: true })
    expect(await refused("root/sign-self-issued", { certificate })).toEqual([
      expect.stringMatching(/SHA-?1|1\.2\.840\.113549\.1\.1\.5/i),
    ])
  })

  test("require_matching_certificate_algorithms requires matching algorithms", async () => {
    const body = { certificate: await selfIssued(), require_matching_certificate_algorithms: true }
    expect((await ask("root/sign-self-issued", body)).status).toBe(200)
    expect(await refused("issuer/rsa/sign-self-issued", body)).toEqual([expect.stringContaining("algorithm")])
    expect(
      await refused("root/sign-self-issued", { certificate: writePem("CERTIFICATE", Uint8Array.of(0x30, 0)) }),
    ).toHaveLength(1)
  })
})

describe("sign-verbatim:", () => {
  const verbatim = async (body: object = {}, path = "sign-verbatim", request: RequestToMake = {}) =>
    signed(path, { csr: await csrOf(request), ...body })

  test("[P-4.11-r1] [P-4.11-r2] [P-4.11-r3] [P-4.11-p2] the default issuer signs, or the selected one", async () => {
    const { data, certificate, lease_id, lease_duration } = await verbatim({ ttl: "1h" })
    expect(Object.keys(data).toSorted()).toEqual(["ca_chain", "certificate", "issuing_ca", "serial_number"])
    expect(certificate.issuer).toBe("CN=EC Root")
    expect({ lease_duration }).toEqual({ lease_duration: 3_600 })
    expect(lease_id).toMatch(/^pki\/sign-verbatim\/[0-9a-f-]{36}$/)
    expect((await verbatim({}, "issuer/rsa/sign-verbatim")).certificate.issuer).toBe("CN=RSA Root")
    expect((await verbatim({}, "issuer/rsa/sign-verbatim/keeping")).certificate.issuer).toBe("CN=RSA Root")
  })

  test("[P-4.11-p1] [P-4.11-r5] [P-7-n5] all values are the CSR's, but intermediate CAs are rejected", async () => {
    // The TLS Feature extension, which the engine does not interpret.
    const feature = { oid: "1.3.6.1.5.5.7.1.24", critical: false, value: Uint8Array.of(0x30, 3, 2, 1, 5) }
    const { certificate, data } = await verbatim({}, "sign-verbatim", {
      subject: [...commonName("any name at all"), [{ type: oids.organizationName, value: "Elsewhere" }]],
      extensions: [
        subjectAltName(
          [
            { kind: "dns", value: "x.test" },
            { kind: "uri", value: "urn:x" },
          ],
          { critical: false },
        ),
        keyUsage(["contentCommitment"]),
        extendedKeyUsage([oids.timeStamping]),
        feature,
      ],
    })
    const { extensions } = parseCertificate(readCertificatePem(data.certificate))
    expect(extensions.find(({ oid }) => oid === feature.oid)).toEqual(feature)
    expect(certificate).toMatchObject({ subject: "O=Elsewhere,CN=any name at all", names: ["dns:x.test", "uri:urn:x"] })
    expect(certificate.values).toMatchObject({ keyUsage: ["contentCommitment"], extendedKeyUsage: [oids.timeStamping] })
    expect(certificate.values.basicConstraints).toBeUndefined()
    for (const extension of [basicConstraints({ isCa: true }), keyUsage(["keyCertSign"])]) {
      const ca = await csrOf({ extensions: [extension] })
      expect(await refused("sign-verbatim", { csr: ca })).toEqual([expect.stringContaining("intermediate CA")])
    }
    expect(await refused("sign-verbatim", {})).toEqual([expect.stringContaining('"csr" is empty')])
  })

  test("[P-4.11-r4] a role provides its lifetimes, issuer and storage settings", async () => {
    const { certificate, data } = await verbatim({}, "sign-verbatim/lent")
    expect(certificate.issuer).toBe("CN=Short Root")
    expect(lifetimeSeconds(certificate)).toBe(2 * 3_600 + 90)
    expect((await world.pki("GET", `/pki/cert/${data.serial_number}`)).status).toBe(404)
    const cut = await verbatim({ ttl: "4h" }, "sign-verbatim/lent")
    expect(lifetimeSeconds(cut.certificate)).toBe(3 * 3_600 + 90)
    expect(await refused("sign-verbatim/none", { csr: await csrOf() })).toEqual(["unknown role: none"])
  })

  test("[P-4.11-r6] key usages are defaults for a CSR without any", async () => {
    expect((await verbatim()).certificate.values.keyUsage).toEqual(["digitalSignature", "keyAgreement"])
    expect(
      (await verbatim({ key_usage: "DATAencipherment" }, "sign-verbatim", { algorithm: { type: "rsa", bits: 2048 } }))
        .certificate.values.keyUsage,
    ).toEqual(["dataEncipherment"])
    expect((await verbatim({ key_usage: [] })).certificate.values.keyUsage).toBeUndefined()
    const own = { extensions: [keyUsage(["keyEncipherment"])] }
    expect(
      (await verbatim({ key_usage: ["DigitalSignature"] }, "sign-verbatim", own)).certificate.values.keyUsage,
    ).toEqual(["keyEncipherment"])
  })

  test("[P-4.11-r7] [P-4.11-r8] extended key usages are defaults for a CSR without any", async () => {
    const asked = { ext_key_usage: ["ServerAuth", "clientauth"], ext_key_usage_oids: "1.2.3.4,1.2.3.5" }
    expect((await verbatim()).certificate.values.extendedKeyUsage).toBeUndefined()
    expect((await verbatim(asked)).certificate.values.extendedKeyUsage).toEqual([
      oids.serverAuth,
      oids.clientAuth,
      "1.2.3.4",
      "1.2.3.5",
    ])
    const own = { extensions: [extendedKeyUsage([oids.emailProtection])] }
    expect((await verbatim(asked, "sign-verbatim", own)).certificate.values.extendedKeyUsage).toEqual([
      oids.emailProtection,
    ])
  })

  test("[P-4.11-r10] [F-P12] the lifetime is the requested one or the mount's default, up to its maximum", async () => {
    expect(lifetimeSeconds((await verbatim({ ttl: "5h" })).certificate)).toBe(5 * 3_600 + 30)
    expect(lifetimeSeconds((await verbatim()).certificate)).toBe(768 * 3_600 + 30)
    await maxWith("800h", async () => {
      const { certificate, warnings } = await verbatim({ ttl: "801h" })
      expect(lifetimeSeconds(certificate)).toBe(800 * 3_600 + 30)
      expect(warnings).toBe('TTL "801h" is longer than permitted maxTTL "800h", so maxTTL is being used')
    })
  })

  test("[P-4.11-r11] [P-4.11-r15] the format is that of issue, and roots can be omitted", async () => {
    const { body } = await ask("sign-verbatim", { csr: await csrOf(), format: "der", remove_roots_from_chain: true })
    expect(new X509Certificate(Buffer.from(body.data.certificate, "base64")).subject).toBe("CN=From CSR")
    expect(body.data.ca_chain).toEqual([])
  })

  test("[P-4.11-r12] not_after is used as it is, or truncated to the issuer's with a warning", async () => {
    const end = new Date(Date.now() + 432_000_000).toISOString().replace(/\.\d+Z$/, "Z")
    expect((await verbatim({ not_after: end })).certificate.notAfter).toBe(Date.parse(end))
    const { certificate, data, warnings } = await verbatim({ not_after: "9999-12-31T23:59:59Z" })
    expect(certificate.notAfter).toBe(readIssued(data.issuing_ca).notAfter)
    expect(warnings).not.toBe("")
  })

  test("[P-4.11-r13] [P-4.11-r14] only RSA issuers use signature_bits and use_pss", async () => {
    const body = { signature_bits: 384, use_pss: true }
    expect((await verbatim(body, "issuer/rsa/sign-verbatim")).certificate.signatureAlgorithm).toBe("SHA384WithRSAPSS")
    expect((await verbatim(body)).certificate.signatureAlgorithm).toBe("ECDSAWithSHA256")
    expect(await refused("sign-verbatim", { csr: await csrOf(), signature_bits: 100 })).toHaveLength(1)
  })

  test("[P-4.11-r16] user_ids are not restricted", async () => {
    expect((await verbatim({ user_ids: "alice,bob" })).certificate.subject).toBe("UID=bob,UID=alice,CN=From CSR")
  })

  test("[P-4.11-r17] cert_metadata requires a role that stores it", async () => {
    const { data } = await verbatim({ cert_metadata: "bm90ZQ==" }, "sign-verbatim/keeping")
    expect((await world.pki("GET", `/pki/cert-metadata/${data.serial_number}`)).body.data.cert_metadata).toBe(
      "bm90ZQ==",
    )
    for (const path of ["sign-verbatim", "sign-verbatim/lent"])
      expect(await refused(path, { csr: await csrOf(), cert_metadata: "bm90ZQ==" })).toEqual([
        expect.stringContaining("cert_metadata"),
      ])
  })
})
