// Identifiers of orders (RFC 8555, section 7.1.3; RFC 8738).
import { isWildcardLabel, toDnsName } from "../../pki/names/host-names.ts"
import { formatIpAddress, parseIpAddress } from "../../pki/names/ip-address.ts"
import { AcmeProblem } from "../problem.ts"

export interface Identifier {
  readonly type: "dns" | "ip"
  /** Lower case; an address in the form of RFC 5952. A wildcard begins with `*.`. */
  readonly value: string
}

/** Identifier of an authorization: a wildcard is proved by its base (RFC 8555, section 7.1.4). */
export interface ProvedIdentifier extends Identifier {
  readonly wildcard: boolean
}

const isType = (type: unknown): type is Identifier["type"] => type === "dns" || type === "ip"

/** Throws `unsupportedIdentifier`, `rejectedIdentifier`, or `malformed` if the value is not a name or an address. */
export function readIdentifier(type: unknown, value: unknown): Identifier {
  if (!isType(type))
    throw new AcmeProblem("unsupportedIdentifier", `The "type" of an identifier must be "dns" or "ip".`)
  if (typeof value !== "string" || value === "" || value.length > maxValue)
    throw new AcmeProblem("malformed", `The "value" of an identifier must be a string of 1 to ${maxValue} characters.`)
  return type === "dns" ? { type, value: readName(value) } : { type, value: readAddress(value) }
}

const maxValue = 255

function readName(value: string): string {
  const refuse = (why: string) => new AcmeProblem("rejectedIdentifier", `${JSON.stringify(value)} ${why}.`)
  // Clients must send A-labels for names with other letters (RFC 8555, section 7.1.4).
  if (/[^\x21-\x7e]/.test(value))
    throw refuse("contains characters other than printable ASCII; write other letters as A-labels (xn--…)")
  if (parseIpAddress(value) !== undefined || /^\d+(\.\d+){3}\.?$/.test(value))
    throw refuse('is an IP address; use an identifier of the type "ip"')
  if (value.endsWith(".")) throw refuse("must not end with a dot")
  const name = value.toLowerCase()
  const base = name.startsWith("*.") ? name.slice(2) : name
  if (base.includes("*")) throw refuse("contains a wildcard that is not its whole first label")
  const read = toDnsName(base, { enforceHostnames: true })
  if (read === undefined || isWildcardLabel(read)) throw refuse("is not a valid host name")
  if (endsInNumber(read)) throw refuse("ends in a number; resolvers and clients may read it as an IP address")
  return name.startsWith("*.") ? `*.${read}` : read
}

/**
 * Returns true if the last label holds no letter, or is a hexadecimal number. `inet_aton` and the URL standard read such names as IPv4
 * addresses (`127.1`, `0x7f.1`, `2130706433`), and no top-level domain is one (RFC 3696, section 2).
 */
const endsInNumber = (name: string): boolean => /(?:^|\.)(?:[^a-z.]+|0x[0-9a-f]*)$/.test(name)

function readAddress(value: string): string {
  const octets = parseIpAddress(value)
  if (octets === undefined) throw new AcmeProblem("malformed", `${JSON.stringify(value)} is not a valid IP address.`)
  if (octets.length === 4 && value.includes(":"))
    throw new AcmeProblem(
      "rejectedIdentifier",
      `${JSON.stringify(value)} is an IPv4-mapped address; use ${formatIpAddress(octets)}.`,
    )
  return formatIpAddress(octets)
}

/** Sorts and removes duplicates, so that two orders for the same names have equal identifiers. */
export function distinctIdentifiers(identifiers: readonly Identifier[]): readonly Identifier[] {
  const byText = new Map(identifiers.map((identifier) => [`${identifier.type} ${identifier.value}`, identifier]))
  return [...byText].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, identifier]) => identifier)
}

export const isWildcard = ({ value }: Identifier): boolean => value.startsWith("*.")

export const provedBy = (identifier: Identifier): ProvedIdentifier => ({
  type: identifier.type,
  value: isWildcard(identifier) ? identifier.value.slice(2) : identifier.value,
  wildcard: isWildcard(identifier),
})
