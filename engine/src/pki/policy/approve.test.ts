import { describe, expect, test } from "vitest"
import * as fc from "fast-check"
import { isEngineError } from "../../core/errors.ts"
import { hourMs, type Instant } from "../../core/time.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { parseExtensionValues, subjectAltName } from "../../x509/extensions.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import { encodeName, nameViolations, parseName } from "../../x509/name.ts"
import type { CsrFacts, IssueRequestInput } from "../issuance/issue-request.ts"
import { formatIpAddress } from "../names/ip-address.ts"
import { createRole, type RoleInput } from "../roles/role.ts"
import { type ApprovedRequest, approve, type IssuanceTerms } from "./approve.ts"

const now: Instant = Date.parse("2026-11-21T12:00:00Z")

const terms = (role: RoleInput): IssuanceTerms => ({
  role: createRole(role),
  identity: undefined,
  mountTtls: { defaultMs: 768 * hourMs, maximumMs: 768 * hourMs },
  paths: undefined,
  issuer: { notBefore: 0, notAfter: now + 10_000 * hourMs, leafNotAfterBehavior: "err" },
  now,
})

const web: RoleInput = { allowedDomains: ["example.com"], allowBareDomains: true, allowSubdomains: true, keyType: "ec" }
const any: RoleInput = { allowAnyName: true, keyType: "ec" }

const emptyCsr: CsrFacts = {
  subject: [],
  dnsNames: [],
  emails: [],
  ips: [],
  uris: [],
  otherNames: [],
  otherKinds: [],
  hasBasicConstraints: false,
  key: { type: "ec", bits: 256 },
}
const csr = (facts: Partial<CsrFacts>): CsrFacts => ({ ...emptyCsr, ...facts })
const subjectWith = (...attributes: [string, string][]) => attributes.map(([type, value]) => [{ type, value }])

const issue = (role: RoleInput, request: IssueRequestInput) => approve(request, undefined, terms(role))
const sign = (role: RoleInput, facts: Partial<CsrFacts>, request: IssueRequestInput = {}) =>
  approve(request, csr(facts), terms(role))

function faultsOf(work: () => unknown) {
  try {
    work()
  } catch (error) {
    if (isEngineError(error, "invalid")) return error.faults.map(({ detail, field }) => ({ detail, field: field?.[0] }))
    throw error
  }
  return []
}
const refusals = (work: () => unknown) => faultsOf(work).map(({ detail }) => detail)

const texts = ({ subjectAltName }: ApprovedRequest) =>
  subjectAltName.map((name: GeneralName) => {
    switch (name.kind) {
      case "ip":
        return `ip:${formatIpAddress(name.octets)}`
      case "other":
        return `other:${name.oid};${name.value}`
      case "dns":
      case "email":
      case "uri":
        return `${name.kind}:${name.value}`
      default:
        return name.kind
    }
  })

