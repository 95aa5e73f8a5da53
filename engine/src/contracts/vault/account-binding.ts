// External account bindings (RFC 8555, section 7.3.4).
import type { AccountBindingView, NewAccountBinding } from "../../acme/accounts/account-bindings.ts"
import { decodeAnswer, encodeMembers } from "./format/parameters.ts"
import { z } from "zod"
import { contract, dataOf, entries, nothing } from "./endpoint.ts"
import { bodyOf, fields, parameter } from "./record.ts"
import { durationText, exactInstant, type ParameterType, text } from "./types.ts"

const infoMembers = {
  createdAt: parameter(exactInstant, "Time of creation.", { wireName: "created_on" }),
  keyType: parameter(text, "Always hs: HMAC."),
  acmeDirectory: parameter(text, "Directory of the account, below the mount."),
}
const key: ParameterType<Uint8Array> = {
  schema: z.codec(z.string(), z.custom<Uint8Array>(), {
    decode: (value) => new Uint8Array(Buffer.from(value, "base64url")),
    encode: (value) => Buffer.from(value).toString("base64url"),
  }),
  expected: "a string",
  type: "string",
}
const infoTable = fields(infoMembers)
const newTable = fields({
  id: parameter(text, "Key identifier."),
  key: parameter(key, "Key in base64url. It is not returned again."),
  ...infoMembers,
})

const keyType = "hs"
const made = dataOf(
  newTable,
  (binding: NewAccountBinding) => ({ data: encodeMembers(newTable, { ...binding, keyType }, "native") }),
  ({ data }): NewAccountBinding => {
    const { keyType: _, ...binding } = decodeAnswer(newTable, data)
    return binding
  },
)
const unusedBindings = entries<AccountBindingView>({
  key: ({ id }) => id,
  table: infoTable,
  encode: ({ createdAt, acmeDirectory }) => encodeMembers(infoTable, { createdAt, keyType, acmeDirectory }, "native"),
  decode(id, info) {
    const { keyType: _, ...binding } = decodeAnswer(infoTable, info)
    return { id, ...binding }
  },
})

const optionTable = fields({
  ttlMs: parameter(durationText, "Time in which the binding must be used, at most 366 days. 0s: without end.", {
    default: "0s",
    example: "24h",
  }),
})
const create = {
  operation: "write",
  summary: "Makes an external account binding, with which one ACME account of the directory can be made.",
  rights: "create or update",
  body: bodyOf(optionTable),
  answers: made,
} as const

export const accountBindings = contract({
  list: {
    operation: "list",
    path: "/eab",
    summary: "Lists bindings that are not used yet.",
    rights: "list",
    answers: unusedBindings,
  },
  delete: {
    operation: "delete",
    path: "/eab/:key_id",
    summary: "Deletes a binding that is not used yet.",
    rights: "delete",
    answers: nothing,
  },
})
/** One endpoint for each kind of directory. */
export const newAccountBindings = contract({
  byMount: { ...create, path: "/acme/new-eab" },
  byRole: { ...create, path: "/roles/:role/acme/new-eab" },
  byPolicyService: { ...create, path: "/external-policy/acme/new-eab" },
  byPolicy: { ...create, path: "/external-policy/:policy/acme/new-eab" },
  byIssuer: { ...create, path: "/issuer/:issuer_ref/acme/new-eab" },
  byIssuerAndRole: { ...create, path: "/issuer/:issuer_ref/roles/:role/acme/new-eab" },
  byIssuerAndPolicyService: { ...create, path: "/issuer/:issuer_ref/external-policy/acme/new-eab" },
  byIssuerAndPolicy: { ...create, path: "/issuer/:issuer_ref/external-policy/:policy/acme/new-eab" },
})
