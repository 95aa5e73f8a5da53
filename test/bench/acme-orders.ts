// An ACME client that completes many orders with one http-01 challenge each at the least processor time of its own, and a responder for its
// challenges.
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import type { Dispatcher } from "undici"
import { subjectAltName } from "../../engine/src/x509/extensions.ts"
import { readPrivateKey } from "../../engine/src/x509/private-key.ts"
import { signedRequest } from "../../engine/src/x509/signed-request.ts"

export interface AcmeIdentifier {
  readonly type: "dns" | "ip"
  readonly value: string
}

export interface AcmeOrdersOptions {
  readonly directory: string
  readonly dispatcher: Dispatcher
  /** Origin of the server, if it differs from that of its URLs. */
  readonly origin?: string
  /** Called before a request that got no answer, or 503, is repeated. Without it, no answer is an error. */
  readonly unanswered?: () => Promise<void>
}

export interface AcmeAnswer {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
  readonly location: string
}

interface Directory {
  readonly newNonce: string
  readonly newAccount: string
  readonly newOrder: string
}

/** Milliseconds between polls of an order that is being processed. */
const pollMs = 100
/** Five minutes. */
const maxPolls = 3_000
/** Tries of one request whose nonce was rejected or which got no answer. */
const maxTries = 1_000

/** A client with one account. */
export class AcmeOrders {
  readonly #options: AcmeOrdersOptions
  readonly #directory: Directory
  readonly #key: KeyObject
  readonly #jwk: object
  /** Part of a challenge's key authorization, after the token. */
  readonly thumbprint: string
  readonly #nonces: string[] = []
  #account = ""

