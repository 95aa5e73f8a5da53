// Accounts, orders and renewal signals as administrators see them; accounts and orders in the words of the public service.
import type {
  ManagedAccountView,
  ManagedAccountWithOrders,
  ManagedOrderView,
  RenewalSignalView,
} from "../../acme/management.ts"
import {
  anything,
  decodeAnswer,
  type Document,
  durationText,
  encodeMembers,
  exactInstant,
  flag,
  integer,
  isDocument,
  type Kind,
  nullable,
  parameters,
  text,
  texts,
  unreadable,
  word,
} from "./parameters.ts"

export const accountStatusParameters = parameters({ status: word("valid", "revoked") })
export const orderPageParameters = parameters({ after: text, limit: integer, accountId: text })
export const renewalSignalParameters = parameters(
  { issuerRef: text, serialNumbers: texts, withinMs: durationText, explanationUrl: text },
  { withinMs: "within" },
)

/** An object, which is empty where there is none. */
const binding: Kind<string | null> = {
  decode: (value) => (isDocument(value) ? (typeof value["eab_id"] === "string" ? value["eab_id"] : null) : undefined),
  encode: (value) => (value === null ? {} : { eab_id: value }),
  expected: "an object",
  type: "string",
}

const accountAnswer = parameters(
  {
    id: text,
    status: word("valid", "deactivated", "revoked"),
    statusAt: exactInstant,
    createdAt: exactInstant,
    acmeDirectory: text,
    thumbprint: text,
    contact: texts,
    termsOfServiceAgreed: flag,
    bindingId: binding,
  },
  {
    id: "key_id",
    statusAt: "status_time",
    createdAt: "created_time",
    acmeDirectory: "directory",
    thumbprint: "key_thumbprint",
    contact: "contacts",
    bindingId: "eab",
  },
)

const orderAnswer = parameters(
  {
    id: text,
    accountId: text,
    status: word("pending", "ready", "processing", "valid", "invalid"),
    identifiers: texts,
    createdAt: exactInstant,
    expiresAt: exactInstant,
    profile: nullable(text),
    replaces: nullable(text),
    serialNumber: nullable(text),
    error: nullable(text),
  },
  {
    id: "order_id",
    createdAt: "created_time",
    expiresAt: "order_expiry",
    serialNumber: "cert_serial_number",
  },
)

const ordersAnswer = parameters({ orders: anything })

const signalKinds = {
  id: text,
  issuerId: nullable(text),
  serialNumberCount: integer,
  explanationUrl: nullable(text),
  raisedAt: exactInstant,
  renewBy: exactInstant,
}
const signalAnswer = parameters(signalKinds)
const wholeSignalAnswer = parameters({ ...signalKinds, serialNumbers: texts })

export const encodeManagedAccount = (view: ManagedAccountView): Document => ({
  ...encodeMembers(accountAnswer, view, "native"),
  revoked_time: view.status === "revoked" ? exactInstant.encode(view.statusAt, "native") : "",
})

export const encodeManagedAccountWithOrders = ({ orders, ...view }: ManagedAccountWithOrders): Document => ({
  ...encodeManagedAccount(view),
  orders: orders.map(encodeManagedOrder),
})

export function encodeManagedOrder(view: ManagedOrderView): Document {
  const document = encodeMembers(orderAnswer, view, "native")
  return { ...document, cert_expiry: view.status === "valid" ? document["order_expiry"] : "" }
}

export const encodeRenewalSignal = (view: RenewalSignalView): Document => encodeMembers(signalAnswer, view, "native")
export const encodeWholeRenewalSignal = (
  view: RenewalSignalView & { readonly serialNumbers: readonly string[] },
): Document => encodeMembers(wholeSignalAnswer, view, "native")

export const decodeManagedAccount = (data: unknown): ManagedAccountView => decodeAnswer(accountAnswer, data)
export const decodeManagedOrder = (data: unknown): ManagedOrderView => decodeAnswer(orderAnswer, data)

export function decodeManagedAccountWithOrders(data: unknown): ManagedAccountWithOrders {
  const { orders } = decodeAnswer(ordersAnswer, data)
  if (!Array.isArray(orders)) throw unreadable(`"orders" is no list`)
  return { ...decodeManagedAccount(data), orders: orders.map(decodeManagedOrder) }
}

export const decodeRenewalSignal = (data: unknown): RenewalSignalView => decodeAnswer(signalAnswer, data)
export const decodeWholeRenewalSignal = (data: unknown) => decodeAnswer(wholeSignalAnswer, data)
