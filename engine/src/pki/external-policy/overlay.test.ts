import { describe, expect, test } from "vitest"
import type { EngineError } from "../../core/errors.ts"
import { dayMs } from "../../core/time.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { assembleCertificate, encodeTbsCertificate } from "../../x509/certificate.ts"
import { authorityInfoAccess, crlDistributionPoints, freshestCrl } from "../../x509/distribution-points.ts"
import type { Extension } from "../../x509/extension.ts"
import {
  authorityKeyIdentifier,
  basicConstraints,
  extendedKeyUsage,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier,
} from "../../x509/extensions.ts"
import { nameConstraints } from "../../x509/name-constraints.ts"
import { encodeName } from "../../x509/name.ts"
import { writePem } from "../../x509/pem.ts"
import { type SignatureAlgorithm, signatureAlgorithmIdentifier } from "../../x509/signature-algorithm.ts"
import { certificationPathsOf, pathUnder } from "../../../testing/certification-path.ts"
import { testKeyGenerator } from "../../../testing/test-keys.ts"
import { type OverlayTerms, overlay, readPolicyTemplate, signatureChoiceOf } from "./overlay.ts"

const { publicKey } = await testKeyGenerator.generate({ type: "ec", bits: 256 })
const { publicKey: otherKey } = await testKeyGenerator.generate({ type: "ec", bits: 256 })
const now = Date.UTC(2026, 0, 1)

const name = (commonName: string) => encodeName([[{ type: oids.commonName, value: commonName }]])
const altName = (critical = false) => subjectAltName([{ kind: "dns", value: "a.example" }], { critical })

interface Template {
  readonly extensions?: readonly Extension[]
  readonly subject?: Uint8Array
  readonly spki?: Uint8Array
  readonly algorithm?: SignatureAlgorithm | Uint8Array
}

/** Returns a certificate template without a valid signature. */
function template({
  extensions = [altName()],
  subject = name("a.example"),
  spki = publicKey.spki,
  algorithm = "ECDSAWithSHA256",
}: Template = {}) {
  const signatureAlgorithm = typeof algorithm === "string" ? signatureAlgorithmIdentifier(algorithm) : algorithm
  const tbs = encodeTbsCertificate({
    serialNumber: Uint8Array.of(1),
    signatureAlgorithm,
    issuer: name("nobody"),
    notBefore: now,
    notAfter: now + dayMs,
    subject,
    subjectPublicKeyInfo: spki,
    extensions,
  })
  return writePem("CERTIFICATE", assembleCertificate(tbs, signatureAlgorithm, new Uint8Array(64)))
}

const terms = (change: Partial<OverlayTerms> = {}): OverlayTerms => ({
  mode: "sign",
  publicKey,
  paths: pathUnder(undefined),
  validity: {
    mountTtls: { defaultMs: dayMs, maximumMs: dayMs },
    issuer: { notBefore: 0, notAfter: now + 10 * dayMs, leafNotAfterBehavior: "err" },
    now,
  },
  ...change,
})

const problemsOf = (work: () => unknown): readonly string[] => {
  try {
    work()
  } catch (error) {
    const { code, faults } = error as EngineError
    expect(code).toBe("unprocessable")
    return faults.map(({ detail }) =>
      detail.replace("The certificate from the external policy service is refused: ", ""),
    )
  }
  return []
}
const refusal = (changes: Template, change: Partial<OverlayTerms> = {}) =>
  problemsOf(() => overlay(readPolicyTemplate(template(changes)), terms(change)))

const customExtension: Extension = {
  oid: "1.3.6.1.4.1.99999.1",
  critical: true,
  value: Uint8Array.of(0x04, 0x01, 0x07),
}

