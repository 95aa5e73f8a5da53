// Delegated authentication: clients of enrolment protocols send the credentials of an auth method with each request, which then acts with
// the policies of a login. No token is stored, because such a client would never use it again.
import { compileAccess } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { newId } from "../../core/ids.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import type { PolicyRepository } from "../policies/policy.ts"
import type { AuthMethod } from "./auth-method.ts"
import { loginToken, type VerifiedLogin } from "./login.ts"

export interface DelegatedLoginContext {
  readonly storage: Storage<{ readonly policies: Pick<PolicyRepository, "find"> }>
  readonly runtime: Pick<Runtime, "clock" | "random">
}

/** Returns the caller that acts for a verified client. Policies that do not exist grant nothing, as with tokens. */
export async function callerOfLogin(
  { storage, runtime: { clock, random } }: DelegatedLoginContext,
  method: AuthMethod,
  { terms, ...client }: VerifiedLogin,
): Promise<Caller> {
  const id = newId("at", random)
  const { token } = loginToken(terms, method, { now: clock.now(), id, ...client })
  const policies = await storage.read(({ policies: repository }) =>
    Promise.all(token.policies.map((name) => repository.find(name))),
  )
  return {
    kind: "service",
    tokenId: id,
    acl: compileAccess(policies.filter((policy) => policy !== undefined)),
    login: { accessor: method.accessor, displayName: token.displayName, meta: token.meta },
  }
}
