import { describe, expect, test } from "vitest"
import { dayMs } from "../../core/time.ts"
import type { MountId } from "../mounts/mount.ts"
import { countMount } from "./count-certificates.ts"
import type { ExpiryPlace, StatisticsRepository } from "./mount-statistics.ts"

interface Row extends ExpiryPlace {
  readonly role: string
  readonly isRevoked: boolean
}

const mountId = "mnt-1" as MountId
const now = 1_000_000

const isAfter = (row: ExpiryPlace, { notAfter, number }: ExpiryPlace): boolean =>
  row.notAfter > notAfter || (row.notAfter === notAfter && row.number > number)

/** Creates a fake repository. `looks` has the number of rows read by each query. */
function storeOf(rows: readonly Omit<Row, "number">[]) {
  const looks: number[] = []
  const inOrder = rows
    .map((row, index) => ({ ...row, number: index + 1 }))
    .toSorted((one, other) => one.notAfter - other.notAfter || one.number - other.number)
  const store: Pick<StatisticsRepository, "countPart" | "nextRole" | "ofRole"> = {
    async countPart({ revoked, after, before }, limit) {
      const found = inOrder
        .filter((row) => isAfter(row, after) && row.notAfter < before && (!revoked || row.isRevoked))
        .slice(0, limit)
      looks.push(found.length)
      return { count: found.length, next: found.length === limit ? found.at(-1) : undefined }
    },
    async nextRole(_mountId, after) {
      return inOrder
        .map(({ role }) => role)
        .filter((role) => role > after)
        .toSorted()[0]
    },
    async ofRole(_mountId, role, after, limit) {
      const found = inOrder.filter((row) => row.role === role && isAfter(row, after)).slice(0, limit)
      looks.push(found.length)
      return found
    },
  }
  return { store: store as StatisticsRepository, looks }
}

async function counted(rows: readonly Omit<Row, "number">[]) {
  const { store, looks } = storeOf(rows)
  const statistics = await countMount((work) => work(store), mountId, now, new AbortController().signal)
  return { statistics, looks }
}

const row = (notAfter: number, role = "web", isRevoked = false) => ({ notAfter, role, isRevoked })

test.each([
  { notAfter: now - 1, expired: 1, within: [0, 0, 0] },
  { notAfter: now, expired: 0, within: [1, 1, 1] },
  { notAfter: now + dayMs - 1, expired: 0, within: [1, 1, 1] },
  { notAfter: now + dayMs, expired: 0, within: [0, 1, 1] },
  { notAfter: now + 7 * dayMs, expired: 0, within: [0, 0, 1] },
  { notAfter: now + 30 * dayMs, expired: 0, within: [0, 0, 0] },
])(
  "a certificate until $notAfter is counted as expired ($expired) or expiring within $within",
  async ({ notAfter, expired, within }) => {
    const { statistics } = await counted([row(notAfter)])
    expect(statistics).toMatchObject({
      countedAt: now,
      valid: 1 - expired,
      expired,
      revoked: 0,
      expiringWithin: within,
    })
  },
)

test("a revoked certificate is counted as revoked only", async () => {
  const { statistics } = await counted([
    row(now - 5, "web", true),
    row(now + 5, "web", true),
    row(now + 6),
    row(now + 2 * dayMs, "web", true),
  ])
  expect(statistics).toMatchObject({ valid: 1, expired: 0, revoked: 3, expiringWithin: [1, 1, 1] })
})

describe("the earliest expiry of each role", () => {
  test("is that of a valid certificate, and roles are sorted by it", async () => {
    const { statistics } = await counted([
      row(now + 9, "b"),
      row(now + 7, "a"),
      row(now - 1, "a"),
      row(now + 3, "a", true),
      row(now + 8, "c", true),
      row(now - 2, "d"),
      row(now + 5, ""),
    ])
    expect(statistics.soonestOfRoles).toEqual([
      { role: "a", notAfter: now + 7 },
      { role: "b", notAfter: now + 9 },
    ])
    expect(statistics.rolesLeftOut).toBe(0)
  })

  test("is found behind any number of revoked certificates", async () => {
    const revoked = Array.from({ length: 3_000 }, (_, index) => row(now + index, "web", true))
    const { statistics } = await counted([...revoked, row(now + 5_000)])
    expect(statistics.soonestOfRoles).toEqual([{ role: "web", notAfter: now + 5_000 }])
  })

  test("is returned for the roles that expire first", async () => {
    const roles = Array.from({ length: 502 }, (_, index) => row(now + 1_000 - index, `role-${index}`))
    const { statistics } = await counted(roles)
    expect([statistics.soonestOfRoles.length, statistics.rolesLeftOut]).toEqual([500, 2])
    expect(statistics.soonestOfRoles[0]).toEqual({ role: "role-501", notAfter: now + 499 })
  })
})

test("a step reads at most ten thousand certificates", async () => {
  const { statistics, looks } = await counted(Array.from({ length: 25_000 }, () => row(now + 5)))
  expect(statistics.valid).toBe(25_000)
  expect(Math.max(...looks)).toBe(10_000)
  expect(looks.filter((count) => count === 10_000)).toHaveLength(2)
})

test("a count ends when its time is up", async () => {
  const stopped = AbortSignal.abort(new Error("enough"))
  const { store } = storeOf([row(now)])
  await expect(countMount((work) => work(store), mountId, now, stopped)).rejects.toThrow("enough")
})
