// The certificate API of a server that may be killed at any moment, with the changes that it acknowledged.
import { Agent, type Dispatcher, request } from "undici"
import { expect } from "vitest"

/** A request that got no answer; it may have been executed or not. */
export class Unanswered extends Error {}

export interface Answered {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any
  readonly bytes: Uint8Array
}

export class CrashApi {
  /** Request ids of all acknowledged changes. */
  readonly acknowledged: string[] = []
  readonly #token: string
  readonly #url: string
  #agent: Agent | undefined
  #isDoomed = false

  constructor(url: string, token: string) {
    this.#url = `${url}/v1`
    this.#token = token
  }

  open(connections: number): void {
    this.#agent = new Agent({ connections })
    this.#isDoomed = false
  }

  /** Permits missing answers from now on. */
  doom(): void {
    this.#isDoomed = true
  }

  async close(): Promise<void> {
    await this.#agent?.destroy()
    this.#agent = undefined
  }

  /** Sends a change. Throws `Unanswered` if the server was killed; any status other than success is a fault. */
  async change(method: "POST" | "DELETE", path: string, document?: object): Promise<Answered> {
    const { requestId, ...answered } = await this.#send(method, path, document && JSON.stringify(document))
    expect([method, path, answered.status, answered.status < 300 ? "" : answered.data]).toEqual([
      method,
      path,
      expect.toBeOneOf([200, 204]),
      "",
    ])
    this.acknowledged.push(requestId)
    return answered
  }

  async read(method: "GET" | "LIST", path: string): Promise<Answered> {
    return this.#send(method === "LIST" ? "GET" : method, method === "LIST" ? `${path}?list=true` : path)
  }

  async ask(path: string, question: Uint8Array): Promise<Answered> {
    return this.#send("POST", path, question, { "content-type": "application/ocsp-request" })
  }

  async #send(
    method: "GET" | "POST" | "DELETE",
    path: string,
    body?: string | Uint8Array,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answered & { readonly requestId: string }> {
    if (this.#agent === undefined) throw new Error("the server is not there")
    let response: Dispatcher.ResponseData
    let bytes: Uint8Array
    try {
      response = await request(`${this.#url}${path}`, {
        method,
        dispatcher: this.#agent,
        headers: { "x-service-token": this.#token, ...headers },
        ...(body === undefined ? {} : { body }),
      })
      bytes = await response.body.bytes()
    } catch (error) {
      if (this.#isDoomed) throw new Unanswered(path, { cause: error })
      throw error
    }
    const isJson = String(response.headers["content-type"]).startsWith("application/json")
    const document = isJson && bytes.length > 0 ? JSON.parse(Buffer.from(bytes).toString()) : undefined
    return {
      status: response.statusCode,
      data: response.statusCode < 300 ? document?.data : document?.errors,
      bytes,
      requestId: String(response.headers["x-request-id"]),
    }
  }
}