describe("an issue request is rejected", () => {
  const refused = (reason: string) => `not allowed by this role: ${reason}`
  const elsewhere = "it is not under an allowed domain"
  test.each<{ role: RoleInput; request: IssueRequestInput; field: string; detail: string }>([
    {
      role: web,
      request: {},
      field: "commonName",
      detail:
        'the common_name field is required, or must be provided in a CSR with "use_csr_common_name" set to true, unless "require_cn" is set to false',
    },
    {
      role: web,
      request: { commonName: "evil.org" },
      field: "commonName",
      detail: `common name evil.org ${refused(elsewhere)}`,
    },
    {
      role: { ...any, cnValidations: ["email"] },
      request: { commonName: "example.com" },
      field: "commonName",
      detail: `common name example.com ${refused('"cn_validations" does not list "hostname"')}`,
    },
    {
      role: { ...any, cnValidations: ["hostname"] },
      request: { commonName: "user@example.com" },
      field: "commonName",
      detail: `common name user@example.com ${refused('"cn_validations" does not list "email"')}`,
    },
    {
      role: any,
      request: { commonName: `${"a".repeat(60)}.example` },
      field: "commonName",
      detail: `common name ${"a".repeat(60)}.example must not be longer than 64 characters`,
    },
    {
      role: { ...any, enforceHostnames: false },
      request: { commonName: "a\nb" },
      field: "commonName",
      detail: "common name a\nb must not contain control characters",
    },
    {
      role: web,
      request: { commonName: "example.com", altNames: ["www.example.com", "evil.org"] },
      field: "altNames",
      detail: `subject alternate name evil.org ${refused(elsewhere)}`,
    },
    {
      role: any,
      request: { commonName: "example.com", altNames: ["not a name"] },
      field: "altNames",
      detail: `subject alternate name not a name ${refused("it is not a valid host name")}`,
    },
    {
      role: { ...any, enforceHostnames: false },
      request: { commonName: "example.com", altNames: ["not a name"] },
      field: "altNames",
      detail: `subject alternate name not a name ${refused("it is not a valid DNS name")}`,
    },
    {
      role: any,
      request: { commonName: "example.com", altNames: ["192.0.2.1"] },
      field: "altNames",
      detail: `subject alternate name 192.0.2.1 ${refused("it is not a valid DNS name")}`,
    },
    {
      role: web,
      request: { commonName: "example.com", altNames: ["user@evil.org"] },
      field: "altNames",
      detail: `email address user@evil.org ${refused(elsewhere)}`,
    },
    {
      role: { ...any, enforceHostnames: false },
      request: { commonName: "example.com", altNames: ["jürgen@example.com"] },
      field: "altNames",
      detail: `email address jürgen@example.com ${refused("it is not a valid e-mail address")}`,
    },
    {
      role: { ...web, cnValidations: ["disabled"] },
      request: { commonName: "evil.org" },
      field: "altNames",
      detail: `subject alternate name evil.org ${refused(elsewhere)}`,
    },
    {
      role: { ...any, allowIpSans: false },
      request: { commonName: "a", ipSans: ["192.0.2.1", "::1"] },
      field: "ipSans",
      detail: "IP Subject Alternative Names are not allowed in this role, but was provided via the API: 192.0.2.1, ::1",
    },
    {
      role: any,
      request: { commonName: "a", ipSans: ["192.0.2.1", "localhost"] },
      field: "ipSans",
      detail: 'the value "localhost" is not a valid IP address',
    },
    {
      role: { ...any, allowedIpSansCidr: ["10.0.0.0/8", "fd00::/8"] },
      request: { commonName: "a", ipSans: ["10.1.1.1", "fd00::1", "192.0.2.1"] },
      field: "ipSans",
      detail: 'the IP address "192.0.2.1" is not allowed in this role',
    },
    {
      role: any,
      request: { commonName: "a", uriSans: ["spiffe://example.org/a"] },
      field: "uriSans",
      detail:
        "URI Subject Alternative Names are not allowed in this role, but were provided via the API: spiffe://example.org/a",
    },
    {
      role: { ...any, allowedUriSans: ["spiffe://example.org/*"] },
      request: { commonName: "a", uriSans: ["spiffe://example.org/a/b", "spiffe://evil.org/a"] },
      field: "uriSans",
      detail:
        "URI Subject Alternative Names were provided via the API which are not valid for this role: spiffe://evil.org/a",
    },
    {
      role: { ...any, allowedUriSans: ["*"] },
      request: { commonName: "a", uriSans: ["example.org"] },
      field: "uriSans",
      detail: "the provided URI Subject Alternative Name is not a valid URI: example.org",
    },
    {
      role: any,
      request: { commonName: "a", otherSans: ["1.2.3;UTF8:x"] },
      field: "otherSans",
      detail: "other SAN OID 1.2.3 not allowed by this role",
    },
    {
      role: { ...any, allowedOtherSans: ["1.2.3;UTF-8:a*", "1.2.3;utf8:b*"] },
      request: { commonName: "a", otherSans: ["1.2.3;UTF8:ab", "1.2.3;UTF8:bc", "1.2.3;UTF8:x"] },
      field: "otherSans",
      detail: "other SAN x not allowed for OID 1.2.3 by this role",
    },
    {
      role: { ...any, allowedOtherSans: ["*"] },
      request: { commonName: "a", otherSans: ["1.2.3;IA5:x"] },
      field: "otherSans",
      detail: 'other SAN "1.2.3;IA5:x" must have the type UTF8, not "IA5"',
    },
    {
      role: { ...any, allowedOtherSans: ["*"] },
      request: { commonName: "a", otherSans: ["1.2.3;UTF8:a\0b"] },
      field: "otherSans",
      detail: "other SAN for OID 1.2.3 must not contain the character U+0000",
    },
    {
      role: any,
      request: { commonName: "a", userIds: ["alice"] },
      field: "userIds",
      detail: "user_id alice is not allowed by this role",
    },
    {
      role: { ...any, allowedSerialNumbers: ["SN-*"] },
      request: { commonName: "a", serialNumber: "sn-1" },
      field: "serialNumber",
      detail: "serial_number sn-1 not allowed by this role",
    },
    {
      role: { ...any, allowedSerialNumbers: ["*"] },
      request: { commonName: "a", serialNumber: "no_1" },
      field: "serialNumber",
      detail: "serial_number no_1 must contain only characters of a PrintableString",
    },
    {
      role: { ...any, requireCn: false },
      request: {},
      field: "commonName",
      detail: "neither a subject nor a subject alternative name is given; a certificate requires one of them",
    },
    {
      role: any,
      request: { commonName: "a", certMetadata: "not base64" },
      field: "certMetadata",
      detail: '"cert_metadata" must be base64',
    },
    {
      role: { ...any, keyType: "any" },
      request: { commonName: "a" },
      field: "keyType",
      detail: 'role key type "any" not allowed for issuing certificates, unless the request has a "key_type"',
    },
    {
      role: { ...any, keyType: "any" },
      request: { commonName: "a", keyType: "dsa" },
      field: "keyType",
      detail: "unknown key type dsa",
    },
    {
      role: { ...any, keyType: "any" },
      request: { commonName: "a", keyType: "rsa", keyBits: 1024 },
      field: "keyBits",
      detail: "RSA keys < 2048 bits are unsafe and not supported: got 1024",
    },
    {
      role: any,
      request: { commonName: "a", ttlMs: -1 },
      field: "ttlMs",
      detail: '"ttl" must not be negative',
    },
    {
      role: any,
      request: { commonName: "a", altNames: Array.from({ length: 1_001 }, (_, at) => `n${at}.example`) },
      field: "altNames",
      detail: "a certificate must not have more than 1000 names; got 1001",
    },
  ])("$detail", ({ role, request, field, detail }) => {
    expect(faultsOf(() => issue(role, request))).toEqual([{ field, detail }])
  })

  test("[P-7-n2] with metadata when the role has no_store_metadata", () => {
    expect(faultsOf(() => issue({ ...any, noStoreMetadata: true }, { commonName: "a", certMetadata: "AAEC" }))).toEqual(
      [
        {
          field: "certMetadata",
          detail: '"cert_metadata" must not be given, because the role is set with "no_store_metadata" set to true',
        },
      ],
    )
    expect(refusals(() => issue(any, { commonName: "a", certMetadata: "AAEC" }))).toEqual([])
  })
})

