import {
  appRoleLogins,
  appRolePartContracts,
  appRoles,
  roleIds,
  secretIds,
  secretIdsByAccessor,
  secretIdsBySecret,
} from "../contracts/vault/app-role.ts"
import type { AppRoleMethod, AppRoles, SecretIdRef, SecretIds } from "../pki/logins/app-roles.ts"
import { mountPathOf } from "../pki/mount.ts"
import { type PkiCalls, pkiCallsOver } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"
import type { Transport } from "./transport.ts"

export function remoteAppRoleMethod(transport: Transport, methodPath: string): AppRoleMethod {
  const calls = pkiCallsOver(transport, `auth/${mountPathOf(methodPath)}`)
  return { roles: remoteRoles(calls), secretIds: remoteSecretIds(calls), logins: remote(appRoleLogins, calls) }
}

function remoteRoles(calls: PkiCalls): AppRoles {
  const [roles, ids] = [remote(appRoles, calls), remote(roleIds, calls)]
  return {
    ...roles,
    get: async (name) => (await roles.get(name))(name.toLowerCase()),
    getPart: (name, part) => remote(appRolePartContracts[part], calls).get(name),
    changePart: (name, part, change) => remote(appRolePartContracts[part], calls).change(name, change),
    resetPart: (name, part) => remote(appRolePartContracts[part], calls).reset(name),
    getRoleId: ids.get,
    changeRoleId: ids.change,
  }
}

function remoteSecretIds(calls: PkiCalls): SecretIds {
  const { create, createChosen, list, tidy } = remote(secretIds, calls)
  const [bySecret, byAccessor] = [remote(secretIdsBySecret, calls), remote(secretIdsByAccessor, calls)]
  const about = (ref: SecretIdRef) => ("accessor" in ref ? byAccessor : bySecret)
  return {
    create: (name, input) => (input.secretId === undefined ? create(name, input) : createChosen(name, input)),
    list,
    get: (name, ref) => about(ref).get(name, ref),
    destroy: (name, ref) => about(ref).destroy(name, ref),
    tidy,
  }
}
