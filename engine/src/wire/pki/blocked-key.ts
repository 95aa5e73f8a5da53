import type { BlockedKey, KeyDigest } from "../../pki/keys/blocked-key.ts"
import { blockedKeySources, parseKeyDigest } from "../../pki/keys/blocked-key.ts"
import { type SerialNumber, parseSerialNumber } from "../../x509/serial-number.ts"
import {
  decodeAnswer,
  type Document,
  encodeMembers,
  exactInstant,
  type Kind,
  parameters,
  text,
  word,
} from "./parameters.ts"

export const blockedKeyParameters = parameters({ key: text, spkiSha256: text, comment: text })

const digestKind: Kind<KeyDigest> = {
  decode: (value) => (typeof value === "string" ? parseKeyDigest(value) : undefined),
  encode: (value) => value,
  expected: "a digest",
  type: "string",
}

const optionalSerialNumber: Kind<SerialNumber | null> = {
  decode: (value) => (value === "" ? null : typeof value === "string" ? parseSerialNumber(value) : undefined),
  encode: (value) => value ?? "",
  expected: "a serial number",
  type: "string",
}

/** Ends in a slash, as in every list of mounts. */
const mountPath: Kind<string> = {
  decode: (value) => (typeof value === "string" ? value.replace(/\/$/, "") : undefined),
  encode: (value) => (value === "" ? "" : `${value}/`),
  expected: "the path of a mount",
  type: "string",
}

const answerParameters = parameters({
  spkiSha256: digestKind,
  source: word(...blockedKeySources),
  mount: mountPath,
  serialNumber: optionalSerialNumber,
  comment: text,
  createdAt: exactInstant,
})

export const encodeBlockedKey = (key: BlockedKey): Document => encodeMembers(answerParameters, key, "native")

export const decodeBlockedKey = (document: unknown): BlockedKey => decodeAnswer(answerParameters, document)