test("[P-7-n1] as a whole when the role does not allow a name, and every such name is reported", () => {
  const request: IssueRequestInput = {
    commonName: "www.example.com",
    altNames: ["good.example.com", "evil.org", "user@evil.org"],
    ipSans: ["192.0.2.1"],
    uriSans: ["https://evil.org/"],
    otherSans: ["1.2.3;UTF8:x"],
    userIds: ["mallory"],
    ttlMs: -1,
  }
  const messages = refusals(() => issue({ ...web, allowIpSans: false }, request))
  expect(messages.map((message) => /evil\.org|192\.0\.2\.1|1\.2\.3|mallory|negative/.exec(message)?.[0])).toEqual([
    "evil.org",
    "evil.org",
    "1.2.3",
    "192.0.2.1",
    "evil.org",
    "mallory",
    "negative",
  ])
})

test("with at most a hundred faults and the number of others", () => {
  const altNames = Array.from({ length: 150 }, (_, at) => `n${at}.evil.org`)
  const messages = refusals(() => issue(web, { commonName: "example.com", altNames }))
  expect(messages).toHaveLength(101)
  expect(messages.at(-1)).toBe("50 more names or fields break a rule")
})

describe("[F-P5] a common name that is an IP address is rejected", () => {
  test.each<{ why: string; role: RoleInput; request?: IssueRequestInput; detail: string; commonName?: string }>([
    {
      why: "when IP SANs are forbidden",
      role: { allowIpSans: false },
      detail:
        "IP Subject Alternative Names are not allowed in this role, but was provided via the common name: 10.0.0.1",
    },
    {
      why: "when IP SANs are forbidden (IPv6)",
      role: { allowIpSans: false },
      commonName: "fe80::1",
      detail:
        "IP Subject Alternative Names are not allowed in this role, but was provided via the common name: fe80::1",
    },
    {
      why: "when it is outside the ranges of the role",
      role: { allowedIpSansCidr: ["192.0.2.0/24"] },
      detail: 'the IP address "10.0.0.1" is not allowed in this role',
    },
    {
      why: "when it is not an allowed name",
      role: { allowAnyName: false, allowedDomains: ["example.com"], allowSubdomains: true },
      detail: "common name 10.0.0.1 not allowed by this role: it is not under an allowed domain",
    },
    {
      why: "when IP SANs are forbidden and common names are not validated",
      role: { allowIpSans: false, cnValidations: ["disabled"] },
      detail:
        "IP Subject Alternative Names are not allowed in this role, but was provided via the common name: 10.0.0.1",
    },
    {
      why: "when it is excluded from the alternative names",
      role: { allowIpSans: false },
      request: { excludeCnFromSans: true },
      detail:
        "IP Subject Alternative Names are not allowed in this role, but was provided via the common name: 10.0.0.1",
    },
  ])("$why", ({ role, request, detail, commonName = "10.0.0.1" }) => {
    expect(faultsOf(() => issue({ ...any, ...role }, { commonName, ...request }))).toEqual([
      { field: "commonName", detail },
    ])
    const facts = { subject: subjectWith([oids.commonName, commonName]) }
    expect(faultsOf(() => sign({ ...any, ...role }, facts, request)).map(({ field }) => field)).toEqual(["csr"])
  })
})

