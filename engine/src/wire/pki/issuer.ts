// The authorities of a mount: how they are made, imported, shown and changed (pki-facts 2.1 to 2.4).
import type { IssuerId, KeyId } from "../../core/ids.ts"
import { formatInstant, secondMs } from "../../core/time.ts"
import { defaultIssuerSettings, type IssuerSettings, noDisabledChecks } from "../../pki/issuers/issuer.ts"
import type {
  GeneratedIntermediate,
  GeneratedRoot,
  ImportedBundle,
  ImportEndpoint,
  IssuerCertificate,
  IssuerInput,
  IssuerSummary,
  IssuerView,
  SavedIssuer,
} from "../../pki/issuers/issuers.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { readPem, writePem } from "../../x509/pem.ts"
import { type PrivateKey, readPrivateKeyPem } from "../../x509/private-key.ts"
import { parseSerialNumber } from "../../x509/serial-number.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import type { Dialect } from "./dialect.ts"
import type { DecodedEnvelope } from "./envelope.ts"
import type { WireNames } from "./errors.ts"
import {
  encodeAuthority,
  encodeBundle,
  encodeCertificate,
  encodePrivateKey,
  type Encoding,
  format,
  privateKeyFormat,
} from "./format.ts"
import { authorityKinds } from "./issue.ts"
import { keyWireNames, managedKeyKinds, nameOrNone } from "./key.ts"
import {
  decodeAnswer,
  type Decoded,
  type Document,
  encodeMembers,
  flag,
  importMaximumBytes,
  integer,
  isDocument,
  type Kind,
  parameters,
  text,
  texts,
  textsUpTo,
  textUpTo,
  unreadable,
  type ValuesOf,
} from "./parameters.ts"
import { readable, readableCertificate } from "./readable.ts"

const newAuthorityKinds = {
  ...authorityKinds,
  format,
  privateKeyFormat,
  keyName: text,
  keyType: text,
  keyBits: integer,
  keyRef: text,
  ...managedKeyKinds,
}
export const rootParameters = parameters({ ...newAuthorityKinds, issuerName: text })
export const intermediateParameters = parameters({ ...newAuthorityKinds, addBasicConstraints: flag })

/** A certificate request has no validity: its signer decides. */
export const csrWarnings = (value: Partial<ValuesOf<typeof intermediateParameters>>): readonly string[] =>
  intermediateParameters.members
    .filter(({ name }) => ["ttlMs", "notBefore", "notAfter", "notBeforeDurationMs"].includes(name) && value[name])
    .map(({ wireName }) => `${wireName} has no effect: a certificate request has no validity`)

interface EncodeOptions {
  readonly encoding: Encoding
  readonly dialect: Dialect
}

/** Only where the key was to be exported. */
const encodeExported = (key: PrivateKey | undefined, { encoding, dialect }: EncodeOptions): Document =>
  key === undefined
    ? {}
    : { private_key: encodePrivateKey(key, encoding, dialect), private_key_type: key.algorithm.type }

export function encodeRoot(root: GeneratedRoot, options: EncodeOptions): Document {
  const { certificate, serialNumber, privateKey } = root
  const { encoding, dialect } = options
  const expiration = Math.floor(root.notAfter / secondMs)
  return {
    certificate:
      encoding.format === "pem_bundle"
        ? encodeBundle(certificate, [], privateKey)
        : encodeCertificate(certificate, encoding.format),
    issuing_ca: encodeCertificate(certificate, encoding.format),
    serial_number: serialNumber,
    expiration: dialect === "vault" ? expiration : String(expiration),
    issuer_id: root.issuerId,
    issuer_name: root.issuerName ?? "",
    key_id: root.keyId,
    key_name: root.keyName ?? "",
    ...encodeExported(privateKey, options),
  }
}

/** With all the names that it may have, a certificate is longer than what callers may send. */
const certificateText = textUpTo(importMaximumBytes)
const certificateTexts = textsUpTo(importMaximumBytes)

const rootAnswer = parameters({
  issuingCa: certificateText,
  serialNumber: text,
  issuerId: text,
  issuerName: nameOrNone,
  keyId: text,
  keyName: nameOrNone,
})
const exportedAnswer = parameters({ privateKey: text })

/** What was asked for in PEM. */
export function decodeRoot({ data, warnings }: DecodedEnvelope): GeneratedRoot {
  const { issuingCa, issuerId, issuerName, keyId, keyName, ...root } = decodeAnswer(rootAnswer, data)
  const serialNumber = parseSerialNumber(root.serialNumber)
  if (serialNumber === undefined) throw unreadable('"serial_number" is none')
  const certificate = readableCertificate(issuingCa)
  return {
    issuerId: issuerId as IssuerId,
    issuerName,
    keyId: keyId as KeyId,
    keyName,
    certificate,
    serialNumber,
    notAfter: readable(() => parseCertificate(certificate)).notAfter,
    privateKey: decodeExported(data),
    warnings,
  }
}

