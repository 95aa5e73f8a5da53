// The requester's side of OCSP (RFC 6960): encoding of requests, and parsing of responses. Signatures are not verified here.
import type { Instant } from "../core/time.ts"
import { oids } from "./asn1/oids.ts"
import { DerReader } from "./asn1/reader.ts"
import { contextConstructed, contextPrimitive, tag } from "./asn1/tag.ts"
import { context, derNull, encode, objectIdentifier, octetString, sequence, unsignedInteger } from "./asn1/writer.ts"
import { encodeExtensions, type Extension, findExtension, readExtensions } from "./extension.ts"
import { type CertificateId, issuerHashes, readCertificateId } from "./ocsp.ts"
import { readAlgorithmIdentifier } from "./signed.ts"

/** Encodes a CertID with SHA-1, which every responder supports (RFC 5019, section 2.1.1). */
export function encodeCertificateId(
  issuer: { readonly name: Uint8Array; readonly publicKeyBits: Uint8Array },
  serialNumber: Uint8Array,
): Uint8Array {
  const { nameHash, keyHash } = issuerHashes("sha1", issuer)
  const algorithm = sequence([objectIdentifier(oids.sha1), derNull])
  return encode(sequence([algorithm, octetString(nameHash), octetString(keyHash), unsignedInteger(serialNumber)]))
}

/** Encodes a request about one certificate. */
export function encodeOcspRequest(certificateId: Uint8Array, nonce: Uint8Array): Uint8Array {
  const extension = { oid: oids.ocspNonce, critical: false, value: encode(octetString(nonce)) }
  const list = sequence([sequence([certificateId])])
  return encode(sequence([sequence([list, context(2, [encodeExtensions([extension])])])]))
}

export interface OcspAnswer {
  /** Signed DER. */
  readonly data: Uint8Array
  /** AlgorithmIdentifier, DER. */
  readonly algorithm: Uint8Array
  readonly signature: Uint8Array
  /** Certificates of the responder, DER. */
  readonly certificates: readonly Uint8Array[]
  readonly nonce: Uint8Array | undefined
  readonly responses: readonly OcspSingleAnswer[]
}

export interface OcspSingleAnswer {
  readonly certificateId: CertificateId
  readonly status: "good" | "revoked" | "unknown"
  readonly thisUpdate: Instant
  readonly nextUpdate: Instant | undefined
}

const maxCertificates = 10

/** Parses a response. Returns the number of its status if it is an error. Throws `MalformedDer`. */
export function parseOcspResponse(der: Uint8Array): OcspAnswer | number {
  const document = new DerReader(der, "OCSP response")
  const outer = document.sequence("OCSPResponse")
  document.finish("OCSPResponse")
  const status = outer.small("responseStatus", 6, tag.enumerated)
  if (status !== 0) return status
  const wrapped = outer.optional(0, "responseBytes") ?? outer.refuse("responseBytes", "is missing")
  outer.finish("OCSPResponse")
  const bytes = wrapped.sequence("responseBytes")
  if (bytes.oid("responseType") !== oids.ocspBasic) bytes.refuse("responseType", "is not the basic type")
  const basicDer = bytes.octetString("response")
  bytes.finish("responseBytes")
  const basicDocument = new DerReader(basicDer, "OCSP response")
  const basic = basicDocument.sequence("BasicOCSPResponse")
  basicDocument.finish("BasicOCSPResponse")
  const data = basic.whole("tbsResponseData", tag.sequence)
  const algorithm = readAlgorithmIdentifier(basic, "signatureAlgorithm")
  const signature = basic.bitString("signature")
  const certificates = readCertificates(basic.optional(0, "certs"))
  basic.finish("BasicOCSPResponse")
  return { data, algorithm, signature, certificates, ...readData(data) }
}

function readCertificates(explicit: DerReader | undefined): readonly Uint8Array[] {
  if (explicit === undefined) return []
  const list = explicit.sequence("certs")
  const found: Uint8Array[] = []
  while (!list.done) {
    if (found.length === maxCertificates) list.refuse("certs", `has more than ${maxCertificates} entries`)
    found.push(list.whole("certificate", tag.sequence))
  }
  return found
}

function readData(data: Uint8Array): Pick<OcspAnswer, "nonce" | "responses"> {
  const reader = new DerReader(data, "OCSP response").sequence("tbsResponseData")
  if (reader.next === contextConstructed(0)) reader.refuse("version", "is not 1")
  reader.value("responderID")
  reader.generalizedTime("producedAt")
  const list = reader.sequence("responses")
  const responses: OcspSingleAnswer[] = []
  while (!list.done) responses.push(readSingle(list.sequence("response")))
  const extensions = readUnderstood(reader, "responseExtensions")
  reader.finish("tbsResponseData")
  const nonce = findExtension(extensions, oids.ocspNonce)
  return { responses, nonce: nonce && new DerReader(nonce.value, "OCSP nonce").octetString("nonce") }
}

function readSingle(reader: DerReader): OcspSingleAnswer {
  const certificateId = readCertificateId(reader)
  const status = statuses.get(reader.next ?? -1) ?? reader.refuse("certStatus", "is not one")
  reader.value("certStatus")
  const thisUpdate = reader.generalizedTime("thisUpdate")
  const next = reader.optional(0, "nextUpdate")
  const nextUpdate = next?.generalizedTime("nextUpdate")
  next?.finish("nextUpdate")
  readUnderstood(reader, "singleExtensions")
  reader.finish("response")
  return { certificateId, status, thisUpdate, nextUpdate }
}

const statuses: ReadonlyMap<number, OcspSingleAnswer["status"]> = new Map([
  [contextPrimitive(0), "good"],
  [contextConstructed(1), "revoked"],
  [contextPrimitive(2), "unknown"],
])

/** Throws for unknown critical extensions, which must not be ignored. */
function readUnderstood(reader: DerReader, field: string): readonly Extension[] {
  const wrapped = reader.optional(1, field)
  if (wrapped === undefined) return []
  const extensions = readExtensions(wrapped, field)
  wrapped.finish(field)
  const strange = extensions.find(({ oid, critical }) => critical && oid !== oids.ocspNonce)
  if (strange !== undefined) reader.refuse(`extension ${strange.oid}`, "is critical and not supported")
  return extensions
}
