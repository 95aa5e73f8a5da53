import { allowsPath, authorizePath, capabilitiesOn, type Capability, type PathDemand } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { forbidden, invalid, rejectFaults, unprocessable } from "../../core/errors.ts"
import { newId } from "../../core/ids.ts"
import type { Runtime } from "../../core/runtime.ts"
import { repeatableRead, type Storage } from "../../core/storage.ts"
import { secondMs } from "../../core/time.ts"
import {
  type IdentityRepository,
  type ResolvedToken,
  resolveToken,
  maxTokenAncestors,
  type TokenRecord,
} from "../../organizations/authentication.ts"
import type { OrganizationRepository } from "../../organizations/organization.ts"
import type { TeamRepository } from "../../organizations/team.ts"
import { isExpired, newSecret, type TokenOwner, type TokenRepository } from "../../organizations/token.ts"
import type { UserRepository } from "../../organizations/user.ts"
import type { ClientCertificate } from "../../core/client-certificate.ts"
import type { AuthMethod } from "../logins/auth-method.ts"
import { rejectWithoutRole, type RenewalRepositories } from "../logins/renewal.ts"
import type { PolicyRepository } from "../policies/policy.ts"
import type { AccessorQuery, ServiceTokenRepository } from "./service-token-repository.ts"
import {
  asRoleSaysNow,
  createServiceToken,
  type Maker,
  notRenewable,
  renewServiceToken,
  type ServiceToken,
  type ServiceTokenInput,
} from "./service-token.ts"
import { existingTokenRole } from "./token-role-service.ts"
import type { TokenRoleRepository } from "./token-role.ts"

interface UsedRepositories extends RenewalRepositories {
  readonly identity: IdentityRepository
  readonly organizations: OrganizationRepository
  readonly policies: PolicyRepository
  readonly serviceTokens: ServiceTokenRepository
  readonly teams: TeamRepository
  readonly tokenRoles: TokenRoleRepository
  readonly tokens: TokenRepository
  readonly users: UserRepository
}

/** Origin of a renewal. A remote engine ignores it, because its server sees the connection itself. */
export interface RenewalOrigin {
  /** Undefined if the client has no socket. */
  readonly remoteAddress: string | undefined
  readonly clientCertificate: ClientCertificate | undefined
}

/** Throws if the client may not renew a token of the auth method, whose metadata is that of the login. */
export type AssertMayRenew = (
  method: AuthMethod,
  meta: Readonly<Record<string, string>>,
  from: RenewalOrigin | undefined,
) => Promise<void>

const writing = ["create", "update"] as const
const createPath = "auth/token/create"
const createOrphanPath = "auth/token/create-orphan"
/** Each creation also deletes a few expired tokens, so that they do not accumulate. */
const sweptTokensAtOnce = 20
const maxPaths = 1_000

