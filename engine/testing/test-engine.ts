// An engine with its HTTP app and no socket, for tests of routes.
import type { Edition } from "../src/core/edition.ts"
import type { Metrics } from "../src/core/metrics.ts"
import { type Runtime, systemRuntime } from "../src/core/runtime.ts"
import { type EmbeddedOptions, openEmbedded } from "../src/embedded.ts"
import type { ServedEngine } from "../src/engine.ts"
import type { SealKeySources } from "../src/storage/sealing/seal-keys.ts"
import { createApp } from "../src/server/app.ts"
import type { WebApp } from "../src/server/http/web-fetch.ts"
import { imageFor, defaultKind } from "./temporary-database.ts"
import type { KeyGenerator } from "../src/x509/key-generation.ts"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The parsed body, text if it is not JSON, undefined if there is none. Loosely typed, because tests read members at any depth. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
  readonly bytes: Uint8Array
}

export interface RequestOptions {
  readonly token?: string | null
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Client address, unknown by default. */
  readonly from?: string
  /** Certificates that the client presented to the certificate API, DER, its own first. */
  readonly clientChain?: readonly Uint8Array[]
}

export interface TestEngine extends AsyncDisposable {
  readonly engine: ServedEngine
  readonly app: WebApp
  readonly rootToken: string
  /** `path` is relative to `/api/v2` unless it is a URL or begins with `/api/`. The token is root's by default; null sends none. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  /**
   * Calls the certificate API; `path` is relative to `/v1`. The token is root's by default. It is sent as `X-Service-Token`, or as
   * `X-Vault-Token` if the headers have `x-vault-request`, because Vault clients send both.
   */
  pki(method: string, path: string, options?: RequestOptions): Promise<Answer>
}

export interface TestEngineOptions {
  readonly url?: string
  readonly edition?: Edition
  readonly runtime?: Runtime
  readonly metrics?: Metrics
  /** As in the environment. All test engines have the same key by default, so that several can share a database. */
  readonly sealKeys?: SealKeySources
  readonly keyGenerator?: KeyGenerator
  readonly weakKeys?: EmbeddedOptions["weakKeys"]
  /** Path of the audit log. Without it, there is none. */
  readonly auditFile?: string
  readonly auditOpenReads?: boolean
  readonly outgoing?: EmbeddedOptions["outgoing"]
  readonly acme?: EmbeddedOptions["acme"]
  readonly podAccountFolder?: string
  readonly events?: EmbeddedOptions["events"]
  /** False if only requests may change the database. */
  readonly jobs?: boolean
  readonly timers?: EmbeddedOptions["timers"]
  readonly stateLimitBytes?: number
  readonly connections?: number
  readonly storageLimits?: EmbeddedOptions["storageLimits"]
  readonly readReplicas?: EmbeddedOptions["readReplicas"]
  readonly snapshotIntervalSeconds?: number
  readonly freePages?: number
}

const sealKey = Buffer.alloc(32, "seal").toString("base64")

export const origin = "http://chancery.test"

export async function openTestEngine(options: TestEngineOptions = {}): Promise<TestEngine> {
  const runtime = options.runtime ?? systemRuntime()
  const edition = options.edition ?? "self-hosted"
  await using opening = new AsyncDisposableStack()
  const url = options.url ?? opening.use(await defaultKind.place()).url
  const opened = await openEmbedded(url, {
    runtime,
    metrics: options.metrics,
    edition,
    image: imageFor(url),
    freePages: options.freePages,
    sealKeys: options.sealKeys ?? { text: sealKey },
    ...(options.keyGenerator === undefined ? {} : { keyGenerator: options.keyGenerator }),
    ...(options.weakKeys === undefined ? {} : { weakKeys: options.weakKeys }),
    ...(options.auditFile === undefined
      ? {}
      : {
          auditLog: {
            target: { kind: "file", path: options.auditFile } as const,
            recordsOpenReads: options.auditOpenReads ?? false,
          },
        }),
    ...(options.outgoing === undefined ? {} : { outgoing: options.outgoing }),
    ...(options.acme === undefined ? {} : { acme: options.acme }),
    // The tests may run in a pod, so a missing folder replaces its service account by default.
    podAccountFolder: options.podAccountFolder ?? "/nowhere",
    ...(options.events === undefined ? {} : { events: options.events }),
    ...(options.jobs === undefined ? {} : { jobs: options.jobs }),
    ...(options.timers === undefined ? {} : { timers: options.timers }),
    ...(options.connections === undefined ? {} : { connections: options.connections }),
    ...(options.storageLimits === undefined ? {} : { storageLimits: options.storageLimits }),
    ...(options.readReplicas === undefined ? {} : { readReplicas: options.readReplicas }),
    ...(options.stateLimitBytes === undefined ? {} : { stateLimitBytes: options.stateLimitBytes }),
  })
  const engine = opening.use(opened)
  const { snapshotIntervalSeconds } = options
  const app = createApp({
    engine,
    runtime,
    ...(snapshotIntervalSeconds === undefined ? {} : { snapshotIntervalSeconds }),
  })
  const rootToken = await tokenOf(engine)
  const send = async (
    url: string,
    method: string,
    headers: Record<string, string>,
    { body, from, clientChain }: RequestOptions,
  ): Promise<Answer> => {
    const sent = body === undefined ? {} : { body: isSent(body) ? body : JSON.stringify(body) }
    const response = await app.fetch(new Request(url, { method, headers, ...sent }), {
      requestId: "test",
      remoteAddress: from,
      clientCertificate: clientChain && { chain: clientChain },
      route: undefined,
    })
    const bytes = new Uint8Array(await response.arrayBuffer())
    return { status: response.status, headers: response.headers, body: parsed(response.headers, bytes), bytes }
  }
  const closing = opening.move()
  return {
    engine,
    app,
    rootToken,
    async request(method, path, { token = rootToken, body, headers, from } = {}) {
      const url = path.startsWith("http") ? path : `${origin}${path.startsWith("/api/") ? "" : "/api/v2"}${path}`
      const credentials = token === null ? {} : { authorization: `Bearer ${token}` }
      return send(
        url,
        method,
        { ...credentials, ...typeOf(body, "application/vnd.api+json"), ...headers },
        { body, ...(from === undefined ? {} : { from }) },
      )
    },
    async pki(method, path, { token = rootToken, body, headers, from, clientChain } = {}) {
      const header = headers?.["x-vault-request"] === undefined ? "x-service-token" : "x-vault-token"
      const credentials = token === null ? {} : { [header]: token }
      const type = method === "PATCH" ? "application/merge-patch+json" : "application/json"
      return send(
        `${origin}/v1${path}`,
        method,
        { ...credentials, ...typeOf(body, type), ...headers },
        { body, ...(from === undefined ? {} : { from }), ...(clientChain === undefined ? {} : { clientChain }) },
      )
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

const isSent = (body: unknown): body is string | Uint8Array<ArrayBuffer> =>
  typeof body === "string" || body instanceof Uint8Array

const typeOf = (body: unknown, type: string): Record<string, string> =>
  body === undefined ? {} : { "content-type": type }

function parsed(headers: Headers, bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined
  const text = new TextDecoder().decode(bytes)
  return /[/+]json\b/.test(headers.get("content-type") ?? "") ? JSON.parse(text) : text
}

async function tokenOf({ caller, tokens }: ServedEngine): Promise<string> {
  if (caller.kind !== "user") throw new Error("the engine acts as a user")
  return (await tokens.createForUser(caller.userId, { description: "test" })).secret
}
