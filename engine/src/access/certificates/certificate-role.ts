// Roles set which certificates may log in, and the terms of their tokens. A certificate of the role is a CA, whose certificates may log in,
// or the certificate of one client.
import { type Fault, rejectFaults } from "../../core/errors.ts"
import { secondMs } from "../../core/time.ts"
import { anyGlob } from "../../pki/names/host-names.ts"
import { valuesOf } from "../../pki/names/subject.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { DerReader } from "../../x509/asn1/reader.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import { findExtension } from "../../x509/extension.ts"
import { readPem } from "../../x509/pem.ts"
import { subjectKeyIdentifier } from "../../x509/public-key.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import { initialTokenTerms, type TokenTerms, tokenTermsFaults } from "../logins/token-terms.ts"
import { type PathCertificate, readPathCertificate } from "./certification-path.ts"

export interface CertificateRole extends TokenTerms {
  /** PEM as entered: one or more certificates. */
  readonly certificate: string
  /** Patterns in which `*` matches any characters. An empty list allows any name. One of a list must match. */
  readonly allowedNames: readonly string[]
  readonly allowedCommonNames: readonly string[]
  readonly allowedDnsSans: readonly string[]
  readonly allowedEmailSans: readonly string[]
  readonly allowedUriSans: readonly string[]
  readonly allowedOrganizationalUnits: readonly string[]
  /** `OID:pattern` for the text of an extension, or `hex:OID:pattern` for its DER. All must match. */
  readonly requiredExtensions: readonly string[]
  /** Object identifiers of extensions that become metadata of tokens. */
  readonly allowedMetadataExtensions: readonly string[]
  readonly ocspEnabled: boolean
  /** PEM of further CAs of OCSP responders; may be empty. */
  readonly ocspCaCertificates: string
  /** URLs that replace those in certificates. */
  readonly ocspServersOverride: readonly string[]
  /** Allows logins if no responder knows the status. */
  readonly ocspFailOpen: boolean
  /** Queries all servers, and allows a login only if all of them agree. */
  readonly ocspQueryAllServers: boolean
  /** Maximum age of a response; 0 means that only its next update counts. */
  readonly ocspThisUpdateMaxAgeMs: number
  readonly ocspMaxRetries: number
  /** Part of the display name of tokens. */
  readonly displayName: string
}

/** Input for a role. Omitted members stay unchanged, or get their defaults in a new role. */
export interface CertificateRoleInput extends Partial<CertificateRole> {
  /** Faults of the parsed document. */
  readonly faults?: readonly Fault[]
}

export const initialCertificateRole: CertificateRole = {
  ...initialTokenTerms,
  certificate: "",
  allowedNames: [],
  allowedCommonNames: [],
  allowedDnsSans: [],
  allowedEmailSans: [],
  allowedUriSans: [],
  allowedOrganizationalUnits: [],
  requiredExtensions: [],
  allowedMetadataExtensions: [],
  ocspEnabled: false,
  ocspCaCertificates: "",
  ocspServersOverride: [],
  ocspFailOpen: false,
  ocspQueryAllServers: false,
  ocspThisUpdateMaxAgeMs: 0,
  ocspMaxRetries: 4,
  displayName: "",
}

const maxPatterns = 1_000
const maxPattern = 1_024
export const maxBundleLength = 256 * 1_024
const maxCertificates = 50
const maxServers = 10
const maxRetries = 10
const maxDisplayName = 200

