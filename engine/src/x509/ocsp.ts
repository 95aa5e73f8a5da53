// Encoding of OCSP requests and responses (RFC 6960). `pki/ocsp` determines the status of a certificate.
import { hash } from "node:crypto"
import type { Instant } from "../core/time.ts"
import { oids } from "./asn1/oids.ts"
import { DerReader } from "./asn1/reader.ts"
import { contextConstructed, contextPrimitive, tag } from "./asn1/tag.ts"
import {
  bitString,
  context,
  type Der,
  encode,
  generalizedTime,
  objectIdentifier,
  octetString,
  primitive,
  sequence,
} from "./asn1/writer.ts"
import { type RevocationReason, revocationReasons } from "./certificate-list.ts"
import { encodeExtensions, type Extension, findExtension, readExtensions } from "./extension.ts"

/** Identifies the certificate of a request (RFC 6960, section 4.1.1). */
export interface CertificateId {
  /** CertID as sent by the client. The response repeats it octet for octet. */
  readonly der: Uint8Array
  /** Undefined if the digest algorithm is not supported. The issuer is unknown then. */
  readonly digest: CertificateIdDigest | undefined
  readonly issuerNameHash: Uint8Array
  readonly issuerKeyHash: Uint8Array
  /** Magnitude, big-endian. */
  readonly serialNumber: Uint8Array
}

export type CertificateIdDigest = "sha1" | "sha256" | "sha384" | "sha512"

const digests: Readonly<Record<string, CertificateIdDigest>> = {
  [oids.sha1]: "sha1",
  [oids.sha256]: "sha256",
  [oids.sha384]: "sha384",
  [oids.sha512]: "sha512",
}

/** Returns the digests that identify an issuer in a `CertificateId`: of its Name and of the bits of its public key. */
export const issuerHashes = (digest: CertificateIdDigest, issuer: { name: Uint8Array; publicKeyBits: Uint8Array }) => ({
  nameHash: hash(digest, issuer.name, "buffer"),
  keyHash: hash(digest, issuer.publicKeyBits, "buffer"),
})

export interface OcspRequest {
  readonly certificates: readonly CertificateId[]
  /** Content of the nonce extension: an OCTET STRING of 1 to 128 octets (RFC 9654, section 2.1). Undefined if absent. */
  readonly nonce: Uint8Array | undefined
}

/** Bounds the cost of one request. Other responders answer no more either. */
export const maxCertificates = 16

/** Throws `MalformedDer`. Signatures of requesters are ignored, because responses do not depend on the requester. */
export function parseOcspRequest(der: Uint8Array): OcspRequest {
  const document = new DerReader(der, "OCSP request")
  const outer = document.sequence("OCSPRequest")
  document.finish("OCSPRequest")
  const tbs = outer.sequence("tbsRequest")
  if (outer.next === contextConstructed(0)) outer.value("optionalSignature")
  outer.finish("OCSPRequest")
  if (tbs.next === contextConstructed(0)) tbs.refuse("version", "is not 1")
  if (tbs.next === contextConstructed(1)) tbs.value("requestorName")
  const list = tbs.sequence("requestList")
  const certificates: CertificateId[] = []
  while (!list.done) {
    if (certificates.length === maxCertificates) list.refuse("requestList", `has more than ${maxCertificates} entries`)
    const request = list.sequence("request")
    certificates.push(readCertificateId(request))
    readKnownExtensions(request, 0, "singleRequestExtensions")
    request.finish("request")
  }
  if (certificates.length === 0) list.refuse("requestList", "is empty")
  const extensions = readKnownExtensions(tbs, 2, "requestExtensions")
  tbs.finish("tbsRequest")
  return { certificates, nonce: nonceOf(extensions) }
}

/** Throws for unknown critical extensions, which must not be ignored (RFC 6960, section 4.4). */
function readKnownExtensions(reader: DerReader, number: number, field: string): readonly Extension[] {
  const wrapped = reader.optional(number, field)
  if (wrapped === undefined) return []
  const extensions = readExtensions(wrapped, field)
  wrapped.finish(field)
  const strange = extensions.find(({ oid, critical }) => critical && !understoodExtensions.has(oid))
  if (strange !== undefined) reader.refuse(`extension ${strange.oid}`, "is critical and not supported")
  return extensions
}

/** `ocspResponse` lists acceptable response types. Every response has the basic type. */
const understoodExtensions: ReadonlySet<string> = new Set([oids.ocspNonce, oids.ocspResponse])

const maxNonce = 128

function nonceOf(extensions: readonly Extension[]): Uint8Array | undefined {
  const found = findExtension(extensions, oids.ocspNonce)
  if (found === undefined) return undefined
  const reader = new DerReader(found.value, "OCSP nonce")
  const nonce = reader.octetString("nonce")
  reader.finish("nonce")
  if (nonce.length === 0 || nonce.length > maxNonce)
    reader.refuse("nonce", `is not between 1 and ${maxNonce} octets long`)
  return nonce
}

