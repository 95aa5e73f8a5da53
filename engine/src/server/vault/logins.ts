import type { AppRoleMethod } from "../../access/approle/app-role-api.ts"
import { appRoleParts } from "../../access/approle/app-role.ts"
import type { CertificateLogins } from "../../access/certificates/certificate-login-api.ts"
import type { KubernetesLogins } from "../../access/kubernetes/kubernetes-login-api.ts"
import {
  appRoleLogins,
  appRolePartContracts,
  appRoles,
  roleIds,
  secretIds,
  secretIdsByAccessor,
  secretIdsBySecret,
} from "../../contracts/vault/app-role.ts"
import { authMethods } from "../../contracts/vault/auth-method.ts"
import { certificateLogins } from "../../contracts/vault/certificate-login.ts"
import { kubernetesLogins } from "../../contracts/vault/kubernetes-login.ts"
import { lockedUsers } from "../../contracts/vault/locked-user.ts"
import { userpassLogins, userpassUsers } from "../../contracts/vault/userpass.ts"
import type { UserpassMethod } from "../../access/userpass/userpass-api.ts"
import { implement } from "./implement.ts"
import { deleteMounted } from "./mounts.ts"
import type { AuthRequest, SystemRequest } from "./vault-route.ts"

export const authMethodRoutes = implement(authMethods, {
  list: ({ engine }: SystemRequest) => engine.authMethods.list(),
  get: ({ engine }, path) => engine.authMethods.get(path),
  enable: async ({ engine }, path, { warnings = [], ...input }) => {
    await engine.authMethods.enable({ path, ...input })
    return warnings
  },
  disable: ({ engine, dialect }, path) => deleteMounted(dialect, () => engine.authMethods.disable(path)),
  getTuned: ({ engine }, path) => engine.authMethods.get(path),
  tune: async ({ engine }, path, patch) => void (await engine.authMethods.tune(path, patch)),
})

const method = ({ engine, authMethod }: AuthRequest): AppRoleMethod => engine.appRoles(authMethod.path)

export const appRoleRoutes = [
  ...implement(appRoles, {
    list: (request: AuthRequest, page) => method(request).roles.list(page),
    get: (request, name) => method(request).roles.get(name),
    save: (request, name, input) => method(request).roles.save(name, input),
    delete: (request, name) => method(request).roles.delete(name),
  }),
  ...appRoleParts.flatMap((part) =>
    implement(appRolePartContracts[part], {
      get: (request: AuthRequest, name) => method(request).roles.getPart(name, part),
      change: (request, name, input) => method(request).roles.changePart(name, part, input),
      reset: (request, name) => method(request).roles.resetPart(name, part),
    }),
  ),
  ...implement(roleIds, {
    get: (request: AuthRequest, name) => method(request).roles.getRoleId(name),
    change: (request, name, roleId) => method(request).roles.changeRoleId(name, roleId),
  }),
  ...implement(secretIds, {
    list: (request: AuthRequest, name, page) => method(request).secretIds.list(name, page),
    create: (request, name, input) => method(request).secretIds.create(name, input),
    createChosen: (request, name, input) => method(request).secretIds.create(name, input),
    tidy: (request) => method(request).secretIds.tidy(),
  }),
  ...[secretIdsBySecret, secretIdsByAccessor].flatMap((contract) =>
    implement<AuthRequest, typeof contract>(contract, {
      get: (request, name, ref) => method(request).secretIds.get(name, ref),
      destroy: (request, name, ref) => method(request).secretIds.destroy(name, ref),
      delete: (request, name, ref) => method(request).secretIds.destroy(name, ref),
    }),
  ),
  ...implement(appRoleLogins, {
    logIn: (request: AuthRequest, credentials) => method(request).logins.logIn(credentials, request.remoteAddress),
  }),
]

const certificates = ({ engine, authMethod }: AuthRequest): CertificateLogins =>
  engine.certificateLogins(authMethod.path)

export const certificateLoginRoutes = implement(certificateLogins, {
  getConfig: (request: AuthRequest) => certificates(request).getConfig(),
  configure: (request, input) => certificates(request).configure(input),
  listRoles: (request, page) => certificates(request).listRoles(page),
  getRole: (request, name) => certificates(request).getRole(name),
  saveRole: (request, name, input) => certificates(request).saveRole(name, input),
  deleteRole: (request, name) => certificates(request).deleteRole(name),
  listRevocationLists: (request, page) => certificates(request).listRevocationLists(page),
  getRevocationList: (request, name) => certificates(request).getRevocationList(name),
  saveRevocationList: (request, name, input) => certificates(request).saveRevocationList(name, input),
  deleteRevocationList: (request, name) => certificates(request).deleteRevocationList(name),
  login: (request, login) => {
    const { remoteAddress, clientCertificate } = request
    return certificates(request).login(login, { remoteAddress, clientCertificate })
  },
})

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

const userpass = ({ engine, authMethod }: AuthRequest): UserpassMethod => engine.userpass(authMethod.path)

export const userpassRoutes = [
  ...implement(userpassUsers, {
    list: (request: AuthRequest, page) => userpass(request).users.list(page),
    get: (request, name) => userpass(request).users.get(name),
    save: (request, name, input) => userpass(request).users.save(name, input),
    delete: (request, name) => userpass(request).users.delete(name),
    changePassword: (request, name, password) => userpass(request).users.changePassword(name, password),
    changePolicies: (request, name, policies) => userpass(request).users.changePolicies(name, policies),
  }),
  ...implement(userpassLogins, {
    logIn: (request: AuthRequest, name, password) =>
      userpass(request).logins.logIn({ name, password }, request.remoteAddress),
  }),
]

export const lockedUserRoutes = implement(lockedUsers, {
  list: ({ engine }: SystemRequest, query) => engine.lockedUsers.list(query),
  unlock: ({ engine }, mountAccessor, name) => engine.lockedUsers.unlock(mountAccessor, name),
})
