// Keys of issuers.
import type { KeyId } from "../../core/ids.ts"
import type { GeneratedKey, KeySummary, KeyView, SavedKey } from "../../pki/keys/keys.ts"
import { readPrivateKeyPem } from "../../x509/private-key.ts"
import type { DecodedEnvelope } from "./envelope.ts"
import type { WireNames } from "./errors.ts"
import {
  decodeAnswer,
  decodeSomeAnswer,
  type Document,
  flag,
  importMaximumBytes,
  integer,
  type Kind,
  parameters,
  text,
  textUpTo,
  unsupported,
  word,
} from "./parameters.ts"
import { readable } from "./readable.ts"

/** Where the key comes from stands in the path. */
export const keyWireNames: WireNames = { keySource: "type" }

/** A key of an HSM or a KMS (Vault Enterprise). */
const managedKey = unsupported(text, ": keys outside of this server are not supported")
export const managedKeyKinds = { managedKeyName: managedKey, managedKeyId: managedKey }

export const newKeyParameters = parameters({ keyName: text, keyType: text, keyBits: integer, ...managedKeyKinds })
export const keyImportParameters = parameters({ pemBundle: textUpTo(importMaximumBytes), keyName: text })
export const keyRenameParameters = parameters({ keyName: text })

/** Empty where there is none. */
export const nameOrNone: Kind<string | null> = {
  decode: (value) => (value === "" ? null : text.decode(value)),
  encode: (value) => value ?? "",
  expected: text.expected,
  type: "string",
}

const hex: Kind<Uint8Array> = {
  decode: (value) =>
    typeof value === "string" && /^[0-9a-f]{2}(:[0-9a-f]{2})*$/.test(value)
      ? new Uint8Array(Buffer.from(value.replaceAll(":", ""), "hex"))
      : undefined,
  encode: (value) => Array.from(value, (octet) => octet.toString(16).padStart(2, "0")).join(":"),
  expected: "octets in hexadecimal",
  type: "string",
}

const viewParameters = parameters(
  { id: text, name: nameOrNone, type: word("rsa", "ec", "ed25519"), subjectKeyIdentifier: hex },
  { id: "key_id", name: "key_name", type: "key_type", subjectKeyIdentifier: "subject_key_id" },
)

export const encodeKey = (key: KeyView): Document =>
  Object.fromEntries(
    viewParameters.members.map(({ name, wireName, kind }) => [wireName, kind.encode(key[name], "native")]),
  )

export const encodeGeneratedKey = ({ privateKey, ...key }: GeneratedKey): Document => ({
  ...encodeKey(key),
  ...(privateKey === undefined ? {} : { private_key: privateKey.pem("traditional") }),
})

export const decodeKey = (data: unknown): KeyView => {
  const { id, ...key } = decodeAnswer(viewParameters, data)
  return { id: id as KeyId, ...key }
}

export const decodeSavedKey = ({ data, warnings }: DecodedEnvelope): SavedKey => ({ ...decodeKey(data), warnings })

export function decodeGeneratedKey(envelope: DecodedEnvelope): GeneratedKey {
  const { privateKey: pem } = decodeSomeAnswer(parameters({ privateKey: text }), envelope.data)
  const privateKey = pem === undefined ? undefined : readable(() => readPrivateKeyPem(pem, pem.length))
  return { ...decodeSavedKey(envelope), privateKey }
}

const summaryParameters = parameters({ keyName: nameOrNone, isDefault: flag })

/** By id: what stands beside the ids of the list. */
export const encodeKeySummaries = (keys: readonly KeySummary[]): Document =>
  Object.fromEntries(keys.map(({ id, name, isDefault }) => [id, { key_name: name ?? "", is_default: isDefault }]))

export const decodeKeySummaries = (ids: readonly string[], info: Document): readonly KeySummary[] =>
  ids.map((id) => {
    const { keyName: name, isDefault } = decodeAnswer(summaryParameters, info[id])
    return { id: id as KeyId, name, isDefault }
  })
