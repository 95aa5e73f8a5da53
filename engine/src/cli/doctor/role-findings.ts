import type { UnboundedRoles } from "../../storage/maintenance/survey.ts"
import { type Finding, ok, warn } from "./finding.ts"

const check = "roles"

/**
 * Warns about roles with `not_after_bound` `permit`. Roles created before the default became `ttl-limited` keep `permit`, as do roles that
 * set it.
 */
export function roleFindings({ roles, leftOut }: UnboundedRoles): readonly Finding[] {
  if (roles.length === 0) return [ok(check, "All roles limit not_after to their max_ttl.")]
  const findings = roles.map(({ mount, name }) =>
    warn(
      check,
      `The role ${name} of ${mount} has not_after_bound permit: requests may set not_after beyond its max_ttl.`,
      `Set it to ttl-limited unless requests need that: PATCH /v1/${mount}/roles/${name} {"not_after_bound": "ttl-limited"}`,
    ),
  )
  const more = warn(
    check,
    `${leftOut} more roles have not_after_bound permit.`,
    "Change the roles listed here, and run this command again.",
  )
  return leftOut === 0 ? findings : [...findings, more]
}
