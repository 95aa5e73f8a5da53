import { readFile } from "node:fs/promises"
import { Command } from "commander"
import { formatInstant, type InstantOrOffset, parseInstantOrOffset } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import { inventoryStatuses } from "../pki/issuance/certificate.ts"
import { inventoryPages, type MountInventoryEntry, maxSearch } from "../pki/issuance/certificate-inventory.ts"
import { inventoryCsv } from "../contracts/vault/format/inventory-csv.ts"
import { CommandError, exitCodes, usageError } from "./exit-code.ts"
import { json, table } from "./report.ts"
import type { Terminal } from "./terminal.ts"
import { addCallerOptions, withCallerEngine } from "./with-caller-engine.ts"

export function certificateCommand(terminal: Terminal): Command {
  return new Command("certificate")
    .description("Search certificates, and import certificates that an issuer signed elsewhere.")
    .addCommand(searchCommand(terminal))
    .addCommand(importCommand(terminal))
}

interface SearchOptions {
  readonly mount?: readonly string[]
  readonly name?: string
  readonly role?: string
  readonly issuer?: string
  readonly status?: string
  readonly expiresAfter?: string
  readonly expiresBefore?: string
  readonly metadata?: string
  readonly limit?: string
  readonly csv?: true
  readonly json?: true
}

function searchCommand(terminal: Terminal): Command {
  const command = new Command("search")
    .description("Search the certificates of every mount that the caller may search. All filters must match.")
    .option("--mount <path>", "search this mount only; repeat it for several", appended)
    .option(
      "--name <name>",
      "common name or subject alternative name; *.example.com matches every name with that ending",
    )
    .option("--role <name>", "name of the role that issued the certificate")
    .option("--issuer <issuer>", "id or name of the issuer, or default; mounts without this issuer are skipped")
    .option("--status <list>", "comma-separated statuses: valid, expired, revoked")
    .option("--expires-before <time>", "expiry before a time (2030-01-31T12:00:00Z) or a duration from now (30d)")
    .option("--expires-after <time>", "expiry at or after a time or a duration from now (-7d: seven days ago)")
    .option("--metadata <base64>", "base64 of the metadata stored with the certificate")
    .option("--limit <number>", "maximum number of certificates to print (default: 1000; with --csv unlimited)")
    .option("--csv", "print CSV with a header row, during the search")
    .option("--json", "print a JSON array")
  addCallerOptions(command)
  return command.action((options: SearchOptions) =>
    withCallerEngine(command, terminal, (engine) => search(engine, terminal, options)),
  )
}

async function search({ certificateInventory }: Engine, terminal: Terminal, options: SearchOptions): Promise<void> {
  if (options.csv === true && options.json === true) throw usageError("Give one of --csv and --json.")
  const query = queryOf(options)
  const maximum = limitIn(options)
  const pages = inventoryPages((page) => certificateInventory.search(query, page), {
    limit: Math.min(maxSearch, maximum),
  })
  const found = firstOf(pages, maximum)
  if (options.csv === true) {
    for await (const text of inventoryCsv(found.pages)) {
      if (text !== "") terminal.out(text.replace(/\r\n$/, "\r"))
      await terminal.drained?.()
    }
  } else {
    const entries: MountInventoryEntry[] = []
    for await (const page of found.pages) entries.push(...page)
    terminal.out(options.json === true ? json(entries.map(shown)) : table(headings, entries.map(cells)))
  }
  if (found.isCut()) terminal.say(`More certificates match; to print them, give a --limit above ${maximum}, or --csv.`)
}

