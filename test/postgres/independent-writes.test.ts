// Writes of different objects do not cause each other's transactions to be retried on PostgreSQL, except those that share a row by design.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { recordedMetrics } from "../../engine/testing/recorded-metrics.ts"
import { type Users, openUsers } from "../security/permissions/users.ts"
import { request, prepare } from "../security/permissions/matrix.ts"
import { apiWrites, isServerFault, kind, maxRetries, newPostgresDatabase, pkiWrites, retriesOf } from "./retries.ts"
import { sharedRows } from "./shared-rows.ts"

const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

test("[F-R3] the list of shared rows names only endpoints that write, each with a reason", () => {
  const known = new Set([...apiWrites, ...pkiWrites.map((endpoint) => `/v1 ${endpoint}`)])
  expect(Object.keys(sharedRows).filter((endpoint) => !known.has(endpoint))).toEqual([])
  for (const reason of Object.values(sharedRows)) expect(reason).toMatch(/^[A-Z].{20,}\.$/)
})

describe.runIf(kind?.available)("16 clients that write different objects", () => {
  describe("below /api/v2", () => {
    const metrics = recordedMetrics()
    let testUsers: Users
    beforeAll(async () => {
      testUsers = opened.use(await openUsers({ url: (await newPostgresDatabase(opened)).url, jobs: false, metrics }))
    })

    test.each(apiWrites.filter((endpoint) => sharedRows[endpoint] === undefined))(
      "[F-R3] repeat at most one transaction of all: %s",
      async (endpoint) => {
        const { retries, statuses } = await retriesOf(metrics, async () => {
          const ready = await prepare(endpoint, await testUsers.newSubject(), "site administrator")
          return () => request(testUsers, ready, "site administrator")
        })
        expect(statuses.filter(isServerFault)).toEqual([])
        expect(retries).toBeLessThanOrEqual(maxRetries)
      },
    )
  })
})
