// ACME: completes orders, sends requests several times, and has several accounts compete for a binding.
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import { type AcmeKey, newAcmeKey, signedBy } from "../../../engine/testing/acme-client.ts"
import { AcmeOrders, csrFor, respond, type Responder, serveAcme } from "../../bench/acme-orders.ts"
import type { OwnPostgres } from "../../toolchain/postgres.ts"
import { type Answered, type Load, type ReplicaClient, NoAnswerError } from "./client.ts"

const host = "https://acme.test"
const directory = `${host}/v1/pki/acme`
const boundDirectory = `${host}/v1/bound/acme`
const orderersCount = 4
const betweenOrdersMs = 50
const betweenAttacksMs = 300
const atOnce = 3

interface Done {
  readonly url: string
  readonly status: string
}

export class AcmeLoad implements Load, AsyncDisposable {
  readonly #client: ReplicaClient
  readonly #postgres: OwnPostgres
  #responder: Responder | undefined
  readonly #done: Done[] = []
  /** Number of requests and bindings that were sent several times and accepted once. */
  readonly counts = { replayed: 0, bindings: 0 }
  #orders: AcmeOrders | undefined
  #addresses = 0

  constructor(client: ReplicaClient, postgres: OwnPostgres) {
    this.#client = client
    this.#postgres = postgres
  }

  /** Starts to answer challenges, and returns the port. */
  async listen(): Promise<number> {
    this.#responder = await respond(() => this.#orders?.thumbprint ?? "")
    return this.#responder.port
  }

