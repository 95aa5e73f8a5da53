// Logins of the service accounts of one Kubernetes cluster, at a path below `auth/`.
import type { CreatedServiceToken } from "../service-tokens/service-token-service.ts"
import type { KeyPage } from "../../pki/mounts/key-page.ts"
import type { KubernetesConfig, KubernetesConfigInput } from "./kubernetes-config.ts"
import type { KubernetesRole, KubernetesRoleInput } from "./kubernetes-role.ts"

export interface KubernetesLogins {
  /** Throws `not-found` until the method is configured. */
  getConfig(): Promise<KubernetesConfig>
  /** Replaces the configuration. */
  configure(input: KubernetesConfigInput): Promise<KubernetesConfigured>
  /** Returns the names in order. */
  listRoles(page?: KeyPage): Promise<readonly string[]>
  getRole(name: string): Promise<KubernetesRole>
  /** Creates or changes the role. Omitted members of an existing role stay unchanged. */
  saveRole(name: string, input: KubernetesRoleInput): Promise<SavedKubernetesRole>
  /** Does nothing if the role does not exist. */
  deleteRole(name: string): Promise<void>
  /**
   * Returns a token for a service account. Callers need no authentication.
   *
   * Throws `bad-request` if the role does not exist, and `forbidden` for any problem with the service account's token. Throws `unavailable`
   * if the API server gives no usable answer.
   */
  login(login: KubernetesLogin, from?: LoginOrigin): Promise<CreatedServiceToken>
}

export interface KubernetesConfigured {
  readonly warnings: readonly string[]
}

export interface SavedKubernetesRole {
  readonly role: KubernetesRole
  readonly warnings: readonly string[]
}

export interface KubernetesLogin {
  readonly role: string
  /** Token of a service account. */
  readonly jwt: string
}

/** Origin of a login. A remote engine ignores it, because its server sees the connection itself. */
export interface LoginOrigin {
  /** Undefined if the client has no socket. */
  readonly remoteAddress: string | undefined
}