export class ServiceTokenService implements ServiceTokens {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller
  readonly #assertMayRenew: AssertMayRenew

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller, assertMayRenew: AssertMayRenew) {
    this.#storage = storage
    this.#runtime = runtime
    this.#caller = caller
    this.#assertMayRenew = assertMayRenew
  }

  async create(input: ServiceTokenInput): Promise<CreatedServiceToken> {
    authorizePath(this.#caller, { path: createPath, capability: writing })
    return this.#create(input, { path: createPath, orphan: false })
  }

  async createOrphan(input: ServiceTokenInput): Promise<CreatedServiceToken> {
    authorizePath(this.#caller, { path: createOrphanPath, capability: writing, sudo: true })
    return this.#create(input, { path: createOrphanPath, orphan: true })
  }

  async createByRole(role: string, input: ServiceTokenInput): Promise<CreatedServiceToken> {
    const path = `${createPath}/${role}`
    authorizePath(this.#caller, { path, capability: writing })
    return this.#create(input, { path, orphan: false, role })
  }

  async #create(
    input: ServiceTokenInput,
    how: { readonly path: string; readonly orphan: boolean; readonly role?: string },
  ): Promise<CreatedServiceToken> {
    const { clock, random, digest } = this.#runtime
    const id = newId("at", random)
    const secret = newSecret(random)
    const hash = digest(secret)
    const now = clock.now()
    // One token is inserted. Foreign keys refer to its parent and its policies. If another transaction deletes one of them, the work is
    // retried and finds it missing.
    return this.#storage.transact(async (repositories) => {
      const maker = await this.#maker(repositories, how.path, now)
      const { role: name } = how
      const by = name === undefined ? undefined : { name, role: await existingTokenRole(repositories, name) }
      const { token, warnings } = createServiceToken(input, maker, { id, now, path: how.path, orphan: how.orphan, by })
      await rejectUnknownPolicies(repositories, token.policies)
      if (token.parentId !== null) await rejectTooDeep(repositories, token.parentId)
      await repositories.serviceTokens.sweep(now, sweptTokensAtOnce)
      await repositories.serviceTokens.insert(token, hash)
      return { secret, token: serviceTokenViewOf(token, { now, expiresAt: token.expiresAt }), warnings }
    }, repeatableRead)
  }

  async #maker({ identity }: UsedRepositories, path: string, now: number): Promise<Maker> {
    const { acl, kind } = this.#caller
    const tokenId = this.#ownTokenId()
    const record = tokenId === undefined ? undefined : await identity.findTokenById(tokenId)
    const resolved = record && (await resolveToken(identity, record))
    // The token ended after the caller was authenticated.
    if (tokenId !== undefined && (resolved === undefined || isExpired(resolved, now))) throw badToken()
    if (resolved?.limitedUses === true)
      throw unprocessable("a token with a limited number of uses cannot create other tokens")
    return {
      policies: acl.policies,
      everything: acl.kind === "everything",
      sudo: allowsPath(this.#caller, { path, capability: "sudo" }),
      token: resolved && {
        id: resolved.tokenId,
        expiresAt: resolved.expiresAt,
        service: kind === "service",
        boundCidrs: resolved.boundCidrs,
      },
    }
  }

  async lookup(token: TokenRef): Promise<ServiceTokenView> {
    const [path, capability] = isSelf(token)
      ? (["auth/token/lookup-self", ["read", "update"]] as const)
      : ([`auth/token/${"secret" in token ? "lookup" : "lookup-accessor"}`, "update"] as const)
    authorizePath(this.#caller, { path, capability })
    return this.#storage.read(async (repositories) => this.#view(repositories, await this.#found(repositories, token)))
  }

  async list(query: AccessorQuery = {}): Promise<readonly string[]> {
    authorizePath(this.#caller, { path: "auth/token/accessors", capability: "list", sudo: true })
    const { limit } = query
    if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0))
      throw invalid([{ field: ["limit"], detail: "limit must be a positive integer" }])
    return this.#storage.read(({ serviceTokens }) => serviceTokens.accessors(query, this.#runtime.clock.now()))
  }

  async renew(token: TokenRef, incrementMs?: number, from?: RenewalOrigin): Promise<TokenAnswer> {
    this.#authorize("renew", token)
    const known = await this.#storage.read(async (repositories) => {
      const record = await repositories.serviceTokens.find((await this.#found(repositories, token)).tokenId)
      const id = record?.authMethodId ?? null
      return { record, method: id === null ? undefined : await repositories.authMethods.find(id) }
    })
    // Outside of the transaction, because revocation services may be queried.
    if (known.record !== undefined && known.method !== undefined)
      await this.#assertMayRenew(known.method, known.record.meta, from)
    const now = this.#runtime.clock.now()
    // The row of the token is written. If another transaction revoked or renewed it, the work is retried.
    return this.#storage.transact(async (repositories) => {
      const found = await this.#found(repositories, token)
      const before = await repositories.serviceTokens.find(found.tokenId)
      if (before === undefined) throw notRenewable()
      await rejectWithoutRole(repositories, before)
      const role = before.role === null ? undefined : await repositories.tokenRoles.find(before.role)
      const { token: after, warnings } = renewServiceToken(asRoleSaysNow(before, role), incrementMs, now)
      await repositories.serviceTokens.recordRenewal(after)
      // Replicas have cached the later expiry.
      if ((after.expiresAt ?? Infinity) < (before.expiresAt ?? Infinity)) await repositories.identity.bumpCacheVersion()
      return { token: await this.#view(repositories, await this.#found(repositories, token)), warnings }
    }, repeatableRead)
  }

  async revoke(token: TokenRef): Promise<void> {
    this.#authorize("revoke", token)
    await this.#storage.transact(async (repositories) => {
      const id = await this.#idOf(repositories, token)
      if (id === undefined && !isSelf(token) && "accessor" in token) throw badAccessor()
      if (id !== undefined) await end(repositories, id)
    })
  }

  async revokeOrphan(secret: string): Promise<void> {
    authorizePath(this.#caller, { path: "auth/token/revoke-orphan", capability: "update", sudo: true })
    await this.#storage.transact(async (repositories) => {
      const id = await this.#idOf(repositories, { secret })
      if (id === undefined) return
      await repositories.serviceTokens.orphanChildren(id)
      await end(repositories, id)
    })
  }

  async capabilities(token: TokenRef, paths: readonly string[]): Promise<readonly PathCapabilities[]> {
    const name = isSelf(token) ? "capabilities-self" : "secret" in token ? "capabilities" : "capabilities-accessor"
    authorizePath(this.#caller, { path: `sys/${name}`, capability: "update" })
    const problem =
      paths.length === 0
        ? "paths can't be blank"
        : paths.length > maxPaths
          ? `paths has too many entries (maximum is ${maxPaths})`
          : undefined
    if (problem !== undefined) throw invalid([{ field: ["paths"], detail: problem }])
    const holder = isSelf(token)
      ? this.#caller
      : await this.#storage.read(async (repositories) => (await this.#found(repositories, token)).caller)
    return paths.map((path) => ({ path, capabilities: shownCapabilities(holder, path.replace(/^\//, "")) }))
  }

  #authorize(verb: "renew" | "revoke", token: TokenRef): void {
    const suffix = isSelf(token) ? "-self" : "secret" in token ? "" : "-accessor"
    const demand: PathDemand = { path: `auth/token/${verb}${suffix}`, capability: "update" }
    authorizePath(this.#caller, demand)
  }

  /** Throws `forbidden` for an unknown token, and for one that has ended. */
  async #found(
    repositories: UsedRepositories,
    token: TokenRef,
  ): Promise<ResolvedToken & { readonly record: TokenRecord }> {
    const record = await this.#record(repositories, token)
    const resolved = record && (await resolveToken(repositories.identity, record))
    if (record === undefined || resolved === undefined || this.#hasEnded(resolved, token)) {
      throw !isSelf(token) && "accessor" in token ? badAccessor() : badToken()
    }
    return { ...resolved, record }
  }

  /** Returns true if the token has expired. The last use of a token sets its expiry, and the current request may be that use. */
  #hasEnded(resolved: ResolvedToken, token: TokenRef): boolean {
    return isExpired(resolved, this.#runtime.clock.now()) && !(isSelf(token) && resolved.limitedUses)
  }

  async #record({ identity }: UsedRepositories, token: TokenRef): Promise<TokenRecord | undefined> {
    if (isSelf(token)) {
      const id = this.#ownTokenId()
      if (id === undefined)
        throw unprocessable("the request was not authenticated with a token; send a token, or name one in the request")
      return identity.findTokenById(id)
    }
    if ("secret" in token) return identity.findToken(this.#runtime.digest(token.secret))
    const record = await identity.findTokenById(token.accessor)
    return record?.owner.kind === "service" ? record : undefined
  }

  async #idOf(repositories: UsedRepositories, token: TokenRef): Promise<string | undefined> {
    return (await this.#record(repositories, token))?.id
  }

  #ownTokenId(): string | undefined {
    return this.#caller.kind === "anonymous" ? undefined : this.#caller.tokenId
  }

  async #view(
    repositories: UsedRepositories,
    { record, caller, expiresAt }: ResolvedToken & { readonly record: TokenRecord },
  ): Promise<ServiceTokenView> {
    const now = this.#runtime.clock.now()
    const service = await repositories.serviceTokens.find(record.id)
    if (service !== undefined) return serviceTokenViewOf(service, { now, expiresAt })
    const token = await repositories.tokens.find(record.id)
    if (token === undefined) throw badToken()
    const { owner, createdAt } = token
    const facts: ServiceToken = {
      id: token.id,
      displayName: `${owner.kind}-${await nameOf(repositories, owner)}`,
      policies: caller.acl.policies,
      meta: {},
      parentId: null,
      path: createPath,
      createdAt,
      expiresAt: token.expiresAt,
      ttlMs: token.expiresAt === null ? null : token.expiresAt - createdAt,
      explicitMaxTtlMs: null,
      periodMs: null,
      renewable: false,
      lastRenewedAt: null,
      usesLeft: null,
      boundCidrs: [],
      role: null,
      maxTtlMs: null,
      authMethodId: null,
    }
    return { ...serviceTokenViewOf(facts, { now, expiresAt }), entityId: entityOf(owner) }
  }
}

const isSelf = (token: TokenRef): token is "self" => token === "self"

/** Error texts that Vault clients match. */
const badToken = () => forbidden("bad token")
const badAccessor = () => forbidden("invalid accessor")

async function end({ serviceTokens, identity }: UsedRepositories, id: string): Promise<void> {
  await serviceTokens.remove(id)
  await identity.bumpCacheVersion()
}

async function rejectUnknownPolicies({ policies }: UsedRepositories, names: readonly string[]): Promise<void> {
  const known = new Set(await policies.names())
  rejectFaults(
    names
      .filter((name) => !known.has(name))
      .map((name) => ({ field: ["policies"], detail: `policies contains "${name}", which does not exist` })),
  )
}

async function rejectTooDeep({ identity }: UsedRepositories, parentId: string): Promise<void> {
  let above: string | null = parentId
  for (let depth = 1; above !== null; depth += 1) {
    if (depth > maxTokenAncestors)
      throw unprocessable(`the token would have more than ${maxTokenAncestors} ancestors; create an orphan instead`)
    above = (await identity.findTokenById(above))?.parentId ?? null
  }
}

function shownCapabilities(holder: Caller, path: string): PathCapabilities["capabilities"] {
  if (holder.acl.kind === "everything") return ["root"]
  const granted = capabilitiesOn(holder, path)
  return granted.size === 0 ? ["deny"] : [...granted].toSorted()
}

export function serviceTokenViewOf(
  { id, parentId, maxTtlMs: _maximum, authMethodId: _method, ...token }: ServiceToken,
  { now, expiresAt }: { readonly now: number; readonly expiresAt: number | null },
): ServiceTokenView {
  const remainingMs = expiresAt === null ? null : Math.max(0, Math.floor((expiresAt - now) / secondMs) * secondMs)
  return { ...token, accessor: id, entityId: "", orphan: parentId === null, remainingMs }
}

async function nameOf({ users, teams, organizations }: UsedRepositories, owner: TokenOwner): Promise<string> {
  switch (owner.kind) {
    case "user":
      return (await users.find(owner.userId))?.username ?? ""
    case "team":
      return (await teams.find(owner.teamId))?.name ?? ""
    case "organization":
    case "audit-trails":
      return (await organizations.find(owner.organizationId))?.name ?? ""
    case "agent-pool":
      return owner.agentPoolId
    default:
      return owner satisfies never
  }
}

function entityOf(owner: TokenOwner): string {
  switch (owner.kind) {
    case "user":
      return owner.userId
    case "team":
      return owner.teamId
    case "organization":
    case "audit-trails":
      return owner.organizationId
    case "agent-pool":
      return owner.agentPoolId
    default:
      return owner satisfies never
  }
}

/** Token of any kind as callers see it, never with its secret. */
export interface ServiceTokenView extends Omit<ServiceToken, "id" | "parentId" | "maxTtlMs" | "authMethodId"> {
  readonly accessor: string
  /** Id of the user, team, organization or agent pool that owns it; empty for a service token. */
  readonly entityId: string
  /** True if it has no parent. */
  readonly orphan: boolean
  /** Milliseconds, whole seconds, until it or one of its ancestors expires; null if none does. */
  readonly remainingMs: number | null
}

/** `warnings` are sentences about inputs that were not applied as requested. */
export interface TokenAnswer {
  readonly token: ServiceTokenView
  readonly warnings: readonly string[]
}

/** New token. The secret is not returned again. */
export interface CreatedServiceToken extends TokenAnswer {
  readonly secret: string
}

/** Capabilities on a path. `root` stands for all; a caller without any has only `deny`. */
export interface PathCapabilities {
  readonly path: string
  readonly capabilities: readonly (Capability | "root")[]
}

/** Reference to a token: the caller's own, or by secret or by accessor. */
export type TokenRef = "self" | { readonly secret: string } | { readonly accessor: string }

/**
 * Tokens of the certificate API. A service token has only the rights of its policies. Callers create tokens with policies that they hold. A
 * token ends with its parent unless it is an orphan. Ended tokens are rejected from the next request on, on every replica. Throws
 * `forbidden` for an unknown secret or accessor.
 *
 * Lookup, renewal and revocation of the caller's own token have paths of their own, so that policies can distinguish them. By secret,
 * tokens of users, teams and organizations are found too; by accessor they are not.
 */
export interface ServiceTokens {
  create(input: ServiceTokenInput): Promise<CreatedServiceToken>
  /** Creates a token without a parent. */
  createOrphan(input: ServiceTokenInput): Promise<CreatedServiceToken>
  /** Creates a token on the terms of a token role. Throws `not-found` if the role does not exist. */
  createByRole(role: string, input: ServiceTokenInput): Promise<CreatedServiceToken>
  lookup(token: TokenRef): Promise<ServiceTokenView>
  /** Returns accessors in order. */
  list(query?: AccessorQuery): Promise<readonly string[]>
  /** Sets the expiry to now + `incrementMs`, within the maximum. Without `incrementMs`, the lifetime from the creation is used. */
  renew(token: TokenRef, incrementMs?: number, from?: RenewalOrigin): Promise<TokenAnswer>
  /** Revokes the token and all its descendants. Does nothing if no token has this secret. */
  revoke(token: TokenRef): Promise<void>
  /** Revokes the token. Its children become orphans. */
  revokeOrphan(secret: string): Promise<void>
  /** Returns capabilities in the order of `paths`. */
  capabilities(token: TokenRef, paths: readonly string[]): Promise<readonly PathCapabilities[]>
}
