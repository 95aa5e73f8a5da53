// The Kubernetes API without a client library: many requests at once on persistent connections.
import type { RequestOptions } from "node:https"
import type { KubeConfig } from "@kubernetes/client-node"
import { Agent, request } from "undici"

export interface RawApi extends AsyncDisposable {
  /** Returns the document of the answer; throws the server's error text. */
  send(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<unknown>
  /** Applies an object server-side; the options have the API's names. */
  apply(
    path: string,
    object: unknown,
    options?: Readonly<Partial<Record<"dryRun" | "fieldValidation", string>>>,
  ): Promise<unknown>
  /** Returns the body of the answer as text. */
  text(path: string): Promise<string>
  /** Yields the documents of a streamed answer, one per line, until the reader stops. */
  follow(path: string, signal?: AbortSignal): AsyncGenerator
}

export async function openRawApi(config: KubeConfig, clients = 16): Promise<RawApi> {
  const cluster = config.getCurrentCluster()
  if (cluster === null) throw new Error("the configuration names no cluster")
  const options: RequestOptions = {}
  await config.applyToHTTPSOptions(options)
  const { ca, cert, key } = options
  const tls = Object.fromEntries(Object.entries({ ca, cert, key }).filter(([, value]) => value !== undefined))
  const dispatcher = new Agent({ connections: clients, connect: tls, bodyTimeout: 120_000, headersTimeout: 120_000 })
  // Streams get separate connections, so that they take none from the clients.
  const streaming = new Agent({ connect: tls, bodyTimeout: 0, headersTimeout: 120_000 })
  const ask = async (method: string, path: string, body?: unknown, mediaType = "application/json") => {
    const answer = await request(`${cluster.server}${path}`, {
      dispatcher,
      method,
      reset: false,
      headers: {
        ...(options.headers as Record<string, string>),
        accept: "application/json",
        "content-type": mediaType,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.body.text()
    if (answer.statusCode >= 300)
      throw new Error(`${method} ${path} answers ${answer.statusCode}: ${text.slice(0, 500)}`)
    return text
  }
  return {
    send: async (method, path, body) => JSON.parse(await ask(method, path, body)) as unknown,
    async apply(path, object, options) {
      const query = new URLSearchParams({ fieldManager: "raw", force: "true", ...options }).toString()
      return JSON.parse(await ask("PATCH", `${path}?${query}`, object, "application/apply-patch+yaml")) as unknown
    },
    text: (path) => ask("GET", path),
    async *follow(path, signal) {
      const headers = { ...(options.headers as Record<string, string>), accept: "application/json" }
      const { statusCode, body } = await request(`${cluster.server}${path}`, {
        dispatcher: streaming,
        headers,
        ...(signal === undefined ? {} : { signal }),
      })
      if (statusCode >= 300) throw new Error(`${path} answers ${statusCode}: ${await body.text()}`)
      let begun = ""
      for await (const piece of body.setEncoding("utf8")) {
        const lines = (begun + (piece as string)).split("\n")
        begun = lines.pop() ?? ""
        for (const line of lines) yield JSON.parse(line) as unknown
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([dispatcher.destroy(), streaming.destroy()])
    },
  }
}

/** Processes all items with `workers` at once; each worker takes the next item when it has finished one. */
export async function inParallel<Item>(
  items: readonly Item[],
  workers: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (const item of rest) await work(item)
    }),
  )
}
