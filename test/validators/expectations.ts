// Generates roles and requests that fit each other from a seed, over all their options.
import { dayMs, hourMs, minuteMs } from "../../engine/src/core/time.ts"
import type {
  IssueInput,
  SignIntermediateInput,
  SignVerbatimInput,
} from "../../engine/src/pki/issuance/certificate-api.ts"
import { lastInstant } from "../../engine/src/pki/issuance/validity.ts"
import type { RoleInput } from "../../engine/src/pki/roles/role.ts"
import { oids } from "../../engine/src/x509/asn1/oids.ts"
import { certificatePolicies } from "../../engine/src/x509/certificate-policies.ts"
import { basicConstraints, extendedKeyUsage, keyUsage } from "../../engine/src/x509/extensions.ts"
import type { KeyAlgorithm } from "../../engine/src/x509/key-algorithm.ts"
import type { Chance } from "../fuzz/chance.ts"
import type { Purpose } from "./batch.ts"
import { common, contentOf, type RequestContent } from "./csr.ts"
import type { Explanation } from "./explanations.ts"

export interface RoleExpectation {
  readonly role: RoleInput
  readonly purpose: Purpose
  readonly explained: readonly Explanation[]
}

const keyUsages = [
  "DigitalSignature",
  "ContentCommitment",
  "KeyEncipherment",
  "DataEncipherment",
  "KeyAgreement",
  "EncipherOnly",
  "DecipherOnly",
]

const extendedKeyUsages = [
  "ClientAuth",
  "CodeSigning",
  "EmailProtection",
  "IPSECEndSystem",
  "TimeStamping",
  "OCSPSigning",
]

const policies = [
  { oid: "1.3.6.1.4.1.55555.1.1" },
  { oid: "1.3.6.1.4.1.55555.1.2", cps: "https://policies.example.com/cps" },
  { oid: "1.3.6.1.4.1.55555.1.3", notice: "Only for tests. Nur für Tests." },
  { oid: "1.3.6.1.4.1.55555.1.4", notice: "Of no value.", cps: "https://policies.example.com/4" },
]

/** Returns a role that allows every name. `key` is the kind of key that it generates or requires. */
export function roleExpectation(chance: Chance, key: KeyAlgorithm): RoleExpectation {
  const isServer = !chance.oneIn(4)
  const usages = chance.oneIn(3) ? undefined : some(chance, keyUsages, 4)
  const role: RoleInput = {
    allowAnyName: true,
    allowedUriSans: ["*"],
    allowedOtherSans: ["*"],
    allowedUserIds: ["*"],
    allowedSerialNumbers: ["*"],
    requireCn: false,
    cnValidations: ["disabled"],
    keyType: key.type,
    keyBits: "bits" in key ? key.bits : 0,
    serverFlag: isServer,
    clientFlag: chance.oneIn(2),
    codeSigningFlag: chance.oneIn(6),
    emailProtectionFlag: chance.oneIn(6),
    ...(usages === undefined ? {} : { keyUsage: usages }),
    extKeyUsage: chance.oneIn(3) ? some(chance, extendedKeyUsages, 3) : [],
    extKeyUsageOids: chance.oneIn(5) ? ["1.3.6.1.4.1.55555.2.1", "1.3.6.1.5.5.7.3.17"] : [],
    policyIdentifiers: chance.oneIn(3) ? some(chance, policies, 3) : [],
    basicConstraintsValidForNonCa: chance.oneIn(3),
    signatureBits: chance.of([0, 0, 256, 384, 512]),
    usePss: chance.oneIn(4),
    notBeforeDurationMs: chance.of([0, 30_000, 10 * minuteMs, 40 * dayMs]),
    ttlMs: chance.of([hourMs, dayMs, 700 * hourMs]),
    ...subject(chance),
  }
  const isUsual =
    isServer && usages === undefined && !role.codeSigningFlag && !role.emailProtectionFlag && !role.extKeyUsage?.length
  return {
    role,
    purpose: isServer && canServe(usages) ? "sslserver" : "any",
    explained: isUsual ? [] : ["zlint: e_key_usage_and_extended_key_usage_inconsistent"],
  }
}

