/** Has no instances. An approved value has a protected member that no object literal has and no spread copies. */
declare class PolicyApproval {
  protected readonly passed: true
}

/**
 * Value that a policy approved. Only approved values are signed as certificates, and only policies create them
 * (`only-policies-pass`).
 */
export type Approved = PolicyApproval

export const approved = <T extends object>(content: T): T & Approved => content as T & Approved
