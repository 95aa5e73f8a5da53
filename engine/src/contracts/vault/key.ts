// Keys of issuers.
import { z } from "zod"
import { invalid } from "../../core/errors.ts"
import type { KeyId } from "../../core/ids.ts"
import type { GeneratedKey, KeySummary, KeyView, SavedKey } from "../../pki/keys/key.ts"
import type { DecodedEnvelope } from "./format/envelope.ts"
import { decodeAnswer, type Document, encodeMembers } from "./format/parameters.ts"
import { readable } from "./format/readable.ts"
import { readPrivateKeyPem } from "../../x509/private-key.ts"
import { certificateText, exportedKey, newKey } from "./certificate-parameters.ts"
import { contract, data, dataOf, entries, keyPage, warnings } from "./endpoint.ts"
import { keySourceNames } from "./issuer.ts"
import { type Body, bodyOf, fields, parameter } from "./record.ts"
import { enumOf, flag, mistyped, type ParameterType, text, textOrNull } from "./types.ts"

const hex: ParameterType<Uint8Array> = {
  schema: z.codec(z.string(), z.custom<Uint8Array>(), {
    decode: (value, context) =>
      /^[0-9a-f]{2}(:[0-9a-f]{2})*$/.test(value)
        ? new Uint8Array(Buffer.from(value.replaceAll(":", ""), "hex"))
        : mistyped(context, value),
    encode: (value) => Array.from(value, (octet) => octet.toString(16).padStart(2, "0")).join(":"),
  }),
  expected: "bytes in hexadecimal",
  type: "string",
}

const keyName = parameter(textOrNull, "Name of the key. Empty: none.")
const viewMembers = {
  id: parameter(text, "Id of the key.", { wireName: "key_id" }),
  name: { ...keyName, wireName: "key_name" },
  type: parameter(enumOf("rsa", "ec", "ed25519"), "Type of the key.", { wireName: "key_type" }),
  subjectKeyIdentifier: parameter(hex, "Key identifier in certificates for the key.", { wireName: "subject_key_id" }),
}
const viewTable = fields(viewMembers)
const { privateKey } = exportedKey
const generatedTable = fields({ ...viewMembers, privateKey })

const view = {
  table: viewTable,
  encode: (key: KeyView): Document => encodeMembers(viewTable, key, "native"),
  decode(sent: unknown): KeyView {
    const { id, ...key } = decodeAnswer(viewTable, sent)
    return { id: id as KeyId, ...key }
  },
}
const saved = dataOf(
  viewTable,
  (key: SavedKey) => ({ data: view.encode(key), warnings: key.warnings }),
  (envelope: DecodedEnvelope): SavedKey => ({ ...view.decode(envelope.data), warnings: envelope.warnings }),
)
const generated = dataOf(
  generatedTable,
  ({ privateKey: exported, ...key }: GeneratedKey) => {
    const pem = exported && { privateKey: exported.pem("traditional") }
    return { data: encodeMembers(generatedTable, { ...key, ...pem }, "native"), warnings: key.warnings }
  },
  (envelope): GeneratedKey => {
    const { privateKey: pem }: { readonly privateKey?: string } = decodeAnswer(generatedTable, envelope.data)
    const exported = pem === undefined ? undefined : readable(() => readPrivateKeyPem(pem, pem.length))
    return { ...view.decode(envelope.data), warnings: envelope.warnings, privateKey: exported }
  },
)

const summaryTable = fields({ keyName, isDefault: parameter(flag, "The key of the default issuer.") })
const summaries = entries<KeySummary>({
  key: ({ id }) => id,
  table: summaryTable,
  encode: ({ name, isDefault }) => encodeMembers(summaryTable, { keyName: name, isDefault }, "native"),
  decode(id, info) {
    const { keyName: name, isDefault } = decodeAnswer(summaryTable, info)
    return { id: id as KeyId, name, isDefault }
  },
})

export const newKeyParameters = fields(newKey)
export const keyImportParameters = fields({
  pemBundle: parameter(certificateText, "One private key in PEM."),
  keyName: newKey.keyName,
})
export const keyRenameParameters = fields({ keyName: { ...keyName, example: "root-2030" } })
const rename: Body<string | null> = {
  table: keyRenameParameters,
  decode(request) {
    const { keyName: name } = request.decode(keyRenameParameters)
    if (name === undefined) throw invalid([{ field: ["keyName"], detail: '"key_name" is required' }])
    return name
  },
  encode: (name) => encodeMembers(keyRenameParameters, { keyName: name }, "native"),
}

export const keys = contract({
  list: {
    operation: "list",
    path: "/keys",
    summary: "Lists ids of keys, with their names.",
    rights: "list",
    body: keyPage,
    answers: summaries,
  },
  generate: {
    operation: "write",
    path: "/keys/generate/:type",
    summary: "Generates a key. type: internal, or exported (returns the key).",
    rights: "create or update",
    wireNames: keySourceNames,
    body: bodyOf(newKeyParameters),
    answers: generated,
  },
  import: {
    operation: "write",
    path: "/keys/import",
    summary: "Imports a private key. A key that the mount has stays as it is.",
    rights: "create or update",
    body: bodyOf(keyImportParameters),
    answers: saved,
  },
  get: {
    operation: "read",
    path: "/key/:key_ref",
    summary: "Returns a key without its private part. key_ref: id, name, or default.",
    rights: "read",
    answers: data(view),
  },
  rename: {
    operation: "write",
    path: "/key/:key_ref",
    summary: "Renames a key.",
    rights: "create or update",
    body: rename,
    answers: saved,
  },
  delete: {
    operation: "delete",
    path: "/key/:key_ref",
    summary: "Deletes a key that no issuer has. A key that does not exist is deleted already.",
    rights: "delete",
    answers: warnings,
  },
})
