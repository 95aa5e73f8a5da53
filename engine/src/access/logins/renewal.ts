import { defaultPolicyName } from "../../core/access.ts"
import { unprocessable } from "../../core/errors.ts"
import type { ServiceToken } from "../service-tokens/service-token.ts"
import type { AppRoleRepository } from "../approle/app-role-repository.ts"
import type { AuthMethodId, AuthMethodRepository, AuthMethodType } from "./auth-method.ts"
import type { CertificateLoginRepository } from "../certificates/certificate-login-repository.ts"
import type { KubernetesLoginRepository } from "../kubernetes/kubernetes-login-repository.ts"
import type { UserpassRepository } from "../userpass/userpass-repository.ts"

export interface RenewalRepositories {
  readonly appRoles: AppRoleRepository
  readonly authMethods: AuthMethodRepository
  readonly certificateLogins: CertificateLoginRepository
  readonly kubernetesLogins: KubernetesLoginRepository
  readonly userpassUsers: UserpassRepository
}

/**
 * Throws `unprocessable` if the role or the user of a login's token was deleted. The token lives until its expiry; a periodic token would
 * otherwise never end.
 */
export async function rejectWithoutRole(
  repositories: RenewalRepositories,
  { authMethodId, meta, policies }: Pick<ServiceToken, "authMethodId" | "meta" | "policies">,
): Promise<void> {
  const method = authMethodId === null ? undefined : await repositories.authMethods.find(authMethodId)
  if (method === undefined) return
  const { noun, member, find } = owners[method.type]
  const name = meta[member] ?? ""
  const owner = await find(repositories, method.id, name)
  if (owner === undefined) throw unprocessable(`${noun} "${name}" does not exist; its tokens cannot be renewed`)
  const allowed = owner.renewedPolicies
  // As in Vault, the user must log in again. Otherwise a periodic token would always keep a policy that its user has lost.
  if (allowed && policies.some((policy) => policy !== defaultPolicyName && !allowed.includes(policy)))
    throw unprocessable("policies have changed, not renewing")
}

interface TokenOwner {
  readonly noun: string
  /** Member of a token's metadata that names its owner. */
  readonly member: string
  readonly find: (
    repositories: RenewalRepositories,
    methodId: AuthMethodId,
    name: string,
  ) => Promise<{ readonly renewedPolicies?: readonly string[] } | undefined>
}

const owners: Readonly<Record<AuthMethodType, TokenOwner>> = {
  approle: {
    noun: "role",
    member: "role_name",
    find: async ({ appRoles }, id, name) => (await appRoles.find(id, name)) && {},
  },
  cert: {
    noun: "role",
    member: "cert_name",
    find: async ({ certificateLogins }, id, name) => (await certificateLogins.role(id, name)) && {},
  },
  kubernetes: {
    noun: "role",
    member: "role",
    find: async ({ kubernetesLogins }, id, name) => (await kubernetesLogins.role(id, name)) && {},
  },
  userpass: {
    noun: "user",
    member: "username",
    find: async ({ userpassUsers }, id, name) => {
      const found = await userpassUsers.find(id, name)
      return found && { renewedPolicies: found.user.policies }
    },
  },
}
