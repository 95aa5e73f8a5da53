// Certificate revocation lists and their settings (https://developer.hashicorp.com/vault/api-docs/secret/pki).
import { memoizeByIdentity } from "../../core/memoize-by-identity.ts"
import { type Fault, invalid } from "../../core/errors.ts"
import { hourMs, parseInstant } from "../../core/time.ts"
import { defaultCrlSettings } from "../../pki/crl/crl-settings.ts"
import type {
  CrlSettingsView,
  ImportedCrl,
  ListNumbers,
  ResignInput,
  RevocationListInput,
  SignedList,
} from "../../pki/crl/crl-api.ts"
import { maxImportedListBytes } from "../../pki/crl/imported-crl.ts"
import { unknownSerialsAnswers } from "../../pki/ocsp/ocsp-history.ts"
import {
  decodeAnswer,
  type Document,
  encodeMembers,
  isDocument,
  unreadable,
  type ValuesOf,
} from "./format/parameters.ts"
import type { Extension } from "../../x509/extension.ts"
import { readPem, writePem } from "../../x509/pem.ts"
import { certificateText, certificateTexts } from "./certificate-parameters.ts"
import { type Answer, conditional, contract, data, dataOf, type Endpoint, file, type Versioned } from "./endpoint.ts"
import { type Body, bodyOf, fields, parameter, record } from "./record.ts"
import { revocationTime, revocationTimeOf } from "./stored-certificate.ts"
import { anything, duration, durationText, enumOf, flag, integer, nullable, text, textUpTo } from "./types.ts"

/** Returns PEM, computed once for each list: PEM of a million entries takes 0.2 s, and the endpoint is public. */
const pemOf = memoizeByIdentity((der: Uint8Array): Uint8Array => Buffer.from(writePem("X509 CRL", der)))
const pemText = (der: Uint8Array): string => Buffer.from(pemOf(der)).toString("latin1")

/** Form of a CRL in an answer. "by dialect" is DER, or PEM in an envelope for Vault clients. */
export type CrlForm = "der" | "pem" | "json" | "by dialect"

const crlType = "application/pkix-crl"
const certificateTable = fields({
  certificate: parameter(certificateText, "List in PEM."),
  ...revocationTime,
})
const listTable = fields({ crl: parameter(certificateText, "List in PEM.") })
const unread = () => undefined

type CrlAnswer = Answer<Versioned<Uint8Array> | undefined, unknown>
const answers: Readonly<Record<CrlForm, CrlAnswer>> = {
  der: conditional(file(crlType)),
  pem: conditional({
    kind: "file",
    encode: (der: Uint8Array) => ({ body: pemOf(der), mediaType: "application/x-pem-file" }),
    mediaTypes: ["application/x-pem-file"],
  }),
  json: conditional(
    dataOf(
      certificateTable,
      (der: Uint8Array) => ({
        data: encodeMembers(certificateTable, { certificate: pemText(der), ...revocationTimeOf(null) }, "native"),
      }),
      unread,
    ),
  ),
  "by dialect": conditional(
    {
      ...dataOf(
        listTable,
        (der: Uint8Array, dialect) =>
          dialect === "vault"
            ? { data: encodeMembers(listTable, { crl: pemText(der) }, dialect) }
            : { body: der, mediaType: crlType },
        unread,
      ),
      mediaTypes: [crlType],
    },
    "by dialect",
  ),
}

interface CrlFile {
  readonly delta: boolean
  readonly form: CrlForm
  readonly endpoint: Endpoint & { readonly answers: CrlAnswer }
}
const fileAt = (path: string, delta: boolean, form: CrlForm): CrlFile => ({
  delta,
  form,
  endpoint: {
    operation: "read",
    path,
    summary: `Returns the ${delta ? "delta " : ""}CRL of ${path.startsWith("/issuer/") ? "an issuer" : "the default issuer"}${
      path.includes(":shard") ? ", one shard of it" : ""
    }. 204: there is none.`,
    rights: "none",
    open: true,
    answers: answers[form],
  },
})

