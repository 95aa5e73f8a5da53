import { describe, expect, test } from "vitest"
import * as fc from "fast-check"
import { type Fault, isEngineError } from "../../core/errors.ts"
import { hourMs } from "../../core/time.ts"
import {
  changeRole,
  createRole,
  type Role,
  roleDefaults,
  type RoleInput,
  roleNameFaults,
  roleWarnings,
} from "./role.ts"

function roleFaults(input: RoleInput): readonly Fault[] {
  try {
    createRole(input)
    return []
  } catch (error) {
    if (isEngineError(error, "invalid")) return error.faults
    throw error
  }
}

test("[P-8-r3] a role without parameters has the system's defaults with resolved key sizes", () => {
  expect(createRole({})).toEqual({ ...roleDefaults, keyBits: 2048, signatureBits: 256 })
  expect(roleDefaults).toMatchObject({
    ttlMs: 0,
    maxTtlMs: 0,
    notBeforeDurationMs: 30_000,
    allowLocalhost: true,
    allowWildcardCertificates: true,
    allowAnyName: false,
    enforceHostnames: true,
    allowIpSans: true,
    serverFlag: true,
    clientFlag: true,
    codeSigningFlag: false,
    keyUsage: ["DigitalSignature", "KeyAgreement", "KeyEncipherment"],
    requireCn: true,
    useCsrCommonName: true,
    useCsrSans: true,
    cnValidations: ["email", "hostname"],
    issuerRef: "default",
    noStore: false,
  })
})

test.each([
  { keyType: "rsa", keyBits: 0, resolved: 2048, signature: 256, why: "0 is the default of RSA" },
  { keyType: "rsa", keyBits: 4096, resolved: 4096, signature: 256, why: "a given size is kept" },
  { keyType: "ec", keyBits: 0, resolved: 256, signature: 0, why: "0 is the default of elliptic curves" },
  { keyType: "ed25519", keyBits: 0, resolved: 0, signature: 0, why: "Ed25519 has one size" },
  { keyType: "ed25519", keyBits: 4096, resolved: 4096, signature: 0, why: "a given value is kept" },
  { keyType: "any", keyBits: 0, resolved: 0, signature: 0, why: "the request determines the key" },
  { keyType: "any", keyBits: 2048, resolved: 2048, signature: 0, why: "a given value is kept" },
  { keyType: "any", keyBits: -1, resolved: 0, signature: 0, why: "the size is not supported" },
])("[P-8-r7] key_type $keyType with key_bits $keyBits is stored as $resolved: $why", (row) => {
  expect(createRole({ keyType: row.keyType, keyBits: row.keyBits })).toMatchObject({
    keyType: row.keyType,
    keyBits: row.resolved,
    signatureBits: row.signature,
  })
})

test("[P-8-r7] a role accepts every key size of section 8", () => {
  const sizes = { rsa: [2048, 3072, 4096, 8192], ec: [224, 256, 384, 521] }
  for (const [keyType, allowed] of Object.entries(sizes))
    for (let keyBits = 0; keyBits <= 8200; keyBits += 1)
      expect(roleFaults({ keyType, keyBits }).length === 0).toBe(keyBits === 0 || allowed.includes(keyBits))
})

test("[P-8-r6] a role accepts exactly the signature bits of section 8", () => {
  const allowed = Array.from({ length: 600 }, (_, bits) => bits).filter(
    (signatureBits) => roleFaults({ signatureBits }).length === 0,
  )
  expect(allowed).toEqual([0, 256, 384, 512])
})