function decodeExported(data: unknown): PrivateKey | undefined {
  if (!isDocument(data) || data["private_key"] === undefined) return undefined
  const { privateKey } = decodeAnswer(exportedAnswer, data)
  return readable(() => readPrivateKeyPem(privateKey, privateKey.length))
}

export function encodeIntermediate(intermediate: GeneratedIntermediate, options: EncodeOptions): Document {
  const { csr, keyId, keyName, privateKey } = intermediate
  const { format } = options.encoding
  const pem = writePem("CERTIFICATE REQUEST", csr)
  const bundled = format === "pem_bundle" && privateKey !== undefined ? [privateKey.pem("traditional"), pem] : [pem]
  return {
    csr: format === "der" ? Buffer.from(csr).toString("base64") : bundled.join("\n"),
    key_id: keyId,
    key_name: keyName ?? "",
    ...encodeExported(privateKey, options),
  }
}

const intermediateAnswer = parameters({ csr: certificateText, keyId: text, keyName: nameOrNone })

export function decodeIntermediate({ data, warnings }: DecodedEnvelope): GeneratedIntermediate {
  const { csr: pem, keyId, keyName } = decodeAnswer(intermediateAnswer, data)
  const csr = readable(() => {
    const [block] = readPem(pem, pem.length)
    if (block === undefined) throw new UnacceptableInput("it holds no request")
    return block.bytes
  })
  return { csr, keyId: keyId as KeyId, keyName, privateKey: decodeExported(data), warnings }
}

export const importParameters = parameters({ pemBundle: certificateText, certificate: certificateText })

/** The member that the endpoint is known to take; either is taken by all of them. */
const importMember = (endpoint: ImportEndpoint): "certificate" | "pemBundle" =>
  endpoint === "intermediate/set-signed" ? "certificate" : "pemBundle"

export const importWireNames = (endpoint: ImportEndpoint): WireNames =>
  importMember(endpoint) === "certificate" ? { pemBundle: "certificate" } : {}

export const decodeImport = ({
  pemBundle = "",
  certificate = "",
}: Partial<ValuesOf<typeof importParameters>>): string => pemBundle || certificate

export const encodeImport = (pem: string, endpoint: ImportEndpoint): Document =>
  encodeMembers(importParameters, { [importMember(endpoint)]: pem }, "native")

/** An empty list is null, as existing clients know it. */
const someTexts: Kind<readonly string[]> = {
  ...texts,
  decode: (value) => (value === null ? [] : texts.decode(value)),
  encode: (value) => (value.length === 0 ? null : value),
}
const imported = parameters({
  importedIssuers: someTexts,
  importedKeys: someTexts,
  existingIssuers: someTexts,
  existingKeys: someTexts,
})

export const encodeImported = ({ mapping, warnings: _, ...lists }: ImportedBundle): Document => ({
  ...encodeMembers(imported, lists, "native"),
  mapping: Object.fromEntries([...mapping].map(([issuerId, keyId]) => [issuerId, keyId ?? ""])),
})

export function decodeImported({ data, warnings }: DecodedEnvelope): ImportedBundle {
  const { mapping = null } = isDocument(data) ? data : {}
  if (!isDocument(mapping)) throw unreadable('"mapping" must be an object')
  const lists = decodeAnswer(imported, data) as Omit<ImportedBundle, "mapping" | "warnings">
  const pairs = Object.entries(mapping).map(
    ([issuerId, keyId]) => [issuerId as IssuerId, keyId === "" ? null : (keyId as KeyId)] as const,
  )
  return { ...lists, mapping: new Map(pairs), warnings }
}

export const issuerWireNames: WireNames = { ...keyWireNames, enableTemplating: "enable_aia_url_templating" }

/** As they are given and as they are told. */
const settingKinds = {
  leafNotAfterBehavior: text,
  usage: texts,
  manualChain: texts,
  revocationSignatureAlgorithm: text,
  disableNameConstraintChecks: flag,
  disableNameChecks: flag,
  disablePathLengthChecks: flag,
  disableCriticalExtensionChecks: flag,
  issuingCertificates: texts,
  crlDistributionPoints: texts,
  deltaCrlDistributionPoints: texts,
  ocspServers: texts,
  enableTemplating: flag,
} as const

export const issuerParameters = parameters({ issuerName: text, ...settingKinds }, issuerWireNames)

