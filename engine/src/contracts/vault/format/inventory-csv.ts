// The inventory of certificates as CSV (RFC 4180).
import { formatInstant } from "../../../core/time.ts"
import type { MountInventoryEntry } from "../../../pki/issuance/certificate-inventory.ts"

const columns: Readonly<Record<string, (entry: MountInventoryEntry) => string>> = {
  mount: ({ mount }) => `${mount}/`,
  serial_number: ({ serialNumber }) => serialNumber,
  common_name: ({ commonName }) => commonName,
  names: ({ names }) => names.join(";"),
  issuer_id: ({ issuerId }) => issuerId ?? "",
  role: ({ role }) => role ?? "",
  not_before: ({ notBefore }) => formatInstant(notBefore),
  not_after: ({ notAfter }) => formatInstant(notAfter),
  status: ({ status }) => status,
  revoked_at: ({ revokedAt }) => (revokedAt === null ? "" : formatInstant(revokedAt)),
}

/** Spreadsheets execute text that begins like this as a formula, and names come from certificate requests. */
const formula = /^[=+\-@\t\r]/

function field(text: string): string {
  const shown = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown
}

const line = (fields: readonly string[]): string => `${fields.map(field).join(",")}\r\n`

/** Yields the header, then one text for each page: no more than one page is held in memory. */
export async function* inventoryCsv(pages: AsyncIterable<readonly MountInventoryEntry[]>): AsyncGenerator<string> {
  yield line(Object.keys(columns))
  for await (const page of pages)
    yield page.map((entry) => line(Object.values(columns).map((column) => column(entry)))).join("")
}
