import type { AuthMethodId } from "../logins/auth-method.ts"
import type { KubernetesConfig, NewKubernetesConfig } from "./kubernetes-config.ts"
import type { KubernetesRole } from "./kubernetes-role.ts"

export interface KubernetesLoginRepository {
  config(methodId: AuthMethodId): Promise<KubernetesConfig | undefined>
  /** With which this server shows itself to the API server; undefined where none is kept. */
  reviewerToken(methodId: AuthMethodId): Promise<string | undefined>
  saveConfig(methodId: AuthMethodId, config: NewKubernetesConfig): Promise<void>
  /** In order. */
  roleNames(methodId: AuthMethodId): Promise<readonly string[]>
  role(methodId: AuthMethodId, name: string): Promise<KubernetesRole | undefined>
  /** Creates it or takes the place of the one of that name. */
  saveRole(methodId: AuthMethodId, name: string, role: KubernetesRole): Promise<void>
  removeRole(methodId: AuthMethodId, name: string): Promise<void>
}