describe("[F-P4] the trailing dot is removed from a common name that is", () => {
  test.each([
    { why: "a host name", commonName: "www.example.com.", cn: "www.example.com", names: ["dns:www.example.com"] },
    { why: "a wildcard", commonName: "*.example.com.", cn: "*.example.com", names: ["dns:*.example.com"] },
    { why: "an e-mail address", commonName: "a@example.com.", cn: "a@example.com", names: ["email:a@example.com"] },
    { why: "an IP address", commonName: "192.0.2.1.", cn: "192.0.2.1", names: ["ip:192.0.2.1"] },
    {
      why: "a name in U-labels",
      commonName: "bücher.example.",
      cn: "bücher.example",
      names: ["dns:xn--bcher-kva.example"],
    },
    {
      why: "not a host name, and otherwise kept",
      commonName: "Example Ltd.",
      cn: "Example Ltd.",
      names: [],
      role: { enforceHostnames: false },
    },
  ])("$why", ({ commonName, cn, names, role = {} }) => {
    const approved = issue({ ...any, ...role }, { commonName })
    expect([approved.subject, texts(approved)]).toEqual([subjectWith([oids.commonName, cn]), names])
    const ofCsr = sign({ ...any, ...role }, { subject: subjectWith([oids.commonName, commonName]) })
    expect([ofCsr.subject, texts(ofCsr)]).toEqual([subjectWith([oids.commonName, cn]), names])
    expect(issue({ ...any, ...role }, { commonName, excludeCnFromSans: true }).subject).toEqual(approved.subject)
  })
})

test.each([
  ["a right-to-left override", "\u202E"],
  ["an isolate", "\u2066"],
  ["a right-to-left mark", "\u200F"],
  ["an Arabic letter mark", "\u061C"],
  ["a zero-width space", "\u200B"],
  ["a soft hyphen", "\u00AD"],
  ["a byte order mark", "\uFEFF"],
  ["a tag", "\u{E0041}"],
  ["a line separator", "\u2028"],
])("[F-P10] %s is rejected in every value of a subject", (_, character) => {
  const role: RoleInput = {
    ...any,
    enforceHostnames: false,
    cnValidations: ["disabled"],
    allowedUserIds: ["*"],
    useCsrCommonName: true,
  }
  const value = `moc.${character}elpmaxe`
  const problem = "must not contain format characters, such as those that change the direction of text"
  expect(refusals(() => issue(role, { commonName: value }))).toEqual([`common name ${value} ${problem}`])
  expect(refusals(() => issue(role, { commonName: "a", userIds: [value] }))).toEqual([`user_id ${value} ${problem}`])
  const csrSubject = subjectWith([oids.commonName, value])
  expect(refusals(() => sign(role, { subject: csrSubject }))).toEqual([`common name ${value} ${problem}`])
  expect(refusals(() => createRole({ organization: [value] }))).toEqual([`"organization" entry ${problem}`])
})

