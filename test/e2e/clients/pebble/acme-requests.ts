// Sends ACME requests, valid or not, and records the answers as facts that two servers can agree on. URLs, times and tokens are replaced,
// because they always differ.
import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { Agent, request } from "undici"

/** Facts of one answer, by name. */
export type AnswerFacts = Readonly<Record<string, string>>

/** Facts of each answer by the name of its request, in order. */
export type Transcript = Map<string, AnswerFacts>

export interface AccountKey {
  readonly alg: string
  readonly key: KeyObject
  readonly jwk: object
}

export function newKey(kind: "P-256" | "P-384" | "rsa-1024" | "ed25519" = "P-256"): AccountKey {
  const { publicKey, privateKey } =
    kind === "rsa-1024"
      ? generateKeyPairSync("rsa", { modulusLength: 1_024 })
      : kind === "ed25519"
        ? generateKeyPairSync("ed25519")
        : generateKeyPairSync("ec", { namedCurve: kind })
  const alg = { "rsa-1024": "RS256", ed25519: "EdDSA", "P-256": "ES256", "P-384": "ES384" }[kind]
  return { alg, key: privateKey, jwk: publicKey.export({ format: "jwk" }) }
}

export const base64url = (bytes: string | Uint8Array): string => Buffer.from(bytes).toString("base64url")

export function thumbprint({ jwk }: AccountKey): string {
  const members = Object.entries(jwk).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return createHash("sha256")
    .update(JSON.stringify(Object.fromEntries(members)))
    .digest("base64url")
}

/** Signs with the key under this protected header, valid or not. */
export function jws(by: AccountKey, header: object, payload: object | string | undefined) {
  const parts = {
    protected: base64url(JSON.stringify(header)),
    payload: payload === undefined ? "" : base64url(typeof payload === "string" ? payload : JSON.stringify(payload)),
  }
  const { alg = by.alg } = header as { readonly alg?: string }
  const digest = by.alg === "EdDSA" ? null : alg === "ES384" ? "sha384" : "sha256"
  const key = { key: by.key, dsaEncoding: "ieee-p1363" as const }
  return { ...parts, signature: base64url(sign(digest, Buffer.from(`${parts.protected}.${parts.payload}`), key)) }
}

/** Signs an external account binding (RFC 8555, section 7.3.4). */
export function macJws(key: string, header: object, payload: object) {
  const parts = { protected: base64url(JSON.stringify(header)), payload: base64url(JSON.stringify(payload)) }
  const mac = createHmac("sha256", Buffer.from(key, "base64url")).update(`${parts.protected}.${parts.payload}`)
  return { ...parts, signature: mac.digest("base64url") }
}

export interface SendOptions {
  readonly key?: AccountKey
  /** Sends the public key in the header, although an account exists. */
  readonly byKey?: boolean
  readonly account?: string | undefined
  /** Added to the protected header, or replacing its members; undefined members are left out. */
  readonly header?: Readonly<Record<string, unknown>>
  readonly nonce?: string
  readonly contentType?: string
  /** Members and headers of a success that are not recorded, with everything in them. */
  readonly besides?: readonly string[]
  /** Returns the body to send instead of the signed one. */
  readonly tamper?: (signed: ReturnType<typeof jws>) => unknown
}

/** Members of ACME documents that a client uses; missing strings are empty. */
export interface Document {
  readonly [name: string]: unknown
  readonly newNonce: string
  readonly newAccount: string
  readonly newOrder: string
  readonly revokeCert: string
  readonly keyChange: string
  readonly status: string
  readonly orders: string
  readonly finalize: string
  readonly certificate: string
  readonly authorizations: readonly string[]
  readonly challenges: readonly Challenge[]
}

export interface Challenge {
  readonly type: string
  readonly url: string
  readonly token: string
}

const nothingSaid: Document = {
  newNonce: "",
  newAccount: "",
  newOrder: "",
  revokeCert: "",
  keyChange: "",
  status: "",
  orders: "",
  finalize: "",
  certificate: "",
  authorizations: [],
  challenges: [],
}

export interface Answer {
  readonly status: number
  readonly document: Document
  readonly text: string
  readonly location: string
  readonly links: readonly string[]
  readonly nonce: string | undefined
}

export class RecordingClient {
  readonly transcript: Transcript = new Map()
  readonly #agent: Agent
  directory: Document = nothingSaid
  key: AccountKey = newKey()
  account: string | undefined
  #nonce: string | undefined

  private constructor(root: string) {
    this.#agent = new Agent({ connect: { ca: root } })
  }

  static async meeting(directory: string, root: string): Promise<RecordingClient> {
    const client = new RecordingClient(root)
    client.directory = (await client.plain("reads the directory", "GET", directory)).document
    return client
  }

  close(): Promise<void> {
    return this.#agent.close()
  }

  /** Sends an unsigned request. An empty name records nothing. */
  plain(name: string, method: "GET" | "HEAD", url: string): Promise<Answer> {
    return this.#send(name, method, url, {})
  }

  async nonce(): Promise<string> {
    return (await this.plain("", "HEAD", this.directory.newNonce)).nonce ?? ""
  }

