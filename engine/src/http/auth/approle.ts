import {
  appRoleLogins,
  appRolePartContracts,
  appRoles,
  roleIds,
  secretIds,
  secretIdsByAccessor,
  secretIdsBySecret,
} from "../../contracts/vault/app-role.ts"
import { appRoleParts } from "../../pki/logins/app-role.ts"
import type { AppRoleMethod } from "../../pki/logins/app-roles.ts"
import { implement } from "../implement-vault.ts"
import type { AuthRequest } from "../pki-route.ts"

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
