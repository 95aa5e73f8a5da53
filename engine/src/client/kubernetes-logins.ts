import type { KubernetesLogins } from "../pki/logins/kubernetes/kubernetes-logins.ts"
import {
  decodeKubernetesConfig,
  decodeKubernetesRole,
  encodeKubernetesRoleInput,
  kubernetesConfigParameters,
  kubernetesLoginParameters,
  kubernetesRoleParameters,
} from "../wire/pki/kubernetes-login.ts"
import { decodeCreatedServiceToken } from "../wire/pki/service-token.ts"
import { namesOf, pageQuery, type PkiCalls, saying } from "./pki-calls.ts"
import { path } from "./transport.ts"

/** `calls` go below the method. */
export const remoteKubernetesLogins = (calls: PkiCalls): KubernetesLogins => ({
  getConfig: async () => decodeKubernetesConfig((await calls.read("/config")).data),
  async configure(input) {
    const { warnings } = await calls.write("/config", saying(kubernetesConfigParameters, input))
    return { warnings }
  },
  listRoles: async (page) => (await calls.list("/role", pageQuery(page))).keys,
  getRole: async (name) => decodeKubernetesRole((await calls.read(path`/role/${name}`)).data),
  async saveRole(name, input) {
    const { data, warnings } = await calls.write(path`/role/${name}`, {
      document: encodeKubernetesRoleInput(input),
      names: namesOf(kubernetesRoleParameters),
    })
    return { role: decodeKubernetesRole(data), warnings }
  },
  deleteRole: async (name) => void (await calls.delete(path`/role/${name}`)),
  // The address that counts is that of the connection.
  login: async ({ role, jwt }) =>
    decodeCreatedServiceToken(await calls.write("/login", saying(kubernetesLoginParameters, { role, jwt }))),
})