describe("a role is rejected", () => {
  test.each<{ input: RoleInput; field: keyof Role; detail: string }>([
    { input: { ttlMs: 2, maxTtlMs: 1 }, field: "ttlMs", detail: '"ttl" value must be less than "max_ttl" value' },
    { input: { ttlMs: -1 }, field: "ttlMs", detail: '"ttl" must not be negative' },
    { input: { maxTtlMs: -1 }, field: "maxTtlMs", detail: '"max_ttl" must not be negative' },
    { input: { maxTtlMs: 1e15 }, field: "maxTtlMs", detail: '"max_ttl" is too long' },
    {
      input: { notBeforeDurationMs: -1 },
      field: "notBeforeDurationMs",
      detail: '"not_before_duration" must not be negative',
    },
    {
      input: { notBeforeBound: "sometimes" },
      field: "notBeforeBound",
      detail: '"not_before_bound" must be "permit", "duration", "forbid" or a timestamp',
    },
    {
      input: { notAfterBound: "duration" },
      field: "notAfterBound",
      detail: '"not_after_bound" must be "permit", "ttl-limited", "forbid" or a timestamp',
    },
    { input: { notBefore: 2, notAfter: 2 }, field: "notAfter", detail: '"not_after" must be later than "not_before"' },
    {
      input: { keyBits: 1024 },
      field: "keyBits",
      detail: "RSA keys < 2048 bits are unsafe and not supported: got 1024",
    },
    { input: { keyBits: 2049 }, field: "keyBits", detail: "unsupported bit length for RSA key: 2049" },
    { input: { keyType: "ec", keyBits: 512 }, field: "keyBits", detail: "unsupported bit length for EC key: 512" },
    { input: { keyType: "dsa" }, field: "keyType", detail: "unknown key type dsa" },
    { input: { keyType: "constructor" }, field: "keyType", detail: "unknown key type constructor" },
    { input: { signatureBits: 160 }, field: "signatureBits", detail: "unsupported hash signature algorithm: 160" },
    {
      input: { extKeyUsageOids: ["1.2.3", "1.40.3"] },
      field: "extKeyUsageOids",
      detail: '"1.40.3" could not be parsed as a valid oid for an extended key usage',
    },
    {
      input: { allowedOtherSans: ["1.2.3;UTF8:*", "1.2.3;IA5:x"] },
      field: "allowedOtherSans",
      detail: 'error parsing allowed_other_sans: other SAN "1.2.3;IA5:x" must have the type UTF8, not "IA5"',
    },
    {
      input: { allowedOtherSans: ["*", "1.2.3;UTF8:*"] },
      field: "allowedOtherSans",
      detail: '"*" must be the only entry of "allowed_other_sans"',
    },
    {
      input: { allowedIpSansCidr: ["10.0.0.0/8", "10.0.0.0/33"] },
      field: "allowedIpSansCidr",
      detail: '"allowed_ip_sans_cidr" entry "10.0.0.0/33" is not a valid CIDR range',
    },
    {
      input: { cnValidations: ["email", "dns"] },
      field: "cnValidations",
      detail: '"cn_validations" may contain "email" and "hostname", or "disabled"; got "dns"',
    },
    {
      input: { cnValidations: ["email", "email"] },
      field: "cnValidations",
      detail: '"cn_validations" names one validation twice',
    },
    {
      input: { cnValidations: ["email", "disabled"] },
      field: "cnValidations",
      detail: '"disabled" must be the only one of "cn_validations"',
    },
    {
      input: { serialNumberSource: "csr" },
      field: "serialNumberSource",
      detail: '"serial_number_source" must be "json-csr" or "json"',
    },
    {
      input: { policyIdentifiers: [{ oid: "1.2.03" }] },
      field: "policyIdentifiers",
      detail: '"1.2.03" could not be parsed as a valid oid for a policy identifier',
    },
    {
      input: { policyIdentifiers: [{ oid: "1.2.3" }, { oid: "1.2.3" }] },
      field: "policyIdentifiers",
      detail: '"policy_identifiers" names one policy twice',
    },
    {
      input: { policyIdentifiers: [{ oid: "1.2.3", cps: "www.example.com" }] },
      field: "policyIdentifiers",
      detail: '"cps" of policy identifier 1.2.3 must be a URI',
    },
    {
      input: { policyIdentifiers: [{ oid: "1.2.3", notice: "x".repeat(201) }] },
      field: "policyIdentifiers",
      detail: '"notice" of policy identifier 1.2.3 must not be longer than 200 characters',
    },
    { input: { country: ["USA"] }, field: "country", detail: '"country" entry "USA" must be a code of two letters' },
    {
      input: { organization: ["x".repeat(65)] },
      field: "organization",
      detail: '"organization" entry must not be longer than 64 characters',
    },
    {
      input: { allowedDomains: ["a\0b"] },
      field: "allowedDomains",
      detail: '"allowed_domains" entry must not contain the character U+0000',
    },
    {
      input: { allowedDomains: Array<string>(10_001).fill("a") },
      field: "allowedDomains",
      detail: '"allowed_domains" must not contain more than 10000 entries',
    },
    {
      input: { allowedDomains: Array<string>(1_001).fill("*") },
      field: "allowedDomains",
      detail: '"allowed_domains" must not contain more than 1000 entries with a "*"',
    },
  ])("$detail", ({ input, field, detail }) => {
    expect(roleFaults(input)).toEqual([{ field: [field], detail }])
  })
})

test("all faults of a role are reported at once, those of decoding first", () => {
  const document = { field: ["usePss"], detail: '"use_pss" must be a boolean' }
  const faults = roleFaults({ faults: [document], ttlMs: 2, maxTtlMs: 1, keyType: "dsa", country: ["Germany"] })
  expect(faults.map(({ detail }) => detail)).toEqual([
    document.detail,
    '"ttl" value must be less than "max_ttl" value',
    '"country" entry "Germany" must be a code of two letters',
    "unknown key type dsa",
  ])
})

test.each([
  { name: "web", valid: true, why: "letters" },
  { name: "_", valid: true, why: "an underscore at the edge" },
  { name: "web-server.v2_x", valid: true, why: "hyphens and dots inside" },
  { name: "", valid: false, why: "an empty string" },
  { name: "-web", valid: false, why: "begins with a hyphen" },
  { name: "web.", valid: false, why: "ends with a dot" },
  { name: "a/b", valid: false, why: "two segments of a path" },
  { name: "wéb", valid: false, why: "a letter outside ASCII" },
  { name: "web\n", valid: false, why: "a line break" },
  { name: "x".repeat(256), valid: false, why: "too long" },
])("a role may be named $name: $valid ($why)", ({ name, valid }) => {
  expect(roleNameFaults(name).length === 0).toBe(valid)
})

