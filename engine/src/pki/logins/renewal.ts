import { unprocessable } from "../../core/errors.ts"
import type { Stores } from "../../stores.ts"
import type { ServiceToken } from "../access/service-token.ts"

export type RenewalStores = Pick<Stores, "appRoles" | "authMethods">

/** A token of a role that is gone goes on until its end, and no further: a period would have no end otherwise. */
export async function refuseWithoutRole(
  { appRoles, authMethods }: RenewalStores,
  { authMethodId, meta }: Pick<ServiceToken, "authMethodId" | "meta">,
): Promise<void> {
  const method = authMethodId === null ? undefined : await authMethods.find(authMethodId)
  if (method?.type !== "approle") return
  const name = meta["role_name"] ?? ""
  if ((await appRoles.find(method.id, name)) === undefined)
    throw unprocessable(`role "${name}" does not exist any more; its tokens are not renewed`)
}
