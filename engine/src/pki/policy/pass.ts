declare const pass: unique symbol

/** What the policy has approved. A signature needs one, and `approve`, `approveAuthority` and `approveVerbatim` alone make them. */
export interface Pass {
  readonly [pass]: true
}

export const approved = <T extends object>(content: T): T & Pass => content as T & Pass
