// ACME accounts, orders and renewal signals for administrators. Accounts and orders have Vault's names (docs/acme.md).
import { z } from "zod"
import {
  type ManagedAccountView,
  type ManagedAccountWithOrders,
  type ManagedOrderView,
  type ManagedStatus,
  maxRecords,
  type RenewalSignalView,
} from "../../acme/accounts/management.ts"
import { invalid } from "../../core/errors.ts"
import { decodeAnswer, type Document, encodeMembers, isDocument, unreadable } from "./format/parameters.ts"
import { type Answer, contract, data, dataOf, entries, keyPage, nothing } from "./endpoint.ts"
import { type Body, bodyOf, fields, parameter, type Table } from "./record.ts"
import {
  anything,
  durationText,
  enumOf,
  exactInstant,
  flag,
  integer,
  mistyped,
  nullable,
  type ParameterType,
  text,
  texts,
} from "./types.ts"

/** Id of a binding, as `eab_id` in an object. The object is empty if the id is null. */
const binding: ParameterType<string | null> = {
  schema: z.codec(z.unknown(), z.custom<string | null>(), {
    decode(value, context) {
      if (!isDocument(value)) return mistyped(context, value)
      return typeof value["eab_id"] === "string" ? value["eab_id"] : null
    },
    encode: (value) => (value === null ? {} : { eab_id: value }),
  }),
  expected: "an object",
  type: "map",
}

const accountMembers = {
  id: parameter(text, "Id of the account.", { wireName: "key_id" }),
  status: parameter(enumOf("valid", "deactivated", "revoked"), "State of the account."),
  statusAt: parameter(exactInstant, "Time of the last change of status.", { wireName: "status_time" }),
  createdAt: parameter(exactInstant, "Time of creation.", { wireName: "created_time" }),
  acmeDirectory: parameter(text, "Directory of the account, below the mount.", { wireName: "directory" }),
  thumbprint: parameter(text, "Thumbprint of its key (RFC 7638).", { wireName: "key_thumbprint" }),
  contact: parameter(texts, "URLs of contact.", { wireName: "contacts" }),
  termsOfServiceAgreed: parameter(flag, "The terms of service were agreed to."),
  bindingId: parameter(binding, "Its external account binding, as eab_id. Empty: none.", { wireName: "eab" }),
}
const revokedTime = parameter(text, "Time of the revocation. Empty: not revoked.")
const ordersMember = { orders: parameter(anything, "Its newest orders, at most 100.") }
const accountTable = fields(accountMembers)
const wholeAccountTable = fields({ ...accountMembers, revokedTime })
const accountWithOrdersTable = fields({ ...accountMembers, revokedTime, ...ordersMember })

const orderMembers = {
  id: parameter(text, "Id of the order.", { wireName: "order_id" }),
  accountId: parameter(text, "Id of the account."),
  status: parameter(enumOf("pending", "ready", "processing", "valid", "invalid"), "State of the order."),
  identifiers: parameter(texts, "Names and addresses."),
  createdAt: parameter(exactInstant, "Time of creation.", { wireName: "created_time" }),
  expiresAt: parameter(exactInstant, "End of the order, or of its certificate.", { wireName: "order_expiry" }),
  profile: parameter(nullable(text), "Profile of the order."),
  replaces: parameter(nullable(text), "Certificate that it replaces (RFC 9773)."),
  serialNumber: parameter(nullable(text), "Serial number of its certificate.", { wireName: "cert_serial_number" }),
  error: parameter(nullable(text), "Error that ended the order."),
}
const orderTable = fields(orderMembers)
const wholeOrderTable = fields({
  ...orderMembers,
  certExpiry: parameter(text, "End of its certificate. Empty: it has none."),
})

const order = {
  table: wholeOrderTable,
  encode(view: ManagedOrderView): Document {
    const document = encodeMembers(orderTable, view, "native")
    const certExpiry = view.status === "valid" ? String(document["order_expiry"]) : ""
    return { ...document, ...encodeMembers(wholeOrderTable, { certExpiry }, "native") }
  },
  decode: (sent: unknown): ManagedOrderView => decodeAnswer(orderTable, sent),
}
const account = {
  table: wholeAccountTable,
  encode(view: ManagedAccountView): Document {
    const document = encodeMembers(accountTable, view, "native")
    const revoked = view.status === "revoked" ? String(document["status_time"]) : ""
    return { ...document, ...encodeMembers(wholeAccountTable, { revokedTime: revoked }, "native") }
  },
  decode: (sent: unknown): ManagedAccountView => decodeAnswer(accountTable, sent),
}
const accountWithOrders = dataOf(
  accountWithOrdersTable,
  ({ orders, ...view }: ManagedAccountWithOrders) => ({
    data: { ...account.encode(view), orders: orders.map((one) => order.encode(one)) },
  }),
  ({ data: sent }): ManagedAccountWithOrders => {
    const { orders } = decodeAnswer(fields(ordersMember), sent)
    if (!Array.isArray(orders)) throw unreadable(`"orders" must be an array`)
    return { ...account.decode(sent), orders: orders.map((one) => order.decode(one)) }
  },
)

