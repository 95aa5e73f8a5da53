// The npm package acme-client, which programs use as a library. It covers every client operation on accounts, orders and authorizations.
import { type Authorization, Client, type ClientOptions, crypto } from "acme-client"
import type { AcmeClient } from "./acme-matrix.ts"
import type { AcmeFixture, Binding } from "./acme-fixture.ts"

/** The package's own types lack tls-alpn-01. */
export type ChallengeType = "http-01" | "dns-01" | "tls-alpn-01"
type Challenge = Authorization["challenges"][number]

export const openClient = async (options: { readonly directoryUrl: string } & Partial<ClientOptions>) =>
  new Client({
    accountKey: await crypto.createPrivateEcdsaKey(),
    backoffMin: 100,
    backoffMax: 1_000,
    ...options,
  })

export const bindingOption = ({ id, key }: Binding) => ({ externalAccountBinding: { kid: id, hmacKey: key } })

export async function registeredClient(options: Parameters<typeof openClient>[0]): Promise<Client> {
  const client = await openClient(options)
  await client.createAccount({ termsOfServiceAgreed: true, contact: ["mailto:ops@example.com"] })
  return client
}

export interface Order {
  readonly type: ChallengeType
  readonly names: readonly string[]
  readonly addresses?: readonly string[]
  readonly preferredChain?: string
  /** Members that the package's types lack. */
  readonly also?: object
}

/** Obtains a certificate as PEM. The responder answers the same type of challenge for every name. */
export async function obtain(client: Client, { responder }: AcmeFixture, orderInput: Order): Promise<string> {
  const { type, names, addresses = [], preferredChain, also = {} } = orderInput
  const identifiers = [
    ...names.map((value) => ({ type: "dns", value })),
    ...addresses.map((value) => ({ type: "ip", value })),
  ]
  const order = await client.createOrder({ identifiers, ...also })
  for (const authorization of await client.getAuthorizations(order)) {
    if (authorization.status === "valid") continue
    const challenge = authorization.challenges.find((one) => (one.type as ChallengeType) === type)
    if (challenge === undefined) throw new Error(`${authorization.identifier.value} cannot be proved by ${type}`)
    await answer(responder, authorization, challenge, await client.getChallengeKeyAuthorization(challenge))
    await client.completeChallenge(challenge)
    await client.waitForValidStatus(challenge)
  }
  const [, csr] = await crypto.createCsr({ altNames: [...names, ...addresses] }, await crypto.createPrivateEcdsaKey())
  return client.getCertificate(await client.finalizeOrder(order, csr), preferredChain)
}

async function answer(
  { tell }: AcmeFixture["responder"],
  { identifier }: Authorization,
  { type, token }: Challenge,
  content: string,
): Promise<void> {
  const host = identifier.value
  switch (type as ChallengeType) {
    case "http-01":
      return tell("add-http01", { token, content })
    case "tls-alpn-01":
      return tell("add-tlsalpn01", { host, content })
    default:
      return tell("set-txt", { host: `_acme-challenge.${host}.`, value: content })
  }
}

export const npmClient: AcmeClient = {
  name: "acme-client",
  answers: [],
  reason: "Superseded",
  cannot: {},
  async obtain(fixture, { challenge: type, names, addresses, directory: directoryUrl, binding }) {
    const bound = binding === undefined ? {} : bindingOption(binding)
    const client = await registeredClient({ directoryUrl, ...bound })
    let obtained = await obtain(client, fixture, { type, names, addresses })
    return {
      bundle: async () => obtained,
      renew: async () => void (obtained = await obtain(client, fixture, { type, names, addresses })),
      revoke: () => client.revokeCertificate(obtained, { reason: 4 }),
    }
  },
}
