import { describe, expect, test } from "vitest"
import { isEngineError } from "../../core/errors.ts"
import { hourMs, type Instant } from "../../core/time.ts"
import { oids } from "../../x509/asn1/oids.ts"
import type { Extension } from "../../x509/extension.ts"
import {
  basicConstraints,
  extendedKeyUsage,
  keyUsage,
  parseExtensionValues,
  subjectAltName,
  subjectKeyIdentifier,
} from "../../x509/extensions.ts"
import { type DistinguishedName, encodeName } from "../../x509/name.ts"
import { nameConstraints } from "../../x509/name-constraints.ts"
import { pathUnder } from "../../../testing/certification-path.ts"
import type { AuthorityRequest } from "../issuance/authority-request.ts"
import { approveAuthority, type AuthorityTerms } from "./approve-authority.ts"
import type { CsrContent } from "./csr-extensions.ts"

const now: Instant = Date.parse("2026-11-21T12:00:00Z")
const terms: AuthorityTerms = {
  mountTtls: { defaultMs: 768 * hourMs, maximumMs: 768 * hourMs },
  issuer: { notBefore: 0, notAfter: now + 10_000 * hourMs, leafNotAfterBehavior: "err" },
  paths: undefined,
  keyType: "rsa",
  enforceLeafNotAfterBehavior: false,
  now,
}
const named = (commonName: string): DistinguishedName => [[{ type: oids.commonName, value: commonName }]]
const csr = (subjectName: DistinguishedName, extensions: readonly Extension[] = []): CsrContent => ({
  subject: encodeName(subjectName),
  subjectName,
  extensions,
  extensionValues: parseExtensionValues(extensions),
})

const approveRoot = (input: Partial<AuthorityRequest>) =>
  approveAuthority(input, undefined, { ...terms, issuer: undefined })
const approveIntermediate = (
  input: Partial<AuthorityRequest>,
  context: { readonly terms?: Partial<AuthorityTerms>; readonly csr?: CsrContent } = {},
) => approveAuthority(input, context.csr ?? csr([]), { ...terms, ...context.terms })

function faultsOf(work: () => unknown) {
  try {
    work()
  } catch (error) {
    if (isEngineError(error, "invalid")) return error.faults.map(({ detail, field }) => ({ detail, field: field?.[0] }))
    throw error
  }
  return []
}

const valuesOf = ({ extensions }: { readonly extensions: readonly Extension[] }) => parseExtensionValues(extensions)

