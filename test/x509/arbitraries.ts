// Arbitrary names, extensions, certificates and CSRs of every kind that our writer supports.
import { createHash, generateKeyPairSync } from "node:crypto"
import {
  type Arbitrary,
  array,
  boolean,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  record,
  string,
  stringMatching,
  tuple,
  uint8Array,
  uniqueArray,
} from "fast-check"
import { oids } from "../../engine/src/x509/asn1/oids.ts"
import { derNull, encode, objectIdentifier, sequence } from "../../engine/src/x509/asn1/writer.ts"
import type { CertificateTemplate } from "../../engine/src/x509/certificate.ts"
import { type CertificatePolicy, certificatePolicies } from "../../engine/src/x509/certificate-policies.ts"
import type { CertificationRequestTemplate } from "../../engine/src/x509/certification-request.ts"
import { authorityInfoAccess, crlDistributionPoints, freshestCrl } from "../../engine/src/x509/distribution-points.ts"
import type { Extension } from "../../engine/src/x509/extension.ts"
import {
  type ExtensionValues,
  authorityKeyIdentifier,
  basicConstraints,
  extendedKeyUsage,
  keyUsage,
  keyUsages,
  ocspNoCheck,
  subjectAltName,
  subjectKeyIdentifier,
} from "../../engine/src/x509/extensions.ts"
import type { GeneralName } from "../../engine/src/x509/general-name.ts"
import { type DistinguishedName, encodeName } from "../../engine/src/x509/name.ts"
import { type NameConstraints, type Subtree, nameConstraints } from "../../engine/src/x509/name-constraints.ts"

const optional = <Value>(values: Arbitrary<Value>): Arbitrary<Value | undefined> => oneof(values, constant(undefined))