/** Changes a role, or creates one if `before` is undefined. Throws `invalid` with all faults. */
export function changeCertificateRole(
  before: CertificateRole | undefined,
  name: string,
  input: CertificateRoleInput,
): CertificateRole {
  const { faults: parsed = [], ...members } = input
  const merged: CertificateRole = { ...(before ?? initialCertificateRole), ...members }
  const role = { ...merged, displayName: merged.displayName === "" ? name : merged.displayName }
  const faults: Fault[] = [...parsed]
  const add = (field: keyof CertificateRole, detail: string) => {
    // A member that could not be parsed is not reported twice.
    if (!parsed.some((fault) => fault.field?.[0] === field)) faults.push({ field: [field], detail })
  }
  for (const [field, wireName] of patternLists) {
    const list = role[field]
    if (list.length > maxPatterns) add(field, `"${wireName}" must not have more than ${maxPatterns} entries`)
    else if (list.some((entry) => entry === "" || entry.length > maxPattern))
      add(field, `"${wireName}" must contain texts of 1 to ${maxPattern} characters`)
  }
  for (const [field, wireName] of bundles) {
    const problem = bundleProblem(role[field], field === "certificate")
    if (problem !== undefined) add(field, `"${wireName}" ${problem}`)
  }
  for (const entry of role.requiredExtensions)
    if (parseRequiredExtension(entry) === undefined)
      add("requiredExtensions", '"required_extensions" must contain "OID:value" or "hex:OID:value"')
  for (const oid of role.allowedMetadataExtensions)
    if (!isOid(oid)) add("allowedMetadataExtensions", '"allowed_metadata_extensions" must contain object identifiers')
  if (role.ocspServersOverride.length > maxServers)
    add("ocspServersOverride", `"ocsp_servers_override" must not have more than ${maxServers} entries`)
  else if (!role.ocspServersOverride.every(isHttpUrl))
    add("ocspServersOverride", '"ocsp_servers_override" must contain http or https URLs')
  if (role.ocspMaxRetries < 0 || role.ocspMaxRetries > maxRetries)
    add("ocspMaxRetries", `"ocsp_max_retries" must be from 0 to ${maxRetries}`)
  if (role.ocspThisUpdateMaxAgeMs < 0 || role.ocspThisUpdateMaxAgeMs % secondMs !== 0)
    add("ocspThisUpdateMaxAgeMs", '"ocsp_this_update_max_age" must be a number of whole seconds')
  if (role.displayName.length > maxDisplayName)
    add("displayName", `"display_name" must not be longer than ${maxDisplayName} characters`)
  rejectFaults([...faults, ...tokenTermsFaults(role)])
  return role
}

const patternLists = [
  ["allowedNames", "allowed_names"],
  ["allowedCommonNames", "allowed_common_names"],
  ["allowedDnsSans", "allowed_dns_sans"],
  ["allowedEmailSans", "allowed_email_sans"],
  ["allowedUriSans", "allowed_uri_sans"],
  ["allowedOrganizationalUnits", "allowed_organizational_units"],
  ["requiredExtensions", "required_extensions"],
  ["allowedMetadataExtensions", "allowed_metadata_extensions"],
] as const

const bundles = [
  ["certificate", "certificate"],
  ["ocspCaCertificates", "ocsp_ca_certificates"],
] as const

function bundleProblem(text: string, isTrusted: boolean): string | undefined {
  if (text.trim() === "") return isTrusted ? "is required" : undefined
  try {
    const found = readBundle(text)
    const other = isTrusted ? found.find((one) => !isAuthority(one) && !mayAuthenticate(one)) : undefined
    return other === undefined ? undefined : "must be of CAs, or of clients with the extended key usage clientAuth"
  } catch (error) {
    if (error instanceof UnacceptableInput) return `cannot be read: ${error.message}`
    throw error
  }
}

/** Parses the certificates of a bundle. Throws `UnacceptableInput`. */
export function readBundle(text: string): readonly PathCertificate[] {
  const blocks = readPem(text, maxBundleLength)
  if (blocks.length === 0) throw new UnacceptableInput("it contains no PEM certificate")
  if (blocks.length > maxCertificates) throw new UnacceptableInput(`it has more than ${maxCertificates} certificates`)
  return blocks.map(({ label, bytes }, at) => {
    if (label !== "CERTIFICATE")
      throw new UnacceptableInput(`PEM block ${at + 1} must be a certificate, not "${label}"`)
    return readPathCertificate(bytes)
  })
}

export const isAuthority = ({ values }: PathCertificate): boolean => values.basicConstraints?.isCa === true

const mayAuthenticate = ({ values: { extendedKeyUsage: purposes } }: PathCertificate): boolean =>
  purposes === undefined || purposes.includes(oids.clientAuth) || purposes.includes(oids.anyExtendedKeyUsage)

const isHttpUrl = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "")

const isOid = (text: string): boolean => /^[0-2](\.(0|[1-9]\d{0,30})){1,30}$/.test(text)

interface RequiredExtension {
  readonly oid: string
  readonly pattern: string
  readonly isHex: boolean
}