describe("the certificate of a CA", () => {
  test("has CA basic constraints and key usages", () => {
    const root = approveRoot({ commonName: "Example Root CA", country: ["CH"], organization: ["Example"] })
    expect(root).toMatchObject({
      subject: [
        [{ type: oids.countryName, value: "CH" }],
        [{ type: oids.organizationName, value: "Example" }],
        ...named("Example Root CA"),
      ],
      subjectAltName: [],
      subjectKeyIdentifier: undefined,
      warnings: [],
    })
    expect(root.subjectDer).toEqual(encodeName(root.subject))
    expect(valuesOf(root)).toEqual({
      basicConstraints: { isCa: true },
      keyUsage: ["digitalSignature", "keyCertSign", "cRLSign"],
    })
  })

  test("has the requested alternative names, including the common name when it is a host name", () => {
    const request: Partial<AuthorityRequest> = {
      commonName: "ca.example.com",
      altNames: ["alt.example.com", "ca@bücher.example", "2.5.4.5;UTF8:SN-1"],
      ipSans: ["192.0.2.1"],
      uriSans: ["urn:x:y"],
      otherSans: ["1.2.3;UTF8:x"],
    }
    const names = [
      { kind: "dns", value: "alt.example.com" },
      { kind: "email", value: "ca@xn--bcher-kva.example" },
      { kind: "other", oid: "2.5.4.5", value: "SN-1" },
      { kind: "ip", octets: Uint8Array.of(192, 0, 2, 1) },
      { kind: "uri", value: "urn:x:y" },
      { kind: "other", oid: "1.2.3", value: "x" },
    ]
    const approved = approveRoot(request)
    expect(approved.subjectAltName).toEqual([{ kind: "dns", value: "ca.example.com" }, ...names])
    expect(valuesOf(approved).subjectAltName).toEqual(approved.subjectAltName)
    expect(approveRoot({ ...request, excludeCnFromSans: true }).subjectAltName).toEqual(names)
  })

  test("has the requested name constraints", () => {
    const approved = approveRoot({
      commonName: "CA",
      permittedDnsDomains: ["example.com", ".bücher.example"],
      excludedDnsDomains: ["bad.example.com"],
      permittedEmailAddresses: ["me@example.com", "example.com", ".example.com"],
      permittedIpRanges: ["10.0.0.0/8"],
      excludedIpRanges: ["fd00::/8"],
      permittedUriDomains: [".example.org"],
    })
    expect(valuesOf(approved).nameConstraints).toEqual({
      permitted: [
        { kind: "dns", value: "example.com" },
        { kind: "dns", value: ".xn--bcher-kva.example" },
        { kind: "email", value: "me@example.com" },
        { kind: "email", value: "example.com" },
        { kind: "email", value: ".example.com" },
        { kind: "ip", octets: Uint8Array.of(10, 0, 0, 0), prefixBits: 8 },
        { kind: "uri", value: ".example.org" },
      ],
      excluded: [
        { kind: "dns", value: "bad.example.com" },
        { kind: "ip", octets: Uint8Array.from([0xfd, ...Array<number>(15).fill(0)]), prefixBits: 8 },
      ],
    })
  })

  test("has the requested key identifier and key usages", () => {
    const approved = approveRoot({
      commonName: "CA",
      skid: "0A:1b-2C 3d",
      keyUsage: ["DataEncipherment", "Everything"],
    })
    expect(approved.subjectKeyIdentifier).toEqual(Uint8Array.of(0x0a, 0x1b, 0x2c, 0x3d))
    expect(valuesOf(approved).keyUsage).toEqual(["digitalSignature", "dataEncipherment", "keyCertSign", "cRLSign"])
    expect(approved.warnings).toEqual(['"key_usage" Everything is not known and is ignored'])
  })
})

test("omits key usages that do not fit its key", () => {
  const approved = approveAuthority({ commonName: "CA", keyUsage: ["KeyEncipherment", "KeyAgreement"] }, undefined, {
    ...terms,
    issuer: undefined,
    keyType: "ec",
  })
  expect(valuesOf(approved).keyUsage).toEqual(["digitalSignature", "keyAgreement", "keyCertSign", "cRLSign"])
})

test("may be without a subject when only a CSR is requested", () => {
  expect(approveAuthority({}, undefined, { ...terms, issuer: undefined, mayBeNameless: true }).subject).toEqual([])
})

test("reports all faults together", () => {
  const violations = [{ rule: "other", name: "x", field: ["issuerName"], message: "no" }]
  const work = () => approveAuthority({}, undefined, { ...terms, issuer: undefined, violations })
  expect(faultsOf(work).map(({ field }) => field)).toEqual(["issuerName", "commonName"])
})

