// Typical client work over persistent connections. Each client knows the acknowledged changes, and counts every other answer as a failure.
import { setTimeout as sleep } from "node:timers/promises"
import { Agent, type Dispatcher } from "undici"
import { expect } from "vitest"
import { AcmeOrders, csrFor, serveAcme } from "../bench/acme-orders.ts"

export interface Failure {
  readonly request: string
  readonly answered: string
}

/** ACME URLs begin with this cluster path, as they would behind a proxy. */
export const cluster = "https://acme.test/v1/pki"

/**
 * Milliseconds that a client keeps an idle connection. This is less than the time that a stopping server takes before it closes idle
 * connections; a request that is sent at that moment would be lost.
 */
const idleConnectionMs = 500

/** Milliseconds of a client's pause between two requests. */
const longestPauseMs = 20

/** Sets up a mount that serves ACME, with a role. */
export async function prepare(origin: string, token: string): Promise<void> {
  const dispatcher = new Agent()
  const tell = async (path: string, document: object) => {
    const { statusCode, body } = await dispatcher.request({
      origin,
      path: `/v1${path}`,
      method: "POST",
      headers: { "x-service-token": token, "content-type": "application/json" },
      body: JSON.stringify(document),
    })
    expect([statusCode, await body.text()]).toEqual([expect.toBeOneOf([200, 204]), expect.anything()])
  }
  await serveAcme(cluster, tell)
  await tell("/pki/roles/web", { allow_any_name: true, key_type: "ec", max_ttl: "24h" })
  await dispatcher.close()
}

interface Worker {
  readonly kind: string
  /** Runs one round; throws on an unexpected answer. */
  round(number: number): Promise<void>
}

interface Answer {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export class UpgradeLoad implements AsyncDisposable {
  readonly failures: Failure[] = []
  /** Finished rounds by kind of client. */
  readonly rounds = new Map<string, number>()
  readonly #serials: string[] = []
  readonly #revoked: string[] = []
  readonly #descriptions = new Map<string, string>()
  readonly #origin: string
  readonly #token: string
  readonly #agent = new Agent({ connections: 16, keepAliveMaxTimeout: idleConnectionMs })
  readonly #dispatcher: Dispatcher
  readonly #stop = new AbortController()
  #sharedHolder: number | undefined
  #working: Promise<unknown> = Promise.resolve()

  constructor(origin: string, token: string) {
    this.#origin = origin
    this.#token = token
    this.#dispatcher = this.#agent.compose(watched(this.failures))
  }

