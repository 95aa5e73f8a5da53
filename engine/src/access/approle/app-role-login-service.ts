import type { Caller } from "../../core/caller.ts"
import { invalid, unprocessable } from "../../core/errors.ts"
import { mountPathOf } from "../../pki/mounts/mount.ts"
import type { AuthMethod } from "../logins/auth-method.ts"
import { logIn } from "../logins/login.ts"
import { countLogin } from "../logins/login-metrics.ts"
import type { CreatedServiceToken } from "../service-tokens/service-token-service.ts"
import { AppRoleAccess, type AppRoleContext, type AppRoleRepositories } from "./app-role-access.ts"
import type { AppRoleCredentials, AppRoleLogins, AppRoleMethod } from "./app-role-api.ts"
import { AppRoleService } from "./app-role-service.ts"
import { SecretIdService } from "./secret-id-service.ts"
import { admitted, type ShownCredentials } from "./secret-id.ts"

export class AppRoleLoginService implements AppRoleLogins {
  readonly #access: AppRoleAccess

  constructor(access: AppRoleAccess) {
    this.#access = access
  }

  logIn(credentials: AppRoleCredentials, from?: string): Promise<CreatedServiceToken> {
    return countLogin(this.#access.context.loginMetrics, "approle", () => this.#logIn(credentials, from))
  }

  async #logIn({ roleId, secretId = "" }: AppRoleCredentials, from: string | undefined): Promise<CreatedServiceToken> {
    const { runtime } = this.#access.context
    const credentials = { roleId: roleId.trim(), secretId: secretId.trim() }
    if (credentials.roleId === "") throw invalid([{ field: ["roleId"], detail: "missing role_id" }])
    const now = runtime.clock.now()
    const shown = (repositories: AppRoleRepositories, method: AuthMethod) =>
      this.#shown(repositories, method, credentials, from)
    // The first check only reads, so that clients that guess credentials do not block writers.
    if (admitted(await this.#access.read(shown), now) === undefined) throw wrongCredentials()
    return this.#access.write(async (repositories, method) => {
      const found = admitted(await shown(repositories, method), now)
      if (found === undefined) throw wrongCredentials()
      const { role, secretId: used } = found
      // Of two concurrent logins with the last use, one is rejected.
      const counts = used !== undefined && used.usesLeft !== null
      if (counts && !(await repositories.secretIds.spendUse(used.accessor, now))) throw wrongCredentials()
      const { tokenBoundCidrs = [], metadata = {} } = used ?? {}
      return logIn(repositories, runtime, method, {
        terms: tokenBoundCidrs.length === 0 ? role.terms : { ...role.terms, boundCidrs: tokenBoundCidrs },
        displayName: "",
        meta: { ...metadata, role_name: role.name },
      })
    })
  }

  /**
   * Reads the role and the secret id. For an unknown role, a secret id is looked up all the same, so that the response time does not reveal
   * which roles exist.
   */
  async #shown(
    { appRoles, secretIds }: AppRoleRepositories,
    { id: methodId }: AuthMethod,
    { roleId, secretId }: Required<AppRoleCredentials>,
    address: string | undefined,
  ): Promise<ShownCredentials> {
    const role = await appRoles.findByRoleId(methodId, roleId)
    const owner = { methodId, name: role?.name ?? "" }
    const digest = this.#access.digestOf(owner, secretId)
    return { role, secretId: await secretIds.find(owner, { digest }), address }
  }
}

/** Error text that Vault clients match. */
const wrongCredentials = () => unprocessable("invalid role or secret ID")

/** Returns the AppRole method at a path below `auth/`. */
export function appRoleMethod(context: AppRoleContext, path: string, caller: Caller): AppRoleMethod {
  const access = new AppRoleAccess(context, mountPathOf(path), caller)
  return {
    roles: new AppRoleService(access),
    secretIds: new SecretIdService(access),
    logins: new AppRoleLoginService(access),
  }
}
