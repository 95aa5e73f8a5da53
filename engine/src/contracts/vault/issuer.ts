// Issuers of a mount (https://developer.hashicorp.com/vault/api-docs/secret/pki#managing-keys-and-issuers).
import { z } from "zod"
import { invalid } from "../../core/errors.ts"
import type { IssuerId, KeyId } from "../../core/ids.ts"
import { secondMs } from "../../core/time.ts"
import { defaultIssuerSettings, type IssuerSettings } from "../../pki/issuers/issuer.ts"
import type {
  GeneratedIntermediate,
  GeneratedRoot,
  ImportedBundle,
  IssuerCertificate,
  IssuerInput,
  IssuerSummary,
  IssuerView,
} from "../../pki/issuers/issuer-api.ts"
import type { Dialect } from "./format/dialect.ts"
import type { DecodedEnvelope } from "./format/envelope.ts"
import {
  encodeAuthority,
  encodeBundle,
  encodeCertificate,
  encodePrivateKey,
  encodingOf,
  type Encoding,
} from "./format/format.ts"
import {
  decodeAnswer,
  type Document,
  encodeMembers,
  isDocument,
  unreadable,
  type ValuesOf,
} from "./format/parameters.ts"
import { readable, readableCertificate } from "./format/readable.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { readPem, writePem } from "../../x509/pem.ts"
import { type PrivateKey, readPrivateKeyPem } from "../../x509/private-key.ts"
import { parseSerialNumber } from "../../x509/serial-number.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import {
  authority,
  certificateText,
  certificateTexts,
  epochSeconds,
  exportedKey,
  newKey,
  presentation,
} from "./certificate-parameters.ts"
import { conditional, contract, data, dataOf, entries, file, keyPage, warned, warnings } from "./endpoint.ts"
import { type Body, bodyOf, fields, parameter, record } from "./record.ts"
import { exactInstant, flag, integer, type ParameterType, stringMap, text, textOrNull, texts } from "./types.ts"

const issuerId = parameter(text, "Id of the issuer.")
const issuerName = parameter(textOrNull, "Name of the issuer, unique in the mount. Empty: none.", {
  example: "issuing-2030",
})
const keyId = parameter(textOrNull, "Id of the issuer's key. Empty: the key is not in the mount.")

/** Comma-separated string, as Vault clients read it. */
const usageText: ParameterType<readonly string[]> = {
  expected: texts.expected,
  schema: z.codec(z.unknown(), texts.schema, {
    decode: (value) => value as string,
    encode: (value) => (value as readonly string[]).join(","),
  }),
  type: "string",
}

const settingMembers = {
  leafNotAfterBehavior: parameter(
    text,
    "For certificates that would outlive the issuer: err, truncate, permit, or always_enforce_err (err, even if an endpoint would cut).",
    { example: "truncate" },
  ),
  usage: parameter(texts, "Allowed use: read-only, issuing-certificates, crl-signing, ocsp-signing.", {
    example: ["read-only", "crl-signing"],
  }),
  manualChain: parameter(
    texts,
    "Chain to serve, as references of issuers, this issuer first. Empty: the chain is built.",
    { example: ["default", "root-2030"] },
  ),
  revocationSignatureAlgorithm: parameter(text, "Signature algorithm of CRLs and OCSP. Empty: chosen by the key.", {
    example: "SHA256WithRSAPSS",
  }),
  disableNameConstraintChecks: parameter(flag, "Sign names that the chain's name constraints forbid."),
  disableNameChecks: parameter(flag, "Sign below a manual_chain whose certificates do not name each other."),
  disablePathLengthChecks: parameter(flag, "Sign below certificates whose path length is used up."),
  disableCriticalExtensionChecks: parameter(flag, "Sign below certificates with unknown critical extensions."),
  issuingCertificates: parameter(texts, "URLs of the issuer's certificate (AIA). Any URL replaces all of the mount.", {
    example: ["http://pki.example.com/ca"],
  }),
  crlDistributionPoints: parameter(texts, "URLs of the CRL.", { example: ["http://pki.example.com/crl"] }),
  deltaCrlDistributionPoints: parameter(texts, "URLs of the delta CRL.", {
    example: ["http://pki.example.com/crl/delta"],
  }),
  ocspServers: parameter(texts, "URLs of OCSP responders.", { example: ["http://pki.example.com/ocsp"] }),
  enableTemplating: parameter(flag, "Fill in {{issuer_id}}, {{cluster_path}} and {{cluster_aia_path}} in the URLs.", {
    wireName: "enable_aia_url_templating",
  }),
}

