import type { AcmeManagement } from "../acme/accounts/management.ts"
import { acmeAccounts, acmeOrders, renewalSignals } from "../contracts/vault/acme-management.ts"
import { accountBindings, newAccountBindings } from "../contracts/vault/account-binding.ts"
import { directoryPath } from "../acme/directory.ts"
import { namesOf, type PkiCalls } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"

export const remoteAcmeManagement = (calls: PkiCalls): AcmeManagement => {
  const orders = remote(acmeOrders, calls)
  return {
    eab: {
      ...remote(accountBindings, calls),
      async create(directory, options = {}) {
        const { body, answers } = newAccountBindings.byMount
        const request = { document: body.encode(options), names: namesOf(body.table) }
        return answers.decode(await calls.write(`/${directoryPath(directory)}/new-eab`, request))
      },
    },
    accounts: remote(acmeAccounts, calls),
    orders: { ...orders, list: (page = {}) => orders.list(page) },
    renewals: remote(renewalSignals, calls),
  }
}