function parseRequiredExtension(text: string): RequiredExtension | undefined {
  const isHex = text.startsWith("hex:")
  const rest = isHex ? text.slice("hex:".length) : text
  const at = rest.indexOf(":")
  const oid = rest.slice(0, at)
  if (at < 0 || !isOid(oid)) return undefined
  const pattern = rest.slice(at + 1)
  return { oid, pattern: isHex ? pattern.toLowerCase() : pattern, isHex }
}

/** Returns the first rule of the role that a client's certificate breaks. */
export function constraintProblem(role: CertificateRole, leaf: PathCertificate): string | undefined {
  const { subjectName } = leaf.certificate
  const commonNames = valuesOf(subjectName, oids.commonName)
  const [dns, emails, uris] = (["dns", "email", "uri"] as const).map((kind) => namesOf(leaf, kind))
  const folded = (dns ?? []).map((name) => name.toLowerCase())
  const rules: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ["a name", role.allowedNames, [...commonNames, ...folded, ...(emails ?? [])]],
    ["the common name", role.allowedCommonNames, commonNames],
    ["a DNS name", role.allowedDnsSans.map((pattern) => pattern.toLowerCase()), folded],
    ["an e-mail address", role.allowedEmailSans, emails ?? []],
    ["a URI", role.allowedUriSans, uris ?? []],
    ["an organizational unit", role.allowedOrganizationalUnits, valuesOf(subjectName, oids.organizationalUnitName)],
  ]
  for (const [what, patterns, values] of rules)
    if (patterns.length > 0 && !values.some(anyGlob(patterns))) return `the role does not allow ${what}`
  const missing = role.requiredExtensions.find((text) => !hasExtension(leaf, parseRequiredExtension(text)))
  return missing === undefined ? undefined : `the required extension ${missing.split(":", 2).join(":")} does not match`
}

const namesOf = ({ values }: PathCertificate, kind: "dns" | "email" | "uri"): readonly string[] =>
  (values.subjectAltName ?? []).flatMap((name: GeneralName) => (name.kind === kind ? [name.value] : []))

function hasExtension(leaf: PathCertificate, required: RequiredExtension | undefined): boolean {
  if (required === undefined) return false
  const value = findExtension(leaf.certificate.extensions, required.oid)?.value
  const text = value && (required.isHex ? hexOf(value) : textIn(value))
  return text !== undefined && anyGlob([required.pattern])(text)
}

/** Returns the text of an extension whose value is a string type of ASN.1. */
function textIn(value: Uint8Array): string | undefined {
  try {
    const reader = new DerReader(value, "extension")
    const text = reader.string("value")
    reader.finish("value")
    return text
  } catch (error) {
    if (error instanceof UnacceptableInput) return undefined
    throw error
  }
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/** Octets in hex, joined by ":". */
const octetsOf = (bytes: Uint8Array | undefined): string =>
  bytes === undefined ? "" : (hexOf(bytes).match(/../g) ?? []).join(":")

/** Metadata of a certificate, with the members of Vault. */
export interface CertificateFacts {
  readonly common_name: string
  /** Decimal. */
  readonly serial_number: string
  readonly subject_key_id: string
  readonly authority_key_id: string
}

export function certificateFacts({ certificate, values, publicKey }: PathCertificate): CertificateFacts {
  return {
    common_name: valuesOf(certificate.subjectName, oids.commonName)[0] ?? "",
    serial_number: BigInt(`0x0${hexOf(certificate.serialNumber)}`).toString(),
    // A certificate without the extension is identified by its key as well.
    subject_key_id: octetsOf(values.subjectKeyIdentifier ?? subjectKeyIdentifier(publicKey)),
    authority_key_id: octetsOf(values.authorityKeyIdentifier?.keyIdentifier),
  }
}

/** Returns the extensions that the role allows as metadata. The dots of identifiers become hyphens. */
export function extensionMetadata(role: CertificateRole, { certificate }: PathCertificate): Record<string, string> {
  return Object.fromEntries(
    role.allowedMetadataExtensions.flatMap((oid) => {
      const value = findExtension(certificate.extensions, oid)?.value
      return value === undefined ? [] : [[oid.replaceAll(".", "-"), textIn(value) ?? hexOf(value)]]
    }),
  )
}