/** Returns the endpoints of complete and delta CRLs, whole and in shards. */
const filesBelow = (path: string): readonly CrlFile[] =>
  [path, `${path}/shard/:shard`].flatMap((complete) =>
    [complete, complete.replace(path, `${path}/delta`)].flatMap((address) => {
      const delta = address !== complete
      const ofIssuer = path.startsWith("/issuer/")
      return [
        fileAt(address, delta, ofIssuer ? "by dialect" : "der"),
        fileAt(`${address}/pem`, delta, "pem"),
        ...(ofIssuer ? [fileAt(`${address}/der`, delta, "der")] : []),
      ]
    }),
  )

/** CRL endpoints by path. There is one cluster, so the unified CRL is the CRL. */
export const crlFiles: Readonly<Record<string, CrlFile>> = Object.fromEntries(
  [
    ...["/crl", "/issuer/:issuer_ref/crl", "/unified-crl", "/issuer/:issuer_ref/unified-crl"].flatMap(filesBelow),
    fileAt("/cert/unified-crl", false, "json"),
    fileAt("/cert/unified-delta-crl", true, "json"),
    fileAt("/cert/crl", false, "json"),
    fileAt("/cert/delta-crl", true, "json"),
  ].map((one) => [one.endpoint.path, one]),
)
export const crlFileEndpoints = contract(
  Object.fromEntries(Object.entries(crlFiles).map(([path, { endpoint }]) => [path, endpoint])),
)

const unified = { crossClusterRevocation: false, unifiedCrl: false, unifiedCrlOnExistingPaths: false }
const { shardCounts: _, ...defaults } = defaultCrlSettings
const oneCluster = "Not supported: servers share a store. Must be false."
export const crlSettings = record(
  {
    expiryMs: parameter(durationText, "Time from thisUpdate to nextUpdate.", { example: "24h" }),
    disable: parameter(flag, "Serve CRLs without entries."),
    ocspDisable: parameter(flag, "Refuse OCSP requests."),
    ocspExpiryMs: parameter(durationText, "Validity of OCSP responses. 0s: none is stated.", { example: "1h" }),
    ocspUnknownSerials: parameter(
      enumOf(...unknownSerialsAnswers),
      "OCSP status of serial numbers without a record: good or unknown.",
      { example: "good" },
    ),
    ocspDelegatedResponder: parameter(flag, "Sign OCSP responses with a delegated key."),
    ocspResponderKeyType: parameter(
      enumOf("", "rsa", "ec", "ed25519"),
      "Type of the delegated key: rsa, ec or ed25519. Empty: that of the issuer.",
      { example: "ec" },
    ),
    ocspResponderTtlMs: parameter(
      durationText,
      "Lifetime of the delegated certificate, which is replaced after half of it.",
      { example: "72h" },
    ),
    autoRebuild: parameter(flag, "Rebuild CRLs by the clock only, and not after each revocation."),
    autoRebuildGracePeriodMs: parameter(durationText, "Time before nextUpdate at which a CRL is rebuilt.", {
      example: "6h",
    }),
    enableDelta: parameter(flag, "Build delta CRLs. Needs auto_rebuild."),
    deltaRebuildIntervalMs: parameter(durationText, "Time between delta CRLs.", { example: "5m" }),
    allowExpiredCertRevocation: parameter(flag, "Revoke certificates that have expired."),
    maxCrlEntries: parameter(integer, "Maximum number of entries in a CRL. -1: any number.", { example: 1_000_000 }),
    shards: parameter(integer, "Number of CRLs that certificates are divided among: a power of two.", { example: 16 }),
    crossClusterRevocation: parameter(flag, oneCluster),
    unifiedCrl: parameter(flag, oneCluster),
    unifiedCrlOnExistingPaths: parameter(flag, oneCluster),
  },
  { defaults: { ...defaults, ...unified } },
)
const settingsView = data<CrlSettingsView>({
  table: crlSettings.table,
  encode: (view, dialect) => crlSettings.encode({ ...view, ...unified }, dialect),
  decode(sent) {
    const {
      crossClusterRevocation: _cross,
      unifiedCrl: _unified,
      unifiedCrlOnExistingPaths: _existing,
      ...view
    } = crlSettings.decode(sent)
    return view
  },
})