describe("an approved issue request", () => {
  test.each<{ role?: RoleInput; request: IssueRequestInput; names: string[]; why: string }>([
    { request: { commonName: "example.com" }, names: ["dns:example.com"], why: "the common name is a host name" },
    {
      request: { commonName: "user@example.com" },
      names: ["email:user@example.com"],
      why: "the common name is an e-mail address",
    },
    {
      request: { commonName: "example.com", excludeCnFromSans: true, altNames: ["a.example"] },
      names: ["dns:a.example"],
      why: "the common name is excluded",
    },
    { request: { commonName: "192.0.2.1" }, names: ["ip:192.0.2.1"], why: "[F-P5] the common name is an IP address" },
    { request: { commonName: "fe80::1" }, names: ["ip:fe80::1"], why: "[F-P5] the common name is an IPv6 address" },
    {
      request: { commonName: "::ffff:192.0.2.1", ipSans: ["192.0.2.1"] },
      names: ["ip:192.0.2.1"],
      why: "[F-P5] the common name is an IP address that is also given in ip_sans",
    },
    {
      request: { commonName: "192.0.2.1", excludeCnFromSans: true },
      names: [],
      why: "[F-P5] the common name is an IP address and excluded",
    },
    {
      role: { cnValidations: ["disabled"] },
      request: { commonName: "192.0.2.1" },
      names: ["ip:192.0.2.1"],
      why: "[F-P5] the common name is an IP address and not validated",
    },
    {
      role: { allowAnyName: false, allowedDomains: ["192.0.2.1"], allowBareDomains: true },
      request: { commonName: "192.0.2.1" },
      names: ["ip:192.0.2.1"],
      why: "[F-P5] the common name is an IP address in allowed_domains",
    },
    {
      role: { enforceHostnames: false },
      request: { commonName: "My Service" },
      names: [],
      why: "the common name is neither a host name nor an address",
    },
    {
      role: { enforceHostnames: false },
      request: { commonName: "my_service", altNames: ["a_b.example"] },
      names: ["dns:my_service", "dns:a_b.example"],
      why: "underscores are allowed when host names are not enforced",
    },
    {
      request: { commonName: "example.com", altNames: ["EXAMPLE.com", "example.com.", "a.example", "a.example"] },
      names: ["dns:example.com", "dns:a.example"],
      why: "duplicate names are removed",
    },
    {
      request: { commonName: "a", altNames: ["*.bücher.example", "me@bücher.example"] },
      names: ["dns:a", "dns:*.xn--bcher-kva.example", "email:me@xn--bcher-kva.example"],
      why: "names are converted to A-labels",
    },
    {
      request: { commonName: "a", ipSans: ["192.0.2.1", "::ffff:192.0.2.1", "2001:DB8::1"] },
      names: ["dns:a", "ip:192.0.2.1", "ip:2001:db8::1"],
      why: "duplicate IP addresses are removed",
    },
    {
      role: { allowedUriSans: ["spiffe://*"], allowedOtherSans: ["*"] },
      request: { commonName: "a", uriSans: ["spiffe://x/y"], otherSans: ["1.2.3;UTF8:é", "1.2.3;utf-8:é"] },
      names: ["dns:a", "uri:spiffe://x/y", "other:1.2.3;é"],
      why: "URIs and other names",
    },
    {
      role: { allowedOtherSans: ["2.5.4.5;UTF8:*"] },
      request: { commonName: "a", altNames: ["2.5.4.5;UTF8:SN-1", "2.5.4.5;UTF8:SN-2"] },
      names: ["dns:a", "other:2.5.4.5;SN-1", "other:2.5.4.5;SN-2"],
      why: "serial numbers among the alternative names",
    },
    {
      role: { requireCn: false },
      request: { altNames: ["a.example"] },
      names: ["dns:a.example"],
      why: "no common name",
    },
  ])("$names: $why", ({ role, request, names }) => {
    expect(texts(issue({ ...any, ...role }, request))).toEqual(names)
  })

  test("has the subject of the role with names of the request, one RDN per value", () => {
    const role: RoleInput = {
      ...any,
      country: ["DE"],
      organization: ["Example", "Example"],
      ou: ["Web", "Ops"],
      locality: ["Berlin"],
      province: ["BE"],
      streetAddress: ["Street 1"],
      postalCode: ["10115"],
      allowedSerialNumbers: ["SN-*"],
      allowedUserIds: ["*"],
    }
    const { subject } = issue(role, { commonName: "Example.com", serialNumber: "SN-7", userIds: ["alice", "bob"] })
    expect(subject).toEqual(
      subjectWith(
        [oids.countryName, "DE"],
        [oids.organizationName, "Example"],
        [oids.organizationalUnitName, "Web"],
        [oids.organizationalUnitName, "Ops"],
        [oids.localityName, "Berlin"],
        [oids.stateOrProvinceName, "BE"],
        [oids.streetAddress, "Street 1"],
        [oids.postalCode, "10115"],
        [oids.commonName, "Example.com"],
        [oids.serialNumber, "SN-7"],
        [oids.userId, "alice"],
        [oids.userId, "bob"],
      ),
    )
  })

  test("has the usages from flags, names and OIDs of the role, without duplicates, that fit the key", () => {
    const role = {
      ...any,
      codeSigningFlag: true,
      emailProtectionFlag: true,
      clientFlag: false,
      extKeyUsage: ["ServerAuth", "TimeStamping"],
      extKeyUsageOids: ["1.3.6.1.5.5.7.3.8", "1.2.3.4"],
    }
    expect(issue(role, { commonName: "a" })).toMatchObject({
      key: { type: "ec", bits: 256 },
      keyUsage: ["digitalSignature", "keyAgreement"],
      extendedKeyUsage: [oids.serverAuth, oids.codeSigning, oids.emailProtection, oids.timeStamping, "1.2.3.4"],
    })
    expect(issue({ ...any, keyType: "rsa" }, { commonName: "a" }).keyUsage).toEqual([
      "digitalSignature",
      "keyEncipherment",
    ])
    const bare = { ...any, keyUsage: [], serverFlag: false, clientFlag: false }
    expect(issue(bare, { commonName: "a" })).toMatchObject({ keyUsage: [], extendedKeyUsage: [] })
  })

  test("has policies with qualifiers", () => {
    const policyIdentifiers = [
      { oid: "1.2.3" },
      { oid: "1.2.4", notice: "no warranty", cps: "https://example.org/cps" },
    ]
    expect(
      issue({ ...any, policyIdentifiers, basicConstraintsValidForNonCa: true }, { commonName: "a" }),
    ).toMatchObject({
      policies: [
        { oid: "1.2.3", cps: [], notices: [] },
        { oid: "1.2.4", cps: ["https://example.org/cps"], notices: ["no warranty"] },
      ],
      hasBasicConstraints: true,
    })
  })

  test("has the key type of the request when the role allows any", () => {
    const request = { commonName: "a", keyType: "rsa", keyBits: 3072 }
    expect(issue({ ...any, keyType: "any" }, request).key).toEqual({ type: "rsa", bits: 3072 })
    expect(issue(any, request).key).toEqual({ type: "ec", bits: 256 })
  })

  test("has a warning when it has no names", () => {
    const { subject, warnings } = issue({ ...any, requireCn: false, organization: ["Example"] }, {})
    expect(subject).toEqual(subjectWith([oids.organizationName, "Example"]))
    expect(warnings).toEqual(["the certificate has neither a common name nor a subject alternative name"])
  })

  test("has any common name when it is not validated", () => {
    const role: RoleInput = { ...web, cnValidations: ["disabled"] }
    expect(texts(issue(role, { commonName: "Alice in Wonderland", altNames: ["www.example.com"] }))).toEqual([
      "dns:www.example.com",
    ])
    expect(texts(issue(role, { commonName: "evil.org", excludeCnFromSans: true }))).toEqual([])
  })

  test("has URIs from templates of the caller's identity", () => {
    const identity = { entity: { id: "e", name: "alice", metadata: { all: "*" }, aliases: {} }, groups: [] }
    const role: RoleInput = {
      ...any,
      allowedUriSans: ["spiffe://x/{{identity.entity.name}}", "spiffe://x/{{identity.entity.metadata.all}}", "urn:x:*"],
      allowedUriSansTemplate: true,
    }
    const ask = (uri: string, known = true) =>
      refusals(() =>
        approve({ commonName: "a", uriSans: [uri] }, undefined, {
          ...terms(role),
          identity: known ? identity : undefined,
        }),
      )
    expect(ask("spiffe://x/alice")).toEqual([])
    expect(ask("spiffe://x/alice", false)).toHaveLength(1)
    expect(ask("spiffe://x/bob")).toHaveLength(1)
    expect(ask("urn:x:y", false)).toEqual([])
  })
})