  private constructor(options: AcmeOrdersOptions, directory: Directory) {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
    const { crv, kty, x, y } = publicKey.export({ format: "jwk" })
    this.#options = options
    this.#directory = directory
    this.#key = privateKey
    this.#jwk = { crv, kty, x, y }
    this.thumbprint = createHash("sha256").update(JSON.stringify(this.#jwk)).digest("base64url")
  }

  static async registered(options: AcmeOrdersOptions): Promise<AcmeOrders> {
    const { body } = await options.dispatcher.request({ ...placeOf(options.directory, options), method: "GET" })
    const client = new AcmeOrders(options, (await body.json()) as Directory)
    const { location } = await client.post(client.#directory.newAccount, { termsOfServiceAgreed: true })
    client.#account = location
    return client
  }

  /** Creates an order and returns its URL. */
  async newOrder(identifier: AcmeIdentifier): Promise<string> {
    const { location } = await this.post(this.#directory.newOrder, { identifiers: [identifier] })
    return location
  }

  /** Moves an order from any status to valid or invalid, and returns its document. */
  async finish(url: string, csr: string) {
    for (let poll = 0; poll < maxPolls; poll += 1) {
      const { body: order } = await this.post(url)
      if (order.status === "valid" || order.status === "invalid") return order
      if (order.status === "pending") await this.#prove(order.authorizations)
      else if (order.status === "ready") {
        const { status, body } = await this.post(order.finalize, { csr })
        if (status === 200 && body.status === "valid") return body
      }
      await sleep(pollMs)
    }
    throw new Error(`the order ${url} comes to no end`)
  }

  async certificate(url: string): Promise<string> {
    return (await this.post(url)).body
  }

  /** Completes an order, from creation to certificate, with as few requests as possible. */
  async complete(identifier: AcmeIdentifier, csr: string): Promise<string> {
    const { location, body: made } = await this.post(this.#directory.newOrder, { identifiers: [identifier] })
    await this.#prove(made.authorizations)
    for (let poll = 0; poll < maxPolls; poll += 1) {
      const { body: order } = await this.post(location)
      if (order.status === "ready") {
        const { body } = await this.post(order.finalize, { csr })
        if (body.status === "valid") return this.certificate(body.certificate)
      } else if (order.status === "valid") return this.certificate(order.certificate)
      else if (order.status === "invalid") throw new Error(JSON.stringify(order))
      await sleep(pollMs)
    }
    throw new Error(`the order ${location} comes to no end`)
  }

  async #prove(authorizations: readonly string[]): Promise<void> {
    for (const url of authorizations) {
      const { body } = await this.post(url)
      const challenge = body.challenges.find(({ type }: { type: string }) => type === "http-01")
      if (body.status === "pending" && challenge.status === "pending") await this.post(challenge.url, {})
    }
  }

  /** Sends a signed request; without a payload it is a POST-as-GET. */
  async post(url: string, payload?: object): Promise<AcmeAnswer> {
    for (let attempt = 0; attempt < maxTries; attempt += 1) {
      try {
        const answer = await this.#send(url, payload)
        if (answer.status < 300) return answer
        if (answer.status === 503 && this.#options.unanswered !== undefined) {
          await this.#options.unanswered()
          continue
        }
        if (!/badNonce|orderNotReady/.test(String(answer.body.type)) && answer.status < 500)
          throw new Error(`${url} answers ${answer.status}: ${JSON.stringify(answer.body)}`)
        if (answer.body.type.endsWith("orderNotReady")) return answer
      } catch (error) {
        const { unanswered } = this.#options
        if (unanswered === undefined || !isOfConnection(error)) throw error
        this.#nonces.length = 0
        await unanswered()
      }
    }
    throw new Error(`${url} gives no answer`)
  }

  async #send(url: string, payload: object | undefined): Promise<AcmeAnswer> {
    const nonce = this.#nonces.pop() ?? (await this.newNonce())
    const named = this.#account === "" ? { jwk: this.#jwk } : { kid: this.#account }
    const header = encoded({ alg: "ES256", nonce, url, ...named })
    const body = payload === undefined ? "" : encoded(payload)
    const signature = sign("sha256", Buffer.from(`${header}.${body}`), { key: this.#key, dsaEncoding: "ieee-p1363" })
    const answer = await this.#options.dispatcher.request({
      ...placeOf(url, this.#options),
      method: "POST",
      headers: { "content-type": "application/jose+json" },
      body: JSON.stringify({ protected: header, payload: body, signature: signature.toString("base64url") }),
    })
    const text = await answer.body.text()
    const { "replay-nonce": next, location = "", "content-type": type = "" } = answer.headers
    if (typeof next === "string") this.#nonces.push(next)
    return {
      status: answer.statusCode,
      body: String(type).includes("json") ? JSON.parse(text) : text,
      location: String(location),
    }
  }

  async newNonce(): Promise<string> {
    for (let attempt = 0; attempt < maxTries; attempt += 1) {
      const answer = await this.#options.dispatcher.request({
        ...placeOf(this.#directory.newNonce, this.#options),
        method: "HEAD",
      })
      await answer.body.dump()
      const { "replay-nonce": nonce } = answer.headers
      if (typeof nonce === "string") return nonce
      if (this.#options.unanswered === undefined) throw new Error(`new-nonce answers ${answer.statusCode}`)
      await this.#options.unanswered()
    }
    throw new Error("new-nonce gives no nonce")
  }
}

/** Returns true for an error of the connection. Errors of truncated answers have a name, all others a code. */
const isOfConnection = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === "HTTPParserError" || (error as { readonly code?: unknown }).code !== undefined)

function placeOf(url: string, options: AcmeOrdersOptions): { readonly origin: string; readonly path: string } {
  const { origin, pathname, search } = new URL(url)
  return { origin: options.origin ?? origin, path: `${pathname}${search}` }
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url")

const csrKey = readPrivateKey(
  createPrivateKey(
    generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }),
  ).export({ type: "pkcs8", format: "der" }),
  "PKCS#8",
)

/** Returns a CSR as base64url. All CSRs share one key, which is no account's. */
export async function csrFor({ type, value }: AcmeIdentifier): Promise<string> {
  const name =
    type === "dns"
      ? ({ kind: "dns", value } as const)
      : ({ kind: "ip", octets: Uint8Array.from(value.split("."), Number) } as const)
  const der = await signedRequest(csrKey, { subject: [], extensions: [subjectAltName([name], { critical: false })] })
  return Buffer.from(der).toString("base64url")
}

export interface Responder extends AsyncDisposable {
  readonly port: number
}

/** Answers every challenge of the account with this thumbprint, on every address of this machine. */
export async function respond(thumbprint: () => string): Promise<Responder> {
  const server = createServer((request, response) => {
    response.end(`${request.url?.split("/").at(-1)}.${thumbprint()}`)
  }).listen(0, "0.0.0.0")
  await once(server, "listening")
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** Configures the mount `pki` to serve ACME at an address; `tell` sends a document to a path below `/v1`. */
export async function serveAcme(
  cluster: string,
  tell: (path: string, document: object) => Promise<unknown>,
  settings: object = {},
): Promise<void> {
  const config = { max_lease_ttl: "87600h", allowed_response_headers: ["Location", "Replay-Nonce", "Link"] }
  await tell("/sys/mounts/pki", { type: "pki", config })
  await tell("/pki/root/generate/internal", { common_name: "Root", key_type: "ec", ttl: "87600h" })
  await tell("/pki/config/cluster", { path: cluster })
  await tell("/pki/config/acme", { enabled: true, ...settings })
}