  async prepare(): Promise<void> {
    const tell = async (path: string, document: object) => this.#client.change("POST", `/v1${path}`, document)
    const unlimited = { orders_per_account: 0, orders_per_name: 0, accounts_per_address: 0, failed_validations: 0 }
    await serveAcme(`${host}/v1/pki`, tell, unlimited)
    await tell("/sys/mounts/bound", {
      type: "pki",
      config: { allowed_response_headers: ["Location", "Replay-Nonce", "Link"] },
    })
    await tell("/bound/root/generate/internal", { common_name: "Root", key_type: "ec" })
    await tell("/bound/config/cluster", { path: `${host}/v1/bound` })
    await tell("/bound/config/acme", { enabled: true, eab_policy: "new-account-required", ...unlimited })
    this.#orders = await AcmeOrders.registered({
      directory: `${directory}/directory`,
      origin: this.#client.origin,
      dispatcher: this.#client.dispatcher,
      unanswered: () => sleep(betweenOrdersMs),
    })
  }

  async run(signal: AbortSignal): Promise<void> {
    const until = async (work: () => Promise<void>, pauseMs: number) => {
      while (!signal.aborted) {
        await work()
        await sleep(pauseMs)
      }
    }
    const replayer = await this.#account()
    await Promise.all([
      ...Array.from({ length: orderersCount }, () => until(() => this.#order(), betweenOrdersMs)),
      until(() => this.#replay(replayer), betweenAttacksMs),
      until(() => this.#bind(), betweenAttacksMs),
    ])
  }

  async #order(): Promise<void> {
    const orders = this.#orders
    if (orders === undefined) throw new Error("not prepared")
    const number = this.#addresses
    this.#addresses += 1
    const value = `127.${1 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`
    const identifier = { type: "ip", value } as const
    const csr = await csrFor(identifier)
    const url = await orders.newOrder(identifier)
    const { status, certificate, error } = await orders.finish(url, csr)
    if (status !== "valid") return this.#client.fault(`order ${url}: ${JSON.stringify(error)}`)
    const chain = await orders.certificate(certificate)
    if (!chain.includes("BEGIN CERTIFICATE")) this.#client.fault(`order ${url}: no certificate`)
    this.#done.push({ url, status })
  }

  /** Sends the same request on several connections at once, and once more: it is executed once. */
  async #replay({ key, account }: { readonly key: AcmeKey; readonly account: string }): Promise<void> {
    const url = `${directory}/new-order`
    const header = { alg: "ES256", nonce: await this.#nonce(directory), url, kid: account }
    const body = JSON.stringify(await signedBy(key, header, { identifiers: [{ type: "ip", value: "127.0.0.1" }] }))
    const first = await Promise.all(Array.from({ length: atOnce }, () => this.#post(url, body)))
    const answers = [...first, await this.#post(url, body)].filter((answer) => answer !== undefined)
    const accepted = answers.filter(({ status }) => status === 201)
    const others = answers.filter((answer) => !accepted.includes(answer))
    if (accepted.length > 1) this.#client.fault(`a nonce was taken ${accepted.length} times`)
    if (others.some((answer) => problemOf(answer) !== "badNonce"))
      this.#client.fault(`a replayed request gets ${JSON.stringify(others.map(({ body: problem }) => problem))}`)
    this.counts.replayed += 1
  }

  /** Sends registrations with several keys for the same binding at once: one of them gets an account. */
  async #bind(): Promise<void> {
    const url = `${boundDirectory}/new-account`
    const made = await this.#client.sendUntilAnswered("POST", "/v1/bound/acme/new-eab", {})
    if (made.status !== 200) return this.#client.fault(`new-eab: ${made.status}`)
    const { id, key: secret } = made.body.data as { readonly id: string; readonly key: string }
    const mac = await crypto.subtle.importKey(
      "raw",
      Buffer.from(secret, "base64url"),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign"],
    )
    const register = async () => {
      const key = await newAcmeKey()
      const binder = { alg: "HS256", privateKey: mac as never, jwk: {} }
      const externalAccountBinding = await signedBy(binder, { alg: "HS256", kid: id, url }, key.jwk)
      const header = { alg: "ES256", nonce: await this.#nonce(boundDirectory), url, jwk: key.jwk }
      return this.#post(url, JSON.stringify(await signedBy(key, header, { externalAccountBinding })))
    }
    const first = await Promise.all(Array.from({ length: atOnce }, register))
    const answers = [...first, await register()].filter((answer) => answer !== undefined)
    const accepted = answers.filter(({ status }) => status === 201)
    const others = answers.filter((answer) => !accepted.includes(answer))
    if (accepted.length > 1) this.#client.fault(`a binding was used ${accepted.length} times`)
    if (others.some((answer) => problemOf(answer) !== "unauthorized"))
      this.#client.fault(`a used binding gets ${JSON.stringify(others.map(({ body: problem }) => problem))}`)
    this.counts.bindings += 1
  }

  async #account(): Promise<{ readonly key: AcmeKey; readonly account: string }> {
    const key = await newAcmeKey()
    const url = `${directory}/new-account`
    for (;;) {
      const header = { alg: "ES256", nonce: await this.#nonce(directory), url, jwk: key.jwk }
      const answer = await this.#post(url, JSON.stringify(await signedBy(key, header, { termsOfServiceAgreed: true })))
      const account = answer?.headers["location"]
      if (typeof account === "string") return { key, account }
      await sleep(betweenOrdersMs)
    }
  }

  async #nonce(base: string): Promise<string> {
    for (;;) {
      const { headers } = await this.#client.sendUntilAnswered(
        "HEAD",
        `${new URL(base).pathname}/new-nonce`,
        undefined,
        {
          token: "",
        },
      )
      const { "replay-nonce": nonce } = headers
      if (typeof nonce === "string") return nonce
      // Answered with 503.
      await sleep(betweenOrdersMs)
    }
  }

  /** Returns undefined if no answer arrived. */
  async #post(url: string, body: string): Promise<Answered | undefined> {
    try {
      const headers = { "content-type": "application/jose+json" }
      return await this.#client.send("POST", new URL(url).pathname, body, { token: "", headers })
    } catch (error) {
      if (error instanceof NoAnswerError) return undefined
      throw error
    }
  }

  async verify(): Promise<string> {
    const number = async (query: string) => Number((await this.#postgres.query(query))[0]?.[0])
    const used = "select serial_number from acme_orders where serial_number is not null"
    expect(await number("select count(*) from acme_orders where state = 'processing'")).toBe(0)
    expect(
      await number(
        `select count(*) from (${used}) as o where serial_number not in (select serial_number from certificates)`,
      ),
    ).toBe(0)
    // Only the root of this mount belongs to no order.
    const certificates =
      "select c.serial_number from certificates as c join mounts as m on m.id = c.mount_id where m.path = 'pki'"
    expect(await number(`select count(*) from (${certificates}) as c where serial_number not in (${used})`)).toBe(1)
    expect(await number(`select count(*) - count(distinct serial_number) from (${used}) as o`)).toBe(0)
    expect(await number(`select count(*) from (${used}) as o`)).toBe(this.#done.length)
    const bound = "select count(*) - count(distinct binding_id) from acme_accounts where binding_id is not null"
    expect(await number(bound)).toBe(0)
    const { replayed, bindings } = this.counts
    return `${this.#done.length} orders done, ${replayed} requests replayed, ${bindings} bindings fought for`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#responder?.[Symbol.asyncDispose]()
  }
}

const problemOf = ({ body }: Answered): string => String(body?.type).replace("urn:ietf:params:acme:error:", "")
