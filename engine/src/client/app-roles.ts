import type { AppRoleLogins, AppRoleMethod, AppRoles, SecretIds } from "../pki/logins/app-roles.ts"
import {
  appRoleParameters,
  credentialParameters,
  decodeAppRole,
  decodeAppRolePart,
  decodeCreatedSecretId,
  decodeSecretId,
  encodeAppRoleInput,
  roleIdParameters,
  secretIdParameters,
  secretIdRefParameters,
} from "../wire/pki/app-role.ts"
import { decodeAnswer } from "../wire/pki/parameters.ts"
import { decodeCreatedServiceToken } from "../wire/pki/service-token.ts"
import { mountPathOf } from "../pki/mount.ts"
import { namesOf, pageQuery, type PkiCalls, pkiCallsOver, saying } from "./pki-calls.ts"
import { path, type Transport } from "./transport.ts"

export function remoteAppRoleMethod(transport: Transport, methodPath: string): AppRoleMethod {
  const calls = pkiCallsOver(transport, `auth/${mountPathOf(methodPath)}`)
  return { roles: remoteRoles(calls), secretIds: remoteSecretIds(calls), logins: remoteLogins(calls) }
}

const names = namesOf(appRoleParameters)

const remoteRoles = (calls: PkiCalls): AppRoles => ({
  list: async (page) => (await calls.list("/role", pageQuery(page))).keys,
  get: async (name) => decodeAppRole(name.toLowerCase(), (await calls.read(path`/role/${name}`)).data),
  save: async (name, input) =>
    (await calls.write(path`/role/${name}`, { document: encodeAppRoleInput(input), names })).warnings,
  delete: async (name) => void (await calls.delete(path`/role/${name}`)),
  getPart: async (name, part) => decodeAppRolePart((await calls.read(path`/role/${name}/${part}`)).data),
  async changePart(name, part, change) {
    await calls.write(path`/role/${name}/${part}`, { document: encodeAppRoleInput(change), names })
  },
  resetPart: async (name, part) => void (await calls.delete(path`/role/${name}/${part}`)),
  getRoleId: async (name) =>
    decodeAnswer(roleIdParameters, (await calls.read(path`/role/${name}/role-id`)).data).roleId,
  async changeRoleId(name, roleId) {
    await calls.write(path`/role/${name}/role-id`, saying(roleIdParameters, { roleId }))
  },
})

const remoteSecretIds = (calls: PkiCalls): SecretIds => ({
  async create(name, input) {
    const address = input.secretId === undefined ? path`/role/${name}/secret-id` : path`/role/${name}/custom-secret-id`
    return decodeCreatedSecretId(await calls.write(address, saying(secretIdParameters, input)))
  },
  list: async (name, page) => (await calls.list(path`/role/${name}/secret-id`, pageQuery(page))).keys,
  async get(name, ref) {
    const address =
      "accessor" in ref ? path`/role/${name}/secret-id-accessor/lookup` : path`/role/${name}/secret-id/lookup`
    return decodeSecretId((await calls.write(address, saying(secretIdRefParameters, ref))).data)
  },
  async destroy(name, ref) {
    const address =
      "accessor" in ref ? path`/role/${name}/secret-id-accessor/destroy` : path`/role/${name}/secret-id/destroy`
    await calls.write(address, saying(secretIdRefParameters, ref))
  },
  tidy: async () => (await calls.write("/tidy/secret-id")).warnings,
})

const remoteLogins = (calls: PkiCalls): AppRoleLogins => ({
  logIn: async (credentials) =>
    decodeCreatedServiceToken(await calls.write("/login", saying(credentialParameters, credentials))),
})
