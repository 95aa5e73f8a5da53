// Which addresses the server may dial for somebody else. Without it whoever can name a host could reach, through the
// server, what only the server can reach: its own loopback, the metadata service of its cloud, the machines beside it.
import { type IpRange, isInRange, parseIpAddress, parseIpRange } from "../../pki/names/ip-address.ts"

/** `metadata` and the others that are no name of a setting are opened by their range alone. */
export type AddressKind =
  | "public"
  | "private"
  | "loopback"
  | "link-local"
  | "metadata"
  | "multicast"
  | "unspecified"
  | "reserved"

/** What may be reached besides public addresses. */
export interface PermittedAddresses {
  readonly kinds: readonly ("private" | "loopback" | "link-local")[]
  readonly ranges: readonly IpRange[]
  /** Never reached, whatever else permits it. Default: none. */
  readonly excluded?: readonly IpRange[]
}

/** An address that cannot be read is permitted by nothing. */
export function isPermitted(address: string, permitted: PermittedAddresses): boolean {
  const octets = parseIpAddress(address)
  if (octets === undefined) return false
  if (permitted.excluded?.some((range) => isInRange(octets, range)) === true) return false
  if (permitted.ranges.some((range) => isInRange(octets, range))) return true
  const kind = kindOf(octets)
  return kind === "public" || permitted.kinds.some((one) => one === kind)
}

/** `private,loopback,192.0.2.0/24`; `none` for nothing. Undefined where it cannot be read. */
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

/** Of 4 or 16 octets. The first range that holds an address says its kind; RFC 6890 and its registries have the list. */
export function kindOf(octets: Uint8Array): AddressKind {
  const embedded = octets.length === 16 ? embeddedIpv4(octets) : undefined
  if (embedded !== undefined) return kindOf(embedded)
  const found = special.find(({ range }) => isInRange(octets, range))
  if (found !== undefined) return found.kind
  // Only 2000::/3 is given out (RFC 4291, section 2.4).
  return octets.length === 4 || isInRange(octets, globalUnicast) ? "public" : "reserved"
}

const range = (text: string): IpRange => {
  const parsed = parseIpRange(text)
  if (parsed === undefined) throw new Error(`${text} is no range`)
  return parsed
}
const globalUnicast = range("2000::/3")

const special: readonly { readonly range: IpRange; readonly kind: AddressKind }[] = (
  [
    // Where clouds answer who the machine is, and give out its credentials.
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
    // Between a provider and its customers, and in clouds between machines (RFC 6598).
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
    // Teredo and other protocols that carry an address inside (RFC 2928), and documentation.
    ["2001::/23", "reserved"],
    ["2001:db8::/32", "reserved"],
    ["3fff::/20", "reserved"],
  ] as const
).map(([text, kind]) => ({ range: range(text), kind }))

const translated = range("64:ff9b::/96")
const sixToFour = range("2002::/16")

/** A gateway would take these to an IPv4 address: NAT64 (RFC 6052) and 6to4 (RFC 3056). */
function embeddedIpv4(octets: Uint8Array): Uint8Array | undefined {
  if (isInRange(octets, translated)) return octets.slice(12)
  return isInRange(octets, sixToFour) ? octets.slice(2, 6) : undefined
}
