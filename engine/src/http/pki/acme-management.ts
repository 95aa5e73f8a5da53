// ACME accounts and orders for administrators. The paths of accounts are Vault's (docs/acme.md).
import type { AcmeManagement } from "../../acme/management.ts"
import { recordsMaximum } from "../../acme/management.ts"
import { invalid } from "../../core/errors.ts"
import {
  accountStatusParameters,
  encodeManagedAccount,
  encodeManagedAccountWithOrders,
  encodeManagedOrder,
  encodeRenewalSignal,
  encodeWholeRenewalSignal,
  orderPageParameters,
  renewalSignalParameters,
} from "../../wire/pki/acme-management.ts"
import { keyPageParameters } from "../../wire/pki/key-page.ts"
import type { Document } from "../../wire/pki/parameters.ts"
import { answer, listed, listedUpTo, nothing, param, type PkiRequest, type PkiRoute } from "../pki-route.ts"

export const acmeManagementRoutes: readonly PkiRoute[] = [
  {
    operation: "list",
    path: "/acme/mgmt/account/keyid",
    parameters: [keyPageParameters],
    handle: async (request) =>
      listedUpTo(
        recordsMaximum,
        ...keyed(await managed(request).accounts.list(request.decode(keyPageParameters)), encodeManagedAccount),
      ),
  },
  {
    operation: "read",
    path: "/acme/mgmt/account/keyid/:key_id",
    handle: async (request) =>
      answer(encodeManagedAccountWithOrders(await managed(request).accounts.get(param(request, "key_id")))),
  },
  {
    operation: "write",
    path: "/acme/mgmt/account/keyid/:key_id",
    parameters: [accountStatusParameters],
    handle: async (request) => {
      const { status } = request.decode(accountStatusParameters)
      if (status === undefined) throw invalid([{ field: ["status"], detail: '"status" must be "valid" or "revoked"' }])
      return answer(
        encodeManagedAccount(await managed(request).accounts.changeStatus(param(request, "key_id"), status)),
      )
    },
  },
  {
    operation: "delete",
    path: "/acme/mgmt/account/keyid/:key_id",
    handle: async (request) => {
      await managed(request).accounts.delete(param(request, "key_id"))
      return nothing()
    },
  },
  {
    operation: "list",
    path: "/acme/mgmt/order",
    parameters: [orderPageParameters],
    handle: async (request) =>
      listedUpTo(
        recordsMaximum,
        ...keyed(await managed(request).orders.list(request.decode(orderPageParameters)), encodeManagedOrder),
      ),
  },
  {
    operation: "read",
    path: "/acme/mgmt/order/:order_id",
    handle: async (request) =>
      answer(encodeManagedOrder(await managed(request).orders.get(param(request, "order_id")))),
  },
  {
    operation: "delete",
    path: "/acme/mgmt/order/:order_id",
    handle: async (request) => {
      await managed(request).orders.delete(param(request, "order_id"))
      return nothing()
    },
  },
  {
    operation: "write",
    path: "/acme/mgmt/renewal",
    parameters: [renewalSignalParameters],
    handle: async (request) =>
      answer(encodeRenewalSignal(await managed(request).renewals.raise(request.decode(renewalSignalParameters)))),
  },
  {
    operation: "list",
    path: "/acme/mgmt/renewal",
    handle: async (request) => listed(...keyed(await managed(request).renewals.list(), encodeRenewalSignal)),
  },
  {
    operation: "read",
    path: "/acme/mgmt/renewal/:renewal_id",
    handle: async (request) =>
      answer(encodeWholeRenewalSignal(await managed(request).renewals.get(param(request, "renewal_id")))),
  },
  {
    operation: "delete",
    path: "/acme/mgmt/renewal/:renewal_id",
    handle: async (request) => {
      await managed(request).renewals.withdraw(param(request, "renewal_id"))
      return nothing()
    },
  },
]

const managed = ({ engine, mount }: PkiRequest): AcmeManagement => engine.acme(mount.path)

const keyed = <T extends { readonly id: string }>(
  views: readonly T[],
  encode: (view: T) => Document,
): readonly [string[], Document] => [
  views.map(({ id }) => id),
  Object.fromEntries(views.map((view) => [view.id, encode(view)])),
]
