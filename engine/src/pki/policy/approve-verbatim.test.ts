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
import { createRole } from "../roles/role.ts"
import { approveVerbatim, type VerbatimRequest, type VerbatimTerms } from "./approve-verbatim.ts"
import type { CsrContent } from "./csr-extensions.ts"

const now: Instant = Date.parse("2026-11-21T12:00:00Z")
const terms: VerbatimTerms = {
  role: undefined,
  keyType: "rsa",
  mountTtls: { defaultMs: 24 * hourMs, maximumMs: 768 * hourMs },
  paths: undefined,
  issuer: { notBefore: 0, notAfter: now + 1_000 * hourMs, leafNotAfterBehavior: "permit" },
  enforceLeafNotAfterBehavior: false,
  now,
}
const anything: DistinguishedName = [[{ type: oids.commonName, value: "any thing" }], [{ type: "1.2.3", value: "x" }]]
const csr = (extensions: readonly Extension[] = [], subjectName = anything): CsrContent => ({
  subject: encodeName(subjectName),
  subjectName,
  extensions,
  extensionValues: parseExtensionValues(extensions),
})
const approve = (content: CsrContent, input: Partial<VerbatimRequest> = {}, more: Partial<VerbatimTerms> = {}) =>
  approveVerbatim(input, content, { ...terms, ...more })
const valuesOf = ({ extensions }: { readonly extensions: readonly Extension[] }) => parseExtensionValues(extensions)

function faultsOf(work: () => unknown) {
  try {
    work()
  } catch (error) {
    if (isEngineError(error, "invalid")) return error.faults.map(({ detail, field }) => ({ detail, field: field?.[0] }))
    throw error
  }
  return []
}