  /** Sends a signed request; without a payload it is a POST-as-GET. */
  async send(name: string, url: string, payload?: object | string, sendOptions: SendOptions = {}): Promise<Answer> {
    const { key = this.key, byKey = false, account = this.account } = sendOptions
    const nonce = sendOptions.nonce ?? this.#nonce ?? (await this.nonce())
    this.#nonce = undefined
    const named = byKey || account === undefined ? { jwk: key.jwk } : { kid: account }
    const signed = jws(key, { alg: key.alg, nonce, url, ...named, ...sendOptions.header }, payload)
    const body = JSON.stringify(sendOptions.tamper === undefined ? signed : sendOptions.tamper(signed))
    return this.#send(name, "POST", url, { body, type: sendOptions.contentType, besides: sendOptions.besides })
  }

  /** Polls until the status is none of `passing`, and records only the last answer. */
  async until(name: string, url: string, passing: readonly string[]): Promise<Answer> {
    for (let attempt = 0; attempt < maxPolls; attempt += 1) {
      const answer = await this.send("", url)
      if (!passing.includes(answer.document.status)) return this.send(name, url)
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
    throw new Error(`${name}: it does not come to an end`)
  }

  async #send(
    name: string,
    method: "GET" | "HEAD" | "POST",
    url: string,
    { body, type = "application/jose+json", besides = [] }: Sent,
  ): Promise<Answer> {
    const response = await request(url, {
      method,
      dispatcher: this.#agent,
      ...(body === undefined ? {} : { body, headers: { "content-type": type } }),
    })
    const text = await response.body.text()
    const { headers } = response
    const isJson = /json/.test(String(headers["content-type"]))
    const nonce = headers["replay-nonce"] as string | undefined
    this.#nonce = nonce ?? this.#nonce
    const parsed: unknown = isJson && text !== "" ? JSON.parse(text) : undefined
    const answer: Answer = {
      status: response.statusCode,
      document: { ...nothingSaid, ...(parsed as object | undefined) },
      text,
      location: String(headers["location"] ?? ""),
      links: [headers["link"] ?? []].flat(),
      nonce,
    }
    if (name !== "") {
      if (this.transcript.has(name)) throw new Error(`two things are called ${JSON.stringify(name)}`)
      const facts = Object.entries(factsOf(answer, parsed, headers)).filter(
        ([fact]) => answer.status >= 400 || !besides.some((member) => fact === member || fact.startsWith(`${member}/`)),
      )
      this.transcript.set(name, Object.fromEntries(facts))
    }
    return answer
  }
}

interface Sent {
  readonly body?: string | undefined
  readonly type?: string | undefined
  readonly besides?: readonly string[] | undefined
}

const pollMs = 100
const maxPolls = 600

type Headers = Readonly<Record<string, string | string[] | undefined>>

function factsOf({ status, text, links, nonce }: Answer, document: unknown, headers: Headers): AnswerFacts {
  const relations = links.map((link) => /rel="(\w+)"/.exec(link)?.[1] ?? "").toSorted()
  const certificates = text.match(/-----BEGIN CERTIFICATE/g)
  const parsed = (name: string) => [headers[name] ?? []].flat().map((value) => value.split(";")[0] ?? "")
  return {
    STATUS: String(status),
    ...Object.fromEntries(
      ["content-type", "cache-control"].flatMap((name) => parsed(name).map((value) => [name, value])),
    ),
    ...(nonce === undefined ? {} : { "replay-nonce": "a nonce" }),
    ...(headers["location"] === undefined ? {} : { location: "an address" }),
    ...(headers["retry-after"] === undefined ? {} : { "retry-after": "a while" }),
    ...(relations.length === 0 ? {} : { link: relations.join(" ") }),
    ...(document === undefined ? {} : Object.fromEntries(facts("", document))),
    ...(certificates === null ? {} : { "-----BEGIN CERTIFICATE": String(certificates.length) }),
  }
}

/** Returns the facts of a document, each member by its path. */
function facts(path: string, value: unknown): (readonly [string, string])[] {
  if (Array.isArray(value)) {
    const named = value.map((one: unknown, at): readonly [string, unknown] => [nameIn(one) ?? String(at), one])
    return [[`${path}#`, `${value.length}`], ...named.flatMap(([name, one]) => facts(`${path}/${name}`, one))]
  }
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([name, one]) => facts(`${path}/${name}`, one))
  return [[path, comparable(path, value)]]
}

/** Returns a name for an element of an array that does not depend on the order. */
function nameIn(one: unknown): string | undefined {
  if (typeof one !== "object" || one === null) return undefined
  const { identifier, value, type } = one as Readonly<Record<string, unknown>>
  return nameIn(identifier) ?? [value, type].find((text) => typeof text === "string")
}

function comparable(path: string, value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value)
  if (path.endsWith("/detail")) return "a sentence"
  if (path.endsWith("/token")) return "a token"
  if (/\/(x|y|n|protected|payload|signature)$/.test(path)) return "octets"
  if (/^(https|data):/.test(value)) return "an address"
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return "a time"
  return value.replace(/^urn:ietf:params:acme:error:/, "")
}