describe("the key of a CSR", () => {
  test.each<{ role: RoleInput; key: CsrFacts["key"]; messages: string[]; why: string }>([
    { role: any, key: { type: "ec", bits: 256 }, messages: [], why: "the key type of the role" },
    { role: any, key: { type: "ec", bits: 521 }, messages: [], why: "larger than the role requires" },
    {
      role: { ...any, keyType: "rsa" },
      key: { type: "rsa", bits: 2056 },
      messages: [],
      why: "larger than the role requires, unusual size",
    },
    {
      role: { ...any, keyType: "rsa" },
      key: { type: "ec", bits: 256 },
      messages: ["role requires keys of type rsa"],
      why: "another type",
    },
    {
      role: { ...any, keyBits: 384 },
      key: { type: "ec", bits: 256 },
      messages: ["role requires a minimum of a 384-bit key, but CSR's key is 256 bits"],
      why: "smaller than the role requires",
    },
    {
      role: { ...any, keyType: "rsa", keyBits: 3072 },
      key: { type: "rsa", bits: 2048 },
      messages: ["role requires a minimum of a 3072-bit key, but CSR's key is 2048 bits"],
      why: "smaller than the role requires",
    },
    {
      role: { ...any, keyType: "any" },
      key: { type: "rsa", bits: 1024 },
      messages: ["RSA keys < 2048 bits are unsafe and not supported: got 1024"],
      why: "below the minimum of all roles",
    },
    { role: { ...any, keyType: "any" }, key: { type: "ec", bits: 224 }, messages: [], why: "any" },
    { role: { ...any, keyType: "any" }, key: { type: "ed25519" }, messages: [], why: "any" },
    {
      role: { ...any, keyType: "any", keyBits: 4096 },
      key: { type: "rsa", bits: 2048 },
      messages: [],
      why: "key_bits is ignored when key_type is any",
    },
    { role: { ...any, keyType: "ed25519" }, key: { type: "ed25519" }, messages: [], why: "the key type of the role" },
  ])("$key under a role of $role.keyType $role.keyBits: $why", ({ role, key, messages }) => {
    expect(refusals(() => sign(role, { key }, { commonName: "a" }))).toEqual(messages)
  })

  test("is approved with usages that fit it", () => {
    const approved = sign({ ...any, keyType: "any" }, { key: { type: "ed25519" } }, { commonName: "a" })
    expect(approved).toMatchObject({ key: { type: "ed25519" }, keyUsage: ["digitalSignature"] })
  })
})

