import { newId } from "../../core/ids.ts"
import type { Runtime } from "../../core/runtime.ts"
import { newSecret } from "../../organizations/token.ts"
import type { PolicyRepository } from "../access/policy-store.ts"
import { serviceTokenViewOf } from "../access/service-token-service.ts"
import type { ServiceTokenRepository } from "../access/service-token-store.ts"
import type { CreatedServiceToken } from "../access/service-tokens.ts"
import type { AuthMethod } from "./auth-method.ts"
import { noAuthMethod } from "./auth-method-directory.ts"
import type { AuthMethodRepository } from "./auth-method-store.ts"
import { type LoggedIn, loginToken } from "./login.ts"
import type { TokenTerms } from "./token-terms.ts"

export interface LoginStores {
  readonly authMethods: AuthMethodRepository
  readonly policies: PolicyRepository
  readonly serviceTokens: ServiceTokenRepository
}

/**
 * Makes the token of whoever has proved themselves, in the unit of work that has found it so. Policies that the terms name and
 * that do not exist are left out, and told of. Throws `not-found` where the method is disabled by now.
 */
export async function logIn(
  stores: LoginStores,
  { clock, random, digest }: Pick<Runtime, "clock" | "random" | "digest">,
  method: AuthMethod,
  { terms, ...who }: LoggedIn & { readonly terms: TokenTerms },
): Promise<CreatedServiceToken> {
  if ((await stores.authMethods.find(method.id)) === undefined) throw noAuthMethod(method.path)
  const now = clock.now()
  const made = loginToken(terms, method, { now, id: newId("at", random), ...who })
  const known = new Set(await stores.policies.names())
  const missing = made.token.policies.filter((name) => !known.has(name))
  const token = { ...made.token, policies: made.token.policies.filter((name) => known.has(name)) }
  const secret = newSecret(random)
  await stores.serviceTokens.insert(token, digest(secret))
  return {
    secret,
    token: serviceTokenViewOf(token, { now, expiresAt: token.expiresAt }),
    warnings: [...made.warnings, ...missing.map((name) => `policy "${name}" does not exist and is left out`)],
  }
}
