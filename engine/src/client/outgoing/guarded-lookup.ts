// Resolves names to permitted addresses only. The connection uses the addresses that were checked, so DNS rebinding has no effect.
import { lookup as lookUp, type LookupAddress, type LookupOptions } from "node:dns"
import { isIP, type LookupFunction } from "node:net"
import { FetchFailure } from "../../core/fetch.ts"
import { isPermitted, type PermittedAddresses } from "./address-guard.ts"

export interface GuardedLookupOptions {
  readonly permitted: PermittedAddresses
  /** Returns all addresses of a name. Default: the system's resolver, which reads the hosts file. */
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

/**
 * Returns the permitted addresses of a name or address, in the order of attempts. Throws `FetchFailure` if none is permitted, or the error
 * of the resolver.
 */
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

/** Returns an error if the host of the URL is an address that is not permitted. Names are checked when they are resolved. */
export function literalFailure({ hostname }: URL, permitted: PermittedAddresses): FetchFailure | undefined {
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
      : `${host} resolves to ${addresses.join(", ") || "no address"}, to which this server may not connect.`,
  )
