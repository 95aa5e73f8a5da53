import type { AuthMethodId } from "../logins/auth-method.ts"
import type { KubernetesConfig, NewKubernetesConfig } from "./kubernetes-config.ts"
import type { KubernetesRole } from "./kubernetes-role.ts"

export interface KubernetesLoginRepository {
  config(methodId: AuthMethodId): Promise<KubernetesConfig | undefined>
  /** Returns the token that this server sends to the API server; undefined if none is stored. */
  reviewerToken(methodId: AuthMethodId): Promise<string | undefined>
  saveConfig(methodId: AuthMethodId, config: NewKubernetesConfig): Promise<void>
  /** Returns the names in order. */
  roleNames(methodId: AuthMethodId): Promise<readonly string[]>
  role(methodId: AuthMethodId, name: string): Promise<KubernetesRole | undefined>
  /** Inserts the role or replaces the one with its name. */
  saveRole(methodId: AuthMethodId, name: string, role: KubernetesRole): Promise<void>
  removeRole(methodId: AuthMethodId, name: string): Promise<void>
}
