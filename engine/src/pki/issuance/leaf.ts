// Extensions of a leaf certificate (RFC 5280), except those of the issuer.
import { oids } from "../../x509/asn1/oids.ts"
import { certificatePolicies } from "../../x509/certificate-policies.ts"
import type { Extension } from "../../x509/extension.ts"
import {
  basicConstraints,
  extendedKeyUsage,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier as subjectKeyIdentifierExtension,
} from "../../x509/extensions.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import type { DistinguishedName } from "../../x509/name.ts"
import { type PublicKey, subjectKeyIdentifier } from "../../x509/public-key.ts"
import { formatIpAddress } from "../names/ip-address.ts"
import { valuesOf } from "../names/subject.ts"
import type { ApprovedRequest } from "../policy/approve.ts"

export function leafExtensions(approved: ApprovedRequest, key: PublicKey): readonly Extension[] {
  const { subject, subjectAltName: names, policies } = approved
  const extensions: Extension[] = []
  if (approved.hasBasicConstraints) extensions.push(basicConstraints({ isCa: false }))
  if (approved.keyUsage.length > 0) extensions.push(keyUsage(approved.keyUsage))
  if (approved.extendedKeyUsage.length > 0) extensions.push(extendedKeyUsage(approved.extendedKeyUsage))
  extensions.push(subjectKeyIdentifierExtension(subjectKeyIdentifier(key)))
  if (names.length > 0) extensions.push(subjectAltName(names, { critical: subject.length === 0 }))
  if (policies.length > 0) extensions.push(certificatePolicies(policies))
  return extensions
}

interface Named {
  readonly subject: DistinguishedName
  readonly subjectAltName: readonly GeneralName[]
}

/** Names to search a certificate by. */
export interface FindableNames {
  readonly commonName: string
  /** Names in lower case, without duplicates. */
  readonly names: readonly string[]
}

export function namesOf({ subject, subjectAltName }: Named): FindableNames {
  const [commonName = ""] = valuesOf(subject, oids.commonName)
  const all = [commonName, ...subjectAltName.flatMap(textOf)].map((name) => name.toLowerCase())
  return { commonName, names: [...new Set(all)].filter((name) => name !== "") }
}

function textOf(name: GeneralName): readonly string[] {
  switch (name.kind) {
    case "dns":
    case "email":
    case "uri":
    case "other":
      return [name.value]
    case "ip":
      return [formatIpAddress(name.octets)]
    case "registered-id":
      return [name.oid]
    default:
      return []
  }
}
