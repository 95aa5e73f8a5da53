// The matrix of ACME clients and kinds of orders. Each client obtains, renews and revokes an order of each kind; unsupported kinds have a
// reason.
import { type AcmeFixture, type Binding, namesInChain, responderHost } from "./acme-fixture.ts"

interface OrderKind {
  readonly challenge: "http-01" | "dns-01" | "tls-alpn-01"
  /** Returns the DNS names of an order. `base` is unique to it. */
  readonly names: (base: string) => readonly string[]
  readonly addresses?: readonly string[]
  /** True if the order uses an externally bound account, on the mount that requires one. */
  readonly isBound: boolean
}

/** Keyed by the name in titles and in `docs/acme.md`. */
export const orderKinds = {
  "several names over http-01": { challenge: "http-01", names: both, isBound: false },
  "one name over http-01, bound": { challenge: "http-01", names: one, isBound: true },
  "a name and an address over http-01": {
    challenge: "http-01",
    names: one,
    addresses: [responderHost],
    isBound: false,
  },
  "a wildcard over dns-01": { challenge: "dns-01", names: (base) => [base, `*.${base}`], isBound: false },
  "several names over dns-01, bound": { challenge: "dns-01", names: both, isBound: true },
  "several names over tls-alpn-01": { challenge: "tls-alpn-01", names: both, isBound: false },
  "one name over tls-alpn-01, bound": { challenge: "tls-alpn-01", names: one, isBound: true },
} as const satisfies Readonly<Record<string, OrderKind>>

export type OrderTitle = keyof typeof orderKinds

function one(base: string): readonly string[] {
  return [base]
}

function both(base: string): readonly string[] {
  return [`a.${base}`, `b.${base}`]
}

export interface Wanted {
  /** Unique to the order, for use as a folder and an account name. */
  readonly id: string
  readonly challenge: OrderKind["challenge"]
  readonly names: readonly string[]
  readonly addresses: readonly string[]
  readonly directory: string
  readonly binding: Binding | undefined
  /** Loopback address for clients that answer challenges themselves, at any port. The names resolve to it. */
  readonly host: string
}

/** A certificate in a client's storage. */
export interface ObtainedCertificate {
  /** Returns the PEM of the certificate and its chain. */
  bundle(): Promise<string>
  renew(): Promise<void>
  revoke(): Promise<void>
}

export interface AcmeClient {
  readonly name: string
  /** Challenges that the client answers itself; the responder answers the others. */
  readonly answers: readonly OrderKind["challenge"][]
  /** Revocation reason on the CRL. Clients that can send a reason are run with `superseded`. */
  readonly reason: "Superseded" | "Unspecified"
  readonly cannot: Readonly<Partial<Record<OrderTitle, string>>>
  obtain(fixture: AcmeFixture, wanted: Wanted): Promise<ObtainedCertificate>
}

/** An order that a client can place. */
export interface Row {
  readonly title: OrderTitle
  readonly kind: OrderKind
  /** Unique to the row. */
  readonly number: number
  readonly outcome: Outcome
}

/** Facts about the certificate, its renewal, and the revocation of the renewed one. */
interface Outcome {
  readonly names: readonly string[]
  readonly namesRenewed: readonly string[]
  readonly isAnother: boolean
  readonly hasUsedBinding: boolean
  /** Revocation reason of each on the CRL; undefined if not revoked. */
  readonly revoked: { readonly first: string | undefined; readonly renewed: string | undefined }
}

/** Returns the orders that a client supports, each with the outcome of a success. */
export function rowsOf({ cannot, reason }: AcmeClient): readonly Row[] {
  return (Object.entries(orderKinds) as [OrderTitle, OrderKind][]).flatMap(([title, kind], at) => {
    const number = at + 2
    const names = [
      ...kind.names(baseOf(number)).map((name) => `DNS:${name}`),
      ...(kind.addresses ?? []).map((address) => `IP Address:${address}`),
    ].toSorted()
    const outcome = {
      names,
      namesRenewed: names,
      isAnother: true,
      hasUsedBinding: kind.isBound,
      revoked: { first: undefined, renewed: reason },
    }
    return cannot[title] === undefined ? [{ title, kind, number, outcome }] : []
  })
}

const baseOf = (number: number): string => `order-${number}.example.com`

/** Obtains, renews and revokes a certificate. */
export async function runOrder(client: AcmeClient, fixture: AcmeFixture, { kind, number }: Row): Promise<Outcome> {
  const { challenge, isBound, addresses = [] } = kind
  const names = kind.names(baseOf(number))
  const host = `127.0.0.${number}`
  if (client.answers.includes(challenge))
    for (const name of names) await fixture.responder.tell("add-a", { host: name, addresses: [host] })
  const mount = isBound ? fixture.bound : fixture
  const binding = isBound ? await mount.newBinding() : undefined
  const directory = mount.directory()

  const id = `order-${number}`
  const obtained = await client.obtain(fixture, { id, challenge, names, addresses, directory, binding, host })
  const first = await obtained.bundle()
  const unused = await mount.unusedBindings()
  await obtained.renew()
  const renewed = await obtained.bundle()
  await obtained.revoke()
  return {
    names: namesInChain(first, fixture.root),
    namesRenewed: namesInChain(renewed, fixture.root),
    isAnother: renewed !== first,
    hasUsedBinding: binding !== undefined && !unused.includes(binding.id),
    revoked: { first: await mount.revocation(first), renewed: await mount.revocation(renewed) },
  }
}