function queryOf({ mount, issuer, status, expiresAfter, expiresBefore, ...options }: SearchOptions) {
  const { name, role, metadata } = options
  const statuses = status?.split(",").map((one) => {
    const known = inventoryStatuses.find((word) => word === one.trim())
    if (known === undefined) throw usageError("--status must be a comma-separated list of valid, expired and revoked.")
    return known
  })
  return {
    ...(mount === undefined ? {} : { mounts: mount }),
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { role }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(issuer === undefined ? {} : { issuerRef: issuer }),
    ...(statuses === undefined ? {} : { status: statuses }),
    ...(expiresAfter === undefined ? {} : { expiresAfter: timeIn("--expires-after", expiresAfter) }),
    ...(expiresBefore === undefined ? {} : { expiresBefore: timeIn("--expires-before", expiresBefore) }),
  }
}

function timeIn(option: string, text: string): InstantOrOffset {
  const time = parseInstantOrOffset(text)
  if (time === undefined)
    throw usageError(
      `${option} must be a time such as 2030-01-31T12:00:00Z, or a duration from now such as 30d or -7d.`,
    )
  return time
}

function limitIn({ limit, csv }: SearchOptions): number {
  if (limit === undefined) return csv === true ? Number.POSITIVE_INFINITY : maxSearch
  const number = Number(limit)
  if (!Number.isSafeInteger(number) || number < 1) throw usageError("--limit must be a whole number above zero.")
  return number
}

/** Cuts pages after `maximum` entries, and reports whether more entries follow. */
function firstOf<T>(pages: AsyncIterable<readonly T[]>, maximum: number) {
  let isCut = false
  async function* first() {
    let count = 0
    for await (const page of pages) {
      if (page.length > 0 && count === maximum) {
        isCut = true
        return
      }
      yield page.slice(0, maximum - count)
      isCut = count + page.length > maximum
      if (isCut) return
      count += page.length
    }
  }
  return { pages: first(), isCut: () => isCut }
}

const headings = ["MOUNT", "SERIAL NUMBER", "NAME", "ROLE", "STATUS", "EXPIRES"]
const cells = ({ mount, serialNumber, commonName, names, role, status, notAfter }: MountInventoryEntry) => [
  mount,
  serialNumber,
  commonName || (names[0] ?? ""),
  role ?? "",
  status,
  formatInstant(notAfter),
]

const shown = (entry: MountInventoryEntry) => ({
  mount: entry.mount,
  serial_number: entry.serialNumber,
  common_name: entry.commonName,
  names: entry.names,
  issuer_id: entry.issuerId,
  role: entry.role,
  not_before: formatInstant(entry.notBefore),
  not_after: formatInstant(entry.notAfter),
  status: entry.status,
  revoked_at: entry.revokedAt === null ? null : formatInstant(entry.revokedAt),
})

const appended = (value: string, values: readonly string[] = []): readonly string[] => [...values, value]

function importCommand(terminal: Terminal): Command {
  const command = new Command("import")
    .description(
      "Import certificates that issuers of a mount signed elsewhere. After a failure, run the same command again.",
    )
    .argument("<mount>", "path of the mount, such as pki")
    .argument("<files...>", "PEM files with any number of certificates, or DER files with one certificate each")
  addCallerOptions(command)
  return command.action(async (mount: string, files: readonly string[]) => {
    const { maxImportedCertificates } = await import("../pki/issuance/certificate-import.ts")
    const texts = (await Promise.all(files.map(certificatesIn))).flat()
    let [imported, existing] = [0, 0]
    await withCallerEngine(command, terminal, async (engine) => {
      const { certificates } = engine.pki(mount)
      for (let at = 0; at < texts.length; at += maxImportedCertificates) {
        const part = await certificates.import(texts.slice(at, at + maxImportedCertificates))
        imported += part.imported.length
        existing += part.existing.length
      }
    })
    terminal.say(`Imported ${imported} certificates; ${existing} were already recorded.`)
  })
}

async function certificatesIn(file: string): Promise<readonly string[]> {
  let bytes
  try {
    bytes = await readFile(file)
  } catch (error) {
    throw new CommandError(exitCodes.failure, `The certificates cannot be read from ${file}.`, { cause: error })
  }
  const text = bytes.toString("latin1")
  const blocks = text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g)
  return blocks ?? [bytes.toString("base64")]
}
