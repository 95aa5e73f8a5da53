// List of workspaces. Its cost depends on the matches, not on the number of workspaces (docs/decisions/two-databases.md). Every filter
// that can drive the query first counts, up to a bound, the rows that it touches. A filter that touches few rows drives: one query reads
// all matches with their sort keys, and the page is cut here. Otherwise most rows match: they are counted, and the page comes from the
// index in list order, read from the nearer end.
import { type RawBuilder, sql } from "kysely"
import { foldName } from "../../../organizations/organization.ts"
import { offsetOf, type Page, pageOf, type PageRequest } from "../../../core/page.ts"
import type { WorkspaceId } from "../../../core/ids.ts"
import type { Visibility, WorkspaceQuery, WorkspaceSortKey } from "../../../workspaces/workspace/workspace-query.ts"
import { among } from "../../sql/dialect.ts"
import { escapeLike, idsByName, nameContains } from "../../sql/name-search.ts"
import type { DialectName, QueryRunner } from "../../sql/query-runner.ts"

/** Maximum number of rows that are read in order to sort and page them in this process. */
const maxUsualNarrow = 5_000

type Condition = RawBuilder<boolean>

interface Filter {
  /** Selects one row for each row that the filter touches if it drives. Undefined if the filter can only check. */
  readonly rows?: RawBuilder<unknown>
  /** Condition that uses the filter's index. */
  readonly drive: Condition
  /** Condition on a row that another condition or the sort order has found. It uses no index of `workspaces`. */
  readonly check: Condition
}

/** Set of workspace ids, from the indexes of other tables. Small sets are intersected before any workspace row is read. */
interface IdSet {
  readonly ids: RawBuilder<unknown>
  /** Selects the ids with duplicates. Counting `ids`, which is distinct, would build the whole set first. */
  readonly rows?: RawBuilder<unknown>
  /** Tests whether the current workspace is in the set, without building the set. */
  readonly holds: Condition
}

export async function listWorkspaceIds(
  session: QueryRunner,
  query: WorkspaceQuery,
  visibility: Visibility,
  page: PageRequest,
  maxNarrow = maxUsualNarrow,
): Promise<Page<WorkspaceId>> {
  const { filters, sets, exclusions } = await planList(session, query, visibility, maxNarrow)
  const sort = query.sort ?? { key: "name", descending: false }
  const drivable = filters.filter(({ rows }) => rows !== undefined)
  const drivers = [...sets.map(({ ids, rows = ids }) => rows), ...drivable.flatMap(({ rows }) => rows ?? [])]
  const touched = await countUpTo(session, drivers, maxNarrow + 1)
  const fewest = touched.indexOf(Math.min(...touched))
  const isNarrow = (touched[fewest] ?? Infinity) <= maxNarrow

  if (isNarrow) {
    const isSmall = (_set: IdSet, index: number) => (touched[index] ?? 0) <= maxNarrow
    const small = sets.filter(isSmall)
    const driver = fewest < sets.length ? undefined : drivable[fewest - sets.length]
    const conditions = [
      ...(driver === undefined ? [] : [driver.drive]),
      ...(small.length === 0 ? [] : [inSets(small, driver === undefined ? "drive" : "check", session.dialect)]),
      ...sets.filter((set) => !small.includes(set)).map(({ holds }) => holds),
      ...filters.filter((filter) => filter !== driver).map(({ check }) => check),
      ...exclusions.map(({ drive }) => drive),
      sql<boolean>`${inert(session.dialect, "organization_id")} = ${visibility.organizationId}`,
    ]
    const key = sortColumns[sort.key]
    const found = await session.queryMany(
      sql<Found>`select workspaces.id, workspaces.${sql.ref(key)} as sort_key from workspaces where ${and(conditions)}`,
    )
    const order = found.toSorted(inOrder(sort.descending))
    const ids = order.slice(offsetOf(page), offsetOf(page) + page.size).map(({ id }) => id)
    return pageOf(ids, page, order.length)
  }

  const conditions = [
    sql<boolean>`workspaces.organization_id = ${visibility.organizationId}`,
    ...(sets.length === 0 ? [] : [inSets(sets, "check", session.dialect)]),
    ...filters.map(({ check }) => check),
    ...exclusions.map(({ check }) => check),
  ]
  const where = and(conditions)
  const counted = await session.queryOne(
    sql<{ total: number }>`select count(*) as total from workspaces where ${where}`,
  )
  const totalCount = counted?.total ?? 0
  const offset = offsetOf(page)
  const size = Math.min(page.size, totalCount - offset)
  if (size <= 0) return pageOf([], page, totalCount)
  const fromEnd = offset > totalCount / 2
  const skipped = fromEnd ? totalCount - offset - size : offset
  const rows = await session.queryMany(
    sql<{ id: WorkspaceId }>`select workspaces.id from workspaces where ${where}
      order by ${ordering(sort.key, sort.descending !== fromEnd)} limit ${size} offset ${skipped}`,
  )
  const ids = rows.map(({ id }) => id)
  return pageOf(fromEnd ? ids.toReversed() : ids, page, totalCount)
}

