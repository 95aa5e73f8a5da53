// An ACME client that sends whatever the test wants, valid or not, to the HTTP app without a socket.
import { type CryptoKey, exportJWK, FlattenedSign, generateKeyPair, type JWK } from "jose"
import { readJwk } from "../src/x509/jwk.ts"
import type { Answer, TestEngine } from "./test-engine.ts"

export interface AcmeAnswer extends Answer {
  /** Type of the problem document without its namespace, or undefined for other answers. */
  readonly problem: string | undefined
}

export interface AcmeKey {
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly jwk: JWK
}

export async function newAcmeKey(alg = "ES256"): Promise<AcmeKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { alg, privateKey, jwk: await exportJWK(publicKey) }
}

export interface SendOptions {
  /** Members that are added to the protected header or replace its own. */
  readonly header?: Readonly<Record<string, unknown>>
  readonly nonce?: string
  readonly key?: AcmeKey
  readonly contentType?: string
  /** Sends the key itself (`jwk`) instead of the account URL (`kid`). */
  readonly byKey?: boolean
}

export class AcmeTestClient {
  readonly #testEngine: TestEngine
  /** URL of the directory, without a slash at its end. */
  readonly base: string
  key: AcmeKey
  account: string | undefined
  #nonce: string | undefined

  private constructor(testEngine: TestEngine, base: string, key: AcmeKey) {
    this.#testEngine = testEngine
    this.base = base
    this.key = key
  }

  static async open(testEngine: TestEngine, base: string): Promise<AcmeTestClient> {
    return new AcmeTestClient(testEngine, base, await newAcmeKey())
  }

  /** Opens a client and registers an account. */
  static async registered(testEngine: TestEngine, base: string, input: object = {}): Promise<AcmeTestClient> {
    const client = await AcmeTestClient.open(testEngine, base)
    const answer = await client.register(input)
    if (answer.status !== 201) throw new Error(`no account: ${JSON.stringify(answer.body)}`)
    return client
  }

  get thumbprint(): string {
    return readJwk(this.key.jwk).thumbprint
  }

  async get(url: string, method = "GET"): Promise<AcmeAnswer> {
    return this.#answer(await this.#testEngine.request(method, url, { token: null }))
  }

  async nonce(): Promise<string> {
    const answer = await this.get(`${this.base}/new-nonce`, "HEAD")
    return answer.headers.get("replay-nonce") ?? ""
  }

  async register(input: object = {}): Promise<AcmeAnswer> {
    const answer = await this.post("/new-account", input, { byKey: true })
    if (answer.status < 300) this.account = answer.headers.get("location") ?? undefined
    return answer
  }

  /** `path` is relative to the directory, or a complete URL. Without a payload the request is a POST-as-GET. */
  async post(path: string, payload?: object | string, options: SendOptions = {}): Promise<AcmeAnswer> {
    const url = path.startsWith("https://") ? path : `${this.base}${path}`
    return this.send(url, await this.signed(url, payload, options), options.contentType)
  }

  async signed(url: string, payload: object | string | undefined, options: SendOptions = {}) {
    const key = options.key ?? this.key
    const nonce = options.nonce ?? this.#nonce ?? (await this.nonce())
    this.#nonce = undefined
    const named = options.byKey === true || this.account === undefined ? { jwk: key.jwk } : { kid: this.account }
    const header = Object.fromEntries(
      Object.entries({ alg: key.alg, nonce, url, ...named, ...options.header }).filter(
        ([, value]) => value !== undefined,
      ),
    )
    return signedBy(key, header, payload)
  }

  async send(url: string, body: object | string, contentType = "application/jose+json"): Promise<AcmeAnswer> {
    const answer = await this.#testEngine.request("POST", url, {
      token: null,
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "content-type": contentType },
    })
    this.#nonce = answer.headers.get("replay-nonce") ?? undefined
    return this.#answer(answer)
  }

  #answer(answer: Answer): AcmeAnswer {
    const type: unknown = (answer.body as { readonly type?: unknown } | undefined)?.type
    const isProblem = answer.headers.get("content-type") === "application/problem+json"
    return { ...answer, problem: isProblem ? String(type).replace("urn:ietf:params:acme:error:", "") : undefined }
  }
}

/** Returns a flattened JWS with exactly this protected header. */
export async function signedBy(key: AcmeKey, header: object, payload: object | string | undefined) {
  const text = payload === undefined ? "" : typeof payload === "string" ? payload : JSON.stringify(payload)
  const { alg } = header as { readonly alg?: string }
  return new FlattenedSign(new TextEncoder().encode(text))
    .setProtectedHeader({ ...header, alg: alg ?? key.alg })
    .sign(key.privateKey)
}