const signalMembers = {
  id: parameter(text, "Id of the signal."),
  issuerId: parameter(nullable(text), "Issuer whose certificates are to be renewed."),
  serialNumberCount: parameter(integer, "Number of certificates that are named."),
  explanationUrl: parameter(nullable(text), "URL of an explanation for clients."),
  raisedAt: parameter(exactInstant, "Time of the signal."),
  renewBy: parameter(exactInstant, "Time by which clients renew."),
}
const signalTable = fields(signalMembers)
const wholeSignalTable = fields({ ...signalMembers, serialNumbers: parameter(texts, "Certificates that are named.") })
const signal = {
  table: signalTable,
  encode: (view: RenewalSignalView): Document => encodeMembers(signalTable, view, "native"),
  decode: (sent: unknown): RenewalSignalView => decodeAnswer(signalTable, sent),
}
type WholeSignal = RenewalSignalView & { readonly serialNumbers: readonly string[] }
const wholeSignal = {
  table: wholeSignalTable,
  encode: (view: WholeSignal): Document => encodeMembers(wholeSignalTable, view, "native"),
  decode: (sent: unknown): WholeSignal => decodeAnswer(wholeSignalTable, sent),
}

interface Codec<View> {
  readonly table: Table
  readonly encode: (view: View) => Document
  readonly decode: (sent: unknown) => View
}
const entriesById = <View extends { readonly id: string }>(
  { table, encode, decode }: Codec<View>,
  maximum?: number,
): Answer<readonly View[]> =>
  entries<View>({
    key: ({ id }) => id,
    table,
    encode,
    decode: (_id, info) => decode(info),
    ...(maximum !== undefined && { maximum }),
  })

const statusTable = fields({
  status: parameter(enumOf("valid", "revoked"), "New state: revoked, or valid again. Required.", {
    example: "revoked",
  }),
})
const status: Body<ManagedStatus> = {
  table: statusTable,
  decode(request) {
    const { status: given } = request.decode(statusTable)
    if (given === undefined) throw invalid([{ field: ["status"], detail: '"status" must be "valid" or "revoked"' }])
    return given
  },
  encode: (given) => encodeMembers(statusTable, { status: given }, "native"),
}
const orderPage = fields({
  after: parameter(text, "Id to begin behind."),
  limit: parameter(integer, "Longest list, at most 1000.", { example: 100 }),
  accountId: parameter(text, "Orders of this account only."),
})
export const renewalSignalParameters = fields({
  issuerRef: parameter(text, "Issuer whose certificates until now are to be renewed: id, name or default.", {
    example: "issuing-2030",
  }),
  serialNumbers: parameter(texts, "In place of issuer_ref: certificates, at most 10000.", { example: ["1f:2e:3d"] }),
  withinMs: parameter(durationText, "Time over which clients spread their renewals. 0s: at once.", {
    wireName: "within",
    default: "0s",
    example: "24h",
  }),
  explanationUrl: parameter(text, "URL of an explanation for clients (RFC 9773, section 4.2).", {
    example: "https://status.example.com/renewal",
  }),
})

const listing = { operation: "list", rights: "list" } as const
const reading = { operation: "read", rights: "read" } as const
const deleting = { operation: "delete", rights: "delete", answers: nothing } as const
const changing = { operation: "write", rights: "create or update" } as const

export const acmeAccounts = contract({
  list: {
    ...listing,
    path: "/acme/mgmt/account/keyid",
    summary: "Lists ACME accounts, at most 1000 at once.",
    body: keyPage,
    answers: entriesById(account, maxRecords),
  },
  get: {
    ...reading,
    path: "/acme/mgmt/account/keyid/:key_id",
    summary: "Returns an ACME account with its newest orders.",
    answers: accountWithOrders,
  },
  changeStatus: {
    ...changing,
    path: "/acme/mgmt/account/keyid/:key_id",
    summary: "Revokes an ACME account with all that it has proved, or makes it valid again.",
    body: status,
    answers: data(account),
  },
  delete: {
    ...deleting,
    path: "/acme/mgmt/account/keyid/:key_id",
    summary: "Deletes an ACME account with its orders. Certificates stay.",
  },
})
export const acmeOrders = contract({
  list: {
    ...listing,
    path: "/acme/mgmt/order",
    summary: "Lists ACME orders, at most 1000 at once.",
    body: bodyOf(orderPage),
    answers: entriesById(order, maxRecords),
  },
  get: { ...reading, path: "/acme/mgmt/order/:order_id", summary: "Returns an ACME order.", answers: data(order) },
  delete: { ...deleting, path: "/acme/mgmt/order/:order_id", summary: "Deletes an ACME order. Its certificate stays." },
})
export const renewalSignals = contract({
  raise: {
    ...changing,
    path: "/acme/mgmt/renewal",
    summary: "Makes ACME clients renew certificates early (RFC 9773).",
    body: bodyOf(renewalSignalParameters),
    answers: data(signal),
  },
  list: {
    ...listing,
    path: "/acme/mgmt/renewal",
    summary: "Lists renewal signals, the oldest first.",
    answers: entriesById(signal),
  },
  get: {
    ...reading,
    path: "/acme/mgmt/renewal/:renewal_id",
    summary: "Returns a renewal signal with its certificates.",
    answers: data(wholeSignal),
  },
  withdraw: {
    ...deleting,
    path: "/acme/mgmt/renewal/:renewal_id",
    summary: "Withdraws a renewal signal.",
  },
})
