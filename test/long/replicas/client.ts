// A client of replicas behind their balancer. Two failures are permitted: 503 with `Retry-After`, and a closed connection. Anything else is
// a fault.
import { setTimeout as sleep } from "node:timers/promises"
import { Agent, type Dispatcher } from "undici"

/** No answer arrived: the request may have been executed, or may be executed shortly. */
export class NoAnswerError extends Error {}

export interface Answered {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
  readonly bytes: Uint8Array
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Times by the clock of this process; the answer was made between the two. */
  readonly sentAt: number
  readonly answeredAt: number
}

export interface SendOptions {
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

type Method = "GET" | "HEAD" | "POST" | "PATCH" | "PUT" | "DELETE"

/** Longer than any failure of a replica lasts. */
const longestAnswerMs = 120_000
/** A new connection goes to another replica. */
const requestsPerConnection = 6
const pauseMs = 100
const maxFaults = 50
/** The last one is the error of a connection that closed in the middle of an answer of known length. */
const closedCodes = new Set([
  "UND_ERR_SOCKET",
  "ECONNRESET",
  "EPIPE",
  "ECONNREFUSED",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
])

export class ReplicaClient {
  /** Unexpected answers and errors. */
  readonly faults: string[] = []
  readonly counts = { answered: 0, unavailable: 0, closed: 0 }
  readonly dispatcher: Dispatcher
  readonly origin: string
  readonly #token: string
  readonly #agent: Agent

  constructor(origin: string, token: string) {
    this.origin = origin
    this.#token = token
    this.#agent = new Agent({
      connections: 64,
      pipelining: 1,
      maxRequestsPerClient: requestsPerConnection,
      headersTimeout: longestAnswerMs,
      bodyTimeout: longestAnswerMs,
    })
    this.dispatcher = this.#agent.compose((dispatch) => (options, handler) => {
      const what = `${options.method} ${options.path}`
      // Description of an unexpected answer, until its body is complete.
      let wrong: string | undefined
      return dispatch(options, {
        onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
        onRequestUpgrade: (controller, status, headers, socket) =>
          handler.onRequestUpgrade?.(controller, status, headers, socket),
        onResponseStart: (controller, status, headers, message) => {
          if (!this.#answered(status, headers))
            wrong = `${what}: ${status}, Retry-After ${String(headers["retry-after"])}: `
          return handler.onResponseStart?.(controller, status, headers, message)
        },
        onResponseData: (controller, chunk) => {
          if (wrong !== undefined) wrong += chunk.toString()
          return handler.onResponseData?.(controller, chunk)
        },
        onResponseEnd: (controller, trailers) => {
          if (wrong !== undefined) this.fault(wrong)
          return handler.onResponseEnd?.(controller, trailers)
        },
        onResponseError: (controller, error) => {
          if (wrong !== undefined) this.fault(wrong)
          this.#broken(what, error)
          return handler.onResponseError?.(controller, error)
        },
      })
    })
  }

  fault(text: string): void {
    if (this.faults.length < maxFaults) this.faults.push(text)
  }

  /** Sends once. Throws `Unheard`. */
  async send(method: Method, path: string, body?: object | string, sendOptions: SendOptions = {}): Promise<Answered> {
    const { token = this.#token, headers = {} } = sendOptions
    const type = path.startsWith("/v1") ? "application/json" : "application/vnd.api+json"
    const sentAt = performance.now()
    let response: Dispatcher.ResponseData
    let bytes: Uint8Array
    try {
      response = await this.dispatcher.request({
        origin: this.origin,
        path,
        method,
        headers: {
          ...(token === ""
            ? {}
            : path.startsWith("/v1")
              ? { "x-service-token": token }
              : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": type }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      })
      bytes = await response.body.bytes()
    } catch (error) {
      if (isClosing(error)) throw new NoAnswerError(path, { cause: error })
      throw error
    }
    const answeredAt = performance.now()
    if (response.statusCode === 503) throw new NoAnswerError(path)
    const isJson = String(response.headers["content-type"]).includes("json")
    const parsed = isJson && bytes.length > 0 ? JSON.parse(Buffer.from(bytes).toString()) : undefined
    return { status: response.statusCode, body: parsed, bytes, headers: response.headers, sentAt, answeredAt }
  }

  /** Sends a change that must succeed. Any other answer is recorded as a fault, and returns undefined. Throws `Unheard`. */
  async change(method: Method, path: string, body?: object, sendOptions?: SendOptions): Promise<Answered | undefined> {
    const answer = await this.send(method, path, body, sendOptions)
    if (answer.status < 300) return answer
    this.fault(`${method} ${path} ${JSON.stringify(body)}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return undefined
  }

  /** Repeats a read or an idempotent request until an answer arrives. */
  async sendUntilAnswered(
    method: Method,
    path: string,
    body?: object | string,
    sendOptions?: SendOptions,
  ): Promise<Answered> {
    for (;;) {
      try {
        return await this.send(method, path, body, sendOptions)
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error
        await sleep(pauseMs)
      }
    }
  }

  read(path: string, sendOptions?: SendOptions): Promise<Answered> {
    return this.sendUntilAnswered("GET", path, undefined, sendOptions)
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  /** Counts the answer, and returns whether it is permitted. */
  #answered(status: number, headers: Readonly<Record<string, unknown>>): boolean {
    if (status < 500) this.counts.answered += 1
    else if (status === 503 && /^\d+$/.test(String(headers["retry-after"]))) this.counts.unavailable += 1
    else return false
    return true
  }

  #broken(what: string, error: Error): void {
    if (isClosing(error)) this.counts.closed += 1
    else this.fault(`${what}: ${codeOf(error)} ${String(error)}`)
  }
}

/** Returns true if a connection was closed. One that ends in the middle of a chunked answer has no error code. */
const isClosing = (error: unknown): boolean =>
  closedCodes.has(codeOf(error)) || (error instanceof Error && error.message.endsWith("(Invalid EOF state)"))

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown }).code)

/** One part of the load. */
export interface Load {
  /** Runs until the signal aborts, and then finishes the operations in flight. */
  run(signal: AbortSignal): Promise<void>
  /** Checks the results after all failures have ended, and returns a short summary. */
  verify(): Promise<string>
}

/** Milliseconds that a PostgreSQL backend may spend in a commit whose client has died. */
const settlingMs = 1_000

/** Waits after a missing answer. The request has then been executed, or never will be. */
export const settled = (): Promise<void> => sleep(settlingMs)
