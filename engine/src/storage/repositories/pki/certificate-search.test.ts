import { type RawBuilder, sql } from "kysely"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { IssuerId } from "../../../core/ids.ts"
import { dayMs } from "../../../core/time.ts"
import { type CertificateQuery, inventoryStatusOf, type InventoryStatus } from "../../../pki/issuance/certificate.ts"
import { filingRangeAt } from "../../../pki/issuance/certificate-partitions.ts"
import { SqlCertificateRepository } from "./certificate-repository.ts"
import { certificateSearch } from "./certificate-search.ts"
import { filingRangesOver } from "../../partitions/certificate-partitions.ts"
import { inventory, inventoryMount, inventoryNow, writeInventory } from "../../../../testing/temporary-inventory.ts"
import { databaseKinds, type TemporaryDatabase, temporaryDatabase } from "../../../../testing/temporary-database.ts"

const now = inventoryNow
const mountId = inventoryMount

const someStatuses: readonly (readonly InventoryStatus[])[] = [
  ["valid"],
  ["expired"],
  ["revoked"],
  ["valid", "expired"],
  ["valid", "revoked"],
  ["expired", "revoked"],
]

const questions: readonly CertificateQuery[] = [
  {},
  { role: "role-1" },
  { issuerId: "iss-1" as IssuerId },
  { role: "role-1", issuerId: "iss-1" as IssuerId },
  { name: "n12.a.test" },
  { name: "*.a.test" },
  { metadata: "dGVhbQ==" },
  { metadata: "dGVhbQ==", role: "role-0" },
  { metadata: "none" },
  { expiresBefore: 2_000_000 },
  { expiresAfter: 1_000_000, expiresBefore: 5_000_000 },
  { role: "role-2", expiresAfter: 5_000_000 },
  { metadata: "b3RoZXI=", expiresAfter: 5_000_000 },
  { name: "*.b.test", expiresAfter: 5_500_000 },
  ...someStatuses.flatMap((of) => {
    const status = { of, now }
    return [
      { status },
      { status, role: "role-0" },
      { status, issuerId: "iss-0" as IssuerId },
      { status, name: "*.a.test" },
      { status, metadata: "dGVhbQ==" },
      { status, expiresAfter: 1_000_000, expiresBefore: 4_000_000 },
    ]
  }),
]

function answers({ name, role, issuerId, expiresAfter, expiresBefore, metadata, status }: CertificateQuery): string[] {
  return inventory
    .filter(
      (one) =>
        (name === undefined || (name.startsWith("*") ? one.name.endsWith(name.slice(1)) : one.name === name)) &&
        (role === undefined || one.role === role) &&
        (issuerId === undefined || one.issuerId === issuerId) &&
        (expiresAfter === undefined || one.notAfter >= expiresAfter) &&
        (expiresBefore === undefined || one.notAfter < expiresBefore) &&
        (metadata === undefined || one.metadata === metadata) &&
        (status === undefined || status.of.includes(inventoryStatusOf(one, now))),
    )
    .map(({ n }) => String(n))
}

const weekMs = 7 * dayMs
/** Among four certificates, one is unfiled, and one is in a week without a partition. */
const placeOf = (n: number): number => (n % 4) * 10 * weekMs
const kinds = databaseKinds
  .filter(({ available, name }) => available && name !== "SQLite memory")
  .flatMap((kind) => [
    { kind, label: kind.name, isFiled: false },
    ...(kind.name === "PostgreSQL" ? [{ kind, label: "PostgreSQL in partitions", isFiled: true }] : []),
  ])

