/** Nobody can make one. What carries it has a member that no object literal has, and that no copy by spreading keeps. */
declare class PolicyPass {
  protected readonly passed: true
}

/** What a policy has approved. Nothing is signed as a certificate without one, and only the policies make it (`only-policies-pass`). */
export type Pass = PolicyPass

export const approved = <T extends object>(content: T): T & Pass => content as T & Pass