const { urls, ...defaults } = defaultIssuerSettings
type SettingsOnWire = Required<IssuerInput> & { readonly issuerName: string | null }
const settings = record<SettingsOnWire, SettingsOnWire>(
  { issuerName, ...settingMembers },
  { defaults: { ...defaults, ...urls, issuerName: null } },
)
export const issuerParameters = settings.table

const patch: Body<IssuerInput> = {
  ...settings.patch,
  decode(request) {
    const { faults = [], ...given } = settings.patch.decode(request)
    if (faults.length > 0) throw invalid(faults)
    return given
  },
}

const certificateMembers = {
  issuerId,
  issuerName,
  certificate: parameter(certificateText, "Certificate in PEM."),
  caChain: parameter(certificateTexts, "Chain in PEM, the issuer itself first."),
}
const certificateTable = fields(certificateMembers)
const viewTable = fields({
  ...certificateMembers,
  keyId,
  ...settingMembers,
  usage: parameter(usageText, settingMembers.usage.rule),
  revoked: parameter(flag, "The issuer is revoked: it issues nothing more."),
  revocationTime: parameter(integer, "Time of the revocation in seconds since 1970.", { optional: true }),
  revocationTimeRfc3339: parameter(exactInstant, "The same as RFC 3339.", {
    wireName: "revocation_time_rfc3339",
    optional: true,
  }),
})

const textsOf = ({ id, name, certificate, caChain }: IssuerCertificate) => ({
  issuerId: id,
  issuerName: name,
  certificate: encodeAuthority(certificate, "pem"),
  caChain: caChain.map((der) => encodeAuthority(der, "pem")),
})

const certificateView = {
  table: certificateTable,
  encode: (issuer: IssuerCertificate): Document => encodeMembers(certificateTable, textsOf(issuer), "native"),
  decode: (sent: unknown): IssuerCertificate => certificateIn(decodeAnswer(certificateTable, sent)),
}

const certificateIn = (given: ValuesOf<typeof certificateTable>): IssuerCertificate => ({
  id: given.issuerId as IssuerId,
  name: given.issuerName,
  certificate: readableCertificate(given.certificate),
  caChain: given.caChain.map(readableCertificate),
})

const view = {
  table: viewTable,
  encode({ settings: { urls: ownUrls, ...own }, revokedAt, ...issuer }: IssuerView): Document {
    const revocation = revokedAt !== null && {
      revocationTime: Math.floor(revokedAt / secondMs),
      revocationTimeRfc3339: revokedAt,
    }
    const members = { ...textsOf(issuer), keyId: issuer.keyId, ...own, ...ownUrls, revoked: revokedAt !== null }
    return encodeMembers(viewTable, { ...members, ...revocation }, "native")
  },
  decode(sent: unknown): IssuerView {
    const {
      keyId: key,
      issuerId: id,
      issuerName: name,
      certificate,
      caChain,
      ...answer
    } = decodeAnswer(viewTable, sent)
    const { revoked, revocationTime: _, revocationTimeRfc3339: revokedAt, ...others } = answer
    const { issuingCertificates, crlDistributionPoints, deltaCrlDistributionPoints, ocspServers, ...rest } = others
    const { enableTemplating, ...own } = rest
    const ownUrls = {
      issuingCertificates,
      crlDistributionPoints,
      deltaCrlDistributionPoints,
      ocspServers,
      enableTemplating,
    }
    return {
      ...certificateIn({ issuerId: id, issuerName: name, certificate, caChain }),
      keyId: key as KeyId | null,
      settings: { ...own, urls: ownUrls } as unknown as IssuerSettings,
      revokedAt: revoked ? revokedAt : null,
    }
  },
}

