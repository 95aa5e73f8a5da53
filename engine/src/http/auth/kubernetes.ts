import type { KubernetesLogins } from "../../pki/logins/kubernetes/kubernetes-logins.ts"
import { keyPageParameters } from "../../wire/pki/key-page.ts"
import {
  decodeKubernetesConfigInput,
  decodeKubernetesRoleInput,
  encodeKubernetesConfig,
  encodeKubernetesRole,
  kubernetesConfigParameters,
  kubernetesLoginParameters,
  kubernetesRoleNames,
  kubernetesRoleParameters,
} from "../../wire/pki/kubernetes-login.ts"
import { issuedToken } from "../issued-token.ts"
import { answer, type AuthRequest, type AuthRoute, listed, nothing, param } from "../pki-route.ts"

const logins = ({ engine, authMethod }: AuthRequest): KubernetesLogins => engine.kubernetesLogins(authMethod.path)
const nameOf = (request: AuthRequest): string => param(request, "name")
/** A bundle of authorities, and the keys of a cluster. */
const configLimitBytes = 2 * 1024 * 1024

export const kubernetesRoutes: readonly AuthRoute[] = [
  {
    operation: "read",
    path: "/config",
    handle: async (request) => answer(encodeKubernetesConfig(await logins(request).getConfig())),
  },
  {
    operation: "write",
    path: "/config",
    bodyLimitBytes: configLimitBytes,
    parameters: [kubernetesConfigParameters],
    handle: async (request) => {
      const input = decodeKubernetesConfigInput(request.decode(kubernetesConfigParameters))
      return nothing((await logins(request).configure(input)).warnings)
    },
  },
  {
    operation: "list",
    path: "/role",
    parameters: [keyPageParameters],
    handle: async (request) => listed(await logins(request).listRoles(request.decode(keyPageParameters))),
  },
  {
    operation: "read",
    path: "/role/:name",
    handle: async (request) => answer(encodeKubernetesRole(await logins(request).getRole(nameOf(request)))),
  },
  {
    operation: "write",
    path: "/role/:name",
    wireNames: kubernetesRoleNames,
    parameters: [kubernetesRoleParameters],
    handle: async (request) => {
      const input = decodeKubernetesRoleInput(request.read(kubernetesRoleParameters))
      const { role, warnings } = await logins(request).saveRole(nameOf(request), input)
      return request.dialect === "vault" ? nothing(warnings) : answer(encodeKubernetesRole(role), { warnings })
    },
  },
  {
    operation: "delete",
    path: "/role/:name",
    handle: async (request) => {
      await logins(request).deleteRole(nameOf(request))
      return nothing()
    },
  },
  {
    operation: "write",
    path: "/login",
    open: true,
    parameters: [kubernetesLoginParameters],
    handle: async (request) => {
      const { role = "", jwt = "" } = request.decode(kubernetesLoginParameters)
      const { remoteAddress } = request
      return issuedToken(request, await logins(request).login({ role, jwt }, { remoteAddress }))
    },
  },
]