/** Returns true if a TLS server can use the key. An absent or empty key usage allows everything. */
const canServe = (usages: readonly string[] | undefined): boolean =>
  usages === undefined || usages.length === 0 || usages.includes("DigitalSignature")

function subject(chance: Chance): RoleInput {
  const maybe = (values: readonly string[]) => (chance.oneIn(3) ? some(chance, values, 2) : [])
  return {
    country: maybe(["DE", "CH"]),
    organization: maybe(["Example GmbH", "Bücher & Söhne", "株式会社例", "x".repeat(64)]),
    ou: maybe(["Engineering", "R&D, Zürich", "#1 <team>"]),
    locality: maybe(["München", "Bern"]),
    province: maybe(["Bayern"]),
    streetAddress: maybe(["Straße 1", "1 Main Street"]),
    postalCode: maybe(["80331", "3000"]),
  }
}

/** Returns a request for such a role; every `number` has other names. */
export function requestExpectation(
  chance: Chance,
  number: number,
  { isEndless }: { readonly isEndless: boolean },
): IssueInput {
  const host = `host-${number}.example.com`
  const commonName = chance.of([host, host, `*.${host}`, `user-${number}@example.com`, `Jane Doe ${number}`, ""])
  const others = names(chance, number)
  const nameless = commonName === "" && Object.values(others).every((each) => each.length === 0)
  return {
    commonName,
    ...others,
    // Without any name, the engine refuses an empty subject.
    ...(nameless ? { altNames: [host] } : {}),
    excludeCnFromSans: chance.oneIn(5) && !nameless,
    userIds: chance.oneIn(6) ? ["jane", `user-${number}`] : [],
    serialNumber: chance.oneIn(8) ? `SN-${number}` : "",
    ...(isEndless && chance.oneIn(5) ? { notAfter: lastInstant } : {}),
    removeRootsFromChain: false,
  }
}

function names(chance: Chance, number: number) {
  const host = `alternative-${number}.example.com`
  const maybe = (values: readonly string[], count = 3) => (chance.oneIn(3) ? some(chance, values, count) : [])
  return {
    altNames: maybe(
      [
        host,
        `*.${host}`,
        `${"a".repeat(63)}.example.com`,
        `${"long.".repeat(40)}example.com`,
        "bücher.example.com",
        "localhost",
        `mailbox-${number}@example.com`,
        `first.last+tag@${host}`,
        ...(chance.oneIn(10) ? Array.from({ length: 60 }, (_, index) => `many-${index}.${host}`) : []),
      ],
      chance.oneIn(10) ? 60 : 4,
    ),
    ipSans: maybe(["10.0.0.1", "192.0.2.255", "2001:db8::1", "::1", "fe80::1"]),
    uriSans: maybe([
      `spiffe://example.com/service/${number}`,
      "https://example.com/a?b=c#d",
      "urn:uuid:6ba7b810-9dad-11d1",
    ]),
    otherSans: maybe([
      `1.3.6.1.4.1.311.20.2.3;UTF8:jane-${number}@example.com`,
      "1.3.6.1.4.1.55555.3;UTF8:Überraschung",
      "1.3.6.1.4.1.55555.4;UTF8:x",
    ]),
  }
}

export interface VerbatimExpectation {
  readonly content: RequestContent
  readonly request: Omit<SignVerbatimInput, "csr">
  readonly purpose: Purpose
  readonly explained: readonly Explanation[]
}