describe("values of a CSR", () => {
  const ignored = (field: string, setting: string) =>
    `the ${field} field was provided but the role is set with "${setting}" set to true`
  const named = subjectWith([oids.organizationName, "Other"], [oids.commonName, "csr.example"])

  test("have precedence for the common name", () => {
    const both = sign(any, { subject: named }, { commonName: "api.example" })
    expect(texts(both)).toEqual(["dns:csr.example"])
    expect(both.subject).toEqual(subjectWith([oids.commonName, "csr.example"]))
    expect(both.warnings).toEqual([ignored("common_name", "use_csr_common_name")])
    expect(texts(sign(any, {}, { commonName: "api.example" }))).toEqual(["dns:api.example"])
    const own = sign({ ...any, useCsrCommonName: false }, { subject: named }, { commonName: "api.example" })
    expect([texts(own), own.warnings]).toEqual([["dns:api.example"], []])
  })

  test("replace the alternative names when use_csr_sans is true, and are ignored otherwise", () => {
    const facts: Partial<CsrFacts> = {
      dnsNames: ["csr.example"],
      emails: ["csr@example.com"],
      ips: ["192.0.2.1"],
      uris: ["urn:x:csr"],
      otherNames: [{ oid: "1.2.3", value: "csr" }],
    }
    const request: IssueRequestInput = {
      commonName: "a",
      altNames: ["api.example"],
      ipSans: ["192.0.2.2"],
      uriSans: ["urn:x:api"],
      otherSans: ["1.2.3;UTF8:api"],
    }
    const role: RoleInput = { ...any, allowedUriSans: ["*"], allowedOtherSans: ["*"] }
    const theirs = sign(role, facts, request)
    expect(texts(theirs)).toEqual([
      "dns:a",
      "dns:csr.example",
      "email:csr@example.com",
      "ip:192.0.2.1",
      "uri:urn:x:csr",
      "other:1.2.3;api",
      "other:1.2.3;csr",
    ])
    expect(theirs.warnings).toEqual([
      ignored("alt_names", "use_csr_sans"),
      ignored("ip_sans", "use_csr_sans"),
      ignored("uri_sans", "use_csr_sans"),
    ])
    const own = sign({ ...role, useCsrSans: false }, facts, request)
    expect(texts(own)).toEqual(["dns:a", "dns:api.example", "ip:192.0.2.2", "uri:urn:x:api", "other:1.2.3;api"])
    expect(own.warnings).toEqual([
      'the subject alternative names in the CSR were ignored, because the role is set with "use_csr_sans" set to false',
    ])
  })

  test("give user ids and serial number when the request has none", () => {
    const role: RoleInput = { ...any, allowedUserIds: ["*"], allowedSerialNumbers: ["*"] }
    const subject = subjectWith([oids.userId, "csr-1"], [oids.userId, "csr-2"], [oids.serialNumber, "SN-CSR"])
    const values = (approved: ApprovedRequest) => approved.subject.flat().map(({ value }) => value)
    expect(values(sign(role, { subject }, { commonName: "a" }))).toEqual(["a", "SN-CSR", "csr-1", "csr-2"])
    const request = { commonName: "a", userIds: ["api"], serialNumber: "SN-API" }
    expect(values(sign(role, { subject }, request))).toEqual(["a", "SN-API", "api"])
    const json: RoleInput = { ...role, serialNumberSource: "json" }
    expect(values(sign(json, { subject }, { commonName: "a" }))).toEqual(["a", "csr-1", "csr-2"])
  })

  test.each<{ role: RoleInput; facts: Partial<CsrFacts>; detail: string }>([
    {
      role: web,
      facts: { subject: subjectWith([oids.commonName, "evil.org"]) },
      detail: "common name evil.org not allowed by this role: it is not under an allowed domain",
    },
    {
      role: web,
      facts: { dnsNames: ["evil.org"] },
      detail: "subject alternate name evil.org not allowed by this role: it is not under an allowed domain",
    },
    {
      role: web,
      facts: { dnsNames: ["user@example.com"] },
      detail: "subject alternate name user@example.com not allowed by this role: it is not a valid DNS name",
    },
    {
      role: { ...any, enforceHostnames: false },
      facts: { emails: ["example.com"] },
      detail: "email address example.com not allowed by this role: it is not a valid e-mail address",
    },
    {
      role: { ...any, allowIpSans: false },
      facts: { ips: ["192.0.2.1"] },
      detail: "IP Subject Alternative Names are not allowed in this role, but was provided via CSR: 192.0.2.1",
    },
    {
      role: { ...any, allowedIpSansCidr: ["10.0.0.0/8"] },
      facts: { ips: ["192.0.2.1"] },
      detail: 'the IP address "192.0.2.1" is not allowed in this role',
    },
    {
      role: any,
      facts: { uris: ["urn:x:y"] },
      detail: "URI Subject Alternative Names are not allowed in this role, but were provided via CSR: urn:x:y",
    },
    {
      role: any,
      facts: { otherNames: [{ oid: "1.2.3", value: "x" }] },
      detail: "other SAN OID 1.2.3 not allowed by this role",
    },
    {
      role: any,
      facts: { otherKinds: ["directoryName", "directoryName"] },
      detail:
        "subject alternate names of type directoryName, which were provided via CSR, are not allowed by this role",
    },
    {
      role: any,
      facts: { subject: subjectWith([oids.userId, "mallory"]) },
      detail: "user_id mallory is not allowed by this role",
    },
    {
      role: any,
      facts: { subject: subjectWith([oids.serialNumber, "1"]) },
      detail: "serial_number 1 not allowed by this role",
    },
    {
      role: any,
      facts: { subject: subjectWith([oids.commonName, "a"], [oids.commonName, "b"]) },
      detail: "the CSR contains more than one common name",
    },
    {
      role: { ...any, allowedSerialNumbers: ["*"] },
      facts: { subject: subjectWith([oids.serialNumber, "1"], [oids.serialNumber, "2"]) },
      detail: "the CSR contains more than one serial number in its subject",
    },
  ])("are validated like those of a request: $detail", ({ role, facts, detail }) => {
    expect(faultsOf(() => sign(role, facts, { commonName: "example.com" }))).toEqual([{ field: "csr", detail }])
  })

  test("include no basic constraints unless the role adds CA:FALSE", () => {
    const facts = { hasBasicConstraints: true }
    const warning = "specified CSR contained a Basic Constraints extension that was ignored during issuance"
    expect(sign(any, facts, { commonName: "a" }).warnings).toEqual([warning])
    expect(sign({ ...any, basicConstraintsValidForNonCa: true }, facts, { commonName: "a" }).warnings).toEqual([])
  })
})

