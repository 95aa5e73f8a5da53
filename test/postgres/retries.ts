// Counts retried transactions while many clients write different objects on PostgreSQL.
import { databaseKinds, temporaryDatabase, type TemporaryDatabase } from "../../engine/testing/temporary-database.ts"
import type { RecordedMetrics } from "../../engine/testing/recorded-metrics.ts"
import { endpoints } from "../security/permissions/matrix.ts"
import { pkiEndpoints } from "../security/permissions/pki/matrix.ts"

export const clients = 16
export const retriesPerWrite = 1 / 20
/** Limit for the writes of all clients at once. PostgreSQL can cause one retry by itself, for example when it splits an index page. */
export const maxRetries = 1
export const apiWrites = endpoints.filter((endpoint) => !endpoint.startsWith("GET "))
export const pkiWrites = pkiEndpoints.filter((endpoint) => !/^(GET|LIST) /.test(endpoint))

export const kind = databaseKinds.find(({ name }) => name === "PostgreSQL")

export async function newPostgresDatabase(opened: AsyncDisposableStack): Promise<TemporaryDatabase> {
  if (kind === undefined) throw new Error("no PostgreSQL to test on")
  return opened.use(await temporaryDatabase(kind))
}

export const retryCount = (metrics: RecordedMetrics): number => metrics.value("chancery_storage_retries_total")

/** Sends requests of all clients at once; returns the number of retried transactions, and the statuses of the answers. */
export async function retriesOf(
  metrics: RecordedMetrics,
  prepared: () => Promise<() => Promise<{ readonly status: number }>>,
): Promise<{ readonly retries: number; readonly statuses: readonly number[] }> {
  const requests: (() => Promise<{ readonly status: number }>)[] = []
  for (let client = 0; client < clients; client += 1) requests.push(await prepared())
  const before = retryCount(metrics)
  const answers = await Promise.all(requests.map((request) => request()))
  return { retries: retryCount(metrics) - before, statuses: answers.map(({ status }) => status) }
}

export const isServerFault = (status: number): boolean => status >= 500
