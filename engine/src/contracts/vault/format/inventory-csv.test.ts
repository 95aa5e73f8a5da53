import { expect, test } from "vitest"
import type { MountInventoryEntry } from "../../../pki/issuance/certificate-inventory.ts"
import type { SerialNumber } from "../../../x509/serial-number.ts"
import { inventoryCsv } from "./inventory-csv.ts"

const entry: MountInventoryEntry = {
  mount: "pki",
  serialNumber: "0a:0b" as SerialNumber,
  commonName: "",
  names: [],
  issuerId: null,
  role: null,
  notBefore: 0,
  notAfter: 1_000,
  status: "revoked",
  revokedAt: 500,
}

async function csvOf(...pages: readonly (readonly MountInventoryEntry[])[]): Promise<string> {
  async function* all() {
    yield* pages
  }
  let csv = ""
  for await (const text of inventoryCsv(all())) csv += text
  return csv
}

test.each([
  ["plain", "plain"],
  ["a,b", '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ["two\nlines", '"two\nlines"'],
  ["*.example.com", "*.example.com"],
  ["=1+1", "'=1+1"],
  ["+1", "'+1"],
  ["-1", "'-1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
  ["\t=1", "'\t=1"],
])("[F-P17] the field %j is written %j", async (commonName, written) => {
  const line = (await csvOf([{ ...entry, commonName }])).slice((await csvOf()).length)
  expect(line).toBe(
    `pki/,0a:0b,${written},,,,1970-01-01T00:00:00.000Z,1970-01-01T00:00:01.000Z,revoked,1970-01-01T00:00:00.500Z\r\n`,
  )
})

test("[F-P17] inventoryCsv joins names in one field and yields the rows of every page", async () => {
  const text = await csvOf([{ ...entry, names: ["a.test", "b.test"] }, entry], [], [entry])
  expect(text.split("\r\n").map((line) => line.split(",")[3])).toEqual(["names", "a.test;b.test", "", "", undefined])
})
