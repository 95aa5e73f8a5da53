import { invalid } from "../../core/errors.ts"
import { parseSerialNumber, type SerialNumber } from "../../x509/serial-number.ts"
import { type KeyPage, limitOf } from "../key-page.ts"
import type { SerialNumberPage } from "./certificate.ts"

/** Of a list of serial numbers. Throws `invalid` for an `after` that is none. */
export const serialNumberPageOf = (page: KeyPage, maximum: number): SerialNumberPage => ({
  limit: limitOf(page, maximum),
  after: page.after === undefined || page.after === "" ? undefined : serialNumberIn(page.after, "after"),
})

/** Throws `invalid` naming the field. */
export function serialNumberIn(text: string, field: string): SerialNumber {
  const serialNumber = parseSerialNumber(text)
  if (serialNumber !== undefined) return serialNumber
  throw invalid([{ field: [field], detail: "must be a serial number in hexadecimal, with colons or hyphens" }])
}
