import { type SelectQueryBuilder, sql } from "kysely"
import { offsetOf, type Page, pageOf, type PageRequest } from "../../core/page.ts"
import type { QueryRunner } from "./query-runner.ts"

/** Returns one page of an ordered query, with the total number of rows. */
export async function selectPage<DB, TB extends keyof DB, Row, Item>(
  session: QueryRunner,
  query: SelectQueryBuilder<DB, TB, Row>,
  request: PageRequest,
  itemOf: (row: Row) => Item,
): Promise<Page<Item>> {
  const counting = query
    .clearSelect()
    .clearOrderBy()
    .select(sql<number>`count(*)`.as("count"))
  const counted = await session.queryOne<{ count: number }>(counting)
  const rows = await session.queryMany<Row>(query.limit(request.size).offset(offsetOf(request)))
  return pageOf(rows.map(itemOf), request, counted?.count ?? 0)
}
