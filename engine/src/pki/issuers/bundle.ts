// Imported certificates and private keys in PEM, in any order. All of them are checked before any is stored, because an unreadable
// issuer would make its whole mount unusable.
import { type Fault, invalid } from "../../core/errors.ts"
import { type Certificate, parseCertificate } from "../../x509/certificate.ts"
import { readCertificatesOnly } from "../../x509/certificates-only.ts"
import { type ExtensionValues, parseExtensionValues } from "../../x509/extensions.ts"
import { formatName, sameName } from "../../x509/name.ts"
import { isPrivateKeyLabel, type PrivateKey, readPrivateKeyBlock } from "../../x509/private-key.ts"
import { type PemBlock, readPem } from "../../x509/pem.ts"
import { type PublicKey, readPublicKey } from "../../x509/public-key.ts"
import { isSignedBy } from "../../x509/signature.ts"
import { readSignatureAlgorithm } from "../../x509/signature-algorithm.ts"
import { assertStrongKey } from "../../x509/weak-rsa.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import { shown } from "../policy/violation.ts"

export interface Bundle {
  /** Each once, in the order of the text. */
  readonly certificates: readonly BundledCertificate[]
  readonly keys: readonly PrivateKey[]
}

export interface BundledCertificate {
  /** DER. */
  readonly der: Uint8Array
  readonly parsed: Certificate
  readonly publicKey: PublicKey
  readonly values: ExtensionValues
}

const lengthMaximum = 1_024 * 1_024
/** No certificate in PEM is shorter; a path on somebody's disk is. */
const lengthMinimum = 75
/** A chain has a handful; a certificate or a key on P-521 takes two milliseconds to judge. */
const certificatesMaximum = 32
const keysMaximum = 16

/** Throws `invalid` with one fault for each block that is not acceptable. */
export function readBundle(pem: string, { keysAllowed }: { readonly keysAllowed: boolean }): Bundle {
  if (pem.trim() === "") throw refused("'pem_bundle' and 'certificate' parameters were empty")
  if (pem.length < lengthMinimum)
    throw refused(
      "provided data for import was too short; perhaps a path was passed to the API rather than the contents of a PEM file",
    )
  const blocks = blocksOf(pem)
  const keyCount = blocks.filter(isKey).length
  if (!keysAllowed && keyCount > 0)
    throw refused("private keys found in the PEM bundle but not allowed by the path; use /issuers/import/bundle")
  rejectMany("private keys", keyCount, keysMaximum)
  rejectMany("certificates", blocks.length - keyCount, certificatesMaximum)
  rejectMany("PKCS #7 blocks", blocks.filter(({ label }) => bundleLabels.includes(label)).length, 1)
  const certificates = new Map<string, BundledCertificate>()
  const keys = new Map<string, PrivateKey>()
  const faults: Fault[] = []
  for (const [index, block] of blocks.entries()) {
    try {
      if (isKey(block)) {
        const key = readStrongKey(block)
        keys.set(hex(key.publicKey.spki), key)
      } else for (const der of certificatesIn(block)) certificates.set(hex(der), readAuthority(der))
    } catch (error) {
      if (!(error instanceof UnacceptableInput)) throw error
      faults.push(faultOf(`PEM block ${index + 1} (${block.label}): ${error.message}`))
    }
  }
  if (faults.length > 0) throw invalid(faults)
  return { certificates: [...certificates.values()], keys: [...keys.values()] }
}

/** The one private key that stands there alone. Throws `invalid`. */
export function readKeyAlone(pem: string): PrivateKey {
  if (pem.trim() === "") throw refused("'pem_bundle' parameter was empty")
  const [block, ...others] = blocksOf(pem)
  if (block === undefined || !isKey(block) || others.length > 0)
    throw refused("exactly one private key, and nothing else, can be imported here")
  try {
    return readStrongKey(block)
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw refused(error.message)
  }
}

function readStrongKey(block: PemBlock): PrivateKey {
  const key = readPrivateKeyBlock(block)
  assertStrongKey(key.publicKey)
  return key
}

const isKey = ({ label }: PemBlock): boolean => isPrivateKeyLabel(label)

function rejectMany(what: string, count: number, maximum: number): void {
  if (count > maximum) throw refused(`the bundle has ${count} ${what}; at most ${maximum} are imported at once`)
}

const faultOf = (detail: string): Fault => ({ field: ["pemBundle"], detail })
const refused = (detail: string) => invalid([faultOf(detail)])
const hex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")

const certificateLabels: readonly string[] = ["CERTIFICATE", "X509 CERTIFICATE"]
const bundleLabels: readonly string[] = ["PKCS7", "CMS", "PKCS #7 SIGNED DATA"]

function blocksOf(pem: string): readonly PemBlock[] {
  let blocks: readonly PemBlock[]
  try {
    blocks = readPem(pem, lengthMaximum)
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw refused(error.message)
  }
  // OpenSSL writes them before keys, which name their curve themselves.
  const meant = blocks.filter(({ label }) => label !== "EC PARAMETERS")
  if (meant.length === 0) throw refused("no PEM block was found in the data for import")
  return meant
}

/** One, or those of a PKCS #7 bundle, as other authorities hand them out. */
function certificatesIn({ label, bytes }: PemBlock): readonly Uint8Array[] {
  if (certificateLabels.includes(label)) return [bytes]
  if (!bundleLabels.includes(label)) throw new UnacceptableInput("only certificates and private keys can be imported")
  const found = readCertificatesOnly(bytes)
  if (found.length === 0) throw new UnacceptableInput("no certificates are in it")
  return found
}

function readAuthority(bytes: Uint8Array): BundledCertificate {
  const certificate = parseCertificate(bytes)
  const named = `the certificate of "${shown(formatName(certificate.subjectName))}"`
  const values = parseExtensionValues(certificate.extensions)
  if (certificate.version !== 3 || values.basicConstraints?.isCa !== true)
    throw new UnacceptableInput(`${named} is not that of a CA`)
  if (certificate.subjectName.length === 0) throw new UnacceptableInput("the certificate of a CA must have a subject")
  const publicKey = assertStrongKey(readPublicKey(certificate.subjectPublicKeyInfo))
  // A certificate that is signed with a broken algorithm may be forged, whoever the issuer is.
  const { signatureAlgorithm: algorithm, tbsCertificate: data, signature } = certificate
  readSignatureAlgorithm(algorithm)
  const claimsItself =
    sameName(certificate.issuer, certificate.subject) &&
    hasOwnIdentifier(values) &&
    isOwnAlgorithm(publicKey, algorithm)
  if (claimsItself && !isSignedBy(publicKey, { data, algorithm, signature }))
    throw new UnacceptableInput(`${named} says that it is signed by its own key, and is not`)
  return { der: bytes, parsed: certificate, publicKey, values }
}

/** Without identifiers a certificate that names itself as its issuer may be signed by an older key of that name. */
function hasOwnIdentifier({ subjectKeyIdentifier: own, authorityKeyIdentifier }: ExtensionValues): boolean {
  const issuers = authorityKeyIdentifier?.keyIdentifier
  return own !== undefined && issuers !== undefined && Buffer.compare(own, issuers) === 0
}

const isOwnAlgorithm = ({ algorithm }: PublicKey, identifier: Uint8Array): boolean =>
  readSignatureAlgorithm(identifier).scheme.keyType === algorithm.type
