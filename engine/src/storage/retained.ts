// Conditions of retention policies on a row `v` of a workspace `w`. The workspace's own policy overrides its organization's, which
// overrides the site's (docs/compatibility.md, "Retention policies").
import { type RawBuilder, sql } from "kysely"
import { dayMs, type Instant } from "../core/time.ts"
import { statement } from "./session.ts"

/** Whether there is any that deletes; without one nothing has to be looked for. */
export const anyDeletingPolicy = statement((db, _none: object) =>
  db.selectFrom("retention_policies").select("id").where("kind", "=", sql.lit("delete-older")).limit(sql.lit(1)),
)

/** Joins of a query over `w`. */
export const policiesOf = sql`
  left join retention_policies own on own.target_kind = 'workspace' and own.target_id = w.id
  left join retention_policies organization
    on organization.target_kind = 'organization' and organization.target_id = w.organization_id
  left join retention_policies site on site.target_kind = 'site' and site.target_id = ''`

export const isOlderThanKept = (now: Instant): RawBuilder<boolean> => sql<boolean>`
  coalesce(own.kind, organization.kind, site.kind) = 'delete-older'
  and v.created_at < ${now} - ${dayMs} * case
    when own.id is not null then own.delete_older_than_days
    when organization.id is not null then organization.delete_older_than_days
    else site.delete_older_than_days end`