test("any valid role name is one path segment", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 20 }), (name) => {
      fc.pre(roleNameFaults(name).length === 0)
      expect(new URL(`http://host/v1/pki/roles/${name}`).pathname).toBe(`/v1/pki/roles/${name}`)
    }),
  )
})

test("blank entries of a list are ignored", () => {
  expect(createRole({ allowedDomains: ["example.com", ""], ou: [""], cnValidations: [], issuerRef: "" })).toMatchObject(
    {
      allowedDomains: ["example.com"],
      ou: [],
      cnValidations: ["email", "hostname"],
      issuerRef: "default",
    },
  )
})

test.each(["any", "ed25519"])("key_type %s keeps the given signature bits, which an RSA issuer uses", (keyType) => {
  expect(createRole({ keyType, signatureBits: 384 })).toMatchObject({ keyType, signatureBits: 384 })
})

test("a patch changes the given members only", () => {
  const before = createRole({ allowedDomains: ["example.com"], ttlMs: hourMs, keyType: "ec", keyBits: 384 })
  expect(changeRole(before, { ttlMs: 2 * hourMs })).toEqual({ ...before, ttlMs: 2 * hourMs })
  expect(changeRole(before, { allowedDomains: [] }).allowedDomains).toEqual([])
})

test("a patch of the key type resolves the sizes again", () => {
  const before = createRole({ keyType: "rsa", keyBits: 4096, signatureBits: 512 })
  expect(changeRole(before, { keyType: "ec" })).toMatchObject({ keyType: "ec", keyBits: 256, signatureBits: 0 })
  expect(changeRole(before, { keyType: "rsa" })).toMatchObject({ keyBits: 4096, signatureBits: 512 })
})

test("a patch is validated together with unchanged members", () => {
  const before = createRole({ maxTtlMs: hourMs })
  expect(() => changeRole(before, { ttlMs: 2 * hourMs })).toThrow('"ttl" value must be less than "max_ttl" value')
})

test("a role with no_store has no lease", () => {
  const requested = { noStore: true, generateLease: true }
  const role = createRole(requested)
  expect(role.generateLease).toBe(false)
  expect(roleWarnings(role, requested)).toEqual([expect.stringContaining("mutually exclusive")])
  expect(roleWarnings(createRole({ generateLease: true }))).toEqual([
    expect.stringContaining("a lease for each certificate"),
  ])
})

test.each<{ input: RoleInput; warning: string; why: string }>([
  {
    input: { allowedDomains: ["example.com"] },
    warning: '"allowed_domains" allows nothing',
    why: "no allow_* flag is set",
  },
  {
    input: { keyUsage: ["Signing"] },
    warning: '"key_usage" Signing is not known',
    why: "an unknown name is kept and ignored",
  },
  {
    input: { keyUsage: ["certsign"] },
    warning: '"key_usage" CertSign is only for',
    why: "a role does not issue CA certificates",
  },
  {
    input: { extKeyUsage: ["Web"] },
    warning: '"ext_key_usage" Web is not known',
    why: "an unknown name is kept and ignored",
  },
])("a role warns that $warning: $why", ({ input, warning }) => {
  expect(roleWarnings(createRole(input))).toEqual([expect.stringContaining(warning)])
})

test("a role without problems has no warnings", () => {
  expect(roleWarnings(createRole({ allowedDomains: ["example.com"], allowSubdomains: true }))).toEqual([])
})

const roleInputs: fc.Arbitrary<RoleInput> = fc.record(
  {
    ttlMs: fc.integer({ min: 0, max: hourMs }),
    maxTtlMs: fc.constantFrom(0, hourMs),
    keyType: fc.constantFrom("rsa", "ec", "ed25519", "any"),
    allowedDomains: fc.array(fc.domain(), { maxLength: 3 }),
    allowAnyName: fc.boolean(),
    noStore: fc.boolean(),
    generateLease: fc.boolean(),
    keyUsage: fc.subarray(["DigitalSignature", "KeyAgreement", "CRLSign", ""]),
    notAfter: fc.option(fc.integer({ min: 1, max: 253_402_300_799_000 })),
    organization: fc.array(fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 30 }), { maxLength: 2 }),
  },
  { requiredKeys: [] },
)

test("a role is unchanged when it is written back as read", () => {
  fc.assert(
    fc.property(roleInputs, (input) => {
      const role = createRole(input)
      expect(createRole(role)).toEqual(role)
      expect(changeRole(role, {})).toEqual(role)
      expect(JSON.parse(JSON.stringify(role))).toEqual(role)
    }),
  )
})

test("creating and patching a role equals writing both with the patch last", () => {
  fc.assert(
    fc.property(roleInputs, roleInputs, (input, patch) => {
      // Excludes inputs whose first write resolves settings that a patch cannot restore: a lease, and key bits of another key type.
      fc.pre(input.noStore !== true && (patch.keyType === undefined || input.keyType === undefined))
      expect(changeRole(createRole(input), patch)).toEqual(createRole({ ...input, ...patch }))
    }),
  )
})
