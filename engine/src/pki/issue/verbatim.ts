// What a certificate says that is signed as its CSR has it (specification 4.11, pki-facts 2.14). Only what follows from the
// issuer, and what would make a certificate authority of it, is not the CSR's to say.
import type { Fault } from "../../core/errors.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { DerReader } from "../../x509/asn1/reader.ts"
import { tag } from "../../x509/asn1/tag.ts"
import { encode, isOid, sequence } from "../../x509/asn1/writer.ts"
import type { CertificationRequest } from "../../x509/certification-request.ts"
import type { Extension } from "../../x509/extension.ts"
import {
  extendedKeyUsage,
  keyUsage,
  subjectKeyIdentifier as subjectKeyIdentifierExtension,
} from "../../x509/extensions.ts"
import { encodeName } from "../../x509/name.ts"
import { type PublicKey, subjectKeyIdentifier } from "../../x509/public-key.ts"
import type { SignVerbatimInput } from "../certificates/certificates.ts"
import { subjectMaxima, subjectTextProblem } from "../names/subject.ts"
import { fittingKeyUsages, parseExtendedKeyUsages, parseKeyUsages } from "../policy/key-usage.ts"
import { roleDefaults } from "../roles/role.ts"

export interface VerbatimContent {
  /** Name, DER. */
  readonly subject: Uint8Array
  readonly extensions: readonly Extension[]
  readonly warnings: readonly string[]
  readonly faults: readonly Fault[]
}

/** What the issuer says, and the identifier of the key, which is worked out. */
const replaced: ReadonlySet<string> = new Set([
  oids.basicConstraints,
  oids.subjectKeyIdentifier,
  oids.authorityKeyIdentifier,
  oids.authorityInfoAccess,
  oids.crlDistributionPoints,
  oids.freshestCrl,
])

export function verbatimContent(
  { subject, extensions, extensionValues }: CertificationRequest,
  key: PublicKey,
  input: SignVerbatimInput,
): VerbatimContent {
  const { userIds = [], keyUsage: usageNames = roleDefaults.keyUsage, extKeyUsage = [], extKeyUsageOids = [] } = input
  const { basicConstraints, keyUsage: askedUsages = [], subjectAltName = [] } = extensionValues
  const faults: Fault[] = []
  if (basicConstraints?.isCa === true || askedUsages.includes("keyCertSign"))
    faults.push({ field: ["csr"], detail: "refusing to sign the request of an intermediate CA; use sign-intermediate" })
  const problem = userIds.map((id) => subjectTextProblem(id, subjectMaxima.userId)).find((found) => found !== undefined)
  if (problem !== undefined) faults.push({ field: ["userIds"], detail: `a user id ${problem}` })
  const wrongOid = extKeyUsageOids.find((oid) => !isOid(oid))
  if (wrongOid !== undefined)
    faults.push({
      field: ["extKeyUsageOids"],
      detail: `"${wrongOid}" could not be parsed as a valid oid for an extended key usage`,
    })
  const name = withUserIds(subject, userIds)
  if (isEmpty(name) && subjectAltName.length === 0)
    faults.push({ field: ["csr"], detail: "the request has neither a subject nor a subject alternative name" })

  const has = (oid: string) => extensions.some((extension) => extension.oid === oid)
  const own: Extension[] = extensions
    .filter(({ oid }) => !replaced.has(oid))
    // RFC 5280, section 4.2.1.6: where there is no subject, the alternative name must be understood.
    .map((extension) =>
      extension.oid === oids.subjectAltName && isEmpty(name) ? { ...extension, critical: true } : extension,
    )
  const usages = fittingKeyUsages(parseKeyUsages(usageNames).usages, key.algorithm.type)
  if (!has(oids.keyUsage) && usages.length > 0) own.push(keyUsage(usages.filter((usage) => usage !== "keyCertSign")))
  const purposes = wrongOid === undefined ? [...parseExtendedKeyUsages(extKeyUsage).usages, ...extKeyUsageOids] : []
  if (!has(oids.extendedKeyUsage) && purposes.length > 0) own.push(extendedKeyUsage([...new Set(purposes)]))
  own.push(subjectKeyIdentifierExtension(subjectKeyIdentifier(key)))
  const warnings = basicConstraints === undefined ? [] : ["basic constraints of the request are left out"]
  return { subject: name, extensions: own, warnings, faults }
}

/** The subject's own octets, and more attributes behind them. */
function withUserIds(subject: Uint8Array, userIds: readonly string[]): Uint8Array {
  if (userIds.length === 0) return subject
  const content = (name: Uint8Array) => new DerReader(name, "name").content(tag.sequence, "subject")
  const added = encodeName([...new Set(userIds)].map((value) => [{ type: oids.userId, value }]))
  return encode(sequence([content(subject), content(added)]))
}

const isEmpty = (name: Uint8Array): boolean => name.length === 2
