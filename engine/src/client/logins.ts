import type { AppRoleMethod, AppRoles, SecretIdRef, SecretIds } from "../access/approle/app-role-api.ts"
import type { CertificateLogins } from "../access/certificates/certificate-login-api.ts"
import type { KubernetesLogins } from "../access/kubernetes/kubernetes-login-api.ts"
import type { LockedUsers, UserpassMethod } from "../access/userpass/userpass-api.ts"
import type { AuthMethods } from "../access/logins/auth-method-api.ts"
import { authMethodPathFaults } from "../access/logins/auth-method.ts"
import {
  appRoleLogins,
  appRolePartContracts,
  appRoles,
  roleIds,
  secretIds,
  secretIdsByAccessor,
  secretIdsBySecret,
} from "../contracts/vault/app-role.ts"
import { authMethods } from "../contracts/vault/auth-method.ts"
import { certificateLogins } from "../contracts/vault/certificate-login.ts"
import { kubernetesLogins } from "../contracts/vault/kubernetes-login.ts"
import { lockedUsers } from "../contracts/vault/locked-user.ts"
import { userpassLogins, userpassUsers } from "../contracts/vault/userpass.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import { addressablePath, type PkiCalls, pkiCallsOver } from "./pki-calls.ts"
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

/** Reads an auth method after it is enabled or tuned, because those answers are empty. The caller needs the right to read it. */
export function remoteAuthMethods(calls: PkiCalls): AuthMethods {
  const { enable, list, tune, disable, ...contract } = remote(authMethods, calls)
  const get = async (text: string) => {
    const path = mountPathOf(text)
    return (await contract.get(path))(path)
  }
  return {
    async enable({ path: text, ...input }) {
      const path = addressablePath(text, authMethodPathFaults)
      await enable(path, input)
      return get(path)
    },
    list,
    get,
    async tune(path, patch) {
      await tune(mountPathOf(path), patch)
      return get(path)
    },
    disable: (path) => disable(mountPathOf(path)),
  }
}

/** Returns the logins of one certificate auth method. `calls` must be relative to the method. */
export function remoteCertificateLogins(calls: PkiCalls): CertificateLogins {
  const { login, ...logins } = remote(certificateLogins, calls)
  return {
    ...logins,
    // The certificate is the one of the connection.
    login: (credentials) => login(credentials),
  }
}

/** Returns the logins of one Kubernetes auth method. `calls` must be relative to the method. */
export function remoteKubernetesLogins(calls: PkiCalls): KubernetesLogins {
  const { configure, login, ...logins } = remote(kubernetesLogins, calls)
  return {
    ...logins,
    configure: async (input) => ({ warnings: await configure(input) }),
    // The remote address is not sent: the server uses that of the connection.
    login: (credentials) => login(credentials),
  }
}

export function remoteUserpassMethod(transport: Transport, methodPath: string): UserpassMethod {
  const calls = pkiCallsOver(transport, `auth/${mountPathOf(methodPath)}`)
  const { logIn } = remote(userpassLogins, calls)
  return {
    users: remote(userpassUsers, calls),
    // The remote address is not sent: the server uses that of the connection.
    logins: { logIn: ({ name, password }) => logIn(name, password) },
  }
}

export const remoteLockedUsers = (calls: PkiCalls): LockedUsers => remote(lockedUsers, calls)
