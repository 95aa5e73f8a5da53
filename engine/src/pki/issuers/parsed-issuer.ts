// Issuer with its parsed certificate. Expensive values are computed once.
import { type Certificate, parseCertificate } from "../../x509/certificate.ts"
import { type ExtensionValues, parseExtensionValues } from "../../x509/extensions.ts"
import { sameName } from "../../x509/name.ts"
import { type PublicKey, readPublicKey, subjectKeyIdentifier } from "../../x509/public-key.ts"
import { isSignedBy } from "../../x509/signature.ts"
import type { Issuer } from "./issuer.ts"

export interface ParsedIssuer extends Issuer {
  readonly parsed: Certificate
  readonly values: ExtensionValues
  readonly publicKey: PublicKey
  /** Key identifier of its certificate, or computed from the key (RFC 5280, section 4.2.1.1). Certificates that it signs refer to it. */
  readonly keyIdentifier: Uint8Array
  readonly isSelfSigned: boolean
  /** Returns true if the name, the key identifiers if both exist, and the signature match. */
  isIssuedBy(other: ParsedIssuer): boolean
  /** Returns true if the signature matches; names are ignored. */
  isSignedBy(other: ParsedIssuer): boolean
}

export const parseIssuer = (issuer: Issuer): ParsedIssuer => new LazyParsedIssuer(issuer)

/** Returns the stored fields, without the parsed ones. */
export const issuerValues = ({
  id,
  mountId,
  name,
  keyId,
  certificate,
  settings,
  revokedAt,
  createdAt,
}: Issuer): Issuer => ({
  id,
  mountId,
  name,
  keyId,
  certificate,
  settings,
  revokedAt,
  createdAt,
})

class LazyParsedIssuer implements ParsedIssuer {
  readonly id: Issuer["id"]
  readonly mountId: Issuer["mountId"]
  readonly name: Issuer["name"]
  readonly keyId: Issuer["keyId"]
  readonly certificate: Issuer["certificate"]
  readonly settings: Issuer["settings"]
  readonly revokedAt: Issuer["revokedAt"]
  readonly createdAt: Issuer["createdAt"]
  readonly parsed: Certificate
  readonly values: ExtensionValues
  #publicKey: PublicKey | undefined
  readonly #issuedBy = new Map<ParsedIssuer, boolean>()

  constructor(issuer: Issuer) {
    this.id = issuer.id
    this.mountId = issuer.mountId
    this.name = issuer.name
    this.keyId = issuer.keyId
    this.certificate = issuer.certificate
    this.settings = issuer.settings
    this.revokedAt = issuer.revokedAt
    this.createdAt = issuer.createdAt
    this.parsed = parseCertificate(issuer.certificate)
    this.values = parseExtensionValues(this.parsed.extensions)
  }

  get publicKey(): PublicKey {
    return (this.#publicKey ??= readPublicKey(this.parsed.subjectPublicKeyInfo))
  }

  get keyIdentifier(): Uint8Array {
    return this.values.subjectKeyIdentifier ?? subjectKeyIdentifier(this.publicKey)
  }

  get isSelfSigned(): boolean {
    return this.isIssuedBy(this)
  }

  isIssuedBy(other: ParsedIssuer): boolean {
    const known = this.#issuedBy.get(other)
    if (known !== undefined) return known
    const issued = this.#isNamedAfter(other) && this.isSignedBy(other)
    this.#issuedBy.set(other, issued)
    return issued
  }

  #isNamedAfter({ parsed, values }: ParsedIssuer): boolean {
    const wanted = this.values.authorityKeyIdentifier?.keyIdentifier
    const found = values.subjectKeyIdentifier
    return (
      sameName(this.parsed.issuer, parsed.subject) &&
      (wanted === undefined || found === undefined || Buffer.compare(wanted, found) === 0)
    )
  }

  isSignedBy(other: ParsedIssuer): boolean {
    const { tbsCertificate: data, signatureAlgorithm: algorithm, signature } = this.parsed
    try {
      return isSignedBy(other.publicKey, { data, algorithm, signature })
    } catch {
      // The key is of another type, or the algorithm is not accepted.
      return false
    }
  }
}
