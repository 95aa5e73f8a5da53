import { describe, expect, test } from "vitest"
import { dayMs } from "../../core/time.ts"
import { foreignRoot, issuingMount } from "../../../testing/issuing-mount.ts"
import { openssl, verifiesStrictly } from "../../../testing/openssl.ts"
import { allKeyAlgorithms, testRsaPem } from "../../../testing/test-keys.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { parseCertificationRequest } from "../../x509/certification-request.ts"
import { parseExtensionValues } from "../../x509/extensions.ts"
import { formatName } from "../../x509/name.ts"
import { writePem } from "../../x509/pem.ts"
import type { ServedPki } from "../mounts/pki.ts"

const pem = (der: Uint8Array) => writePem("CERTIFICATE", der)
const read = (der: Uint8Array) => {
  const certificate = parseCertificate(der)
  return { ...certificate, values: parseExtensionValues(certificate.extensions) }
}
const ec = { keyType: "ec" } as const

describe("a root", () => {
  test.each(
    allKeyAlgorithms
      .filter(({ type }) => type !== "rsa")
      .map((key) => ({ type: key.type, bits: "bits" in key ? key.bits : 0 })),
  )("of $type $bits is a CA that openssl accepts in strict mode", async ({ type, bits }) => {
    await using mount = await issuingMount()
    const root = await mount.pki.issuers.generateRoot({ commonName: "Root", keyType: type, keyBits: bits })
    expect(verifiesStrictly(pem(root.certificate), pem(root.certificate))).toBe(true)
    expect(read(root.certificate).values).toMatchObject({
      basicConstraints: { isCa: true },
      keyUsage: ["digitalSignature", "keyCertSign", "cRLSign"],
    })
  })

  test("has all requested values", async () => {
    await using mount = await issuingMount()
    const root = await mount.pki.issuers.generateRoot({
      ...ec,
      commonName: "ca.example.com",
      organization: ["Example"],
      ou: ["PKI", "Roots"],
      country: ["CH"],
      serialNumber: "42",
      altNames: ["ca2.example.com", "pki@example.com"],
      ipSans: ["192.0.2.1"],
      uriSans: ["https://ca.example.com/"],
      otherSans: ["1.3.6.1.4.1.311.20.2.3;UTF8:ca"],
      ttlMs: 365 * dayMs,
      notBeforeDurationMs: 3_600_000,
      maxPathLength: 2,
      permittedDnsDomains: [".example.com", "example.org"],
      excludedDnsDomains: ["secret.example.com"],
      permittedIpRanges: ["192.0.2.0/24"],
      excludedIpRanges: ["2001:db8::/32"],
      permittedEmailAddresses: ["example.com", "me@example.org"],
      excludedEmailAddresses: [".example.com"],
      permittedUriDomains: [".example.com"],
      excludedUriDomains: ["secret.example.com"],
      keyUsage: ["CertSign", "CRLSign", "ContentCommitment", "KeyEncipherment"],
      skid: "0A:0b:0c",
    })
    const { values, subjectName, notBefore, notAfter } = read(root.certificate)
    expect(formatName(subjectName)).toBe("serialNumber=42,CN=ca.example.com,OU=Roots,OU=PKI,O=Example,C=CH")
    expect(notAfter - notBefore).toBe(365 * dayMs + 3_600_000 - 1_000)
    expect(root.notAfter).toBe(notAfter)
    expect(values).toMatchObject({
      basicConstraints: { isCa: true, maxPathLength: 2 },
      keyUsage: ["digitalSignature", "contentCommitment", "keyCertSign", "cRLSign"],
      subjectKeyIdentifier: Uint8Array.of(10, 11, 12),
      authorityKeyIdentifier: { keyIdentifier: Uint8Array.of(10, 11, 12) },
      subjectAltName: [
        { kind: "dns", value: "ca.example.com" },
        { kind: "dns", value: "ca2.example.com" },
        { kind: "email", value: "pki@example.com" },
        { kind: "ip", octets: Uint8Array.of(192, 0, 2, 1) },
        { kind: "uri", value: "https://ca.example.com/" },
        { kind: "other", oid: "1.3.6.1.4.1.311.20.2.3", value: "ca" },
      ],
    })
    const constraints = openssl(["x509", "-noout", "-ext", "nameConstraints"].concat("-in", "c.pem"), {
      "c.pem": pem(root.certificate),
    })
    expect(constraints.split("\n").map((line) => line.trim())).toEqual([
      "X509v3 Name Constraints: critical",
      "Permitted:",
      "DNS:.example.com",
      "DNS:example.org",
      "email:example.com",
      "email:me@example.org",
      "IP:192.0.2.0/255.255.255.0",
      "URI:.example.com",
      "Excluded:",
      "DNS:secret.example.com",
      "email:.example.com",
      "IP:2001:DB8:0:0:0:0:0:0/FFFF:FFFF:0:0:0:0:0:0",
      "URI:secret.example.com",
      "",
    ])
    expect(verifiesStrictly(pem(root.certificate), pem(root.certificate))).toBe(true)
  })

  test("stores its key, or returns it once", async () => {
    await using mount = await issuingMount()
    const internal = await mount.pki.issuers.generateRoot({ ...ec, commonName: "Kept" })
    expect(internal.privateKey).toBeUndefined()
    const exported = await mount.pki.issuers.generateRoot({
      ...ec,
      commonName: "Given",
      keySource: "exported",
      keyName: "k",
    })
    expect(exported).toMatchObject({ keyName: "k" })
    expect(exported.privateKey?.publicKey.spki).toEqual(read(exported.certificate).subjectPublicKeyInfo)
  })

  test("uses an existing key by its name or as the default", async () => {
    await using mount = await issuingMount()
    const { issuers } = mount.pki
    const first = await issuers.generateRoot({ ...ec, commonName: "First", keyName: "shared" })
    const second = await issuers.generateRoot({ commonName: "Second", keySource: "existing", keyRef: "shared" })
    const third = await issuers.generateRoot({ commonName: "Third", keySource: "existing" })
    expect([second.keyId, third.keyId, second.privateKey]).toEqual([first.keyId, first.keyId, undefined])
    expect(read(third.certificate).subjectPublicKeyInfo).toEqual(read(first.certificate).subjectPublicKeyInfo)
  })

  test("becomes the default when there was none or when the default follows the latest issuer", async () => {
    await using mount = await issuingMount()
    const { issuers, settings } = mount.pki
    const first = await issuers.generateRoot({ ...ec, commonName: "First" })
    expect((await settings.issuers()).default).toBe(first.issuerId)
    expect(await settings.keys()).toEqual({ default: first.keyId })
    await issuers.generateRoot({ ...ec, commonName: "Second" })
    expect((await settings.issuers()).default).toBe(first.issuerId)
    await settings.changeIssuers({ defaultFollowsLatestIssuer: true })
    const third = await issuers.generateRoot({ ...ec, commonName: "Third" })
    expect((await settings.issuers()).default).toBe(third.issuerId)
    expect(third.warnings).toContainEqual(expect.stringContaining(`it was ${first.issuerId}`))
  })

  test("that is rotated is named next, and becomes the default on root/replace", async () => {
    await using mount = await issuingMount()
    const { issuers, settings } = mount.pki
    const old = await issuers.generateRoot({ ...ec, commonName: "Old" })
    const next = await issuers.generateRoot({ ...ec, commonName: "New" }, "root/rotate")
    expect(next.issuerName).toBe("next")
    expect((await settings.issuers()).default).toBe(old.issuerId)
    expect((await settings.replaceRoot()).value.default).toBe(next.issuerId)
    expect((await settings.replaceRoot(old.issuerId)).value.default).toBe(old.issuerId)
  })

  test("has the URLs of its mount, or a warning when there are none", async () => {
    await using mount = await issuingMount()
    const { issuers, settings } = mount.pki
    const bare = await issuers.generateRoot({ ...ec, commonName: "Bare" })
    expect(bare.warnings).toEqual([expect.stringContaining("config/urls")])
    await settings.changeCluster({ path: "https://pki.example.com/v1/pki/", aiaPath: "http://aia.example.com" })
    await settings.changeUrls({
      issuingCertificates: ["{{cluster_aia_path}}/issuer/{{issuer_id}}/der"],
      crlDistributionPoints: ["{{cluster_aia_path}}/issuer/{{issuer_id}}/crl/der"],
      ocspServers: ["{{cluster_path}}/ocsp"],
      enableTemplating: true,
    })
    const root = await issuers.generateRoot({ ...ec, commonName: "Root" })
    expect(root.warnings).toEqual([])
    expect(read(root.certificate).values).toMatchObject({
      authorityInfoAccess: {
        issuingCertificates: [`http://aia.example.com/issuer/${root.issuerId}/der`],
        ocspServers: ["https://pki.example.com/v1/pki/ocsp"],
      },
      crlDistributionPoints: [[`http://aia.example.com/issuer/${root.issuerId}/crl/der`]],
    })
  })

  test("cannot issue intermediates when its path length is zero, with a warning", async () => {
    await using mount = await issuingMount()
    const root = await mount.pki.issuers.generateRoot({ ...ec, commonName: "Root", maxPathLength: 0 })
    expect(root.warnings).toContainEqual(expect.stringMatching(/max path length/i))
    expect(read(root.certificate).values.basicConstraints).toEqual({ isCa: true, maxPathLength: 0 })
  })

  test.each([
    ["nothing", {}, ["commonName"]],
    [
      "a subject that no certificate can hold",
      { commonName: "x".repeat(65), country: ["CHE"] },
      ["country", "commonName"],
    ],
    ["invalid names", { commonName: "Root", altNames: ["a b"], ipSans: ["1.2.3"] }, ["altNames", "ipSans"]],
    [
      "malformed name constraints",
      {
        commonName: "Root",
        permittedDnsDomains: ["a b"],
        excludedIpRanges: ["10.0.0.1"],
        permittedEmailAddresses: ["@"],
        excludedUriDomains: ["https://x"],
      },
      ["permittedDnsDomains", "permittedEmailAddresses", "excludedIpRanges", "excludedUriDomains"],
    ],
    ["a path length below -1", { commonName: "Root", maxPathLength: -2 }, ["maxPathLength"]],
    ["a key identifier that is not hexadecimal", { commonName: "Root", skid: "xyz" }, ["skid"]],
    ["unknown signature bits", { commonName: "Root", signatureBits: 224 }, ["signatureBits"]],
    ["an unknown key type", { commonName: "Root", keyType: "dsa" }, ["keyType"]],
    ["a weak key", { commonName: "Root", keyType: "rsa", keyBits: 1024 }, ["keyBits"]],
    ["a negative ttl", { commonName: "Root", ttlMs: -dayMs }, ["ttlMs"]],
    ["ttl and not_after", { commonName: "Root", ttlMs: dayMs, notAfter: 4e12 }, ["notAfter"]],
    ["a reserved name", { commonName: "Root", issuerName: "default", keyName: "default" }, ["keyName", "issuerName"]],
    ["a managed key", { commonName: "Root", keySource: "kms" }, ["keySource"]],
    [
      "a key type for an existing key",
      { commonName: "Root", keySource: "existing", keyType: "ec", keyBits: 256 },
      ["keyType", "keyBits"],
    ],
  ] as const)("is rejected with %s, and nothing is stored", async (_why, input, fields) => {
    await using mount = await issuingMount()
    const refused = mount.pki.issuers.generateRoot({ ...input })
    await expect(refused).rejects.toMatchObject({
      code: "invalid",
      faults: fields.map((field) => ({ field: [field] })),
    })
    expect((await mount.pki.settings.issuers()).default).toBeNull()
  })

  test("uses a name once", async () => {
    await using mount = await issuingMount()
    const { issuers } = mount.pki
    const { issuerId, keyId } = await issuers.generateRoot({
      ...ec,
      commonName: "A",
      issuerName: "root",
      keyName: "key",
    })
    for (const [input, field] of [
      [{ issuerName: "root" }, "issuerName"],
      [{ issuerName: issuerId }, "issuerName"],
      [{ keyName: "key" }, "keyName"],
      [{ keyName: keyId }, "keyName"],
    ] as const)
      await expect(issuers.generateRoot({ ...ec, commonName: "B", ...input })).rejects.toMatchObject({
        faults: [{ field: [field], detail: expect.stringContaining("already in use") }],
      })
  })
})

