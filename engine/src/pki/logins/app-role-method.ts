import type { Caller } from "../../core/caller.ts"
import { mountPathOf } from "../mount.ts"
import { AppRoleAccess, type AppRoleContext } from "./app-role-access.ts"
import { AppRoleLoginService } from "./app-role-login-service.ts"
import { AppRoleService } from "./app-role-service.ts"
import type { AppRoleMethod } from "./app-roles.ts"
import { SecretIdService } from "./secret-id-service.ts"

/** The method at a path below `auth/`. */
export function appRoleMethod(context: AppRoleContext, path: string, caller: Caller): AppRoleMethod {
  const access = new AppRoleAccess(context, mountPathOf(path), caller)
  return {
    roles: new AppRoleService(access),
    secretIds: new SecretIdService(access),
    logins: new AppRoleLoginService(access),
  }
}
