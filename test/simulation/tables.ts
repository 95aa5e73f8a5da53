// The tables of docs/scale.md, from the measured costs in this folder.
import { readFileSync } from "node:fs"
import { type Costs, operationNames } from "./costs.ts"
import { capacities, type Capacity, issuesPerSecond } from "./model.ts"
import { atPart, firstQueuedBottleneck, scenarios } from "./scenarios.ts"

export const costsFile = new URL("costs.json", import.meta.url)
export const documentFile = new URL("../../docs/scale.md", import.meta.url)

export const measuredCosts = (): Costs => JSON.parse(readFileSync(costsFile, "utf8")) as Costs

/** Returns the tables by the names in the marks around them. */
export const tablesOf = (costs: Costs): Readonly<Record<string, string>> => ({
  limits: limitsTable(costs),
  waits: waitsTable(costs),
  costs: costsTable(costs),
  storage: storageTable(costs),
  lifetimes: lifetimesTable(),
})

/** Returns the document with every marked table replaced; throws if the document has no marks for a table. */
export function withTables(document: string, tables: Readonly<Record<string, string>>): string {
  let written = document
  for (const [name, table] of Object.entries(tables)) {
    const [from, to] = [`<!-- simulated: ${name} -->\n`, "<!-- end -->"]
    const begin = written.indexOf(from)
    const end = written.indexOf(to, begin)
    if (begin < 0 || end < 0) throw new Error(`the document has no place for the table "${name}"`)
    written = `${written.slice(0, begin)}${from}\n${table}\n\n${written.slice(end)}`
  }
  return written
}

function limitsTable(costs: Costs): string {
  const shown = ({ resource, requestsPerSecond }: Capacity) => `${resource}: ${count(requestsPerSecond)}`
  const rows = Object.entries(scenarios).map(([name, at]) => {
    const [first, second, third] = capacities(costs, at)
    return [name, ...[first, second, third].map((one) => (one === undefined ? "" : shown(one)))]
  })
  return table(["Requests", "First bottleneck (requests per second)", "Second", "Third"], rows)
}

const parts = [0.5, 0.8, 0.95]

function waitsTable(costs: Costs): string {
  const rows = Object.entries(scenarios).map(([name, at]) => {
    const { resource, requestsPerSecond } = firstQueuedBottleneck(costs, at)
    return [
      name,
      `${resource}: ${count(requestsPerSecond)}`,
      ...parts.map((part) => `${atPart(costs, at, part).p99Ms.toFixed(1)} ms`),
    ]
  })
  return table(["Requests", "First bottleneck of requests", ...parts.map((part) => `p99 at ${part * 100} %`)], rows)
}

function costsTable({ operations, idleDatabaseMs, flushMs, mountCheckMs, tidy }: Costs): string {
  return [
    table(
      ["Operation", "Replica", "Database", "Write-ahead log, without full pages"],
      operationNames.map((name) => {
        const { replicaMs, databaseMs, walBytes } = operations[name]
        return [`\`${name}\``, `${replicaMs} ms`, `${databaseMs} ms`, `${walBytes} bytes`]
      }),
    ),
    table(
      ["Other costs", ""],
      [
        ["database, per idle replica", `${idleDatabaseMs} ms per second`],
        ["commit flushed to disk", `${flushMs} ms`],
        ["mount check of an insert", `${mountCheckMs} ms`],
        ["removal of an expired certificate: database", `${tidy.databaseMs} ms`],
        ["tidy job", `${count(tidy.rowsPerSecond)} certificates per second`],
      ],
    ),
  ].join("\n\n")
}

function storageTable({ bytesPerCertificate, grown }: Costs): string {
  const total = Object.values(bytesPerCertificate).reduce((sum, each) => sum + each, 0)
  return [
    table(
      ["Table or index", "Bytes per certificate with two names"],
      [
        ...Object.entries(bytesPerCertificate)
          .toSorted(([, a], [, b]) => b - a)
          .map(([name, bytes]) => [`\`${name}\``, String(bytes)]),
        ["total", String(total)],
      ],
    ),
    table(
      ["Certificates stored", "Database time of an issue"],
      grown.map(({ rows, issueDatabaseMs }) => [count(rows), `${issueDatabaseMs} ms`]),
    ),
  ].join("\n\n")
}

const lifetimesTable = (): string =>
  table(
    ["Certificate lifetime", "Issued per second for 10⁹ live certificates"],
    [90, 30, 7, 1].map((days) => [days === 1 ? "1 day" : `${days} days`, count(issuesPerSecond(1e9, days))]),
  )

const count = (value: number): string =>
  Number.isFinite(value) ? Number(value.toPrecision(3)).toLocaleString("en") : "no limit"

/** Aligns a table as the repository's formatter does. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, column) => Math.max(3, name.length, ...rows.map((row) => (row[column] ?? "").length)))
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, at) => (cells[at] ?? "").padEnd(width)).join(" | ")} |`
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rows.map(line)].join("\n")
}