const importTable = fields({
  crl: parameter(textUpTo(maxImportedListBytes), "List that the issuer signed elsewhere, in PEM or base64 of DER."),
})
const importBody: Body<string> = {
  table: importTable,
  decode: (request) => request.decode(importTable).crl ?? "",
  encode: (crl) => encodeMembers(importTable, { crl }, "native"),
}
/** Line ends of PEM take two octets in JSON. */
const importBodyLimitBytes = maxImportedListBytes + 256 * 1_024
const importedTable = fields({
  importedCount: parameter(integer, "Number of new revocations."),
  existingCount: parameter(integer, "Number of certificates that were revoked already."),
  crlNumber: parameter(nullable(integer), "Number of the list. Null: it has none."),
})
const imported = dataOf(
  importedTable,
  (made: ImportedCrl) => ({ data: encodeMembers(importedTable, made, "native"), warnings: made.warnings }),
  (envelope): ImportedCrl => ({ ...decodeAnswer(importedTable, envelope.data), warnings: envelope.warnings }),
)

const numberMembers = {
  crlNumber: parameter(integer, "Number of the list. Required.", { example: 7 }),
  deltaCrlBaseNumber: parameter(integer, "Number of the complete list that a delta list adds to. -1: complete list.", {
    default: -1,
    example: 6,
  }),
  nextUpdateMs: parameter(duration, "Time from now to nextUpdate.", { default: "72h", example: "24h" }),
  format: parameter(enumOf("pem", "der"), "Form of the list: pem or der (base64).", { default: "pem", example: "der" }),
}
type ListFormat = { readonly format?: "pem" | "der" | undefined }

function numbersOf({ crlNumber, deltaCrlBaseNumber = -1, nextUpdateMs = 72 * hourMs }: Partial<ListNumbers>) {
  if (crlNumber === undefined) throw invalid([{ field: ["crlNumber"], detail: '"crl_number" is required' }])
  return { crlNumber, deltaCrlBaseNumber, nextUpdateMs }
}

const resignTable = fields({
  crls: parameter(certificateTexts, "Lists of the issuer, in PEM."),
  ...numberMembers,
})
const resign: Body<ResignInput & ListFormat> = {
  table: resignTable,
  decode(request) {
    const { format, crls = [], ...given } = request.decode(resignTable)
    return { ...numbersOf(given), crls, format }
  },
  encode: (input) => encodeMembers(resignTable, input as Partial<ValuesOf<typeof resignTable>>, "native"),
}

const signTable = fields({
  revokedCerts: parameter(
    anything,
    "List of objects: serial_number, revocation_time (RFC 3339), and extensions as below.",
  ),
  extensions: parameter(anything, "List of objects: id (object identifier), critical, and value (base64 of DER)."),
  ...numberMembers,
})
const sign: Body<RevocationListInput & ListFormat> = {
  table: signTable,
  decode(request) {
    const { format, ...given } = request.decode(signTable)
    return { ...revocationListIn(given), format }
  },
  encode: ({ revokedCertificates, extensions, format: _format, ...numbers }) =>
    encodeMembers(
      signTable,
      {
        ...numbers,
        revokedCerts: revokedCertificates.map(({ serialNumber, revokedAt, extensions: own }) => ({
          serial_number: serialNumber,
          revocation_time: new Date(revokedAt).toISOString(),
          extensions: own.map(encodeExtension),
        })),
        extensions: extensions.map(encodeExtension),
      },
      "native",
    ),
}

const encodeExtension = ({ oid, critical, value }: Extension): Document => ({
  id: oid,
  critical,
  value: Buffer.from(value).toString("base64"),
})

/** Reads the list to sign. Throws `invalid` with a fault for each entry that cannot be read. */
function revocationListIn(given: Partial<ValuesOf<typeof signTable>>): RevocationListInput {
  const faults: Fault[] = []
  const revokedCertificates = revokedCertsIn(given.revokedCerts, faults).flatMap((entry, index) => {
    const field = ["revokedCerts", index]
    const { serial_number: serial, revocation_time: time, extensions = [] } = isDocument(entry) ? entry : {}
    const serialNumber = text.schema.safeParse(serial)
    const revokedAt = typeof time === "string" ? parseInstant(time) : undefined
    if (!serialNumber.success) faults.push({ field, detail: "serial_number must be a string" })
    if (revokedAt === undefined) faults.push({ field, detail: "revocation_time must be an RFC 3339 timestamp" })
    const read = extensionsIn(extensions, field, faults)
    return serialNumber.success && revokedAt !== undefined
      ? [{ serialNumber: serialNumber.data, revokedAt, extensions: read }]
      : []
  })
  const extensions = extensionsIn(given.extensions ?? [], ["extensions"], faults)
  if (faults.length > 0) throw invalid(faults)
  return { ...numbersOf(given), revokedCertificates, extensions }
}

