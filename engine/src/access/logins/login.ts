// Token of a login. It has no parent, because no other token created it. It ends with its auth method.
import { defaultPolicyName, rootPolicyName } from "../../core/access.ts"
import { newId } from "../../core/ids.ts"
import type { Runtime } from "../../core/runtime.ts"
import { type Instant, secondMs } from "../../core/time.ts"
import { newSecret } from "../../organizations/token.ts"
import { leaseTtls } from "../../pki/mounts/mount.ts"
import type { PolicyRepository } from "../policies/policy.ts"
import type { ServiceTokenRepository } from "../service-tokens/service-token-repository.ts"
import { type CreatedServiceToken, serviceTokenViewOf } from "../service-tokens/service-token-service.ts"
import { bounded, type ServiceToken } from "../service-tokens/service-token.ts"
import { noAuthMethod } from "./auth-method-directory.ts"
import type { AuthMethod, AuthMethodRepository } from "./auth-method.ts"
import type { TokenTerms } from "./token-terms.ts"

/** Client that has logged in, as the auth method knows it. */
export interface LoggedIn {
  /** Appended to the path of the method; empty for the path alone. */
  readonly displayName: string
  /** Facts about the client: its role, and others that the method knows. */
  readonly meta: Readonly<Record<string, string>>
}

/** Client whose credentials were verified, and the terms of its tokens. */
export interface VerifiedLogin extends LoggedIn {
  readonly terms: TokenTerms
}

/** Returns the token of a login, without `root`, and warnings about lifetimes that were capped. */
export function loginToken(
  terms: TokenTerms,
  method: Pick<AuthMethod, "id" | "path" | "config">,
  { now, id, displayName, meta }: LoggedIn & { readonly now: Instant; readonly id: string },
): { readonly token: ServiceToken; readonly warnings: readonly string[] } {
  const { defaultMs, maximumMs: methodMaxMs } = leaseTtls(method.config)
  const maxTtlMs = Math.min(terms.maxTtlMs ?? Infinity, methodMaxMs)
  const { periodMs, ...requested } = requestedLifetime(terms, { defaultMs, methodMaxMs })
  const { ttlMs, warnings } = bounded(requested.ttlMs, {
    systemMs: periodMs === null ? maxTtlMs : undefined,
    explicitMs: terms.explicitMaxTtlMs ?? undefined,
  })
  const policies = terms.policies.filter((name) => name !== rootPolicyName)
  return {
    warnings: [...requested.warnings, ...warnings],
    token: {
      id,
      displayName: [method.path.replaceAll("/", "-"), displayName].filter((part) => part !== "").join("-"),
      policies: [...new Set([...policies, ...(terms.noDefaultPolicy ? [] : [defaultPolicyName])])].toSorted(),
      meta,
      parentId: null,
      path: `auth/${method.path}/login`,
      createdAt: now,
      expiresAt: now + ttlMs,
      ttlMs,
      explicitMaxTtlMs: terms.explicitMaxTtlMs,
      periodMs,
      maxTtlMs,
      renewable: true,
      lastRenewedAt: null,
      usesLeft: terms.numUses === 0 ? null : terms.numUses,
      boundCidrs: terms.boundCidrs,
      role: null,
      authMethodId: method.id,
    },
  }
}

/** Returns the lifetime that the terms request. A period is capped at the maximum of the method. */
function requestedLifetime(
  { periodMs, ttlMs }: TokenTerms,
  { defaultMs, methodMaxMs }: { readonly defaultMs: number; readonly methodMaxMs: number },
): { readonly ttlMs: number; readonly periodMs: number | null; readonly warnings: readonly string[] } {
  if (periodMs === null) return { ttlMs: ttlMs ?? defaultMs, periodMs, warnings: [] }
  if (periodMs <= methodMaxMs) return { ttlMs: periodMs, periodMs, warnings: [] }
  const [requested, maximum] = [periodMs, methodMaxMs].map((ms) => `${ms / secondMs}s`)
  return {
    ttlMs: methodMaxMs,
    periodMs: methodMaxMs,
    warnings: [
      `period of "${requested}" exceeded the effective max_ttl of "${maximum}"; period value is capped accordingly`,
    ],
  }
}

export interface LoginRepositories {
  readonly authMethods: AuthMethodRepository
  readonly policies: PolicyRepository
  readonly serviceTokens: ServiceTokenRepository
}

/**
 * Creates the token of a client that has proved its identity, in the unit of work that verified it.
 *
 * Policies of the terms that do not exist are left out, with a warning. Throws `not-found` if the method has been disabled.
 */
export async function logIn(
  repositories: LoginRepositories,
  { clock, random, digest }: Pick<Runtime, "clock" | "random" | "digest">,
  method: AuthMethod,
  { terms, displayName, meta }: VerifiedLogin,
): Promise<CreatedServiceToken> {
  if ((await repositories.authMethods.find(method.id)) === undefined) throw noAuthMethod(method.path)
  const now = clock.now()
  const made = loginToken(terms, method, { now, id: newId("at", random), displayName, meta })
  const known = new Set(await repositories.policies.names())
  const missing = made.token.policies.filter((name) => !known.has(name))
  const token = { ...made.token, policies: made.token.policies.filter((name) => known.has(name)) }
  const secret = newSecret(random)
  await repositories.serviceTokens.insert(token, digest(secret))
  return {
    secret,
    token: serviceTokenViewOf(token, { now, expiresAt: token.expiresAt }),
    warnings: [...made.warnings, ...missing.map((name) => `policy "${name}" does not exist and is omitted`)],
  }
}
