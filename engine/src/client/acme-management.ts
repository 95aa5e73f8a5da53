import type { AcmeManagement, ManagedAccounts, ManagedOrders, RenewalSignals } from "../acme/management.ts"
import {
  accountStatusParameters,
  decodeManagedAccount,
  decodeManagedAccountWithOrders,
  decodeManagedOrder,
  decodeRenewalSignal,
  decodeWholeRenewalSignal,
  orderPageParameters,
  renewalSignalParameters,
} from "../wire/pki/acme-management.ts"
import { remoteAccountBindings } from "./account-bindings.ts"
import { pageQuery, type PkiCalls, queryOf, saying } from "./pki-calls.ts"
import { path } from "./transport.ts"

export const remoteAcmeManagement = (calls: PkiCalls): AcmeManagement => ({
  eab: remoteAccountBindings(calls),
  accounts: remoteManagedAccounts(calls),
  orders: remoteManagedOrders(calls),
  renewals: remoteRenewalSignals(calls),
})

const accountPath = (id: string): string => path`/acme/mgmt/account/keyid/${id}`
const orderPath = (id: string): string => path`/acme/mgmt/order/${id}`
const signalPath = (id: string): string => path`/acme/mgmt/renewal/${id}`

const remoteManagedAccounts = (calls: PkiCalls): ManagedAccounts => ({
  async list(page) {
    const { keys, keyInfo } = await calls.list("/acme/mgmt/account/keyid", pageQuery(page))
    return keys.map((id) => decodeManagedAccount(keyInfo[id]))
  },
  get: async (id) => decodeManagedAccountWithOrders((await calls.read(accountPath(id))).data),
  changeStatus: async (id, status) =>
    decodeManagedAccount((await calls.write(accountPath(id), saying(accountStatusParameters, { status }))).data),
  delete: async (id) => void (await calls.delete(accountPath(id))),
})

const remoteManagedOrders = (calls: PkiCalls): ManagedOrders => ({
  async list(page = {}) {
    const { keys, keyInfo } = await calls.list("/acme/mgmt/order", queryOf(saying(orderPageParameters, page)))
    return keys.map((id) => decodeManagedOrder(keyInfo[id]))
  },
  get: async (id) => decodeManagedOrder((await calls.read(orderPath(id))).data),
  delete: async (id) => void (await calls.delete(orderPath(id))),
})

const remoteRenewalSignals = (calls: PkiCalls): RenewalSignals => ({
  raise: async (input) =>
    decodeRenewalSignal((await calls.write("/acme/mgmt/renewal", saying(renewalSignalParameters, input))).data),
  async list() {
    const { keys, keyInfo } = await calls.list("/acme/mgmt/renewal")
    return keys.map((id) => decodeRenewalSignal(keyInfo[id]))
  },
  get: async (id) => decodeWholeRenewalSignal((await calls.read(signalPath(id))).data),
  withdraw: async (id) => void (await calls.delete(signalPath(id))),
})
