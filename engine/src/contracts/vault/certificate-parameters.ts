// Parameters and members that all endpoints for certificates have.
import { z } from "zod"
import { parseNestedJson } from "../../core/json-bounds.ts"
import { type Instant, secondMs } from "../../core/time.ts"
import { formats, privateKeyFormats } from "./format/format.ts"
import { maxImportBytes } from "./format/parameters.ts"
import { parameter } from "./record.ts"
import {
  duration,
  enumOf,
  flag,
  instant,
  integer,
  mapped,
  type ParameterType,
  text,
  texts,
  textsUpTo,
  textUpTo,
  unsupported,
} from "./types.ts"

/** Parameters of the subject that roles and CA certificates share. */
export const subject = {
  ou: parameter(texts, "Organizational units (OU) of the subject.", { example: ["Platform"] }),
  organization: parameter(texts, "Organizations (O) of the subject.", { example: ["Example Ltd"] }),
  country: parameter(texts, "Countries (C) of the subject, as codes of two letters.", { example: ["NO"] }),
  locality: parameter(texts, "Localities (L) of the subject.", { example: ["Oslo"] }),
  province: parameter(texts, "States or provinces (ST) of the subject.", { example: ["Oslo"] }),
  streetAddress: parameter(texts, "Street addresses of the subject.", { example: ["Main Street 1"] }),
  postalCode: parameter(texts, "Postal codes of the subject.", { example: ["0150"] }),
}

/** Types with a higher length limit: a certificate with the maximum number of names exceeds the one of `text`. */
export const certificateText = textUpTo(maxImportBytes)
export const certificateTexts = textsUpTo(maxImportBytes)

/** List, comma-separated string, or the text of a JSON list, whose items may contain commas. */
const listOrJson: ParameterType<readonly string[]> = {
  ...texts,
  schema: z.codec(z.unknown(), texts.schema, {
    decode: (value) =>
      typeof value === "string" && value.trimStart().startsWith("[") ? parseNestedJson(value) : (value as string),
    encode: (value) => value,
  }),
}

/** Whole seconds since 1970: a string in the native dialect, a number for Vault clients. */
export const epochSeconds: ParameterType<Instant> = {
  ...mapped(
    text,
    (value) => Number(value) * secondMs,
    (value) => String(Math.floor(value / secondMs)),
  ),
  type: "int",
  vault: (value) => Math.floor(value / secondMs),
}

export const validity = {
  ttlMs: parameter(duration, "Lifetime from now on. 0s: the default of the role or the mount.", { example: "72h" }),
  notBefore: parameter(instant, "Beginning of the validity. Empty: now, less not_before_duration.", {
    example: "2030-01-31T12:00:00Z",
  }),
  notAfter: parameter(instant, "End of the validity, in place of ttl.", { example: "2031-01-31T12:00:00Z" }),
}

export const format = parameter(
  enumOf(...formats),
  "Form of certificates and keys: pem, der (base64), or pem_bundle (key, certificate and chain in one text).",
  { default: "pem", example: "pem_bundle" },
)
export const presentation = {
  format,
  privateKeyFormat: parameter(
    enumOf(...privateKeyFormats),
    "Structure of the private key: der (PKCS #1 or SEC 1; PEM unless format is der) or pkcs8.",
    { default: "der", example: "pkcs8" },
  ),
}
export const removeRootsFromChain = parameter(flag, "Leave self-signed certificates out of ca_chain.", {
  default: false,
  example: true,
})

export const names = {
  commonName: parameter(text, "Common name (CN) of the subject.", { example: "www.example.com" }),
  altNames: parameter(texts, "Alternative names: host names and e-mail addresses.", { example: ["example.com"] }),
  ipSans: parameter(texts, "IP addresses among the alternative names.", { example: ["10.0.0.1"] }),
  uriSans: parameter(texts, "URIs among the alternative names.", { example: ["spiffe://example.com/web"] }),
  otherSans: parameter(listOrJson, "Other alternative names as <oid>;UTF8:<value>. The text of a JSON list is read.", {
    example: ["1.3.6.1.4.1.311.20.2.3;UTF8:ada@example.com"],
  }),
  excludeCnFromSans: parameter(flag, "Keep the common name out of the alternative names.", {
    default: false,
    example: true,
  }),
}

export const keyUsage = parameter(texts, "Key usages, such as DigitalSignature.", { example: ["DigitalSignature"] })
export const signatureBits = parameter(
  integer,
  "Hash of signatures by RSA issuers: 256, 384 or 512. 0: chosen by the key.",
  { default: 0, example: 384 },
)
export const usePss = parameter(flag, "Sign with PSS if the issuer has an RSA key.", { default: false, example: true })
export const serialNumber = parameter(text, "Serial number attribute of the subject.", { example: "host-7" })

/** Parameters of a CA certificate. */
export const authority = {
  ...names,
  ...validity,
  notBeforeDurationMs: parameter(duration, "Back-dating of notBefore.", { default: "30s", example: "5m" }),
  maxPathLength: parameter(integer, "Maximum number of intermediates below. -1: as many as the issuer allows.", {
    default: -1,
    example: 0,
  }),
  ...subject,
  serialNumber,
  permittedDnsDomains: parameter(texts, "Name constraints: permitted domains. A leading dot: subdomains only.", {
    example: ["example.com"],
  }),
  excludedDnsDomains: parameter(texts, "Name constraints: excluded domains.", { example: ["internal.example.com"] }),
  permittedEmailAddresses: parameter(texts, "Name constraints: permitted e-mail addresses, hosts or .domains.", {
    example: ["example.com"],
  }),
  excludedEmailAddresses: parameter(texts, "Name constraints: excluded e-mail addresses, hosts or .domains.", {
    example: ["root@example.com"],
  }),
  permittedIpRanges: parameter(texts, "Name constraints: permitted CIDR ranges.", { example: ["10.0.0.0/8"] }),
  excludedIpRanges: parameter(texts, "Name constraints: excluded CIDR ranges.", { example: ["10.1.0.0/16"] }),
  permittedUriDomains: parameter(texts, "Name constraints: permitted hosts of URIs.", { example: ["example.com"] }),
  excludedUriDomains: parameter(texts, "Name constraints: excluded hosts of URIs.", { example: [".test"] }),
  keyUsage: parameter(texts, "Key usages beyond certificate and CRL signing.", { example: ["DigitalSignature"] }),
  signatureBits,
  skid: parameter(text, "Subject key identifier in hexadecimal. Empty: computed from the key.", {
    example: "01:ab:ff",
  }),
  usePss,
}

/** Keys of an HSM or a KMS (Vault Enterprise). */
const managedKey = unsupported(text, ": keys outside of this server are not supported")
export const newKey = {
  keyName: parameter(text, "Name of the new key, unique in the mount. Empty: none.", { example: "root-2030" }),
  keyType: parameter(text, "Type of the new key: rsa, ec or ed25519.", { default: "rsa", example: "ec" }),
  keyBits: parameter(
    integer,
    "Size of the new key: rsa 2048, 3072, 4096 or 8192; ec 224, 256, 384 or 521. 0: 2048 or 256.",
    { default: 0, example: 384 },
  ),
  managedKeyName: parameter(managedKey, "Not supported; must be empty."),
  managedKeyId: parameter(managedKey, "Not supported; must be empty."),
}

/** Members of answers with an exported private key. */
export const exportedKey = {
  privateKey: parameter(certificateText, "Private key, if it was to be exported. It is not returned again.", {
    optional: true,
  }),
  privateKeyType: parameter(text, "Type of the private key: rsa, ec or ed25519.", { optional: true }),
}