interface Found {
  readonly id: WorkspaceId
  readonly sort_key: string | number | null
}

const sortColumns: Record<WorkspaceSortKey, string> = {
  name: "name_folded",
  "current-run.created-at": "current_run_created_at",
  "latest-change-at": "latest_change_at",
}

/** Builds the sort order. Workspaces without a run come after those with one; descending is the exact reverse. */
function ordering(key: WorkspaceSortKey, descending: boolean): RawBuilder<unknown> {
  const column = sql.ref(`workspaces.${sortColumns[key]}`)
  return descending
    ? sql`${column} desc nulls first, workspaces.id desc`
    : sql`${column} asc nulls last, workspaces.id asc`
}

const inOrder = (descending: boolean) => {
  const sign = descending ? -1 : 1
  return (a: Found, b: Found): number => sign * (compareKeys(a.sort_key, b.sort_key) || compareKeys(a.id, b.id))
}

function compareKeys(a: string | number | null, b: string | number | null): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? 1 : -1
  return a < b ? -1 : 1
}

/** Counts the rows of each select, up to the bound. */
async function countUpTo(
  session: QueryRunner,
  selects: readonly RawBuilder<unknown>[],
  bound: number,
): Promise<number[]> {
  if (selects.length === 0) return []
  const counts = selects.map(
    (select, index) =>
      sql`(select count(*) from (select 1 from (${select}) as s limit ${bound}) as c) as ${sql.ref(`n${index}`)}`,
  )
  const row = await session.queryOne(sql<Record<string, number>>`select ${sql.join(counts)}`)
  return selects.map((_, index) => row?.[`n${index}`] ?? 0)
}

interface Plan {
  readonly sets: readonly IdSet[]
  readonly filters: readonly Filter[]
  readonly exclusions: readonly Filter[]
}

async function planList(
  session: QueryRunner,
  query: WorkspaceQuery,
  visibility: Visibility,
  maxNarrow: number,
): Promise<Plan> {
  const { dialect } = session
  const { organizationId } = visibility
  const tags = (query.tags ?? []).map(foldName)
  const excluded = (query.excludeTags ?? []).map(foldName)
  const tagged = (query.tagged ?? [])
    .map(({ key, value }) => ({ key: foldName(key ?? ""), value: value ?? "" }))
    .filter(({ key, value }) => key !== "" || value !== "")
  const inheritable = await inheritedPairs(session, organizationId, {
    keys: [...tags, ...excluded, ...tagged.flatMap(({ key }) => (key === "" ? [] : [key]))],
    values: tagged.flatMap(({ key, value }) => (key === "" ? [value] : [])),
  })
  const named =
    query.name === undefined ? {} : await nameFilter(session, organizationId, foldName(query.name), maxNarrow)
  const wild =
    query.wildcardName === undefined
      ? {}
      : await wildcardFilter(session, organizationId, foldName(query.wildcardName), maxNarrow)

  const sets: IdSet[] = [
    ...(named.sets ?? []),
    ...(wild.sets ?? []),
    ...(visibility.all ? [] : [grantedTo(dialect, organizationId, visibility.teams)]),
    ...tags.map((key) => boundTo(dialect, organizationId, { key, value: "" }, inheritable)),
    ...tagged.map((wanted) => boundTo(dialect, organizationId, wanted, inheritable)),
  ]
  const filters: Filter[] = [
    ...(named.filters ?? []),
    ...(wild.filters ?? []),
    ...(query.projectId === undefined ? [] : [projectFilter(dialect, organizationId, query.projectId)]),
    ...(query.currentRunStatus === undefined ? [] : [statusFilter(dialect, organizationId, query.currentRunStatus)]),
  ]
  const exclusions = excluded.map((key) => exclusion(dialect, organizationId, key, inheritable))
  return { filters, sets, exclusions }
}

const and = (conditions: readonly Condition[]): RawBuilder<boolean> => sql<boolean>`${sql.join(conditions, sql` and `)}`

type Column = "id" | "organization_id" | "project_id" | "name_folded" | "name_reversed" | "current_run_status"

/** Keeps SQLite, which has no statistics, from choosing an index by this column: a unary plus rules it out. PostgreSQL chooses well. */
const inert = (dialect: DialectName, column: Column): RawBuilder<unknown> =>
  dialect === "sqlite" ? sql`+workspaces.${sql.ref(column)}` : sql`workspaces.${sql.ref(column)}`