describe("a certificate that is signed verbatim", () => {
  test("has the subject, names and extensions of the CSR unchanged", () => {
    const request = [
      subjectAltName(
        [
          { kind: "dns", value: "not_a_host" },
          { kind: "registered-id", oid: "1.2.3" },
        ],
        { critical: false },
      ),
      keyUsage(["keyAgreement"]),
      extendedKeyUsage(["1.2.3.4"]),
      subjectKeyIdentifier(Uint8Array.of(1, 2, 3)),
      { oid: "1.2.3.4.5", critical: true, value: Uint8Array.of(5, 0) },
    ]
    const content = csr(request)
    const approved = approve(content)
    expect(approved.subjectDer).toBe(content.subject)
    expect(approved).toMatchObject({ subject: anything, extensions: request, warnings: [] })
    expect(approved.subjectAltName).toEqual(valuesOf({ extensions: request }).subjectAltName)
  })

  test("has the given user ids in its subject without validation", () => {
    const { subject, subjectDer } = approve(csr(), { userIds: ["alice", "bob"] })
    expect(subject).toEqual([
      ...anything,
      [{ type: oids.userId, value: "alice" }],
      [{ type: oids.userId, value: "bob" }],
    ])
    expect(subjectDer).toEqual(encodeName(subject))
  })

  test("has the key usages and purposes of the request when the CSR has none", () => {
    expect(valuesOf(approve(csr()))).toEqual({ keyUsage: ["digitalSignature", "keyEncipherment"] })
    expect(valuesOf(approve(csr(), {}, { keyType: "ec" })).keyUsage).toEqual(["digitalSignature", "keyAgreement"])
    expect(valuesOf(approve(csr(), { keyUsage: [] }))).toEqual({})
    const request = approve(csr(), {
      keyUsage: ["CRLSIGN", "Nothing"],
      extKeyUsage: ["serverauth", "Web"],
      extKeyUsageOids: ["1.2.3", "1.3.6.1.5.5.7.3.1"],
    })
    expect(valuesOf(request)).toEqual({ keyUsage: ["cRLSign"], extendedKeyUsage: [oids.serverAuth, "1.2.3"] })
    expect(request.warnings).toEqual([
      '"key_usage" Nothing is not known and is ignored',
      '"ext_key_usage" Web is not known and is ignored',
    ])
  })

  test("[F-P7] omits a key usage that does not fit the key, with a warning", () => {
    const request = approve(csr(), { keyUsage: ["CertSign", "DigitalSignature", "keyagreement"] })
    expect(valuesOf(request).keyUsage).toEqual(["digitalSignature"])
    expect(request.warnings).toEqual([
      '"key_usage" CertSign is only for CA certificates and is left out',
      '"key_usage" keyagreement does not apply to keys of type rsa and is left out',
    ])
    // Default key usages are left out without a warning, and the key usage of the CSR replaces them.
    expect(approve(csr()).warnings).toEqual([])
    expect(approve(csr([keyUsage(["digitalSignature"])]), { keyUsage: ["CertSign"] }).warnings).toEqual([])
  })

  test("[F-P7] has basic constraints CA:FALSE when the request or the role requires it", () => {
    const role = createRole({ basicConstraintsValidForNonCa: true })
    for (const approved of [approve(csr(), { basicConstraintsValidForNonCa: true }), approve(csr(), {}, { role })]) {
      expect(valuesOf(approved).basicConstraints).toEqual({ isCa: false })
      expect(approved.warnings).toEqual([])
    }
    const requesting = csr([basicConstraints({ isCa: false })])
    const copied = approve(requesting, { basicConstraintsValidForNonCa: true })
    expect([valuesOf(copied).basicConstraints, copied.warnings]).toEqual([{ isCa: false }, []])
    expect(valuesOf(approve(requesting)).basicConstraints).toBeUndefined()
    expect(
      faultsOf(() => approve(csr([basicConstraints({ isCa: true })]), { basicConstraintsValidForNonCa: true })),
    ).toHaveLength(1)
  })

  test("keeps key usages of the CSR even when they do not fit the key", () => {
    const content = csr([keyUsage(["keyAgreement"]), extendedKeyUsage([oids.clientAuth])])
    const approved = approve(content, { keyUsage: ["DigitalSignature"], extKeyUsage: ["ServerAuth"] })
    expect(valuesOf(approved)).toEqual({ keyUsage: ["keyAgreement"], extendedKeyUsage: [oids.clientAuth] })
  })

  test("omits basic constraints and extensions of the issuer", () => {
    const aki = { oid: oids.authorityKeyIdentifier, critical: false, value: Uint8Array.of(0x30, 0) }
    const approved = approve(csr([basicConstraints({ isCa: false }), aki]), { keyUsage: [] })
    expect(approved.extensions).toEqual([])
    expect(approved.warnings).toEqual([
      "specified CSR contained a Basic Constraints extension that was ignored during issuance",
      "specified CSR contained an Authority Key Identifier extension that was ignored during issuance",
    ])
  })

  test("has critical alternative names when its subject is empty", () => {
    const names = subjectAltName([{ kind: "dns", value: "a.example" }], { critical: false })
    expect(approve(csr([names], []), { keyUsage: [] }).extensions).toEqual([{ ...names, critical: true }])
  })
})

test.each([
  { extension: basicConstraints({ isCa: true }), what: "Basic Constraints of a CA" },
  { extension: keyUsage(["keyCertSign"]), what: "the key usage CertSign" },
  {
    extension: nameConstraints({ permitted: [{ kind: "dns", value: "a.example" }], excluded: [] }),
    what: "Name Constraints",
  },
])("[P-7-n5] a CSR that requests $what is rejected", ({ extension, what }) => {
  const detail = `the CSR requests ${what}, and sign-verbatim refuses to issue an intermediate CA certificate`
  expect(faultsOf(() => approve(csr([extension])))).toEqual([{ field: "csr", detail }])
})

