// Keys that the server never certifies.
import { z } from "zod"
import { type BlockedKey, blockedKeySources, type KeyDigest, parseKeyDigest } from "../../pki/keys/blocked-key.ts"
import { maxListedKeys } from "../../pki/mounts/key-page.ts"
import { parseSerialNumber, type SerialNumber } from "../../x509/serial-number.ts"
import { contract, data, keyPage, keysUpTo, nothing } from "./endpoint.ts"
import { bodyOf, fields, parameter, record } from "./record.ts"
import { enumOf, exactInstant, mapped, mistyped, type ParameterType, text } from "./types.ts"

const digest: ParameterType<KeyDigest> = {
  schema: z.codec(z.string(), z.custom<KeyDigest>(), {
    decode: (value, context) => parseKeyDigest(value) ?? mistyped(context, value),
    encode: (value) => value,
  }),
  expected: "a SHA-256 digest in hexadecimal",
  type: "string",
}
const serialNumberOrNone: ParameterType<SerialNumber | null> = {
  schema: z.codec(z.string(), z.custom<SerialNumber | null>(), {
    decode: (value, context) => (value === "" ? null : (parseSerialNumber(value) ?? mistyped(context, value))),
    encode: (value) => value ?? "",
  }),
  expected: "a serial number",
  type: "string",
}
/** Path of a mount with a trailing slash, as in all lists of mounts. */
const mountPath = mapped(
  text,
  (value) => value.replace(/\/$/, ""),
  (value) => (value === "" ? "" : `${value}/`),
)

const comment = parameter(text, "Comment.", { example: "Leaked in a build log" })
const input = fields({
  key: parameter(text, "Public key, certificate or CSR, as PEM.", { example: "-----BEGIN PUBLIC KEY-----…" }),
  spkiSha256: parameter(text, "SHA-256 of the public key (SubjectPublicKeyInfo), in hexadecimal, instead of key.", {
    example: "3f2a9c0d5b7e41f8…",
  }),
  comment,
})
const blockedKey = record<BlockedKey>({
  spkiSha256: parameter(digest, "SHA-256 of the public key.", { example: "3f2a9c0d5b7e41f8…" }),
  source: parameter(
    enumOf(...blockedKeySources),
    "revocation: its certificate was revoked with reason keyCompromise.",
    {
      example: "entry",
    },
  ),
  mount: parameter(mountPath, "Mount that revoked the certificate; empty for an entry.", { example: "pki/" }),
  serialNumber: parameter(serialNumberOrNone, "Serial number of that certificate; empty for an entry.", {
    example: "17:9a:3c",
  }),
  comment,
  createdAt: parameter(exactInstant, "Time since when the key is blocked.", { example: "2030-01-31T12:00:00.000Z" }),
})

export const blockedKeys = contract({
  list: {
    operation: "list",
    path: "/sys/blocked-keys",
    summary: "Lists the digests of blocked keys.",
    rights: "list",
    body: keyPage,
    answers: keysUpTo(maxListedKeys, (key) => key as KeyDigest),
  },
  add: {
    operation: "write",
    path: "/sys/blocked-keys",
    summary: "Blocks a key. Of a key that is blocked already, the comment is replaced.",
    rights: "create or update",
    body: bodyOf(input),
    answers: data(blockedKey),
  },
  get: {
    operation: "read",
    path: "/sys/blocked-keys/:digest",
    summary: "Returns a blocked key.",
    rights: "read",
    answers: data(blockedKey),
  },
  addByDigest: {
    operation: "write",
    path: "/sys/blocked-keys/:digest",
    summary: "Blocks the key of a digest.",
    rights: "create or update",
    body: bodyOf(input),
    answers: data(blockedKey),
  },
  delete: {
    operation: "delete",
    path: "/sys/blocked-keys/:digest",
    summary: "Unblocks a key. A key that is not blocked is no fault.",
    rights: "delete",
    answers: nothing,
  },
})