test("[P-7-n1] an approved certificate has exactly the requested names", () => {
  const dnsNames = fc.uniqueArray(
    fc.domain().map((name) => name.toLowerCase()),
    { maxLength: 4 },
  )
  const requests = fc.record({
    commonName: fc
      .domain()
      .filter((name) => name.length <= 64)
      .map((name) => name.toLowerCase()),
    altNames: dnsNames,
    ipSans: fc.uniqueArray(fc.ipV4(), { maxLength: 3 }),
    excludeCnFromSans: fc.boolean(),
  })
  fc.assert(
    fc.property(requests, fc.boolean(), (request, isSigned) => {
      const { commonName, altNames, ipSans, excludeCnFromSans } = request
      const approved = isSigned
        ? sign(any, { dnsNames: altNames, ips: ipSans }, { commonName, excludeCnFromSans })
        : issue(any, request)
      const asked = [...(excludeCnFromSans ? [] : [commonName]), ...altNames]
      expect(new Set(texts(approved))).toEqual(
        new Set([...asked.map((name) => `dns:${name}`), ...ipSans.map((ip) => `ip:${ip}`)]),
      )
    }),
  )
})

test("any request is rejected or gives names that are read back unchanged from the certificate", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(..."aA1é中ا.*@-_:/;% ".split("")), maxLength: 16 }),
  )
  const labels = fc.string({
    unit: fc.constantFrom("a", "B", "1", "é", "中", "ا", "-", "*"),
    minLength: 1,
    maxLength: 4,
  })
  const domain = fc.oneof(
    fc.domain(),
    fc.array(labels, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(".")),
  )
  /** Mostly valid values, and sometimes arbitrary text. */
  const listOf = (usual: fc.Arbitrary<string>) =>
    fc.array(fc.oneof({ weight: 20, arbitrary: usual }, { weight: 1, arbitrary: text }), { maxLength: 3 })
  const requests = fc.record(
    {
      commonName: fc.oneof(domain, text),
      altNames: listOf(fc.oneof(domain, fc.emailAddress())),
      ipSans: listOf(fc.oneof(fc.ipV4(), fc.ipV6())),
      uriSans: listOf(fc.webUrl()),
      otherSans: listOf(text.map((value) => `1.2.3;UTF8:${value}`)),
      userIds: listOf(fc.string({ minLength: 1, maxLength: 6 })),
      serialNumber: fc.oneof(fc.constant("SN-1"), text),
    },
    { requiredKeys: [] },
  )
  const open: RoleInput = {
    ...any,
    requireCn: false,
    allowedUriSans: ["*"],
    allowedOtherSans: ["*"],
    allowedUserIds: ["*"],
    allowedSerialNumbers: ["*"],
  }
  const roles = fc.record({
    enforceHostnames: fc.boolean(),
    cnValidations: fc.constantFrom(["disabled"], ["email", "hostname"]),
  })
  fc.assert(
    fc.property(requests, roles, (request, role) => {
      let approved: ApprovedRequest | undefined
      const messages = refusals(() => (approved = issue({ ...open, ...role }, request)))
      expect(messages.length > 0).toBe(approved === undefined)
      if (approved === undefined) return
      expect(parseName(encodeName(approved.subject))).toEqual(approved.subject)
      expect(nameViolations(approved.subject)).toEqual([])
      const names =
        approved.subjectAltName.length === 0 ? [] : [subjectAltName(approved.subjectAltName, { critical: true })]
      expect(parseExtensionValues(names).subjectAltName ?? []).toEqual(approved.subjectAltName)
    }),
    { numRuns: 2_000 },
  )
})