/** Reads a CertID. */
export function readCertificateId(request: DerReader): CertificateId {
  const der = request.whole("reqCert", tag.sequence)
  const reader = new DerReader(der, "OCSP request").sequence("reqCert")
  const algorithm = reader.sequence("hashAlgorithm")
  const oid = algorithm.oid("hashAlgorithm")
  if (algorithm.next === tag.null) algorithm.null("hashAlgorithm")
  algorithm.finish("hashAlgorithm")
  const issuerNameHash = reader.octetString("issuerNameHash")
  const issuerKeyHash = reader.octetString("issuerKeyHash")
  const serialNumber = reader.unsigned("serialNumber")
  reader.finish("reqCert")
  return { der, digest: digests[oid], issuerNameHash, issuerKeyHash, serialNumber }
}

export type CertificateStatus =
  | { readonly kind: "good" }
  | { readonly kind: "revoked"; readonly at: Instant; readonly reason: RevocationReason }
  | { readonly kind: "unknown" }

export interface SingleResponse {
  /** CertID of the request, DER. */
  readonly certificateId: Uint8Array
  readonly status: CertificateStatus
  readonly thisUpdate: Instant
  /** Undefined if newer information is always available. */
  readonly nextUpdate: Instant | undefined
}

export interface ResponseData {
  /** SHA-1 of the responder's public-key bits (RFC 6960, section 4.2.1: byKey). */
  readonly responderKeyHash: Uint8Array
  readonly producedAt: Instant
  readonly responses: readonly SingleResponse[]
  readonly nonce: Uint8Array | undefined
}

/** Encodes `tbsResponseData` as DER. */
export function encodeResponseData({ responderKeyHash, producedAt, responses, nonce }: ResponseData): Uint8Array {
  const parts: Der[] = [
    context(2, [octetString(responderKeyHash)]),
    generalizedTime(producedAt),
    sequence(responses.map(encodeSingleResponse)),
  ]
  if (nonce !== undefined) {
    const value = encode(octetString(nonce))
    parts.push(context(1, [encodeExtensions([{ oid: oids.ocspNonce, critical: false, value }])]))
  }
  return encode(sequence(parts))
}

function encodeSingleResponse({ certificateId, status, thisUpdate, nextUpdate }: SingleResponse): Der {
  const parts: Der[] = [certificateId, encodeStatus(status), generalizedTime(thisUpdate)]
  if (nextUpdate !== undefined) parts.push(context(0, [generalizedTime(nextUpdate)]))
  return sequence(parts)
}

const good = primitive(contextPrimitive(0), [])
const unknown = primitive(contextPrimitive(2), [])

function encodeStatus(status: CertificateStatus): Der {
  switch (status.kind) {
    case "good":
      return good
    case "unknown":
      return unknown
    case "revoked": {
      const parts: Der[] = [generalizedTime(status.at)]
      // RFC 6960, like RFC 5280 for CRLs, omits an unspecified reason.
      if (status.reason !== "unspecified")
        parts.push(context(0, [primitive(tag.enumerated, [revocationReasons[status.reason]])]))
      return context(1, parts)
    }
    default:
      return status satisfies never
  }
}

/** Encodes a signed response. With `certificates` (DER), clients can verify a delegated responder. */
export function assembleOcspResponse(signed: {
  readonly tbs: Uint8Array
  readonly signatureAlgorithm: Uint8Array
  readonly signature: Uint8Array
  readonly certificates: readonly Uint8Array[]
}): Uint8Array {
  const parts: Der[] = [signed.tbs, signed.signatureAlgorithm, bitString(signed.signature)]
  if (signed.certificates.length > 0) parts.push(context(0, [sequence(signed.certificates)]))
  const basic = encode(sequence(parts))
  const bytes = sequence([objectIdentifier(oids.ocspBasic), octetString(basic)])
  return encode(sequence([primitive(tag.enumerated, [0]), context(0, [bytes])]))
}

/** Status of responses without an answer (RFC 6960, section 4.2.1: OCSPResponseStatus). */
export const ocspFailures = {
  malformedRequest: 1,
  internalError: 2,
  tryLater: 3,
  sigRequired: 5,
  unauthorized: 6,
} as const

export const encodeOcspFailure = (failure: keyof typeof ocspFailures): Uint8Array =>
  encode(sequence([primitive(tag.enumerated, [ocspFailures[failure]])]))

/** Parses a CertID. Throws `MalformedDer`. */
export const parseCertificateId = (der: Uint8Array): CertificateId =>
  readCertificateId(new DerReader(der, "OCSP request"))
