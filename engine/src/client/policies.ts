import { policies, teamPolicies, tokenPolicies, userPolicies } from "../contracts/vault/policy.ts"
import type { Policies, PolicySubject } from "../pki/access/policies.ts"
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