describe("[P-8-r4] the path length of a CA", () => {
  const zero = "Max path length of the generated certificate is zero, so it cannot be used to sign intermediate CAs."
  test.each([
    {
      maxPathLength: undefined,
      issuer: undefined,
      expected: undefined,
      warnings: [],
      why: "no limit unless the signer has one",
    },
    { maxPathLength: -1, issuer: undefined, expected: undefined, warnings: [], why: "-1 is the default" },
    { maxPathLength: -1, issuer: 3, expected: 2, warnings: [], why: "one less than the signer's" },
    { maxPathLength: -1, issuer: 1, expected: 0, warnings: [], why: "one less than the signer's" },
    { maxPathLength: 0, issuer: undefined, expected: 0, warnings: [zero], why: "a literal zero" },
    { maxPathLength: 1, issuer: 3, expected: 1, warnings: [], why: "less than the signer's" },
  ])("$maxPathLength under $issuer is $expected: $why", ({ maxPathLength, issuer, expected, warnings }) => {
    const input = { commonName: "CA", ...(maxPathLength === undefined ? {} : { maxPathLength }) }
    const approved = approveIntermediate(input, { terms: { paths: pathUnder(issuer) } })
    expect(valuesOf(approved).basicConstraints?.maxPathLength).toBe(expected)
    expect(approved.warnings).toEqual(warnings)
  })

  const issuerName = 'the certificate of "CN=Issuer" (serial number 01)'
  const none = `signing certificate has a max path length of zero, and cannot issue further CA certificates: ${issuerName} limits the path length to 0`
  test.each([
    { maxPathLength: -1, issuer: 0, detail: none },
    { maxPathLength: 0, issuer: 0, detail: none },
    { maxPathLength: 3, issuer: 3, detail: `"max_path_length" 3 must be less than 3, the limit of ${issuerName}` },
    { maxPathLength: -2, issuer: undefined, detail: '"max_path_length" must be -1, 0 or a positive integer' },
    { maxPathLength: 0.5, issuer: undefined, detail: '"max_path_length" must be -1, 0 or a positive integer' },
  ])("$maxPathLength under $issuer is rejected: $detail", ({ maxPathLength, issuer, detail }) => {
    const work = () => approveIntermediate({ commonName: "CA", maxPathLength }, { terms: { paths: pathUnder(issuer) } })
    expect(faultsOf(work)).toEqual([{ field: "maxPathLength", detail }])
  })
})

describe("a CA is rejected", () => {
  test.each<{ input: Partial<AuthorityRequest>; field: string; detail: string }>([
    {
      input: { commonName: "CA", altNames: ["a b"] },
      field: "altNames",
      detail: "subject alternate name a b is not a valid DNS name",
    },
    {
      input: { commonName: "CA", altNames: ["a@"] },
      field: "altNames",
      detail: "subject alternate name a@ is not a valid e-mail address",
    },
    { input: { commonName: "CA", ipSans: ["x"] }, field: "ipSans", detail: 'the value "x" is not a valid IP address' },
    {
      input: { commonName: "CA", uriSans: ["x"] },
      field: "uriSans",
      detail: "the provided URI Subject Alternative Name is not a valid URI: x",
    },
    {
      input: { commonName: "CA", otherSans: ["x"] },
      field: "otherSans",
      detail: 'other SAN "x" must have the form <oid>;UTF8:<value>',
    },
    {
      input: { commonName: "CA", permittedDnsDomains: ["*.example.com"] },
      field: "permittedDnsDomains",
      detail: '"permitted_dns_domains" entry "*.example.com" is not well-formed',
    },
    {
      input: { commonName: "CA", excludedIpRanges: ["10.0.0.1"] },
      field: "excludedIpRanges",
      detail: '"excluded_ip_ranges" entry "10.0.0.1" is not well-formed',
    },
    {
      input: { commonName: "CA", country: ["Schweiz"] },
      field: "country",
      detail: `the subject's countryName "Schweiz" is not two letters`,
    },
    {
      input: { commonName: "C".repeat(65) },
      field: "commonName",
      detail: `the subject's commonName "${"C".repeat(65)}" is longer than 64 characters`,
    },
    {
      input: { commonName: "C\nA" },
      field: "commonName",
      detail: "the subject's value C\nA must not contain control characters",
    },
    {
      input: { commonName: "C\u202EA" },
      field: "commonName",
      detail:
        "the subject's value C\u202EA must not contain format characters, such as those that change the direction of text",
    },
    {
      input: { commonName: "CA", altNames: ["w*.example.com"] },
      field: "altNames",
      detail:
        'subject alternate name w*.example.com has a "*" that is only a part of a label, which clients do not match',
    },
    {
      input: { commonName: "CA", skid: "xyz" },
      field: "skid",
      detail: '"skid" must be at most 64 octets in hexadecimal',
    },
    {
      input: { commonName: "CA", skid: "0a:1" },
      field: "skid",
      detail: '"skid" must be at most 64 octets in hexadecimal',
    },
    {
      input: { commonName: "CA", signatureBits: 1 },
      field: "signatureBits",
      detail: "unsupported hash signature algorithm: 1",
    },
    {
      input: { commonName: "CA", notBeforeDurationMs: -1 },
      field: "notBeforeDurationMs",
      detail: '"not_before_duration" must not be negative',
    },
    {
      input: { commonName: "CA", ttlMs: -1 },
      field: "ttlMs",
      detail: '"ttl" must not be negative',
    },
    {
      input: {},
      field: "commonName",
      detail: 'a CA certificate must have a subject; set "common_name"',
    },
    {
      input: { commonName: "CA", altNames: Array.from({ length: 1_001 }, (_, at) => `n${at}.example`) },
      field: "altNames",
      detail: "a certificate must not have more than 1000 names; got 1001",
    },
  ])("$detail", ({ input, field, detail }) => {
    expect(faultsOf(() => approveRoot(input))).toEqual([{ field, detail }])
  })

  test("with every fault at once", () => {
    const details = faultsOf(() => approveRoot({ altNames: ["a b"], country: ["x"], skid: "x", maxPathLength: -2 }))
    expect(details.map(({ field }) => field)).toEqual(["country", "altNames", "maxPathLength", "skid"])
  })

  test("without a subject for an intermediate", () => {
    const detail = '"common_name" is required unless "use_csr_values" is true'
    expect(faultsOf(() => approveIntermediate({ organization: ["Example"] }))).toEqual([
      { field: "commonName", detail },
    ])
  })
})

