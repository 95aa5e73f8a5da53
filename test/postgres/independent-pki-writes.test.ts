// The scenario of `independent-writes.test.ts` for endpoints below `/v1`.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { recordedMetrics } from "../../engine/testing/recorded-metrics.ts"
import { openPkiUsers, type PkiUsers } from "../security/permissions/pki/users.ts"
import { requestPki, preparePki } from "../security/permissions/pki/matrix.ts"
import { clients, isServerFault, kind, maxRetries, newPostgresDatabase, pkiWrites, retriesOf } from "./retries.ts"
import { sharedRows } from "./shared-rows.ts"

/** A server has at most 1000 auth methods, and each request about one uses a separate method. */
const endpointsPerStore = Math.floor(1000 / clients)
const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

describe.runIf(kind?.available)("16 clients that write different objects", () => {
  const independent = pkiWrites.filter((endpoint) => sharedRows[`/v1 ${endpoint}`] === undefined)
  const shares = Array.from({ length: Math.ceil(independent.length / endpointsPerStore) }, (_, share) =>
    independent.slice(share * endpointsPerStore, (share + 1) * endpointsPerStore),
  )

  describe.each(shares)("below /v1, share %#", (...endpoints) => {
    const metrics = recordedMetrics()
    let testUsers: PkiUsers
    beforeAll(async () => {
      testUsers = opened.use(await openPkiUsers({ url: (await newPostgresDatabase(opened)).url, jobs: false, metrics }))
    })

    test.each(endpoints)("[F-R3] repeat at most one transaction of all: %s", async (endpoint) => {
      const { retries, statuses } = await retriesOf(metrics, async () => {
        const ready = await preparePki(endpoint, await testUsers.newSubject(), "root")
        return () => requestPki(testUsers, ready, "root")
      })
      expect(statuses.filter(isServerFault)).toEqual([])
      expect(retries).toBeLessThanOrEqual(maxRetries)
    })
  })
})
