import { sql, type SelectQueryBuilder } from "kysely"
import { mapPage, offsetOf, type Page, type PageRequest, pageOf } from "../core/page.ts"
import type { Session } from "./session.ts"
import type { Tables } from "./tables.ts"

/** One page of what the query selects, in its order, and the count of all of it. */
export async function paged<Table extends keyof Tables, Row, T>(
  session: Session,
  query: SelectQueryBuilder<Tables, Table, Row>,
  page: PageRequest,
  valueOf: (row: Row) => T,
): Promise<Page<T>> {
  const counted = await session.first<{ count: number }>(
    query
      .clearSelect()
      .clearOrderBy()
      .select(sql<number>`count(*)`.as("count")) as never,
  )
  const rows = await session.all<Row>(query.limit(page.size).offset(offsetOf(page)) as never)
  return mapPage(pageOf(rows, page, counted?.count ?? 0), valueOf)
}
