import type { StoredLease } from "./lease.ts"

export interface LeaseView extends Pick<StoredLease, "id" | "issuedAt" | "expiresAt"> {
  /** Whole seconds from now. */
  readonly remainingMs: number
}

/**
 * Leases of certificates, in all mounts. What is no lease, or has ended, is `unprocessable` to look at. A lease ends with its
 * certificate, with the token that asked for it, or by being revoked; the last two revoke the certificate.
 */
export interface Leases {
  lookup(id: string): Promise<LeaseView>
  /** What comes next in the ids below a path: names that end in a slash have more below them. */
  list(prefix: string): Promise<readonly string[]>
  /** One that is not there has ended already. */
  revoke(id: string): Promise<void>
  /**
   * All below a path. At once with `sync`, else soon; the answer is what to know about that. Below `auth/` these are the tokens
   * that were made there, which end at once.
   */
  revokePrefix(prefix: string, options?: { readonly sync?: boolean }): Promise<readonly string[]>
}

/** Where it is asked: each address is allowed by itself. Those without `leases` are what older clients use. */
export interface LeaseAddress<Endpoint extends string> {
  readonly endpoint: Endpoint
  /** The id stands in the address. */
  readonly inPath: boolean
}
export type RevokeEndpoint = "sys/leases/revoke" | "sys/revoke"
export type RenewEndpoint = "sys/leases/renew" | "sys/renew"
/** Force leaves behind what cannot be ended elsewhere; here nothing is elsewhere, so that it does the same. */
export type RevokePrefixEndpoint =
  | "sys/leases/revoke-prefix"
  | "sys/revoke-prefix"
  | "sys/leases/revoke-force"
  | "sys/revoke-force"

/** On the server's side. */
export interface ServedLeases extends Leases {
  lookup(id: string, address?: LeaseAddress<RenewEndpoint>): Promise<LeaseView>
  revoke(id: string, address?: LeaseAddress<RevokeEndpoint>): Promise<void>
  revokePrefix(
    prefix: string,
    options?: { readonly sync?: boolean; readonly endpoint?: RevokePrefixEndpoint },
  ): Promise<readonly string[]>
}