function inSets(sets: readonly IdSet[], use: "drive" | "check", dialect: DialectName): Condition {
  const column = use === "drive" ? sql`workspaces.id` : inert(dialect, "id")
  return sql<boolean>`${column} in (${sql.join(
    sets.map(({ ids }) => sql`select * from (${ids}) as s`),
    sql` intersect `,
  )})`
}

/** Key and value of a binding filter. An empty part matches anything. */
interface ListRequest {
  readonly key: string
  readonly value: string
}

interface InheritedPair extends ListRequest {
  readonly projectId: string
}

/** Reads the project bindings that may match. Usually there are none, and the queries can ignore projects. */
async function inheritedPairs(
  session: QueryRunner,
  organizationId: string,
  { keys, values }: { readonly keys: readonly string[]; readonly values: readonly string[] },
): Promise<readonly InheritedPair[]> {
  if (keys.length === 0 && values.length === 0) return []
  const rows = await session.queryMany(
    session.db
      .selectFrom("project_bindings")
      .select(["project_id", "key_folded", "value"])
      .where("organization_id", "=", organizationId)
      .where((where) =>
        where.or([
          among(session.dialect, sql.ref("key_folded"), keys),
          among(session.dialect, sql.ref("value"), values),
        ]),
      ),
  )
  return rows.map((row) => ({ projectId: row.project_id, key: row.key_folded, value: row.value }))
}

/** Finds workspaces that have the binding. A binding of the project counts unless the workspace has its own binding with that key. */
function boundTo(
  dialect: DialectName,
  organizationId: string,
  { key, value }: ListRequest,
  inheritable: readonly InheritedPair[],
): IdSet {
  const matches = sql`${key === "" ? sql`` : sql`and b.key_folded = ${key}`}
    ${value === "" ? sql`` : sql`and b.value = ${value}`}`
  // The condition `value <> ''` lets SQLite use the partial index on values. A flat tag has no value.
  const own =
    key === ""
      ? sql`select distinct b.workspace_id as id from workspace_bindings as b
          where b.organization_id = ${organizationId} ${matches} and b.value <> ''`
      : sql`select b.workspace_id as id from workspace_bindings as b
          where b.organization_id = ${organizationId} ${matches}`
  const ownHolds = sql`exists (select 1 from workspace_bindings as b where b.workspace_id = workspaces.id ${matches})`
  const pairs = inheritable.filter((pair) => (key === "" || pair.key === key) && (value === "" || pair.value === value))
  const inherited = [...new Set(pairs.map((pair) => pair.key))].map((pairKey) => ({
    pairKey,
    projects: pairs.filter((pair) => pair.key === pairKey).map(({ projectId }) => projectId),
  }))
  // A flat tag is not a binding and does not override a binding of the project.
  const notOwn = (id: string, pairKey: string) =>
    sql`not exists (select 1 from workspace_bindings as o where o.workspace_id = ${sql.ref(id)}
      and o.key_folded = ${pairKey} and (o.value <> '' or o.is_binding = 1))`
  return {
    ids: sql.join(
      [
        own,
        ...inherited.map(
          ({ pairKey, projects }) =>
            sql`select w.id from workspaces as w
              where ${among(dialect, sql.ref("w.project_id"), projects)} and ${notOwn("w.id", pairKey)}`,
        ),
      ],
      sql` union `,
    ),
    holds: sql<boolean>`(${sql.join(
      [
        ownHolds,
        ...inherited.map(
          ({ pairKey, projects }) =>
            sql`(${among(dialect, inert(dialect, "project_id"), projects)} and ${notOwn("workspaces.id", pairKey)})`,
        ),
      ],
      sql` or `,
    )})`,
  }
}

function exclusion(
  dialect: DialectName,
  organizationId: string,
  key: string,
  inheritable: readonly InheritedPair[],
): Filter {
  const projects = inheritable.filter((pair) => pair.key === key).map(({ projectId }) => projectId)
  const notInherited =
    projects.length === 0 ? sql`` : sql`and not ${among(dialect, inert(dialect, "project_id"), projects)}`
  return {
    drive: sql`not exists (select 1 from workspace_bindings as b
      where b.workspace_id = workspaces.id and b.key_folded = ${key}) ${notInherited}`,
    check: sql`workspaces.id not in (select workspace_id from workspace_bindings
      where organization_id = ${organizationId} and key_folded = ${key}) ${notInherited}`,
  }
}

