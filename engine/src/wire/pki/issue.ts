// Requests and answers of the endpoints that issue and sign.
import { parseNestedJson } from "../../core/json-bounds.ts"
import { type Instant, secondMs } from "../../core/time.ts"
import type { IssuedCertificate, ServedCertificate, SignedSelfIssued } from "../../pki/certificates/certificates.ts"
import { readCertificatePem } from "../../x509/certificate-pem.ts"
import { readPrivateKeyPem } from "../../x509/private-key.ts"
import { parseSerialNumber } from "../../x509/serial-number.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import type { Dialect } from "./dialect.ts"
import type { DecodedEnvelope, Lease } from "./envelope.ts"
import {
  encodeAuthority,
  encodeBundle,
  encodeCertificate,
  encodePrivateKey,
  type Encoding,
  format,
  privateKeyFormat,
} from "./format.ts"
import {
  decodeSomeAnswer,
  type Document,
  duration,
  flag,
  instant,
  integer,
  type Kind,
  parameters,
  text,
  texts,
  unreadable,
} from "./parameters.ts"
import { readable } from "./readable.ts"

/** A list, text with commas between, or the text of a JSON list: values may hold commas of their own. */
const listOrJson: Kind<readonly string[]> = {
  ...texts,
  decode: (value) =>
    texts.decode(typeof value === "string" && value.trimStart().startsWith("[") ? parseNestedJson(value) : value),
}

const validity = { ttlMs: duration, notBefore: instant, notAfter: instant }
const presentation = { format, privateKeyFormat, removeRootsFromChain: flag }
const names = {
  commonName: text,
  altNames: texts,
  ipSans: texts,
  uriSans: texts,
  otherSans: listOrJson,
  userIds: texts,
  serialNumber: text,
  excludeCnFromSans: flag,
  certMetadata: text,
}

export const issueParameters = parameters({ ...names, ...validity, ...presentation, keyType: text, keyBits: integer })
export const signParameters = parameters({ ...names, ...validity, ...presentation, csr: text })
export const signVerbatimParameters = parameters({
  ...validity,
  ...presentation,
  csr: text,
  keyUsage: texts,
  extKeyUsage: texts,
  extKeyUsageOids: texts,
  signatureBits: integer,
  usePss: flag,
  userIds: texts,
  certMetadata: text,
  enforceLeafNotAfterBehavior: flag,
  basicConstraintsValidForNonCa: flag,
})
/** Also of an authority that is made here, with more. */
export const authorityKinds = {
  commonName: text,
  altNames: texts,
  ipSans: texts,
  uriSans: texts,
  otherSans: listOrJson,
  excludeCnFromSans: flag,
  ...validity,
  notBeforeDurationMs: duration,
  maxPathLength: integer,
  ou: texts,
  organization: texts,
  country: texts,
  locality: texts,
  province: texts,
  streetAddress: texts,
  postalCode: texts,
  serialNumber: text,
  permittedDnsDomains: texts,
  excludedDnsDomains: texts,
  permittedEmailAddresses: texts,
  excludedEmailAddresses: texts,
  permittedIpRanges: texts,
  excludedIpRanges: texts,
  permittedUriDomains: texts,
  excludedUriDomains: texts,
  keyUsage: texts,
  signatureBits: integer,
  skid: text,
  usePss: flag,
}
export const signIntermediateParameters = parameters({
  ...authorityKinds,
  ...presentation,
  csr: text,
  useCsrValues: flag,
  enforceLeafNotAfterBehavior: flag,
})
export const signSelfIssuedParameters = parameters({
  certificate: text,
  requireMatchingCertificateAlgorithms: flag,
})

export interface EncodeOptions {
  readonly encoding: Encoding
  readonly dialect: Dialect
  /** The native dialect has neither `expiration` nor `not_before` in this answer (docs/dialects.md). */
  readonly withoutExpiration?: boolean
}

function encodeSeconds(instant: Instant, dialect: Dialect): number | string {
  const seconds = Math.floor(instant / secondMs)
  return dialect === "vault" ? seconds : String(seconds)
}

export function encodeIssued(issued: IssuedCertificate, options: EncodeOptions): Document {
  const { encoding, dialect, withoutExpiration = false } = options
  const { certificate, issuingCa, caChain, privateKey, serialNumber } = issued
  const hasExpiration = dialect === "vault" || !withoutExpiration
  return {
    ...(hasExpiration
      ? { not_before: encodeSeconds(issued.notBefore, dialect), expiration: encodeSeconds(issued.notAfter, dialect) }
      : {}),
    certificate:
      encoding.format === "pem_bundle"
        ? encodeBundle(certificate, caChain, privateKey)
        : encodeCertificate(certificate, encoding.format),
    issuing_ca: encodeAuthority(issuingCa, encoding.format),
    ca_chain: caChain.map((der) => encodeAuthority(der, encoding.format)),
    serial_number: serialNumber,
    ...(privateKey === undefined
      ? {}
      : {
          private_key: encodePrivateKey(privateKey, encoding, dialect),
          private_key_type: privateKey.algorithm.type,
        }),
  }
}

/** Existing clients take a lease for something that can be renewed or ended, so they hear of one only where that is so. */
export const encodeLease = ({ lease }: ServedCertificate, dialect: Dialect): Lease | undefined =>
  lease === undefined || (dialect === "vault" && !lease.isKept)
    ? undefined
    : { id: lease.id, durationSeconds: Math.floor(lease.durationMs / secondMs) }

export const encodeSelfIssued = ({ certificate, issuingCa }: SignedSelfIssued): Document => ({
  certificate: encodeCertificate(certificate, "pem"),
  issuing_ca: encodeAuthority(issuingCa, "pem"),
})

const answered = parameters({
  certificate: text,
  issuingCa: text,
  caChain: texts,
  serialNumber: text,
  privateKey: text,
})

/** What was asked for in PEM. */
export function decodeIssued({ data, warnings, lease }: DecodedEnvelope): IssuedCertificate {
  const { certificate, issuingCa, caChain = [], serialNumber = "", privateKey } = decodeSomeAnswer(answered, data)
  const serial = parseSerialNumber(serialNumber)
  if (certificate === undefined || issuingCa === undefined || serial === undefined)
    throw unreadable("it holds no certificate")
  return readable(() => {
    const der = readCertificatePem(certificate)
    const { notBefore, notAfter } = parseCertificate(der)
    return {
      certificate: der,
      issuingCa: readCertificatePem(issuingCa),
      caChain: caChain.map(readCertificatePem),
      serialNumber: serial,
      notBefore,
      notAfter,
      privateKey: privateKey === undefined ? undefined : readPrivateKeyPem(privateKey, privateKey.length),
      lease: lease && { id: lease.id, durationMs: lease.durationSeconds * secondMs },
      warnings,
    }
  })
}

export function decodeSelfIssued(data: unknown): SignedSelfIssued {
  const { certificate, issuingCa } = decodeSomeAnswer(answered, data)
  if (certificate === undefined || issuingCa === undefined) throw unreadable("it holds no certificate")
  return readable(() => ({ certificate: readCertificatePem(certificate), issuingCa: readCertificatePem(issuingCa) }))
}
