// The Kubernetes API as raw clients ask it: many requests at once on kept connections, and nothing but requests.
import type { RequestOptions } from "node:https"
import type { KubeConfig } from "@kubernetes/client-node"
import { Agent, request } from "undici"

export interface RawApi extends AsyncDisposable {
  /** The answer's document; fails with what the server says. */
  send(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<unknown>
  /** Server-side apply; the options are as the API calls them. */
  apply(
    path: string,
    object: unknown,
    options?: Readonly<Partial<Record<"dryRun" | "fieldValidation", string>>>,
  ): Promise<unknown>
  /** As it is answered. */
  text(path: string): Promise<string>
  /** The documents of an answer that goes on, one a line, until the reader has had enough. */
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
  // What goes on keeps its connection, and takes none of the clients'.
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

/** All of it, by so many at once; each takes the next as soon as it is done with one. */
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
