/** Whom a policy is attached to, by the names that people know. */
export type PolicySubject =
  | { readonly kind: "user"; readonly username: string }
  | { readonly kind: "team"; readonly organization: string; readonly team: string }
  /** The token of a user, a team or an organization, by its id. */
  | { readonly kind: "token"; readonly id: string }

export interface PolicyView {
  readonly name: string
  /** As it was written; empty for `root`, which has no rules because it needs none. */
  readonly text: string
}

/**
 * What their holders may do on the certificate API. Names are compared in lower case. `root` allows everything; it can neither
 * be changed nor attached. `default` is what service tokens hold besides; it can be changed. Whatever changes here counts from
 * the next request on, on every replica.
 */
export interface Policies {
  /** By name. */
  list(): Promise<readonly string[]>
  get(name: string): Promise<PolicyView>
  /** Makes the policy, or replaces it. The text is HCL or JSON. */
  put(name: string, text: string): Promise<void>
  /** From whomever it is attached to as well; nothing happens when there is none. */
  delete(name: string): Promise<void>
  /** The names of what is attached to exactly this subject. */
  attached(subject: PolicySubject): Promise<readonly string[]>
  /** Takes a holder of the policy, or `sudo`. Again is the same as once. */
  attach(name: string, subject: PolicySubject): Promise<void>
  /** Nothing happens when it is not attached. */
  detach(name: string, subject: PolicySubject): Promise<void>
}
