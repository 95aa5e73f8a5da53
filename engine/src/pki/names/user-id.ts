import { anyGlob } from "./host-names.ts"

/**
 * Returns a function that returns true for allowed user ids. Each entry is a value or a glob, in any case (RFC 4519, section 2.39:
 * caseIgnoreMatch).
 */
export function anyUserId(allowed: readonly string[]): (userId: string) => boolean {
  const isAllowed = anyGlob(allowed.map((pattern) => pattern.toLowerCase()))
  return (userId) => isAllowed(userId.toLowerCase())
}