describe("an intermediate", () => {
  const requesting = csr(named("CSR CA"), [
    basicConstraints({ isCa: true, maxPathLength: 7 }),
    keyUsage(["keyEncipherment", "keyCertSign"]),
    extendedKeyUsage([oids.serverAuth]),
    subjectAltName(
      [
        { kind: "dns", value: "csr.example" },
        { kind: "registered-id", oid: "1.2.3" },
      ],
      { critical: false },
    ),
    nameConstraints({ permitted: [{ kind: "dns", value: "csr.example" }], excluded: [] }),
    subjectKeyIdentifier(Uint8Array.of(1, 2, 3)),
    { oid: oids.authorityKeyIdentifier, critical: false, value: Uint8Array.of(0x30, 0) },
    { oid: "1.2.3.4", critical: false, value: Uint8Array.of(5, 0) },
  ])

  test("takes no values from the CSR unless use_csr_values is true", () => {
    const approved = approveIntermediate({ commonName: "API CA" }, { csr: requesting })
    expect(approved).toMatchObject({ subject: named("API CA"), subjectAltName: [], warnings: [] })
    expect(approved.extensions.map(({ oid }) => oid)).toEqual([oids.basicConstraints, oids.keyUsage])
  })

  test("takes subject, names, usages and extensions from the CSR, but not the path length", () => {
    const input = { commonName: "API CA", altNames: ["api.example"], useCsrValues: true, maxPathLength: 1 }
    const approved = approveIntermediate(input, { csr: requesting })
    expect(approved.subject).toEqual(named("CSR CA"))
    expect(approved.subjectDer).toBe(requesting.subject)
    expect(valuesOf(approved)).toEqual({
      basicConstraints: { isCa: true, maxPathLength: 1 },
      keyUsage: ["digitalSignature", "keyEncipherment", "keyCertSign", "cRLSign"],
      subjectAltName: [
        { kind: "dns", value: "csr.example" },
        { kind: "registered-id", oid: "1.2.3" },
      ],
      extendedKeyUsage: [oids.serverAuth],
      nameConstraints: { permitted: [{ kind: "dns", value: "csr.example" }], excluded: [] },
    })
    expect(approved.extensions.map(({ oid }) => oid)).toContain("1.2.3.4")
    expect(approved.warnings).toEqual([
      "specified CSR contained an Authority Key Identifier extension that was ignored during issuance",
    ])
  })

  test("prefers the constraints of the request to those of the CSR", () => {
    const input = { useCsrValues: true, permittedDnsDomains: ["api.example"] }
    expect(valuesOf(approveIntermediate(input, { csr: requesting })).nameConstraints?.permitted).toEqual([
      { kind: "dns", value: "api.example" },
    ])
  })

  test.each([
    { content: csr([]), detail: 'a CA certificate must have a subject; set "common_name"' },
    {
      content: csr(named("C".repeat(65))),
      detail: `the subject's commonName "${"C".repeat(65)}" is longer than 64 characters`,
    },
    {
      content: csr(named("CA"), [subjectAltName([{ kind: "dns", value: "a b" }], { critical: false })]),
      detail: "subject alternate name a b is not a valid DNS name",
    },
    {
      content: csr(named("CA"), [subjectAltName([{ kind: "dns", value: "a@b.example" }], { critical: false })]),
      detail: "subject alternate name a@b.example does not match its type",
    },
  ])("is rejected with invalid values of the CSR: $detail", ({ content, detail }) => {
    const faults = faultsOf(() => approveIntermediate({ useCsrValues: true }, { csr: content }))
    expect(faults.map((fault) => fault.detail)).toEqual([detail])
  })

  test("ends with its issuer unless enforce_leaf_not_after_behavior is true", () => {
    const issuer = { notBefore: 0, notAfter: now + hourMs, leafNotAfterBehavior: "err" } as const
    const input = { commonName: "CA", ttlMs: 2 * hourMs }
    const cut = approveIntermediate(input, { terms: { issuer } })
    expect(cut.validity.notAfter).toBe(issuer.notAfter)
    expect(cut.warnings).toHaveLength(1)
    const refused = faultsOf(() => approveIntermediate(input, { terms: { issuer, enforceLeafNotAfterBehavior: true } }))
    expect(refused.map(({ field }) => field)).toEqual(["notAfter"])
    const permitting = { ...issuer, leafNotAfterBehavior: "permit" } as const
    const longer = approveIntermediate(input, { terms: { issuer: permitting, enforceLeafNotAfterBehavior: true } })
    expect(longer.validity.notAfter).toBeGreaterThan(issuer.notAfter)
  })

  test("[P-8-r3] is backdated by 30 seconds or not_before_duration", () => {
    expect(approveIntermediate({ commonName: "CA" }).validity.notBefore).toBe(now - 30_000)
    expect(approveIntermediate({ commonName: "CA", notBeforeDurationMs: 0 }).validity.notBefore).toBe(now)
  })
})

test.each([
  { commonName: "ca.example.com.", cn: "ca.example.com", names: [{ kind: "dns", value: "ca.example.com" }] },
  { commonName: "192.0.2.1", cn: "192.0.2.1", names: [{ kind: "ip", octets: Uint8Array.of(192, 0, 2, 1) }] },
  { commonName: "Example Ltd.", cn: "Example Ltd.", names: [] },
])("[F-P4] [F-P5] a CA with the common name $commonName gets $cn", ({ commonName, cn, names }) => {
  const approved = approveIntermediate({ commonName })
  expect(approved.subject).toEqual(named(cn))
  expect(approved.subjectAltName).toEqual(names)
})

test("[F-P7] a key usage that does not fit the key of a CA is omitted with a warning", () => {
  const approved = approveIntermediate(
    { commonName: "CA", keyUsage: ["KeyEncipherment", "CertSign", "ContentCommitment"] },
    { terms: { keyType: "ec" } },
  )
  expect(valuesOf(approved).keyUsage).toEqual(["digitalSignature", "contentCommitment", "keyCertSign", "cRLSign"])
  expect(approved.warnings).toEqual(['"key_usage" KeyEncipherment does not apply to keys of type ec and is left out'])
})
