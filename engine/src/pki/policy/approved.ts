/** Nobody can make one. What carries it has a member that no object literal has, and that no copy by spreading keeps. */
declare class PolicyApproval {
  protected readonly passed: true
}

/** What a policy has approved. Nothing is signed as a certificate without one, and only the policies make it (`only-policies-pass`). */
export type Approved = PolicyApproval

export const approved = <T extends object>(content: T): T & Approved => content as T & Approved