/** U+0000 and unpaired surrogates cannot be in a certificate. */
const text = oneof(
  stringMatching(/^[A-Za-z0-9 '()+,\-./:=?]{1,40}$/),
  string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
  string({ unit: "binary", minLength: 1, maxLength: 20 }),
).filter((value) => !value.includes("\0"))

const ascii = string({ unit: integer({ min: 1, max: 0x7f }).map((unit) => String.fromCharCode(unit)), maxLength: 60 })
const hostName = stringMatching(/^(\*\.)?([a-z0-9]{1,12}\.){1,4}[a-z]{2,6}$/)
const mailbox = tuple(stringMatching(/^[a-z0-9.+_-]{1,20}$/), hostName).map(([local, host]) => `${local}@${host}`)
const url = tuple(
  constantFrom("http", "https", "ldap", "spiffe"),
  hostName,
  stringMatching(/^[a-z0-9/%?=&-]{0,30}$/),
).map(([scheme, host, path]) => `${scheme}://${host}/${path}`)

/** Arcs that a double represents exactly; the library for comparison supports no others. */
export const identifier: Arbitrary<string> = tuple(
  constantFrom("0.9", "1.2", "1.3", "2.5", "2.16", "2.999"),
  array(oneof(nat({ max: 200 }), integer({ min: 0, max: 2 ** 45 })), { minLength: 1, maxLength: 6 }),
).map(([root, arcs]) => [root, ...arcs].join("."))

const attribute = oneof(
  record({
    type: constantFrom(
      oids.commonName,
      oids.organizationName,
      oids.organizationalUnitName,
      oids.localityName,
      oids.stateOrProvinceName,
      oids.streetAddress,
      oids.postalCode,
      oids.userId,
      oids.title,
    ),
    value: text,
  }),
  record({ type: constant(oids.countryName), value: stringMatching(/^[A-Z]{2}$/) }),
  record({ type: constant(oids.serialNumber), value: stringMatching(/^[A-Z0-9-]{1,20}$/) }),
  record({ type: constant(oids.emailAddress), value: mailbox }),
  record({ type: constant(oids.domainComponent), value: stringMatching(/^[a-z0-9]{1,12}$/) }),
  record({ type: identifier, value: text }),
)

const relativeName = uniqueArray(attribute, { minLength: 1, maxLength: 3, selector: ({ type }) => type })

/** Attributes of one relative name are generated in any order; encoding sorts them, and they are read in that order. */
export const distinguishedName: Arbitrary<DistinguishedName> = array(
  oneof({ weight: 5, arbitrary: attribute.map((single) => [single]) }, { weight: 1, arbitrary: relativeName }),
  { maxLength: 6 },
)

const address = oneof(uint8Array({ minLength: 4, maxLength: 4 }), uint8Array({ minLength: 16, maxLength: 16 }))

const namedOtherwise: readonly Arbitrary<Exclude<GeneralName, { readonly kind: "ip" }>>[] = [
  record({ kind: constant("dns" as const), value: oneof(hostName, ascii) }),
  record({ kind: constant("email" as const), value: oneof(mailbox, ascii) }),
  record({ kind: constant("uri" as const), value: oneof(url, ascii) }),
  record({ kind: constant("directory" as const), name: distinguishedName.map(encodeName) }),
  record({ kind: constant("registered-id" as const), oid: identifier }),
  record({ kind: constant("other" as const), oid: identifier, value: oneof(text, constant("")) }),
]

export const generalName: Arbitrary<GeneralName> = oneof(
  ...namedOtherwise,
  record({ kind: constant("ip" as const), octets: address }),
)

const range: Arbitrary<Subtree> = tuple(address, nat({ max: 128 })).map(([octets, bits]) => {
  const prefixBits = bits % (octets.length * 8 + 1)
  const significant = octets.map((octet, at) => octet & (0xff << Math.max(0, 8 - Math.max(0, prefixBits - at * 8))))
  return { kind: "ip", octets: significant, prefixBits }
})

const subtree: Arbitrary<Subtree> = oneof(...namedOtherwise, range)

const constraints: Arbitrary<NameConstraints> = record({
  permitted: array(subtree, { maxLength: 4 }),
  excluded: array(subtree, { maxLength: 4 }),
}).filter(({ permitted, excluded }) => permitted.length + excluded.length > 0)

const urls = array(url, { minLength: 1, maxLength: 3 })
const points = array(urls, { minLength: 1, maxLength: 3 })

const policies: Arbitrary<readonly CertificatePolicy[]> = uniqueArray(
  record({ oid: identifier, cps: array(url, { maxLength: 2 }), notices: array(text, { maxLength: 2 }) }),
  { minLength: 1, maxLength: 3, selector: ({ oid }) => oid },
)

const access = record({
  ocspServers: array(url, { maxLength: 2 }),
  issuingCertificates: array(url, { maxLength: 2 }),
}).filter(({ ocspServers, issuingCertificates }) => ocspServers.length + issuingCertificates.length > 0)

/** An extension and its expected parsed value. */
export interface MadeExtension {
  readonly extension: Extension
  readonly values: ExtensionValues
}

const made = (extension: Extension, values: ExtensionValues): MadeExtension => ({ extension, values })

const keyIdentifier = uint8Array({ minLength: 1, maxLength: 20 })

const anyExtension: Arbitrary<MadeExtension> = oneof(
  record({ isCa: boolean(), maxPathLength: optional(nat()) }).map(({ isCa, maxPathLength }) => {
    const value = isCa && maxPathLength !== undefined ? { isCa, maxPathLength } : { isCa }
    return made(basicConstraints(value), { basicConstraints: value })
  }),
  uniqueArray(constantFrom(...keyUsages), { minLength: 1 }).map((usages) =>
    made(keyUsage(usages), { keyUsage: keyUsages.filter((usage) => usages.includes(usage)) }),
  ),
  uniqueArray(oneof(constantFrom(oids.serverAuth, oids.clientAuth, oids.anyExtendedKeyUsage), identifier), {
    minLength: 1,
  }).map((purposes) => made(extendedKeyUsage(purposes), { extendedKeyUsage: purposes })),
  tuple(array(generalName, { minLength: 1, maxLength: 8 }), boolean()).map(([names, critical]) =>
    made(subjectAltName(names, { critical }), { subjectAltName: names }),
  ),
  keyIdentifier.map((octets) => made(subjectKeyIdentifier(octets), { subjectKeyIdentifier: octets })),
  keyIdentifier.map((octets) =>
    made(authorityKeyIdentifier(octets), { authorityKeyIdentifier: { keyIdentifier: octets } }),
  ),
  access.map((value) => made(authorityInfoAccess(value), { authorityInfoAccess: value })),
  points.map((value) => made(crlDistributionPoints(value), { crlDistributionPoints: value })),
  points.map((value) => made(freshestCrl(value), { freshestCrl: value })),
  policies.map((value) => made(certificatePolicies(value), { certificatePolicies: value })),
  constraints.map((value) => made(nameConstraints(value), { nameConstraints: value })),
  constant(made(ocspNoCheck, { ocspNoCheck: true })),
  constant(made({ oid: oids.noRevAvail, critical: false, value: derNull }, { noRevAvail: true })),
  tuple(uniqueIdentifier(), boolean()).map(([oid, critical]) => made({ oid, critical, value: derNull }, {})),
)

/** Returns an OID outside every assigned arc. */
function uniqueIdentifier(): Arbitrary<string> {
  return nat().map((arc) => `1.3.6.1.4.1.99999.${arc}`)
}

export const madeExtensions: Arbitrary<readonly MadeExtension[]> = uniqueArray(anyExtension, {
  maxLength: 8,
  selector: ({ extension }) => extension.oid,
})

const spki = (key: { export(options: { format: "der"; type: "spki" }): Buffer }): Uint8Array =>
  Uint8Array.from(key.export({ format: "der", type: "spki" }))

/** One key of every type that we generate, except the largest, which take minutes. */
const publicKeys: readonly Uint8Array[] = [
  ...[2048, 3072].map((modulusLength) => spki(generateKeyPairSync("rsa", { modulusLength }).publicKey)),
  ...["secp224r1", "prime256v1", "secp384r1", "secp521r1"].map((namedCurve) =>
    spki(generateKeyPairSync("ec", { namedCurve }).publicKey),
  ),
  spki(generateKeyPairSync("ed25519").publicKey),
]

const signatureAlgorithms: readonly Uint8Array[] = [
  ...[oids.sha256WithRsa, oids.sha384WithRsa, oids.sha512WithRsa].map((oid) =>
    sequence([objectIdentifier(oid), derNull]),
  ),
  ...[oids.ecdsaWithSha256, oids.ecdsaWithSha384, oids.ecdsaWithSha512, oids.ed25519].map((oid) =>
    sequence([objectIdentifier(oid)]),
  ),
].map(encode)

/** Whole seconds of years that a JavaScript date parses unambiguously. */
const instant = integer({
  min: Date.parse("1900-01-01T00:00:00Z") / 1000,
  max: Date.parse("9999-12-31T23:59:59Z") / 1000,
}).map((seconds) => seconds * 1000)

const serialNumber = uint8Array({ minLength: 1, maxLength: 20 }).filter(([first = 0]) => first !== 0)

export interface MadeCertificate {
  readonly template: CertificateTemplate
  readonly values: ExtensionValues
  /** A fake value, which no test verifies. */
  readonly signature: Uint8Array
}

const merged = (extensions: readonly MadeExtension[]): ExtensionValues =>
  Object.assign({}, ...extensions.map(({ values }) => values)) as ExtensionValues

export const madeCertificate: Arbitrary<MadeCertificate> = record({
  serialNumber,
  signatureAlgorithm: constantFrom(...signatureAlgorithms),
  issuer: distinguishedName.map(encodeName),
  notBefore: instant,
  notAfter: instant,
  subject: distinguishedName.map(encodeName),
  subjectPublicKeyInfo: constantFrom(...publicKeys),
  made: madeExtensions,
}).map(({ made: extensions, ...rest }) => ({
  template: { ...rest, extensions: extensions.map(({ extension }) => extension) },
  values: merged(extensions),
  signature: fakeSignature(rest.serialNumber),
}))

export interface MadeRequest {
  readonly template: CertificationRequestTemplate
  readonly signatureAlgorithm: Uint8Array
  readonly values: ExtensionValues
  readonly signature: Uint8Array
}

export const madeRequest: Arbitrary<MadeRequest> = record({
  subject: distinguishedName.map(encodeName),
  subjectPublicKeyInfo: constantFrom(...publicKeys),
  signatureAlgorithm: constantFrom(...signatureAlgorithms),
  made: madeExtensions,
}).map(({ made: extensions, signatureAlgorithm, ...rest }) => ({
  template: { ...rest, extensions: extensions.map(({ extension }) => extension) },
  signatureAlgorithm,
  values: merged(extensions),
  signature: fakeSignature(rest.subject),
}))

const fakeSignature = (seed: Uint8Array): Uint8Array => Uint8Array.from(createHash("sha512").update(seed).digest())