describe("an intermediate", () => {
  test.each(["internal", "exported"] as const)(
    "is requested with a key that is %s, signed by another CA and set: it becomes the default with its chain",
    async (keySource) => {
      await using mount = await issuingMount()
      const { issuers, settings } = mount.pki
      const csrRequest = await issuers.generateIntermediate({ ...ec, commonName: "Intermediate", keySource })
      const request = parseCertificationRequest(csrRequest.csr)
      expect(formatName(request.subjectName)).toBe("CN=Intermediate")
      expect(csrRequest.privateKey === undefined).toBe(keySource === "internal")
      const csr = writePem("CERTIFICATE REQUEST", csrRequest.csr)
      openssl(["req", "-verify", "-noout", "-in", "csr.pem"], { "csr.pem": csr })
      const root = foreignRoot()
      const signed = root.sign(csr)
      const set = await issuers.import(`${root.certificate}\n${signed}`, "intermediate/set-signed")
      const [rootId, intermediateId] = set.importedIssuers
      expect(set.mapping).toEqual(
        new Map([
          [rootId, null],
          [intermediateId, csrRequest.keyId],
        ]),
      )
      expect(set.warnings).toEqual([expect.stringContaining(`issuer ${rootId} has no key`)])
      expect((await settings.issuers()).default).toBe(intermediateId)
      await mount.pki.roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: dayMs })
      const leaf = await mount.pki.certificates.issue("any", { commonName: "leaf.example.com" })
      expect(leaf.caChain).toHaveLength(2)
      expect(verifiesStrictly(pem(leaf.certificate), root.certificate, [pem(leaf.issuingCa)])).toBe(true)
    },
  )

  test("requests basic constraints and key usage only when the client does", async () => {
    await using mount = await issuingMount()
    const { issuers } = mount.pki
    const plain = await issuers.generateIntermediate({ ...ec, commonName: "CA", altNames: ["ca.example.com"] })
    expect(parseCertificationRequest(plain.csr).extensionValues).toEqual({
      subjectAltName: [
        { kind: "dns", value: "CA" },
        { kind: "dns", value: "ca.example.com" },
      ],
    })
    const full = await issuers.generateIntermediate({
      ...ec,
      commonName: "Some CA",
      addBasicConstraints: true,
      keyUsage: ["DigitalSignature"],
      maxPathLength: 0,
    })
    expect(parseCertificationRequest(full.csr).extensionValues).toEqual({
      basicConstraints: { isCa: true, maxPathLength: 0 },
      keyUsage: ["digitalSignature", "keyCertSign", "cRLSign"],
    })
  })

  test("may have an empty subject, with a warning", async () => {
    await using mount = await issuingMount()
    const request = await mount.pki.issuers.generateIntermediate(ec)
    expect(request.warnings).toEqual([expect.stringContaining("subject is empty")])
  })

  test("is cross-signed by two roots, and both chains verify", async () => {
    await using mount = await issuingMount()
    const { issuers } = mount.pki
    const [one, other] = [foreignRoot("/CN=One"), foreignRoot("/CN=Other")]
    const first = await issuers.generateIntermediate({ ...ec, commonName: "CA" })
    const signed = one.sign(writePem("CERTIFICATE REQUEST", first.csr))
    await issuers.import(signed, "intermediate/set-signed")
    const again = await issuers.generateIntermediate({ commonName: "CA" }, "intermediate/cross-sign")
    expect(again.keyId).toBe(first.keyId)
    const crossSigned = other.sign(writePem("CERTIFICATE REQUEST", again.csr))
    const set = await issuers.import(crossSigned, "intermediate/set-signed")
    expect([...set.mapping.values()]).toEqual([first.keyId])
    await mount.pki.roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: dayMs })
    const leaf = await mount.pki.certificates.issue("any", { commonName: "leaf.example.com" })
    expect(verifiesStrictly(pem(leaf.certificate), one.certificate, [signed])).toBe(true)
    expect(verifiesStrictly(pem(leaf.certificate), other.certificate, [crossSigned])).toBe(true)
  })
})