/** Returns the content of a CSR for `sign-verbatim`. */
export function verbatimExpectation(
  chance: Chance,
  number: number,
  { isEndless }: { readonly isEndless: boolean },
): VerbatimExpectation {
  const { subject, extensions } = contentOf(requestExpectation(chance, number, { isEndless }))
  const asksForUsage = chance.oneIn(2)
  const asksForPurpose = chance.oneIn(2)
  const content = {
    subject: [
      ...subject,
      ...(chance.oneIn(2) ? [[{ type: oids.organizationName, value: "Münchner Beispiel AG" }]] : []),
    ],
    extensions: [
      ...extensions,
      ...(asksForUsage ? [keyUsage(["digitalSignature"])] : []),
      ...(asksForPurpose ? [extendedKeyUsage([oids.serverAuth, "1.3.6.1.4.1.55555.2.2"])] : []),
      ...(chance.oneIn(4) ? [basicConstraints({ isCa: false })] : []),
      ...(chance.oneIn(4) ? [certificatePolicies([{ oid: "1.3.6.1.4.1.55555.1.9", cps: [], notices: [] }])] : []),
      // An extension that no software knows.
      ...(chance.oneIn(4)
        ? [{ oid: "1.3.6.1.4.1.55555.5", critical: false, value: Buffer.from("0c02c3a4", "hex") }]
        : []),
    ],
  }
  const request = {
    keyUsage: chance.of([["DigitalSignature"], ["DigitalSignature", "KeyAgreement", "KeyEncipherment"], []]),
    extKeyUsage: chance.of([[], ["ServerAuth"], ["ClientAuth"]]),
    extKeyUsageOids: chance.oneIn(4) ? ["1.3.6.1.4.1.55555.2.3"] : [],
    userIds: chance.oneIn(6) ? [`verbatim-${number}`] : [],
    signatureBits: chance.of([0, 256, 384, 512]),
    usePss: chance.oneIn(3),
    ...chance.of([{}, { ttlMs: dayMs }, { notAfter: lastInstant }]),
  }
  return { content, request, purpose: "any", explained: ["zlint: e_key_usage_and_extended_key_usage_inconsistent"] }
}

export interface AuthorityExpectation {
  readonly content: RequestContent
  readonly request: Omit<SignIntermediateInput, "csr">
  readonly explained: readonly Explanation[]
}

/** Returns the fields of an intermediate, as parameters or for its CSR. */
export function authorityExpectation(
  chance: Chance,
  number: number,
  { isEndless }: { readonly isEndless: boolean },
): AuthorityExpectation {
  const commonName = `Intermediate ${number}`
  const useCsrValues = chance.oneIn(3)
  const maybe = (values: readonly string[]) => (chance.oneIn(4) ? some(chance, values, 2) : [])
  return {
    content: {
      subject: common(useCsrValues ? `${commonName} of its CSR` : "ignored"),
      extensions: useCsrValues ? [keyUsage(["contentCommitment"])] : [],
    },
    request: {
      commonName,
      useCsrValues,
      maxPathLength: chance.of([-1, -1, 0, 1, 5]),
      ...subject(chance),
      altNames: maybe(["authority.example.com", "authority@example.com"]),
      uriSans: maybe(["https://authority.example.com/"]),
      permittedDnsDomains: maybe(["example.com", "example.net"]),
      excludedDnsDomains: maybe(["secret.example.com"]),
      permittedEmailAddresses: maybe(["example.com"]),
      excludedEmailAddresses: maybe(["root@example.com"]),
      permittedIpRanges: maybe(["10.0.0.0/8", "2001:db8::/32"]),
      excludedIpRanges: maybe(["10.1.0.0/16"]),
      permittedUriDomains: maybe(["example.com", ".example.com"]),
      excludedUriDomains: maybe(["secret.example.com"]),
      skid: chance.oneIn(6) ? "0a:0b:0c:0d:0e:0f:10:11:12:13:14:15:16:17:18:19:1a:1b:1c:1d" : "",
      signatureBits: chance.of([0, 256, 384, 512]),
      usePss: chance.oneIn(3),
      notBeforeDurationMs: chance.of([0, 30_000]),
      ...(isEndless && chance.oneIn(3) ? { notAfter: lastInstant } : { ttlMs: 2_000 * dayMs }),
    },
    explained: [],
  }
}

/** Returns from one to `count` of the items, without repetition. */
export function some<Item>(chance: Chance, items: readonly Item[], count: number): Item[] {
  const left = [...items]
  const chosen: Item[] = []
  for (let more = 1 + chance.below(count); more > 0 && left.length > 0; more -= 1)
    chosen.push(...left.splice(chance.below(left.length), 1))
  return chosen
}