const summaryTable = fields({
  issuerName,
  isDefault: parameter(flag, "The default issuer of the mount."),
  keyId,
  serialNumber: parameter(text, "Serial number of its certificate in hexadecimal."),
})
const summaries = entries<IssuerSummary>({
  key: ({ id }) => id,
  table: summaryTable,
  encode: ({ name, ...rest }) => encodeMembers(summaryTable, { issuerName: name, ...rest }, "native"),
  decode(id, info) {
    const { issuerName: name, keyId: key, ...rest } = decodeAnswer(summaryTable, info)
    return { id: id as IssuerId, name, keyId: key as KeyId | null, ...rest }
  },
})

const newAuthority = {
  ...authority,
  ...presentation,
  ...newKey,
  keyRef: parameter(text, "With type existing: the key, as id, name or default.", {
    default: "default",
    example: "root-2030",
  }),
}
export const rootParameters = fields({
  ...newAuthority,
  issuerName: parameter(text, issuerName.rule, { example: "root-2030" }),
})
export const intermediateParameters = fields({
  ...newAuthority,
  addBasicConstraints: parameter(flag, "Add basicConstraints CA:TRUE to the CSR, for signers that look for it.", {
    default: false,
    example: true,
  }),
})

/** Answer with the formats that its request names. */
export type Presented<T> = T & { readonly [Name in keyof Encoding]?: Encoding[Name] | undefined }

const keyMembers = {
  keyId: parameter(text, "Id of the key."),
  keyName: parameter(textOrNull, "Name of the key. Empty: none."),
}
const rootTable = fields({
  certificate: parameter(certificateText, "Certificate, in the requested format."),
  issuingCa: parameter(certificateText, "The same; a root is issued by itself."),
  serialNumber: parameter(text, "Serial number in hexadecimal."),
  expiration: parameter(epochSeconds, "End of the validity in seconds since 1970."),
  issuerId,
  issuerName,
  ...keyMembers,
  ...exportedKey,
})

const exportedMembers = (key: PrivateKey | undefined, encoding: Encoding, dialect: Dialect) =>
  key && { privateKey: encodePrivateKey(key, encoding, dialect), privateKeyType: key.algorithm.type }

const exportedIn = ({ privateKey: pem }: { readonly privateKey?: string }): PrivateKey | undefined =>
  pem === undefined ? undefined : readable(() => readPrivateKeyPem(pem, pem.length))

const generatedRoot = dataOf(
  rootTable,
  ({ format, privateKeyFormat, certificate, ...root }: Presented<GeneratedRoot>, dialect) => {
    const encoding = encodingOf({ format, privateKeyFormat })
    const members = {
      certificate:
        encoding.format === "pem_bundle"
          ? encodeBundle(certificate, [], root.privateKey)
          : encodeCertificate(certificate, encoding.format),
      issuingCa: encodeCertificate(certificate, encoding.format),
      serialNumber: root.serialNumber,
      expiration: root.notAfter,
      issuerId: root.issuerId,
      issuerName: root.issuerName,
      keyId: root.keyId,
      keyName: root.keyName,
      ...exportedMembers(root.privateKey, encoding, dialect),
    }
    return { data: encodeMembers(rootTable, members, dialect), warnings: root.warnings }
  },
  (envelope): GeneratedRoot => {
    const root = decodeAnswer(rootTable, envelope.data)
    const serialNumber = parseSerialNumber(root.serialNumber)
    if (serialNumber === undefined) throw unreadable('"serial_number" is not a serial number')
    const certificate = readableCertificate(root.issuingCa)
    return {
      issuerId: root.issuerId as IssuerId,
      issuerName: root.issuerName,
      keyId: root.keyId as KeyId,
      keyName: root.keyName,
      certificate,
      serialNumber,
      notAfter: readable(() => parseCertificate(certificate)).notAfter,
      privateKey: exportedIn(root),
      warnings: envelope.warnings,
    }
  },
)

const intermediateTable = fields({
  csr: parameter(certificateText, "Certificate signing request (PKCS #10), in the requested format."),
  ...keyMembers,
  ...exportedKey,
})