  /** Starts the clients. `thumbprint` is called with the account's thumbprint, for answers to challenges. */
  async begin(thumbprint: (text: string) => void): Promise<void> {
    const shared = await this.#newWorkspace("shared")
    const workspaces = await Promise.all(["one", "two", "three"].map((name) => this.#newWorkspace(name)))
    const options = { directory: `${cluster}/acme/directory`, origin: this.#origin, dispatcher: this.#dispatcher }
    const account = await AcmeOrders.registered(options)
    thumbprint(account.thumbprint)
    const workers: readonly Worker[] = [
      this.#issuer("a"),
      this.#issuer("b"),
      ...workspaces.map((id) => this.#keeper(id)),
      this.#contender(1, shared),
      this.#contender(2, shared),
      this.#orderer(account, 1),
      this.#orderer(account, 2),
    ]
    this.#working = Promise.all(workers.map((worker) => this.#work(worker)))
  }

  async end(): Promise<void> {
    this.#stop.abort()
    await this.#working
  }

  /** Waits until each kind of client has finished this many more rounds. */
  async untilAllHaveGoneOn(rounds: number): Promise<void> {
    const before = new Map(this.rounds)
    await expect
      .poll(
        () => {
          if (this.failures.length > 0) return "there are failures"
          return kinds.every((kind) => (this.rounds.get(kind) ?? 0) >= (before.get(kind) ?? 0) + rounds)
        },
        { timeout: 240_000, interval: 50 },
      )
      .not.toBe(false)
  }

  /** Checks that every acknowledged change is stored, and none twice. */
  async verify(): Promise<void> {
    expect(new Set(this.#serials).size).toBe(this.#serials.length)
    const { body: stored } = await this.#ask("GET", "/v1/pki/certs?list=true")
    const keys = new Set<string>(stored.data.keys)
    expect(this.#serials.filter((serial) => !keys.has(serial))).toEqual([])
    const { body: revoked } = await this.#ask("GET", "/v1/pki/certs/revoked?list=true")
    expect(this.#revoked.length).toBeGreaterThan(0)
    expect(this.#revoked.filter((serial) => !revoked.data.keys.includes(serial))).toEqual([])
    for (const [id, description] of this.#descriptions) {
      const { body } = await this.#ask("GET", `/api/v2/workspaces/${id}`)
      expect([body.data.attributes.description, body.data.attributes.locked]).toEqual([description, false])
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end()
    await this.#agent.destroy()
  }

  async #work(worker: Worker): Promise<void> {
    for (let number = 1; !this.#stop.signal.aborted; number += 1) {
      try {
        await worker.round(number)
        this.rounds.set(worker.kind, (this.rounds.get(worker.kind) ?? 0) + 1)
        await sleep(number % longestPauseMs)
      } catch (error) {
        this.failures.push({ request: worker.kind, answered: String(error) })
        return
      }
    }
  }

  /** Issues certificates, reads them from whichever server is next, and revokes some. */
  #issuer(name: string): Worker {
    return {
      kind: "issue",
      round: async (number) => {
        const document = { common_name: `${name}-${number}.example.com`, ttl: "1h" }
        const { body } = await this.#ask("POST", "/v1/pki/issue/web", document)
        const serial: string = body.data.serial_number
        this.#serials.push(serial)
        const { body: read } = await this.#ask("GET", `/v1/pki/cert/${serial}`)
        expect(read.data.certificate.trim()).toBe(body.data.certificate.trim())
        if (number % 5 !== 0) return
        await this.#ask("POST", "/v1/pki/revoke", { serial_number: serial })
        this.#revoked.push(serial)
      },
    }
  }

  /** Uses its own workspace. */
  #keeper(id: string): Worker {
    return {
      kind: "keep",
      round: async (number) => {
        const description = `round ${number}`
        await this.#ask("POST", `/api/v2/workspaces/${id}/actions/lock`, { reason: description })
        await this.#ask("PATCH", `/api/v2/workspaces/${id}`, {
          data: { type: "workspaces", attributes: { description } },
        })
        this.#descriptions.set(id, description)
        const { body } = await this.#ask("GET", `/api/v2/workspaces/${id}`)
        expect([body.data.attributes.description, body.data.attributes.locked]).toEqual([description, true])
        await this.#ask("POST", `/api/v2/workspaces/${id}/actions/unlock`)
      },
    }
  }

  /** Competes with others for a workspace. */
  #contender(self: number, id: string): Worker {
    const path = `/api/v2/workspaces/${id}/actions`
    return {
      kind: "contend",
      round: async (number) => {
        const { status } = await this.#ask("POST", `${path}/lock${contested}`, { reason: `${self} in ${number}` })
        if (status === 409) return
        expect(this.#sharedHolder).toBeUndefined()
        this.#sharedHolder = self
        await sleep(5)
        expect(this.#sharedHolder).toBe(self)
        this.#sharedHolder = undefined
        await this.#ask("POST", `${path}/unlock`)
      },
    }
  }

  /** Completes orders. */
  #orderer(account: AcmeOrders, net: number): Worker {
    return {
      kind: "order",
      round: async (number) => {
        const identifier = {
          type: "ip",
          value: `127.${net}.${Math.floor(number / 250)}.${(number % 250) + 1}`,
        } as const
        expect(await account.complete(identifier, await csrFor(identifier))).toContain("BEGIN CERTIFICATE")
      },
    }
  }

  async #newWorkspace(name: string): Promise<string> {
    const { body } = await this.#ask("POST", "/api/v2/organizations/default/workspaces", {
      data: { type: "workspaces", attributes: { name } },
    })
    return body.data.id
  }

  async #ask(method: Dispatcher.HttpMethod, path: string, document?: object): Promise<Answer> {
    const { statusCode, body } = await this.#dispatcher.request({
      origin: this.#origin,
      path,
      method,
      headers: {
        ...(path.startsWith("/v1/") ? { "x-service-token": this.#token } : { authorization: `Bearer ${this.#token}` }),
        ...(document && { "content-type": path.startsWith("/v1/") ? "application/json" : "application/vnd.api+json" }),
      },
      ...(document && { body: JSON.stringify(document) }),
    })
    const text = await body.text()
    return { status: statusCode, body: text === "" ? undefined : JSON.parse(text) }
  }
}

const kinds = ["issue", "keep", "contend", "order"]

/** Marks requests that may fail because another client was faster. */
const contested = "?contested"

/** Records every failed request, even if the client would silently retry it. */
const watched =
  (failures: Failure[]): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) => {
    const request = `${options.method} ${options.path}`
    const fail = (answered: string) => void failures.push({ request, answered })
    let refused: number | undefined
    const chunks: Uint8Array[] = []
    return dispatch(options, {
      onRequestStart: (...args) => handler.onRequestStart?.(...args),
      onResponseStart(controller, status, ...args) {
        if (status >= 300 && !(status === 409 && request.endsWith(contested))) refused = status
        handler.onResponseStart?.(controller, status, ...args)
      },
      onResponseData(controller, chunk) {
        if (refused !== undefined) chunks.push(chunk)
        handler.onResponseData?.(controller, chunk)
      },
      onResponseEnd(...args) {
        if (refused !== undefined) fail(`${refused} ${Buffer.concat(chunks).toString().slice(0, longestSaying)}`)
        handler.onResponseEnd?.(...args)
      },
      onResponseError(controller, error) {
        fail(refused === undefined ? String(error) : `${refused}, and then ${String(error)}`)
        handler.onResponseError?.(controller, error)
      },
    })
  }

/** Maximum number of characters of an error that are recorded. */
const longestSaying = 500
