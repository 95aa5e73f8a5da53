import type { Leases } from "../access/leases/lease.ts"
import type { Policies, PolicySubject } from "../access/policies/policy.ts"
import type { ServiceTokens, TokenRef } from "../access/service-tokens/service-token-service.ts"
import type { TokenRoles } from "../access/service-tokens/token-role-service.ts"
import { leasePrefixRevocations, leaseRevocations, leases } from "../contracts/vault/lease.ts"
import { policies, teamPolicies, tokenPolicies, userPolicies } from "../contracts/vault/policy.ts"
import { ownToken, serviceTokens, tokensByAccessor, tokensBySecret } from "../contracts/vault/service-token.ts"
import { tokenRoles } from "../contracts/vault/token-role.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import type { PkiCalls } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"

export function remotePolicies(calls: PkiCalls): Policies {
  const [users, teams, tokens] = [
    remote(userPolicies, calls),
    remote(teamPolicies, calls),
    remote(tokenPolicies, calls),
  ]
  const { list, get, put, delete: remove } = remote(policies, calls)
  return {
    list,
    get,
    put,
    delete: remove,
    attached: (subject) =>
      subject.kind === "user"
        ? users.list(subject.username)
        : subject.kind === "team"
          ? teams.list(subject.organization, subject.team)
          : tokens.list(subject.id),
    attach: (name, subject) => changeAttachment("attach", name, subject),
    detach: (name, subject) => changeAttachment("detach", name, subject),
  }

  function changeAttachment(verb: "attach" | "detach", name: string, subject: PolicySubject): Promise<void> {
    if (subject.kind === "user") return users[verb](subject.username, name)
    if (subject.kind === "team") return teams[verb](subject.organization, subject.team, name)
    return tokens[verb](subject.id, name)
  }
}

export function remoteServiceTokens(calls: PkiCalls): ServiceTokens {
  const { lookupSelf: _, ...tokens } = remote(serviceTokens, calls)
  const [bySecret, byAccessor, own] = [
    remote(tokensBySecret, calls),
    remote(tokensByAccessor, calls),
    remote(ownToken, calls),
  ]
  const about = (ref: TokenRef) => (ref === "self" ? own : "secret" in ref ? bySecret : byAccessor)
  return {
    ...tokens,
    lookup: (ref) => about(ref).lookup(ref),
    renew: (ref, incrementMs) => about(ref).renew({ ref, ...(incrementMs !== undefined && { incrementMs }) }),
    revoke: (ref) => about(ref).revoke(ref),
    capabilities: async (ref, paths) => (await about(ref).capabilities({ ref, paths }))(paths),
  }
}

/** Reads a token role after it is saved, because that answer is empty. The caller needs the right to read it. */
export function remoteTokenRoles(calls: PkiCalls): TokenRoles {
  const roles = remote(tokenRoles, calls)
  return {
    ...roles,
    async save(name, input) {
      await roles.save(name, input)
      return roles.get(name)
    },
  }
}

export function remoteLeases(calls: PkiCalls): Leases {
  const { lookup, listAll, list } = remote(leases, calls)
  const { revoke } = remote(leaseRevocations("sys/leases/revoke"), calls)
  const { revokePrefix } = remote(leasePrefixRevocations("sys/leases/revoke-prefix"), calls)
  return {
    lookup,
    list: (prefix) => (prefix === "" ? listAll() : list(mountPathOf(prefix))),
    revoke,
    revokePrefix: (prefix, { sync = false } = {}) => revokePrefix(mountPathOf(prefix), { sync }),
  }
}