/** Finds the workspaces that these teams can see. Every grant includes reading runs, which is what visibility requires. */
function grantedTo(dialect: DialectName, organizationId: string, teams: readonly string[]): IdSet {
  const projects = sql`select p.project_id from team_projects as p where ${among(dialect, sql.ref("p.team_id"), teams)}`
  const own = sql`select g.workspace_id as id from team_workspaces as g where ${among(dialect, sql.ref("g.team_id"), teams)}`
  const ofProjects = sql`select w.id from workspaces as w
    where w.organization_id = ${organizationId} and w.project_id in (${projects})`
  return {
    ids: sql`${own} union ${ofProjects}`,
    rows: sql`${own} union all ${ofProjects}`,
    holds: sql<boolean>`(exists (select 1 from team_workspaces as g
        where g.workspace_id = workspaces.id and ${among(dialect, sql.ref("g.team_id"), teams)})
      or ${inert(dialect, "project_id")} in (${projects}))`,
  }
}

/**
 * Filters by a part of the name. SQLite's name index gives a set of ids if there are few matches. PostgreSQL chooses by its own statistics.
 */
async function nameFilter(
  session: QueryRunner,
  organizationId: string,
  folded: string,
  most: number,
): Promise<Partial<Plan>> {
  const holds = nameContains(session.dialect, folded)
  const ids = await idsByName(session, { organizationId, folded, most: Math.max(most, 0) })
  if (ids !== undefined) return { sets: [{ ids: sql`select value as id from json_each(${sql.val(ids)})`, holds }] }
  if (session.dialect === "sqlite") return { filters: [{ drive: holds, check: holds }] }
  const rows = sql`select 1 as one from workspaces where workspaces.organization_id = ${organizationId} and ${holds}`
  return { filters: [{ rows, drive: holds, check: holds }] }
}

/** Filters by a pattern. `x-*` and `*-x` are ranges of an index each, and `*-x-*` is a substring search. Further parts are only checked. */
async function wildcardFilter(
  session: QueryRunner,
  organizationId: string,
  pattern: string,
  most: number,
): Promise<Partial<Plan>> {
  const { dialect } = session
  const parts = pattern.split("*")
  const first = parts[0] ?? ""
  if (parts.length === 1) return { filters: [rangeFilter(dialect, organizationId, "name_folded", first, true)] }
  const last = parts.at(-1) ?? ""
  const inner = parts.slice(1, -1).filter((part) => part !== "")
  const ranges = [
    ...(first === "" ? [] : [rangeFilter(dialect, organizationId, "name_folded", first)]),
    ...(last === ""
      ? []
      : [rangeFilter(dialect, organizationId, "name_reversed", Array.from(last).toReversed().join(""))]),
  ]
  const longest = inner.toSorted((a, b) => b.length - a.length)[0]
  const inside = longest === undefined ? {} : await nameFilter(session, organizationId, longest, most)
  const like = parts.map(escapeLike).join("%")
  const whole = sql<boolean>`${inert(dialect, "name_folded")} like ${like} escape '\\'`
  const isPartial = ranges.length + inner.length > 1
  return {
    sets: inside.sets ?? [],
    filters: [...ranges, ...(inside.filters ?? []), ...(isPartial ? [{ drive: whole, check: whole }] : [])],
  }
}

const afterEverything = "\u{10ffff}"

function rangeFilter(
  dialect: DialectName,
  organizationId: string,
  column: "name_folded" | "name_reversed",
  prefix: string,
  isWhole = false,
): Filter {
  const within = (name: RawBuilder<unknown>) =>
    isWhole
      ? sql<boolean>`${name} = ${prefix}`
      : sql<boolean>`${name} >= ${prefix} and ${name} < ${prefix + afterEverything}`
  const drive = sql<boolean>`workspaces.organization_id = ${organizationId} and ${within(sql.ref(`workspaces.${column}`))}`
  return { rows: sql`select 1 as one from workspaces where ${drive}`, drive, check: within(inert(dialect, column)) }
}

function projectFilter(dialect: DialectName, organizationId: string, projectId: string): Filter {
  const drive = sql<boolean>`workspaces.organization_id = ${organizationId} and workspaces.project_id = ${projectId}`
  return {
    rows: sql`select 1 as one from workspaces where ${drive}`,
    drive,
    // Without the unary plus: an index has the names of a project in order.
    check: sql`workspaces.project_id = ${projectId}`,
  }
}

function statusFilter(dialect: DialectName, organizationId: string, statuses: readonly string[]): Filter {
  const drive = sql<boolean>`workspaces.organization_id = ${organizationId}
    and ${among(dialect, sql.ref("workspaces.current_run_status"), statuses)}`
  return {
    rows: sql`select 1 as one from workspaces where ${drive}`,
    drive,
    // Without the unary plus for a single status: an index has the names of a status in order.
    check:
      statuses.length === 1
        ? sql`workspaces.current_run_status = ${statuses[0]}`
        : among(dialect, inert(dialect, "current_run_status"), statuses),
  }
}