test("extensions of the issuer are removed, and all others are kept byte for byte in their order", () => {
  const copied = [
    customExtension,
    keyUsage(["digitalSignature"]),
    altName(),
    extendedKeyUsage([oids.clientAuth]),
    subjectKeyIdentifier(Uint8Array.of(1, 2, 3)),
  ]
  const replaced = [
    authorityKeyIdentifier(Uint8Array.of(9)),
    authorityInfoAccess({ ocspServers: ["http://elsewhere.example"], issuingCertificates: [] }),
    crlDistributionPoints([["http://elsewhere.example/crl"]]),
    freshestCrl([["http://elsewhere.example/delta"]]),
  ]
  const { content } = overlay(
    readPolicyTemplate(template({ extensions: copied.flatMap((one, at) => [one, ...replaced.slice(at, at + 1)]) })),
    terms({ paths: certificationPathsOf([[{ name: "Issuer" }]], { disableCriticalExtensionChecks: true }) }),
  )
  expect(content.extensions.map(({ oid }) => oid)).toEqual(copied.map(({ oid }) => oid))
  expect(content.extensions.map(({ critical, value }) => [critical, Buffer.from(value).toString("hex")])).toEqual(
    copied.map(({ critical, value }) => [critical, Buffer.from(value).toString("hex")]),
  )
  expect(Buffer.compare(content.subject, name("a.example"))).toBe(0)
  expect(Buffer.compare(content.publicKey, publicKey.spki)).toBe(0)
})

test("a certificate without a subject key identifier gets one", () => {
  const { content } = overlay(readPolicyTemplate(template()), terms())
  expect(content.extensions.map(({ oid }) => oid)).toEqual([oids.subjectAltName, oids.subjectKeyIdentifier])
})

describe("a template that violates a rule is rejected", () => {
  const authority = [basicConstraints({ isCa: true }), keyUsage(["keyCertSign", "cRLSign"])]
  const constrained = nameConstraints({ permitted: [{ kind: "dns", value: "example" }], excluded: [] })
  test.each<{ why: string; changes: Template; change?: Partial<OverlayTerms>; problems: readonly string[] }>([
    {
      why: "another key",
      changes: { spki: otherKey.spki },
      problems: ["its public key differs from that of the request"],
    },
    {
      why: "a CA certificate instead of a leaf",
      changes: { extensions: authority },
      problems: ["it must not be a CA certificate; use sign-intermediate"],
    },
    {
      why: "a leaf with keyCertSign and name constraints",
      changes: { extensions: [keyUsage(["keyCertSign"]), constrained] },
      change: { mode: "issue" },
      problems: [
        "only a CA certificate may have the key usage keyCertSign",
        "only a CA certificate may have name constraints",
      ],
    },
    {
      why: "neither a subject nor alternative names",
      changes: { subject: encodeName([]), extensions: [] },
      problems: ["without a subject, it must have critical subject alternative names"],
    },
    {
      why: "no subject, and names that are not critical",
      changes: { subject: encodeName([]), extensions: [altName()] },
      problems: ["without a subject, it must have critical subject alternative names"],
    },
    {
      why: "a subject that no certificate may hold",
      changes: { subject: name("x".repeat(65)) },
      problems: [expect.stringMatching(/^commonName "x+" is longer than 64 characters$/) as string],
    },
    {
      why: "a leaf instead of an intermediate",
      changes: {},
      change: { mode: "ica" },
      problems: ["it must be a CA certificate"],
    },
    {
      why: "an intermediate without subject, critical basic constraints and keyCertSign",
      changes: {
        subject: encodeName([]),
        extensions: [{ ...basicConstraints({ isCa: true }), critical: false }, altName(true)],
      },
      change: { mode: "ica" },
      problems: [
        "a CA certificate must have a subject",
        "its basic constraints must be critical",
        "a CA certificate must have the key usage keyCertSign",
      ],
    },
    {
      why: "an intermediate below an issuer with path length zero",
      changes: { extensions: authority },
      change: { mode: "ica", paths: pathUnder(0) },
      problems: [
        expect.stringMatching(
          /^signing certificate has a max path length of zero, and cannot issue further CA certificates: the certificate of "CN=Issuer" \(serial number 01\)/,
        ) as string,
      ],
    },
    {
      why: "[F-P2] a name that the issuer's constraints do not permit",
      changes: { extensions: [altName()] },
      change: {
        paths: certificationPathsOf([
          [{ name: "Issuer", nameConstraints: { permitted: [{ kind: "dns", value: "example.org" }], excluded: [] } }],
        ]),
      },
      problems: [
        expect.stringMatching(
          /is not permitted \(only example\.org\) by the name constraints of the certificate of "CN=Issuer"/,
        ) as string,
      ],
    },
    {
      why: "a path length equal to that of the issuer",
      changes: { extensions: [basicConstraints({ isCa: true, maxPathLength: 2 }), keyUsage(["keyCertSign"])] },
      change: { mode: "ica", paths: pathUnder(2) },
      problems: ["its path length of 2 must be less than the 2 of its issuer"],
    },
    {
      why: "an extension that is not DER",
      changes: { extensions: [{ ...customExtension, value: Uint8Array.of(0x04, 0x05) }] },
      problems: [expect.stringContaining("extension 1.3.6.1.4.1.99999.1") as string],
    },
    {
      why: "malformed alternative names",
      changes: { extensions: [{ ...altName(), value: Uint8Array.of(0x30, 0x00) }] },
      problems: [expect.stringContaining("subjectAltName") as string],
    },
    {
      why: "an extension twice",
      changes: { extensions: [customExtension, customExtension] },
      problems: [expect.stringContaining("occurs twice") as string],
    },
  ])("$why", ({ changes, change, problems }) => {
    expect(refusal(changes, change)).toEqual(problems)
  })
})

