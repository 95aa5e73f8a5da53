import type { Policy, PolicyHolder } from "./policy.ts"

/** Every change increments the identity version, because cached callers contain policies. */
export interface PolicyRepository {
  /** By name, `default` and `root` among them. */
  names(): Promise<readonly string[]>
  find(name: string): Promise<Policy | undefined>
  /** Instead of the policy of that name, if there is one. */
  save(policy: Policy): Promise<void>
  /** From whomever it is attached to as well. */
  remove(name: string): Promise<void>
  /** By name. */
  attachedTo(holder: PolicyHolder): Promise<readonly string[]>
  attach(name: string, holder: PolicyHolder): Promise<void>
  detach(name: string, holder: PolicyHolder): Promise<void>
}
