// Verifies passwords. An unknown user costs the same work as a wrong password and gets the same answer, so that names cannot be found out
// by time. Locked users get another answer, as in Vault.
import { permissionDenied } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { badRequest, rejectFaults, unprocessable } from "../../core/errors.ts"
import { addressBounds } from "../logins/address-bounds.ts"
import { type AuthMethod, userLockoutOf } from "../logins/auth-method.ts"
import { logIn, type VerifiedLogin } from "../logins/login.ts"
import { countLogin } from "../logins/login-metrics.ts"
import { afterFailure, isLocked, noFailedLogins } from "../logins/user-lockout.ts"
import type { CreatedServiceToken } from "../service-tokens/service-token-service.ts"
import { passwordFaults, unmatchedHash } from "./password-hash.ts"
import { UserpassAccess, type UserpassContext, type UserpassRepositories } from "./userpass-access.ts"
import type { UserpassCredentials, UserpassLogins, UserpassMethod } from "./userpass-api.ts"
import { UserpassUserService } from "./userpass-user-service.ts"
import { userNameOf } from "./userpass-user.ts"

/** Work that uses a verified login in the transaction that verified it. */
type UseLogin<T> = (repositories: UserpassRepositories, method: AuthMethod, verified: VerifiedLogin) => Promise<T>

export class UserpassVerifier {
  readonly #access: UserpassAccess

  constructor(context: UserpassContext, path: string) {
    this.#access = new UserpassAccess(context, path)
  }

  /** Verifies a password with all checks of a login, and counts a failure. Throws what `UserpassLogins.logIn` throws. */
  verifyUserpassLogin(credentials: UserpassCredentials, from: string | undefined): Promise<VerifiedLogin> {
    return this.verifyFor(credentials, from, (_repositories, _method, verified) => Promise.resolve(verified))
  }

  /** Like `verifyUserpassLogin`, but returns the result of `use`, which runs in the transaction of the last check. */
  verifyFor<T>(credentials: UserpassCredentials, from: string | undefined, use: UseLogin<T>): Promise<T> {
    return countLogin(this.#access.context.loginMetrics, "userpass", () => this.#verify(credentials, from, use))
  }

  async #verify<T>(credentials: UserpassCredentials, from: string | undefined, use: UseLogin<T>): Promise<T> {
    const { password } = credentials
    if (password === "") throw badRequest("missing password")
    rejectFaults(passwordFaults(password))
    const { failedLoginLimit, passwordHasher, runtime } = this.#access.context
    failedLoginLimit.assertAllowed(from)
    const name = userNameOf(credentials.name)
    const { locked, exists, passwordHash } = await this.#access.read(async ({ userpassUsers }, method) => {
      const found = await userpassUsers.find(method.id, name)
      // The hash of another user has the cost that the hash of this one would have.
      const verified = found ?? (await userpassUsers.findNext(method.id, name))
      return {
        locked: found !== undefined && isLocked(found.failedLogins, userLockoutOf(method), runtime.clock.now()),
        exists: found !== undefined,
        passwordHash: verified?.passwordHash ?? unmatchedHash,
      }
    })
    if (locked) {
      failedLoginLimit.count(from)
      throw permissionDenied()
    }
    const matches = await passwordHasher.verify(password, passwordHash)
    if (!(matches && exists)) {
      failedLoginLimit.count(from)
      throw (await this.#recordFailure(name)) === "locked" ? permissionDenied() : wrongCredentials()
    }
    return this.#access.write(async (repositories, method) => {
      const { userpassUsers } = repositories
      const current = await userpassUsers.find(method.id, name)
      // The password was changed or the user deleted since.
      if (current === undefined || current.passwordHash !== passwordHash) throw wrongCredentials()
      // Guesses that were sent at once must not get more answers than guesses one after another.
      if (isLocked(current.failedLogins, userLockoutOf(method), runtime.clock.now())) throw permissionDenied()
      if (!addressBounds(current.user.boundCidrs)(from)) throw permissionDenied()
      if (current.failedLogins.count > 0) await userpassUsers.saveFailedLogins(method.id, name, noFailedLogins)
      return use(repositories, method, { displayName: name, meta: { username: name }, terms: current.user })
    })
  }

  /** Counts a failure. Returns "locked" if the user is locked already; this attempt then must not reveal whether its password is right. */
  #recordFailure(name: string): Promise<"locked" | "counted"> {
    const { clock } = this.#access.context.runtime
    return this.#access.write(async ({ userpassUsers }, method) => {
      const lockout = userLockoutOf(method)
      if (lockout.disabled) return "counted"
      const found = await userpassUsers.find(method.id, name)
      if (found === undefined) {
        // Unknown names fill no table. A row that stays the same is written, so that the answer takes as long as that for a user.
        const other = await userpassUsers.findNext(method.id, name)
        if (other !== undefined) await userpassUsers.saveFailedLogins(method.id, other.name, other.failedLogins)
        return "counted"
      }
      const now = clock.now()
      if (isLocked(found.failedLogins, lockout, now)) return "locked"
      await userpassUsers.saveFailedLogins(method.id, name, afterFailure(found.failedLogins, lockout, now))
      return "counted"
    })
  }
}

/** Error text that Vault clients match. */
const wrongCredentials = () => unprocessable("invalid username or password")

class UserpassLoginService implements UserpassLogins {
  readonly #context: UserpassContext
  readonly #verifier: UserpassVerifier

  constructor(context: UserpassContext, path: string) {
    this.#context = context
    this.#verifier = new UserpassVerifier(context, path)
  }

  logIn(credentials: UserpassCredentials, from?: string): Promise<CreatedServiceToken> {
    return this.#verifier.verifyFor(credentials, from, (repositories, method, verified) =>
      logIn(repositories, this.#context.runtime, method, verified),
    )
  }
}

/** Returns the userpass method at a path below `auth/`. */
export const userpassMethod = (context: UserpassContext, path: string, caller: Caller): UserpassMethod => ({
  users: new UserpassUserService(new UserpassAccess(context, path), caller),
  logins: new UserpassLoginService(context, path),
})