describe("importing", () => {
  const importing = async (pki: ServedPki, bundle: string) => pki.issuers.import(bundle)

  test("a bundle in any order matches keys to certificates and can be imported twice", async () => {
    await using mount = await issuingMount()
    const { key, certificate } = foreignRoot()
    const first = await importing(mount.pki, `${key}\n${certificate}`)
    expect(first).toMatchObject({
      importedIssuers: [expect.any(String)],
      importedKeys: [expect.any(String)],
      existingIssuers: [],
    })
    expect((await mount.pki.settings.issuers()).default).toBe(first.importedIssuers[0])
    expect(await importing(mount.pki, `${certificate}\n${key}\n${certificate}`)).toEqual({
      importedIssuers: [],
      importedKeys: [],
      existingIssuers: first.importedIssuers,
      existingKeys: first.importedKeys,
      mapping: first.mapping,
      warnings: [],
    })
  })

  test("certificates in a PKCS #7 bundle are imported like any others", async () => {
    await using mount = await issuingMount()
    const [one, other] = [foreignRoot("/CN=One"), foreignRoot("/CN=Other")]
    const bundled = openssl(["crl2pkcs7", "-nocrl", "-certfile", "certificates.pem"], {
      "certificates.pem": `${one.certificate}${other.certificate}`,
    })
    const { importedIssuers } = await importing(mount.pki, `${bundled}${one.key}`)
    expect(importedIssuers).toHaveLength(2)
    const single = await importing(mount.pki, `${one.certificate}${other.certificate}`)
    expect(single.existingIssuers.toSorted()).toEqual(importedIssuers.toSorted())
    await expect(importing(mount.pki, bundled + bundled)).rejects.toMatchObject({
      message: expect.stringContaining("2 PKCS #7 blocks; at most 1"),
    })
  })

  test("a key that is imported later is assigned to its issuer", async () => {
    await using mount = await issuingMount()
    const { key, certificate } = foreignRoot()
    const first = await importing(mount.pki, certificate)
    expect([...first.mapping.values()]).toEqual([null])
    expect((await mount.pki.settings.issuers()).default).toBeNull()
    const second = await importing(mount.pki, key)
    expect(second.importedKeys).toHaveLength(1)
    expect((await mount.pki.settings.issuers()).default).toBe(first.importedIssuers[0])
    const third = await importing(mount.pki, certificate)
    expect([...third.mapping.values()]).toEqual(second.importedKeys)
  })

  test("the usage of an issuer follows from its key usage", async () => {
    await using mount = await issuingMount()
    const root = foreignRoot()
    const request = await mount.pki.issuers.generateIntermediate({ ...ec, commonName: "Mute" })
    const signed = root.sign(
      writePem("CERTIFICATE REQUEST", request.csr),
      "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,cRLSign",
    )
    const { warnings } = await importing(mount.pki, signed)
    expect(warnings).toEqual([expect.stringContaining("does not allow issuing-certificates")])
    await mount.pki.roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: dayMs })
    await expect(mount.pki.certificates.issue("any", { commonName: "a.b" })).rejects.toMatchObject({
      message: expect.stringContaining("requested usage issuing-certificates"),
    })
  })

  const selfSigned = (args: readonly string[]) =>
    openssl([
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-keyout",
      "/dev/null",
      "-subj",
      "/CN=X",
      ...args,
    ])

  test.each<[why: string, bundle: () => string, detail: string]>([
    ["nothing", () => " \n", "parameters were empty"],
    ["a path", () => "/etc/ssl/ca.pem", "too short"],
    ["text without PEM", () => "x".repeat(100), "no PEM block"],
    [
      "a leaf certificate",
      () => selfSigned(["-addext", "basicConstraints=critical,CA:FALSE"]),
      "is not a CA certificate",
    ],
    ["a signature with SHA-1", () => selfSigned(["-sha1"]), "SHA-1"],
    [
      "a weak key",
      () => openssl(["req", "-x509", "-newkey", "rsa:1024", "-nodes", "-keyout", "/dev/null", "-subj", "/CN=X"]),
      "RSA keys < 2048 bits",
    ],
    [
      "a request",
      () => openssl(["req", "-new", "-newkey", "ed25519", "-nodes", "-keyout", "/dev/null", "-subj", "/CN=X"]),
      "only certificates and private keys",
    ],
    [
      "an encrypted key",
      () => openssl(["pkey", "-in", "k", "-aes256", "-passout", "pass:x"], { k: testRsaPem(2048) }),
      "encrypted",
    ],
    ["a CA without a name", () => selfSigned(["-subj", "/"]), "must have a subject"],
    ["a truncated certificate", () => selfSigned([]).replace(/\n.{64}\n/, "\n"), "PEM block 2"],
    [
      "a self-signed certificate with the signature of another key",
      () => {
        const der = Buffer.from(selfSigned([]).replaceAll(/-----.*-----|\s/g, ""), "base64")
        der[der.length - 1] = (der.at(-1) ?? 0) ^ 1
        return writePem("CERTIFICATE", der)
      },
      "is self-signed, but its signature does not verify",
    ],
    ["too many certificates", () => `${foreignRoot().certificate}\n`.repeat(33), "at most 32"],
    ["too many keys", () => testRsaPem(2048).repeat(17), "at most 16"],
  ])("%s is rejected, and nothing is stored", async (_why, bundle, detail) => {
    await using mount = await issuingMount()
    const { certificate } = foreignRoot()
    const text = bundle()
    const whole = text.includes("BEGIN") ? `${certificate}\n${text}` : text
    await expect(importing(mount.pki, whole)).rejects.toMatchObject({
      code: "invalid",
      faults: [{ field: ["pemBundle"], detail: expect.stringContaining(detail) }],
    })
    expect((await importing(mount.pki, certificate)).existingIssuers).toEqual([])
  })

  test.each(["issuers/import/cert", "intermediate/set-signed"] as const)("%s accepts no keys", async (endpoint) => {
    await using mount = await issuingMount()
    const { key, certificate } = foreignRoot()
    const refused = mount.pki.issuers.import(`${certificate}${key}`, endpoint)
    await expect(refused).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("private keys found"),
    })
  })

  test("an issuer with the serial number of another certificate is imported", async () => {
    await using mount = await issuingMount()
    const bundle = [
      selfSigned(["-set_serial", "7"]),
      selfSigned(["-set_serial", "7"]),
      selfSigned(["-set_serial", "0"]),
    ]
    expect((await importing(mount.pki, bundle.join(""))).importedIssuers).toHaveLength(3)
  })
})

test("RSA roots and their CSRs are signed with the requested algorithm", async () => {
  await using mount = await issuingMount()
  const { issuers } = mount.pki
  const input = { commonName: "Root", usePss: true, signatureBits: 384 }
  const root = await issuers.generateRoot(input)
  expect(verifiesStrictly(pem(root.certificate), pem(root.certificate))).toBe(true)
  const text = openssl(["x509", "-noout", "-text", "-in", "c"], { c: pem(root.certificate) })
  expect(text).toMatch(/rsassaPss[\s\S]*sha384/i)
  const { csr } = await issuers.generateIntermediate({ ...input, keySource: "existing" })
  const request = openssl(["req", "-noout", "-text", "-verify", "-in", "c"], {
    c: writePem("CERTIFICATE REQUEST", csr),
  })
  expect(request).toMatch(/rsassaPss[\s\S]*sha384/i)
})
