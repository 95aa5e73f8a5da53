import { globMatches } from "./glob.ts"

/** Whether a user id is one of those allowed, each a value or a glob, in any case (RFC 4519, section 2.39: caseIgnoreMatch). */
export function isAllowedUserId(userId: string, allowed: readonly string[]): boolean {
  const folded = userId.toLowerCase()
  return allowed.some((pattern) => globMatches(pattern.toLowerCase(), folded))
}