describe("input that is not a certificate is rejected", () => {
  test.each([
    { why: "nothing", text: "" },
    { why: "no PEM", text: "MIIB" },
    { why: "a request", text: template().replaceAll("CERTIFICATE", "CERTIFICATE REQUEST") },
    { why: "two certificates", text: `${template()}\n${template()}` },
    { why: "a truncated certificate", text: template().replace(/\n[A-Za-z0-9+/]{64}\n/, "\n") },
    { why: "input above the size limit", text: template() + " ".repeat(64 * 1024) },
  ])("$why", ({ text }) => {
    expect(problemsOf(() => readPolicyTemplate(text))).toHaveLength(1)
  })
})

describe("an intermediate's path length", () => {
  const lengthOf = (own: number | undefined, issuers: number | undefined) => {
    const extensions = [
      basicConstraints({ isCa: true, ...(own !== undefined && { maxPathLength: own }) }),
      keyUsage(["keyCertSign"]),
    ]
    const paths = pathUnder(issuers)
    const { content } = overlay(readPolicyTemplate(template({ extensions })), terms({ mode: "ica", paths }))
    const { values } = readPolicyTemplate(template({ extensions: content.extensions }))
    return values.basicConstraints?.maxPathLength
  }
  test.each([
    { own: undefined, issuers: undefined, length: undefined },
    { own: 3, issuers: undefined, length: 3 },
    { own: undefined, issuers: 1, length: 0 },
    { own: 0, issuers: 2, length: 0 },
  ])("of $own under an issuer's $issuers is $length", ({ own, issuers, length }) => {
    expect(lengthOf(own, issuers)).toBe(length)
  })
})

describe("the template's signature algorithm is used when the issuer's key supports it", () => {
  const sha1WithRsa = Buffer.from("300d06092a864886f70d0101050500", "hex")
  test.each([
    { algorithm: "SHA384WithRSA", key: { type: "rsa", bits: 2048 }, choice: { signatureBits: 384, usePss: false } },
    { algorithm: "SHA512WithRSAPSS", key: { type: "rsa", bits: 2048 }, choice: { signatureBits: 512, usePss: true } },
    { algorithm: "ECDSAWithSHA384", key: { type: "rsa", bits: 2048 }, choice: { signatureBits: 0, usePss: false } },
    { algorithm: sha1WithRsa, key: { type: "rsa", bits: 2048 }, choice: { signatureBits: 0, usePss: false } },
    { algorithm: "SHA512WithRSA", key: { type: "ec", bits: 256 }, choice: { signatureBits: 0, usePss: false } },
  ] as const)("$algorithm under $key.type", ({ algorithm, key, choice }) => {
    expect(signatureChoiceOf(readPolicyTemplate(template({ algorithm })), key)).toEqual(choice)
  })
})
