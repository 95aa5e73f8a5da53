// Decides which addresses the server may connect to on behalf of clients. Without it, a client that names a host could reach what only the
// server can reach: its loopback interface, the cloud's metadata service, or internal hosts.
import { type IpRange, isInRange, parseIpAddress, parseIpRange } from "../../pki/names/ip-address.ts"

/** Kind of an address. Kinds that are no setting, such as `metadata`, are permitted only by a range. */
export type AddressKind =
  | "public"
  | "private"
  | "loopback"
  | "link-local"
  | "metadata"
  | "multicast"
  | "unspecified"
  | "reserved"

/** Non-public addresses that requests may reach. */
export interface PermittedAddresses {
  readonly kinds: readonly ("private" | "loopback" | "link-local")[]
  readonly ranges: readonly IpRange[]
  /** Ranges that are never reached, even if otherwise permitted. Default: none. */
  readonly excluded?: readonly IpRange[]
}

/** Returns true if the server may connect to the address. Returns false if the address cannot be parsed. */
export function isPermitted(address: string, permitted: PermittedAddresses): boolean {
  const octets = parseIpAddress(address)
  if (octets === undefined) return false
  if (permitted.excluded?.some((range) => isInRange(octets, range)) === true) return false
  if (permitted.ranges.some((range) => isInRange(octets, range))) return true
  const kind = kindOf(octets)
  return kind === "public" || permitted.kinds.some((one) => one === kind)
}

/** Parses a list such as `private,loopback,192.0.2.0/24`; `none` permits nothing. Returns undefined if the text is invalid. */
export function parsePermittedAddresses(text: string): PermittedAddresses | undefined {
  const kinds: PermittedAddresses["kinds"][number][] = []
  const ranges: IpRange[] = []
  if (text === "none") return { kinds, ranges }
  for (const part of text.split(",").map((one) => one.trim())) {
    if (part === "private" || part === "loopback" || part === "link-local") {
      kinds.push(part)
      continue
    }
    const range = parseIpRange(part)
    if (range === undefined) return undefined
    ranges.push(range)
  }
  return { kinds, ranges }
}

/**
 * Returns the kind of an address of 4 or 16 octets: that of the first range that contains it. RFC 6890 and its registries list the ranges.
 */
export function kindOf(octets: Uint8Array): AddressKind {
  const embedded = octets.length === 16 ? embeddedIpv4(octets) : undefined
  if (embedded !== undefined) return kindOf(embedded)
  const found = special.find(({ range }) => isInRange(octets, range))
  if (found !== undefined) return found.kind
  // Only 2000::/3 is allocated (RFC 4291, section 2.4).
  return octets.length === 4 || isInRange(octets, globalUnicast) ? "public" : "reserved"
}

const range = (text: string): IpRange => {
  const parsed = parseIpRange(text)
  if (parsed === undefined) throw new Error(`${text} is not a valid range`)
  return parsed
}
const globalUnicast = range("2000::/3")

const special: readonly { readonly range: IpRange; readonly kind: AddressKind }[] = (
  [
    // Metadata services of clouds, which return the identity and credentials of the machine.
    ["169.254.169.254/32", "metadata"],
    ["169.254.170.2/32", "metadata"],
    ["169.254.170.23/32", "metadata"],
    ["100.100.100.200/32", "metadata"],
    ["168.63.129.16/32", "metadata"],
    ["192.0.0.192/32", "metadata"],
    ["fd00:ec2::/32", "metadata"],
    ["fd20:ce::/32", "metadata"],
    ["0.0.0.0/8", "unspecified"],
    ["::/128", "unspecified"],
    ["127.0.0.0/8", "loopback"],
    ["::1/128", "loopback"],
    ["169.254.0.0/16", "link-local"],
    ["fe80::/10", "link-local"],
    ["10.0.0.0/8", "private"],
    ["172.16.0.0/12", "private"],
    ["192.168.0.0/16", "private"],
    // Shared between a provider and its customers, and used between machines in clouds (RFC 6598).
    ["100.64.0.0/10", "private"],
    ["fc00::/7", "private"],
    ["224.0.0.0/4", "multicast"],
    ["ff00::/8", "multicast"],
    ["192.0.0.0/24", "reserved"],
    ["192.0.2.0/24", "reserved"],
    ["192.88.99.0/24", "reserved"],
    ["198.18.0.0/15", "reserved"],
    ["198.51.100.0/24", "reserved"],
    ["203.0.113.0/24", "reserved"],
    ["240.0.0.0/4", "reserved"],
    // Teredo and other protocols that embed an address (RFC 2928), and documentation.
    ["2001::/23", "reserved"],
    ["2001:db8::/32", "reserved"],
    ["3fff::/20", "reserved"],
  ] as const
).map(([text, kind]) => ({ range: range(text), kind }))

const translated = range("64:ff9b::/96")
const sixToFour = range("2002::/16")

/** Returns the IPv4 address that a gateway would translate to: NAT64 (RFC 6052) and 6to4 (RFC 3056). */
function embeddedIpv4(octets: Uint8Array): Uint8Array | undefined {
  if (isInRange(octets, translated)) return octets.slice(12)
  return isInRange(octets, sixToFour) ? octets.slice(2, 6) : undefined
}