const generatedIntermediate = dataOf(
  intermediateTable,
  (
    { format, privateKeyFormat, csr, keyId: key, keyName, privateKey, ...made }: Presented<GeneratedIntermediate>,
    dialect,
  ) => {
    const encoding = encodingOf({ format, privateKeyFormat })
    const pem = writePem("CERTIFICATE REQUEST", csr)
    const bundled = encoding.format === "pem_bundle" && privateKey ? [privateKey.pem("traditional"), pem] : [pem]
    const members = {
      csr: encoding.format === "der" ? Buffer.from(csr).toString("base64") : bundled.join("\n"),
      keyId: key,
      keyName,
      ...exportedMembers(privateKey, encoding, dialect),
    }
    return { data: encodeMembers(intermediateTable, members, dialect), warnings: made.warnings }
  },
  (envelope: DecodedEnvelope): GeneratedIntermediate => {
    const { csr: pem, keyId: key, keyName, ...exported } = decodeAnswer(intermediateTable, envelope.data)
    const csr = readable(() => {
      const [block] = readPem(pem, pem.length)
      if (block === undefined) throw new UnacceptableInput("it contains no request")
      return block.bytes
    })
    return { csr, keyId: key as KeyId, keyName, privateKey: exportedIn(exported), warnings: envelope.warnings }
  },
)

/** Returns warnings about validity parameters: a CSR has no validity, its signer decides. */
export const csrWarnings = (value: Partial<ValuesOf<typeof intermediateParameters>>): readonly string[] =>
  intermediateParameters.members
    .filter(({ name }) => ["ttlMs", "notBefore", "notAfter", "notBeforeDurationMs"].includes(name) && value[name])
    .map(({ wireName }) => `${wireName} has no effect: a certificate request has no validity`)

const importTable = fields({
  pemBundle: parameter(certificateText, "Certificates and private keys in PEM, in any order."),
  certificate: parameter(certificateText, "The same. Either name is read by every endpoint."),
})
const bundle = (name: "pem_bundle" | "certificate"): Body<string> => ({
  table: importTable,
  decode(request) {
    const { pemBundle = "", certificate = "" } = request.decode(importTable)
    return pemBundle || certificate
  },
  encode: (pem) => ({ [name]: pem }),
})

/** List that is null if empty, as Vault clients expect. */
const someTexts: ParameterType<readonly string[]> = {
  ...texts,
  schema: z.codec(z.unknown(), texts.schema, {
    decode: (value) => (value ?? []) as string[],
    encode: (value) => ((value as readonly string[]).length === 0 ? null : value),
  }),
}
const importedTable = fields({
  importedIssuers: parameter(someTexts, "Ids of new issuers. Null: none."),
  importedKeys: parameter(someTexts, "Ids of new keys."),
  existingIssuers: parameter(someTexts, "Ids of issuers that the mount had already."),
  existingKeys: parameter(someTexts, "Ids of keys that the mount had already."),
  mapping: parameter(stringMap, "Id of the key by id of the issuer. Empty: the key is not in the mount."),
})
const imported = dataOf(
  importedTable,
  ({ mapping, ...lists }: ImportedBundle) => {
    const pairs = Object.fromEntries([...mapping].map(([issuer, key]) => [issuer, key ?? ""]))
    return { data: encodeMembers(importedTable, { ...lists, mapping: pairs }, "native"), warnings: lists.warnings }
  },
  (envelope): ImportedBundle => {
    if (!isDocument(envelope.data) || !isDocument(envelope.data["mapping"]))
      throw unreadable('"mapping" must be an object')
    const { mapping, ...lists } = decodeAnswer(importedTable, envelope.data)
    const pairs = Object.entries(mapping).map(
      ([issuer, key]) => [issuer as IssuerId, key === "" ? null : (key as KeyId)] as const,
    )
    return { ...(lists as Omit<ImportedBundle, "mapping">), mapping: new Map(pairs), warnings: envelope.warnings }
  },
)

/** The source of the key is a path parameter. */
export const keySourceNames = { keySource: "type" }

