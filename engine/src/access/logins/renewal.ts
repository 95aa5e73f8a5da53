import { unprocessable } from "../../core/errors.ts"
import type { ServiceToken } from "../service-tokens/service-token.ts"
import type { AppRoleRepository } from "../approle/app-role-repository.ts"
import type { AuthMethodRepository, AuthMethodType } from "./auth-method.ts"
import type { KubernetesLoginRepository } from "../kubernetes/kubernetes-login-repository.ts"

export interface RenewalRepositories {
  readonly appRoles: AppRoleRepository
  readonly authMethods: AuthMethodRepository
  readonly kubernetesLogins: KubernetesLoginRepository
}

/**
 * Throws `unprocessable` if the role of a login's token was deleted. The token lives until its expiry; a periodic token would otherwise
 * never end.
 */
export async function rejectWithoutRole(
  { appRoles, authMethods, kubernetesLogins }: RenewalRepositories,
  { authMethodId, meta }: Pick<ServiceToken, "authMethodId" | "meta">,
): Promise<void> {
  const method = authMethodId === null ? undefined : await authMethods.find(authMethodId)
  if (method === undefined) return
  const name = meta[roleMembers[method.type]] ?? ""
  const role =
    method.type === "approle" ? await appRoles.find(method.id, name) : await kubernetesLogins.role(method.id, name)
  if (role === undefined) throw unprocessable(`role "${name}" does not exist; its tokens cannot be renewed`)
}

/** Member of a token's metadata that names its role. */
const roleMembers: Readonly<Record<AuthMethodType, string>> = { approle: "role_name", kubernetes: "role" }