const defaultInput: Required<IssuerInput> = {
  ...defaultIssuerSettings.urls,
  leafNotAfterBehavior: defaultIssuerSettings.leafNotAfterBehavior,
  usage: defaultIssuerSettings.usage,
  manualChain: defaultIssuerSettings.manualChain,
  revocationSignatureAlgorithm: defaultIssuerSettings.revocationSignatureAlgorithm,
  ...noDisabledChecks,
  issuerName: "",
}

type Given = Omit<Decoded<ValuesOf<typeof issuerParameters>>, "ignored">

/** What is taken away has its default again (RFC 7396). */
export const decodeIssuerPatch = ({ value, removed }: Pick<Given, "value" | "removed">): IssuerInput => ({
  ...Object.fromEntries(removed.map((name) => [name, defaultInput[name]])),
  ...value,
})

export const encodeIssuerInput = ({ issuerName, ...input }: IssuerInput): Document =>
  encodeMembers(
    issuerParameters,
    { ...input, ...(issuerName === undefined ? {} : { issuerName: issuerName ?? "" }) },
    "native",
  )

const pem = (der: Uint8Array): string => encodeAuthority(der, "pem")

/** Usages are one text, as existing clients know them. */
export function encodeIssuer({ settings, revokedAt, ...issuer }: IssuerView): Document {
  const { urls, usage, ...rest } = settings
  return {
    ...encodeIssuerCertificate(issuer),
    key_id: issuer.keyId ?? "",
    ...encodeMembers(issuerParameters, { ...rest, ...urls }, "native"),
    usage: usage.join(","),
    revoked: revokedAt !== null,
    ...(revokedAt === null
      ? {}
      : {
          revocation_time: Math.floor(revokedAt / secondMs),
          revocation_time_rfc3339: formatInstant(revokedAt),
        }),
  }
}

export const encodeIssuerCertificate = ({ id, name, certificate, caChain }: IssuerCertificate): Document => ({
  issuer_id: id,
  issuer_name: name ?? "",
  certificate: pem(certificate),
  ca_chain: caChain.map(pem),
})

const certificateAnswer = parameters({
  issuerId: text,
  issuerName: nameOrNone,
  certificate: certificateText,
  caChain: certificateTexts,
})

export function decodeIssuerCertificate(data: unknown): IssuerCertificate {
  const { issuerId, issuerName: name, certificate, caChain } = decodeAnswer(certificateAnswer, data)
  return {
    id: issuerId as IssuerId,
    name,
    certificate: readableCertificate(certificate),
    caChain: caChain.map(readableCertificate),
  }
}

const settingsAnswer = parameters({ keyId: nameOrNone, ...settingKinds }, issuerWireNames)
const revocationAnswer = parameters({ revocationTimeRfc3339: text })

export function decodeIssuer(data: unknown): IssuerView {
  const { keyId, ...answer } = decodeAnswer(settingsAnswer, data)
  const { issuingCertificates, crlDistributionPoints, deltaCrlDistributionPoints, ocspServers, ...others } = answer
  const { enableTemplating, ...rest } = others
  const urls = {
    issuingCertificates,
    crlDistributionPoints,
    deltaCrlDistributionPoints,
    ocspServers,
    enableTemplating,
  }
  const settings = { ...rest, urls }
  return {
    ...decodeIssuerCertificate(data),
    keyId: keyId as KeyId | null,
    settings: settings as unknown as IssuerSettings,
    revokedAt: decodeRevokedAt(data),
  }
}

function decodeRevokedAt(data: unknown): number | null {
  if (!isDocument(data) || data["revoked"] !== true) return null
  const revokedAt = Date.parse(decodeAnswer(revocationAnswer, data).revocationTimeRfc3339)
  if (Number.isNaN(revokedAt)) throw unreadable('"revocation_time_rfc3339" is no time')
  return revokedAt
}

export const decodeSavedIssuer = ({ data, warnings }: DecodedEnvelope): SavedIssuer => ({
  issuer: decodeIssuer(data),
  warnings,
})

const summaryAnswer = parameters({ issuerName: nameOrNone, isDefault: flag, keyId: nameOrNone, serialNumber: text })

/** By id: what stands beside the ids of the list. */
export const encodeIssuerSummaries = (issuers: readonly IssuerSummary[]): Document =>
  Object.fromEntries(
    issuers.map(({ id, name: issuerName, ...rest }) => [
      id,
      encodeMembers(summaryAnswer, { issuerName, ...rest }, "native"),
    ]),
  )

export const decodeIssuerSummaries = (ids: readonly string[], info: Document): readonly IssuerSummary[] =>
  ids.map((id) => {
    const { issuerName: name, keyId, ...rest } = decodeAnswer(summaryAnswer, info[id])
    return { id: id as IssuerId, name, keyId: keyId as KeyId | null, ...rest }
  })
