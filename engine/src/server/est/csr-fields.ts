// Fields of a CSR under the names of `audit_fields`.
import { oids } from "../../x509/asn1/oids.ts"
import type { CertificationRequest } from "../../x509/certification-request.ts"
import { writePem } from "../../x509/pem.ts"
import { readPublicKey } from "../../x509/public-key.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import { csrFacts } from "../../pki/issuance/csr.ts"
import type { EstAuditField } from "../../pki/est/est-settings.ts"
import { formatOtherName } from "../../pki/names/other-name.ts"
import type { Document } from "../../contracts/vault/format/parameters.ts"

/** Returns the requested fields that the CSR has. */
export function csrFields(request: CertificationRequest, fields: readonly EstAuditField[]): Document {
  const all = fieldsOf(request)
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = all[field]
      return value === undefined || value === "" || (Array.isArray(value) && value.length === 0) ? [] : [[field, value]]
    }),
  )
}

function fieldsOf(request: CertificationRequest): { readonly [field in EstAuditField]?: unknown } {
  const valuesOf = (type: string) =>
    request.subjectName.flat().flatMap((attribute) => (attribute.type === type ? [attribute.value] : []))
  const key = keyOf(request)
  // Only the names are read, so the type of the key does not matter.
  const { dnsNames, emails, ips, uris, otherNames, hasBasicConstraints } = csrFacts(request, { type: "ed25519" })
  return {
    csr: writePem("CERTIFICATE REQUEST", request.der),
    common_name: valuesOf(oids.commonName)[0],
    alt_names: [...dnsNames, ...emails],
    ip_sans: ips,
    uri_sans: uris,
    other_sans: otherNames.map(formatOtherName),
    ou: valuesOf(oids.organizationalUnitName),
    organization: valuesOf(oids.organizationName),
    country: valuesOf(oids.countryName),
    locality: valuesOf(oids.localityName),
    province: valuesOf(oids.stateOrProvinceName),
    street_address: valuesOf(oids.streetAddress),
    postal_code: valuesOf(oids.postalCode),
    serial_number: valuesOf(oids.serialNumber)[0],
    add_basic_constraints: hasBasicConstraints ? true : undefined,
    ...key,
  }
}

function keyOf({ subjectPublicKeyInfo }: CertificationRequest) {
  try {
    const { algorithm } = readPublicKey(subjectPublicKeyInfo)
    return { key_type: algorithm.type, key_bits: algorithm.type === "ed25519" ? undefined : algorithm.bits }
  } catch (error) {
    if (error instanceof UnacceptableInput) return {}
    throw error
  }
}