test.each<{
  input: Partial<VerbatimRequest>
  more?: Partial<VerbatimTerms>
  content?: CsrContent
  field: string
  detail: string
}>([
  {
    input: {},
    content: csr([], []),
    field: "csr",
    detail: "the CSR has neither a subject nor a subject alternative name; a certificate requires one of them",
  },
  { input: { userIds: ["a\0b"] }, field: "userIds", detail: "user_id a\0b must not contain the character U+0000" },
  { input: { userIds: [""] }, field: "userIds", detail: "user_id  must not be empty" },
  {
    input: { extKeyUsageOids: ["serverAuth"] },
    field: "extKeyUsageOids",
    detail: '"serverAuth" could not be parsed as a valid oid for an extended key usage',
  },
  {
    input: { certMetadata: "AAEC" },
    field: "certMetadata",
    detail: '"cert_metadata" must not be given without a role',
  },
  {
    input: { certMetadata: "AAEC" },
    more: { role: createRole({ noStoreMetadata: true }) },
    field: "certMetadata",
    detail: '"cert_metadata" must not be given, because the role is set with "no_store_metadata" set to true',
  },
  {
    input: { certMetadata: "?" },
    more: { role: createRole({}) },
    field: "certMetadata",
    detail: '"cert_metadata" must be base64',
  },
  { input: { signatureBits: 1 }, field: "signatureBits", detail: "unsupported hash signature algorithm: 1" },
  { input: { ttlMs: -1 }, field: "ttlMs", detail: '"ttl" must not be negative' },
])("a request is rejected: $detail", ({ input, more, content, field, detail }) => {
  expect(faultsOf(() => approve(content ?? csr(), input, more))).toEqual([{ field, detail }])
})

describe("its lifetime", () => {
  const lastSecond = (ttlMs: number) => now + ttlMs - 1_000

  test("is the ttl of the engine or role; not_after of the role is ignored", () => {
    expect(approve(csr()).validity).toEqual({ notBefore: now - 30_000, notAfter: lastSecond(24 * hourMs) })
    const role = createRole({
      ttlMs: hourMs,
      maxTtlMs: 2 * hourMs,
      notBeforeDurationMs: 0,
      notAfter: now + 1,
      notAfterBound: "permit",
    })
    expect(approve(csr(), {}, { role }).validity).toEqual({ notBefore: now, notAfter: lastSecond(hourMs) })
    const cut = approve(csr(), { ttlMs: 3 * hourMs }, { role })
    expect(cut.validity.notAfter).toBe(lastSecond(2 * hourMs))
    expect(cut.warnings).toEqual([expect.stringMatching(/^TTL "3h" is longer than permitted maxTTL "2h"/)])
    const notAfter = now + 500 * hourMs
    expect(approve(csr(), { notAfter }, { role }).validity.notAfter).toBe(notAfter)
  })

  test("[F-P1] is limited by not_after_bound of the role, and only warned about without a role", () => {
    const notAfter = now + 500 * hourMs
    const bound = approve(csr(), { notAfter }, { role: createRole({ maxTtlMs: 2 * hourMs }) })
    expect(bound.validity.notAfter).toBe(lastSecond(2 * hourMs))
    expect(bound.warnings).toEqual([expect.stringMatching(/beyond the permitted maxTTL "2h", so .* is being used$/)])
    const forbidding = createRole({ notAfterBound: "forbid" })
    expect(faultsOf(() => approve(csr(), { notAfter }, { role: forbidding })).map(({ field }) => field)).toEqual([
      "notAfter",
    ])
    const free = approve(csr(), { notAfter: now + 900 * hourMs })
    expect(free.validity.notAfter).toBe(now + 900 * hourMs)
    expect(free.warnings).toEqual([expect.stringMatching(/beyond the permitted maxTTL "768h", which/)])
  })

  test("[F-P1] begins no earlier than the backdating, with and without a role", () => {
    for (const more of [{}, { role: createRole({}) }])
      expect(faultsOf(() => approve(csr(), { notBefore: 0 }, more)).map(({ field }) => field)).toEqual(["notBefore"])
  })

  test("[P-4.11-r9] ends with its issuer unless enforce_leaf_not_after_behavior is true", () => {
    const issuer = { notBefore: 0, notAfter: now + hourMs, leafNotAfterBehavior: "permit" } as const
    const cut = approve(csr(), {}, { issuer })
    expect(cut.validity.notAfter).toBe(issuer.notAfter)
    expect(cut.warnings).toHaveLength(1)
    expect(approve(csr(), {}, { issuer, enforceLeafNotAfterBehavior: true }).validity.notAfter).toBe(
      lastSecond(24 * hourMs),
    )
  })
})
