import { type RawBuilder, sql } from "kysely"
import type { Visibility } from "../../workspaces/workspace/workspace-query.ts"
import { among } from "./dialect.ts"
import type { DialectName } from "./query-runner.ts"

/** Returns a condition on `workspaces as w`, true for workspaces that the caller may see. Every access level includes visibility. */
export function visible(dialect: DialectName, visibility: Visibility): RawBuilder<boolean> {
  const inside = sql<boolean>`w.organization_id = ${visibility.organizationId}`
  if (visibility.all) return inside
  const ofTeams = among(dialect, sql.ref("team_id"), visibility.teams)
  return sql<boolean>`(${inside} and (w.id in (select workspace_id from team_workspaces where ${ofTeams})
    or w.project_id in (select project_id from team_projects where ${ofTeams})))`
}
