// Logins of service accounts of one Kubernetes cluster, at one path below `auth/`.
import type { CreatedServiceToken } from "../service-tokens/service-token-service.ts"
import type { KeyPage } from "../../pki/mounts/key-page.ts"
import type { KubernetesConfig, KubernetesConfigInput } from "./kubernetes-config.ts"
import type { KubernetesRole, KubernetesRoleInput } from "./kubernetes-role.ts"

export interface KubernetesLogins {
  /** Throws `not-found` as long as it was not set. */
  getConfig(): Promise<KubernetesConfig>
  /** Takes the place of what was set before. */
  configure(input: KubernetesConfigInput): Promise<KubernetesConfigured>
  /** Names, in order. */
  listRoles(page?: KeyPage): Promise<readonly string[]>
  getRole(name: string): Promise<KubernetesRole>
  /** Of a role that is there, what the input leaves out stays. */
  saveRole(name: string, input: KubernetesRoleInput): Promise<SavedKubernetesRole>
  /** One that is not there is no error. */
  deleteRole(name: string): Promise<void>
  /**
   * A token for a service account. Nobody needs to be anybody to ask. Throws `bad-request` for a role that is not there,
   * `forbidden` for whatever is wrong with the service account's token, and `unavailable` where nobody could be asked about it.
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
  /** Of a service account. */
  readonly jwt: string
}

/** Of a remote engine the connection says it. */
export interface LoginOrigin {
  /** Undefined where there is no socket. */
  readonly remoteAddress: string | undefined
}