const root = {
  operation: "write",
  summary: "Generates a root: a self-signed issuer. type: internal, exported (returns the key), or existing (key_ref).",
  rights: "create or update",
  wireNames: keySourceNames,
  body: bodyOf(rootParameters),
  answers: generatedRoot,
} as const
const intermediate = {
  operation: "write",
  summary: "Generates a CSR for an intermediate. type: internal, exported (returns the key), or existing (key_ref).",
  rights: "create or update",
  wireNames: keySourceNames,
  body: bodyOf(intermediateParameters),
  answers: generatedIntermediate,
} as const
const importing = {
  operation: "write",
  summary: "Imports certificates of authorities and their private keys.",
  rights: "create or update",
  body: bundle("pem_bundle"),
  answers: imported,
} as const
const publicly = {
  operation: "read",
  summary: "Returns the certificate of an issuer. issuer_ref: id, name, or default.",
  rights: "none",
  open: true,
} as const

export const issuers = contract({
  generateRoot: { ...root, path: "/root/generate/:type" },
  generateIssuerRoot: { ...root, path: "/issuers/generate/root/:type" },
  rotateRoot: {
    ...root,
    path: "/root/rotate/:type",
    summary: "Generates a root, named next unless issuer_name is given. The default issuer stays.",
  },
  deleteAll: {
    operation: "delete",
    path: "/root",
    summary: "Deletes all issuers and all keys of the mount.",
    rights: "delete and sudo",
    answers: warnings,
  },
  generateIntermediate: { ...intermediate, path: "/intermediate/generate/:type" },
  generateIssuerIntermediate: { ...intermediate, path: "/issuers/generate/intermediate/:type" },
  crossSign: {
    ...intermediate,
    path: "/intermediate/cross-sign",
    summary: "Generates a CSR with an existing key, for another root to sign.",
  },
  setSigned: {
    ...importing,
    path: "/intermediate/set-signed",
    summary: "Imports the signed certificate of an intermediate. Private keys are refused.",
    wireNames: { pemBundle: "certificate" },
    body: bundle("certificate"),
  },
  importCa: { ...importing, path: "/config/ca" },
  importBundle: { ...importing, path: "/issuers/import/bundle" },
  importCertificates: {
    ...importing,
    path: "/issuers/import/cert",
    summary: "Imports certificates of authorities. Private keys are refused.",
  },
  list: {
    operation: "list",
    path: "/issuers",
    summary: "Lists ids of issuers, with name, key and serial number.",
    rights: "none",
    open: true,
    body: keyPage,
    answers: summaries,
  },
  get: {
    operation: "read",
    path: "/issuer/:issuer_ref",
    summary: "Returns an issuer and its settings.",
    rights: "read",
    answers: data(view),
  },
  replace: {
    operation: "write",
    path: "/issuer/:issuer_ref",
    summary: "Replaces the settings of an issuer: parameters left out get their defaults.",
    rights: "create or update",
    body: { ...bodyOf(issuerParameters), encode: patch.encode } satisfies Body<IssuerInput>,
    answers: warned(view, "issuer"),
  },
  update: {
    operation: "patch",
    path: "/issuer/:issuer_ref",
    summary: "Changes the settings of an issuer: parameters left out keep their values, and null restores the default.",
    rights: "patch",
    body: patch,
    answers: warned(view, "issuer"),
  },
  delete: {
    operation: "delete",
    path: "/issuer/:issuer_ref",
    summary: "Deletes an issuer. Its key stays. An issuer that does not exist is deleted already.",
    rights: "delete",
    answers: warnings,
  },
  revoke: {
    operation: "write",
    path: "/issuer/:issuer_ref/revoke",
    summary: "Revokes an issuer for good: it issues nothing more, and still signs CRLs and OCSP.",
    rights: "create or update",
    answers: warned(view, "issuer"),
  },
  certificate: { ...publicly, path: "/issuer/:issuer_ref/json", answers: conditional(data(certificateView)) },
  certificateDer: {
    ...publicly,
    path: "/issuer/:issuer_ref/der",
    answers: conditional(file("application/pkix-cert")),
  },
  certificatePem: {
    ...publicly,
    path: "/issuer/:issuer_ref/pem",
    answers: conditional(file("application/pem-certificate-chain")),
  },
})
