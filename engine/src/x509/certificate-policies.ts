// CertificatePolicies (RFC 5280, section 4.2.1.4).
import { oids } from "./asn1/oids.ts"
import { DerReader } from "./asn1/reader.ts"
import { tag } from "./asn1/tag.ts"
import { type Der, encode, ia5String, objectIdentifier, sequence, utf8String } from "./asn1/writer.ts"
import type { Extension } from "./extension.ts"

export interface CertificatePolicy {
  /** Dotted object identifier. */
  readonly oid: string
  /** URIs of practice statements. */
  readonly cps: readonly string[]
  /** Explicit texts of user notices, 200 characters at most. */
  readonly notices: readonly string[]
}

export const certificatePolicies = (policies: readonly CertificatePolicy[]): Extension => ({
  oid: oids.certificatePolicies,
  critical: false,
  value: encode(sequence(policies.map(encodePolicy))),
})

function encodePolicy({ oid, cps, notices }: CertificatePolicy): Der {
  const qualifiers = [
    ...cps.map((uri) => sequence([objectIdentifier(oids.cpsQualifier), ia5String(uri)])),
    ...notices.map((text) => sequence([objectIdentifier(oids.userNoticeQualifier), sequence([utf8String(text)])])),
  ]
  return sequence([objectIdentifier(oid), ...(qualifiers.length === 0 ? [] : [sequence(qualifiers)])])
}

/** Parses CertificatePolicies. Ignores notice references and unknown qualifiers. */
export function parseCertificatePolicies(value: Uint8Array): readonly CertificatePolicy[] {
  const reader = new DerReader(value, "certificatePolicies")
  const list = reader.sequence("certificatePolicies")
  reader.finish("certificatePolicies")
  if (list.done) list.refuse("certificatePolicies", "is empty")
  const policies: CertificatePolicy[] = []
  const seen = new Set<string>()
  while (!list.done) {
    const policy = readPolicy(list.sequence("policyInformation"))
    if (seen.has(policy.oid)) list.refuse(`policy ${policy.oid}`, "occurs twice")
    seen.add(policy.oid)
    policies.push(policy)
  }
  return policies
}

function readPolicy(reader: DerReader): CertificatePolicy {
  const oid = reader.oid("policyIdentifier")
  const cps: string[] = []
  const notices: string[] = []
  if (!reader.done) {
    const qualifiers = reader.sequence("policyQualifiers")
    reader.finish("policyInformation")
    if (qualifiers.done) qualifiers.refuse("policyQualifiers", "is empty")
    while (!qualifiers.done) readQualifier(qualifiers.sequence("policyQualifier"), cps, notices)
  }
  return { oid, cps, notices }
}

function readQualifier(reader: DerReader, cps: string[], notices: string[]): void {
  const oid = reader.oid("policyQualifierId")
  if (oid === oids.cpsQualifier) cps.push(reader.ia5("cPSuri"))
  else if (oid === oids.userNoticeQualifier) {
    const notice = reader.sequence("userNotice")
    if (notice.next === tag.sequence) notice.value("noticeRef")
    if (!notice.done) notices.push(notice.string("explicitText"))
    notice.finish("userNotice")
  } else reader.value("qualifier")
  reader.finish("policyQualifier")
}