describe.each(kinds)("the inventory on $label", ({ kind, isFiled }) => {
  let opened: TemporaryDatabase
  beforeAll(async () => {
    opened = await temporaryDatabase(kind, { unused: true })
    if (isFiled) {
      const ranges = filingRangesOver(opened.database)
      for (const place of [10, 20, 21, 22, 23]) await ranges.make(filingRangeAt(place * weekMs))
    }
    await opened.database.transact((session) => writeInventory(session, isFiled ? placeOf : () => 0))
  })
  afterAll(() => opened[Symbol.asyncDispose]())

  test.each(questions)("is found page by page, each certificate once: %j", async (query) => {
    const found: string[] = []
    for (let after: string | undefined = ""; after !== undefined;) {
      const page = await opened.database.read((session) =>
        new SqlCertificateRepository(session).search(mountId, query, {
          limit: 700,
          ...(after === "" ? {} : { after: after ?? "" }),
        }),
      )
      found.push(...page.items.map(({ commonName }) => commonName))
      after = page.next
    }
    expect(found.toSorted()).toEqual(answers(query).toSorted())
  })

  test.each<{ query: CertificateQuery; order: readonly number[]; why: string }>([
    { query: { role: "role-1" }, order: [-1], why: "the last to expire first" },
    { query: { metadata: "dGVhbQ==" }, order: [-1], why: "the last to expire first" },
    { query: { status: { of: ["valid", "revoked"], now } }, order: [1], why: "the soonest to expire first" },
    { query: { metadata: "dGVhbQ==", expiresAfter: 0 }, order: [1], why: "the soonest to expire first" },
  ])("is sorted for $query: $why", async ({ query, order: [sign = 1] }) => {
    const { items } = await opened.database.read((session) =>
      new SqlCertificateRepository(session).search(mountId, query, { limit: 500 }),
    )
    const times = items.map(({ notAfter }) => notAfter)
    expect(times).toEqual(times.toSorted((one, other) => sign * (one - other)))
  })

  test.each(questions)("reads no more rows than a page asks for: %j", async (query) => {
    for (const after of [undefined, await nextOf(query)]) {
      const plan = await planOf(query, after)
      const text = plan.join("\n")
      expect(text).toMatch(driverOf(query))
      expect(text).not.toMatch(/SCAN [cdn]\b(?! USING INDEX)/)
      expect(text).not.toMatch(/Seq Scan/)
      // A page that is merged from two queries is sorted after each of them was limited to the page size.
      const isOfParts = isFiled ? query.status?.of.length === 2 : /part_0|Merge Append/.test(text)
      expect(isOfParts ? [] : text.match(/-> +(Incremental )?Sort\b|USE TEMP B-TREE FOR ORDER BY/g)).toEqual(
        isOfParts ? [] : null,
      )
    }
  })

  async function nextOf(query: CertificateQuery): Promise<string | undefined> {
    return opened.database.read(
      async (session) => (await new SqlCertificateRepository(session).search(mountId, query, { limit: 5 })).next,
    )
  }

  function planOf(query: CertificateQuery, after: string | undefined): Promise<readonly string[]> {
    return opened.database.read(async (session) => {
      const search: RawBuilder<unknown> = certificateSearch(session, mountId, query, {
        limit: 5,
        ...(after === undefined ? {} : { after }),
      })
      if (session.dialect === "sqlite")
        return (await session.queryMany(sql<{ detail: string }>`explain query plan ${search}`)).map(
          ({ detail }) => detail,
        )
      return (await session.queryMany(sql<{ "QUERY PLAN": string }>`explain ${search}`)).map((row) => row["QUERY PLAN"])
    })
  }
})

/** Returns the index that must drive the search, as the plans of both databases print it. */
function driverOf({ name, metadata, role, issuerId, expiresAfter, expiresBefore, status }: CertificateQuery): RegExp {
  const index = (named: string) => new RegExp(`(SEARCH [cd] USING INDEX|Index Scan.* (using|on)) ${named}\\b`)
  if (name !== undefined) return /SEARCH n USING (PRIMARY KEY|INDEX)|certificate_names_pkey/
  if (metadata !== undefined) return index("certificate_metadata_by_content")
  if (status?.of.includes("revoked") === true) return index("certificates_revoked")
  if (role !== undefined) return index("certificates_by_role")
  const isOfTime = expiresAfter !== undefined || expiresBefore !== undefined || status !== undefined
  // An issuer has issued half of all certificates, so PostgreSQL finds its newest ones quickly without an index by issuer.
  return index(isOfTime || issuerId === undefined ? "certificates_by_expiry" : "certificates_(by_issuer|pkey)")
}
