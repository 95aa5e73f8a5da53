import type { AuthMethodType } from "../pki/logins/auth-method.ts"
import { appRoleRoutes } from "./auth/approle.ts"
import { kubernetesRoutes } from "./auth/kubernetes.ts"
import type { AuthRoute } from "./pki-route.ts"

/** Every endpoint of an auth method, by its type. */
export const authRoutes: Readonly<Record<AuthMethodType, readonly AuthRoute[]>> = {
  approle: appRoleRoutes,
  kubernetes: kubernetesRoutes,
}