function revokedCertsIn(value: unknown, faults: Fault[]): readonly unknown[] {
  const list: unknown = value ?? []
  if (Array.isArray(list)) return list
  faults.push({ field: ["revokedCerts"], detail: '"revoked_certs" must be an array' })
  return []
}

function extensionsIn(value: unknown, field: readonly (string | number)[], faults: Fault[]): readonly Extension[] {
  if (!Array.isArray(value)) {
    faults.push({ field, detail: "extensions must be an array" })
    return []
  }
  return value.flatMap((item: unknown) => {
    const { id, critical = false, value: octets } = isDocument(item) ? item : {}
    if (typeof id === "string" && typeof critical === "boolean" && typeof octets === "string" && isBase64(octets))
      return [{ oid: id, critical, value: Buffer.from(octets, "base64") }]
    faults.push({ field, detail: 'an extension must have "id", "critical" and "value" in base64' })
    return []
  })
}

const isBase64 = (value: string): boolean => /^[A-Za-z0-9+/]+={0,2}$/.test(value)

const signedTable = fields({ crl: parameter(certificateText, "Signed list, in the requested format.") })
const signed = dataOf(
  signedTable,
  ({ der, warnings, format = "pem" }: SignedList & ListFormat) => {
    const crl = format === "pem" ? writePem("X509 CRL", der) : Buffer.from(der).toString("base64")
    return { data: encodeMembers(signedTable, { crl }, "native"), warnings }
  },
  ({ data: sent, warnings }): SignedList => {
    const { crl } = isDocument(sent) ? sent : {}
    if (typeof crl !== "string") throw unreadable('"crl" must be a string')
    const [block] = readPem(crl, Number.MAX_SAFE_INTEGER)
    if (block === undefined) throw unreadable('"crl" is not PEM')
    return { der: block.bytes, warnings }
  },
)

const rotatedTable = fields({ success: parameter(flag, "Always true.") })
const rotated = dataOf(
  rotatedTable,
  () => ({ data: encodeMembers(rotatedTable, { success: true }, "native") }),
  () => undefined,
)

const changing = { operation: "write", rights: "create or update" } as const
const reading = { operation: "read", rights: "read" } as const
export const crls = contract({
  rotate: { ...reading, path: "/crl/rotate", summary: "Rebuilds the CRLs of all issuers.", answers: rotated },
  rotateDelta: {
    ...reading,
    path: "/crl/rotate-delta",
    summary: "Rebuilds the delta CRLs of all issuers.",
    answers: rotated,
  },
  settings: {
    ...reading,
    path: "/config/crl",
    summary: "Returns the settings of CRLs and OCSP.",
    answers: settingsView,
  },
  configure: {
    ...changing,
    path: "/config/crl",
    summary: "Changes the settings of CRLs and OCSP: parameters left out keep their values.",
    body: bodyOf(crlSettings.table),
    answers: settingsView,
  },
  import: {
    ...changing,
    path: "/issuer/:issuer_ref/crl/import",
    summary: "Records the revocations of a list that the issuer signed elsewhere.",
    bodyLimitBytes: importBodyLimitBytes,
    body: importBody,
    answers: imported,
  },
  resign: {
    ...changing,
    path: "/issuer/:issuer_ref/resign-crls",
    summary: "Signs several lists of an issuer as one. The lists of the mount stay as they are.",
    body: resign,
    answers: signed,
  },
  signRevocationList: {
    ...changing,
    path: "/issuer/:issuer_ref/sign-revocation-list",
    summary: "Signs any list. The lists of the mount stay as they are.",
    body: sign,
    answers: signed,
  },
})
