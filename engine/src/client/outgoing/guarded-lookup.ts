// Looks up a name and answers only with addresses that may be dialled, so that the connection goes to the very addresses that
// were looked at: a name which answers differently the second time gains nothing.
import { lookup as lookUp, type LookupAddress, type LookupOptions } from "node:dns"
import { isIP, type LookupFunction } from "node:net"
import { FetchFailure } from "../../core/fetch.ts"
import { isPermitted, type PermittedAddresses } from "./address-guard.ts"

export interface GuardedLookupOptions {
  readonly permitted: PermittedAddresses
  /** All addresses of a name; the system's resolver, with its hosts file, unless given. */
  readonly resolve?: (host: string) => Promise<readonly LookupAddress[]>
}

export function guardedLookup(options: GuardedLookupOptions): LookupFunction {
  return (host, { all }, answer) => {
    permittedAddresses(host, options).then(
      (usable) => {
        const [first] = usable
        if (all === true) answer(null, [...usable])
        else answer(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => answer(error, "", 0),
    )
  }
}

/** Of a name or an address, in the order in which they are tried. Throws `FetchFailure` where none is permitted, or the resolver's error. */
export async function permittedAddresses(
  host: string,
  { permitted, resolve = systemResolve }: GuardedLookupOptions,
): Promise<readonly [LookupAddress, ...LookupAddress[]]> {
  const family = isIP(host)
  const found = family === 0 ? await resolve(host) : [{ address: host, family }]
  const [first, ...others] = found.filter(({ address }) => isPermitted(address, permitted))
  if (first !== undefined) return [first, ...others]
  throw refusedAddress(
    host,
    found.map(({ address }) => address),
  )
}

/** Why this URL must not be dialled: its host is an address that is not permitted. A name is looked at when it is resolved. */
export function literalRefusal({ hostname }: URL, permitted: PermittedAddresses): FetchFailure | undefined {
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname
  return isIP(host) !== 0 && !isPermitted(host, permitted) ? refusedAddress(host, [host]) : undefined
}

const systemResolve = (host: string): Promise<readonly LookupAddress[]> =>
  new Promise((resolve, reject) => {
    const options: LookupOptions & { all: true } = { all: true }
    lookUp(host, options, (error, addresses) => (error === null ? resolve(addresses) : reject(error)))
  })

const refusedAddress = (host: string, addresses: readonly string[]): FetchFailure =>
  new FetchFailure(
    "refused-address",
    addresses.includes(host)
      ? `This server may not connect to ${host}.`
      : `${host} leads to ${addresses.join(", ") || "no address"}, where this server may not connect.`,
  )
