// Translates a CertificateAuthority's spec into the input of the engine. Pure functions.
import type { Pki } from "@chancery/engine"
import type { CertificateAuthoritySpec } from "../../api/certificate-authority.ts"
import { parseGoDuration } from "../../go-duration.ts"

type SignInput = Omit<Parameters<Pki["certificates"]["signIntermediate"]>[0], "csr">

const keyTypes = { RSA: "rsa", ECDSA: "ec", Ed25519: "ed25519" } as const

/** Returns type and size of a new key. */
export const keyFields = ({ privateKey: { algorithm, size } }: CertificateAuthoritySpec) => ({
  keyType: keyTypes[algorithm],
  ...(size === undefined ? {} : { keyBits: size }),
})

/** Returns the subject, which a root, the CSR of an intermediate and its certificate have in common. */
export function subjectFields({ commonName, subject = {} }: CertificateAuthoritySpec) {
  const { organizations, organizationalUnits, countries, localities, provinces, streetAddresses, postalCodes } = subject
  return {
    commonName,
    // A common name such as ca.example.com is no host name that certificates are for.
    excludeCnFromSans: true,
    ...given({
      organization: organizations,
      ou: organizationalUnits,
      country: countries,
      locality: localities,
      province: provinces,
      streetAddress: streetAddresses,
      postalCode: postalCodes,
      serialNumber: subject.serialNumber,
    }),
  }
}

/** Returns the content of the certificate. */
export function contentFields(spec: CertificateAuthoritySpec): SignInput {
  const { duration, maxPathLength, nameConstraints: { permitted = {}, excluded = {} } = {} } = spec
  return {
    ...subjectFields(spec),
    ...given({
      ttlMs: duration === undefined ? undefined : parseGoDuration(duration),
      maxPathLength,
      permittedDnsDomains: permitted.dnsDomains,
      permittedIpRanges: permitted.ipRanges,
      permittedEmailAddresses: permitted.emailAddresses,
      permittedUriDomains: permitted.uriDomains,
      excludedDnsDomains: excluded.dnsDomains,
      excludedIpRanges: excluded.ipRanges,
      excludedEmailAddresses: excluded.emailAddresses,
      excludedUriDomains: excluded.uriDomains,
    }),
  }
}

const given = <Value extends object>(value: Value): { [Name in keyof Value]?: NonNullable<Value[Name]> } =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never
