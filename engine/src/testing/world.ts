// An engine with its HTTP app and no socket: what route tests talk to.
import type { Edition } from "../core/edition.ts"
import { type Runtime, systemRuntime } from "../core/runtime.ts"
import { openEmbedded } from "../embedded.ts"
import type { ServedEngine } from "../engine.ts"
import { createApp } from "../http/app.ts"
import type { App } from "../http/exchange.ts"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The parsed body; undefined when there is none. Tests pick it apart, so it is loosely typed on purpose. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export interface RequestOptions {
  readonly token?: string | null
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface World extends AsyncDisposable {
  readonly engine: ServedEngine
  readonly app: App
  readonly rootToken: string
  /** `path` is relative to `/api/v2` unless it is absolute; the token is root's unless another (or null for none) is given. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
}

export interface WorldOptions {
  readonly url?: string
  readonly edition?: Edition
  readonly runtime?: Runtime
  /** Nothing is recorded without it. */
  readonly auditFile?: string
}

/** One for all worlds, so that several can share a store. */
const sealKey = Buffer.alloc(32, "seal").toString("base64")

export const origin = "http://chancery.test"

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const runtime = options.runtime ?? systemRuntime()
  const edition = options.edition ?? "self-hosted"
  const engine = await openEmbedded(options.url ?? "sqlite::memory:", {
    runtime,
    edition,
    sealKeys: { text: sealKey },
    ...(options.auditFile === undefined ? {} : { auditLog: { file: options.auditFile } }),
  })
  const app = createApp({ engine, runtime })
  const rootToken = await tokenOf(engine)
  return {
    engine,
    app,
    rootToken,
    async request(method, path, { token = rootToken, body, headers } = {}) {
      const response = await app.fetch(
        new Request(path.startsWith("http") ? path : `${origin}${path.startsWith("/api/") ? "" : "/api/v2"}${path}`, {
          method,
          headers: {
            ...(token === null ? {} : { authorization: `Bearer ${token}` }),
            ...(body === undefined ? {} : { "content-type": "application/vnd.api+json" }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
        }),
        { requestId: "test", route: undefined },
      )
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) }
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  }
}

async function tokenOf({ caller, tokens }: ServedEngine): Promise<string> {
  if (caller.kind !== "user") throw new Error("the engine acts as a user")
  return (await tokens.createForUser(caller.userId, { description: "test" })).secret
}
