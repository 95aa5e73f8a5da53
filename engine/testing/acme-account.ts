// An ACME account with its orders, created directly on the engine, for tests of what administrators do with them.
import type { AcmeAccountId } from "../src/acme/accounts/account.ts"
import type { AcmeOrderId } from "../src/acme/orders/order.ts"
import type { Directory } from "../src/acme/directory.ts"
import type { ServingEngine } from "../src/engine.ts"
import { readJwk } from "../src/x509/jwk.ts"
import { newAcmeKey } from "./acme-client.ts"

export interface TestAccount {
  readonly id: AcmeAccountId
  readonly thumbprint: string
  order(...names: readonly string[]): Promise<AcmeOrderId>
}

interface NewTestAccount {
  readonly directory?: Directory
  readonly contact?: readonly string[]
  /** Client address that the account is created from. */
  readonly address?: string
}

export async function newTestAccount(
  engine: ServingEngine,
  mountPath: string,
  { directory = {}, contact = [], address }: NewTestAccount = {},
): Promise<TestAccount> {
  const server = engine.acmeDirectory(mountPath, directory)
  const key = readJwk((await newAcmeKey()).jwk)
  const { account } = await server.newAccount(
    { nonce: (await server.enter()).newNonce(), ...key },
    { contact, termsOfServiceAgreed: true, onlyReturnExisting: false, binding: undefined, address },
  )
  const { thumbprint } = key
  return {
    id: account.id,
    thumbprint,
    async order(...names) {
      const signer = { nonce: (await server.enter()).newNonce(), accountId: account.id, thumbprint }
      const identifiers = names.map((value) => ({ type: "dns" as const, value }))
      const request = { identifiers, notBefore: null, notAfter: null, profile: null, replaces: null }
      return (await server.newOrder(signer, request)).id
    },
  }
}
