import { olderPolicies, policies, teamPolicies, tokenPolicies, userPolicies } from "../../contracts/vault/policy.ts"
import type { PolicySubject } from "../../access/policies/policy.ts"
import { implement } from "./implement.ts"
import type { SystemRequest } from "./vault-route.ts"

type Request = Pick<SystemRequest, "engine">
const attached = ({ engine }: Request, subject: PolicySubject) => engine.policies.attached(subject)
const attach = ({ engine }: Request, name: string, subject: PolicySubject) => engine.policies.attach(name, subject)
const detach = ({ engine }: Request, name: string, subject: PolicySubject) => engine.policies.detach(name, subject)

export const policyRoutes = [
  ...implement(policies, {
    list: ({ engine }: SystemRequest) => engine.policies.list(),
    get: ({ engine }, name) => engine.policies.get(name),
    put: ({ engine }, name, text) => engine.policies.put(name, text),
    delete: ({ engine }, name) => engine.policies.delete(name),
  }),
  ...implement(olderPolicies, {
    read: ({ engine }: SystemRequest) => engine.policies.list(),
    list: ({ engine }) => engine.policies.list(),
    get: ({ engine }, name) => engine.policies.get(name),
  }),
  ...implement(userPolicies, {
    list: (request: SystemRequest, username) => attached(request, { kind: "user", username }),
    attach: (request, username, policy) => attach(request, policy, { kind: "user", username }),
    detach: (request, username, policy) => detach(request, policy, { kind: "user", username }),
  }),
  ...implement(teamPolicies, {
    list: (request: SystemRequest, organization, team) => attached(request, { kind: "team", organization, team }),
    attach: (request, organization, team, policy) => attach(request, policy, { kind: "team", organization, team }),
    detach: (request, organization, team, policy) => detach(request, policy, { kind: "team", organization, team }),
  }),
  ...implement(tokenPolicies, {
    list: (request: SystemRequest, id) => attached(request, { kind: "token", id }),
    attach: (request, id, policy) => attach(request, policy, { kind: "token", id }),
    detach: (request, id, policy) => detach(request, policy, { kind: "token", id }),
  }),
]
