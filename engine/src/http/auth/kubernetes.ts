import { kubernetesLogins } from "../../contracts/vault/kubernetes-login.ts"
import type { KubernetesLogins } from "../../pki/logins/kubernetes/kubernetes-logins.ts"
import { implement } from "../implement-vault.ts"
import type { AuthRequest } from "../pki-route.ts"

const logins = ({ engine, authMethod }: AuthRequest): KubernetesLogins => engine.kubernetesLogins(authMethod.path)

export const kubernetesRoutes = implement(kubernetesLogins, {
  getConfig: (request: AuthRequest) => logins(request).getConfig(),
  configure: async (request, input) => (await logins(request).configure(input)).warnings,
  listRoles: (request, page) => logins(request).listRoles(page),
  getRole: (request, name) => logins(request).getRole(name),
  saveRole: (request, name, input) => logins(request).saveRole(name, input),
  deleteRole: (request, name) => logins(request).deleteRole(name),
  login: (request, login) => logins(request).login(login, { remoteAddress: request.remoteAddress }),
})
