// The Kubernetes API as raw clients ask it: many requests at once on kept connections, and nothing but requests.
import type { RequestOptions } from "node:https"
import type { KubeConfig } from "@kubernetes/client-node"
import { Agent, request } from "undici"

export interface RawApi extends AsyncDisposable {
  /** The answer's document; fails with what the server says. */
  send(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<unknown>
  /** Server-side apply. */
  apply(path: string, object: unknown): Promise<unknown>
  /** As it is answered. */
  text(path: string): Promise<string>
}

export async function openRawApi(config: KubeConfig, clients = 16): Promise<RawApi> {
  const cluster = config.getCurrentCluster()
  if (cluster === null) throw new Error("the configuration names no cluster")
  const options: RequestOptions = {}
  await config.applyToHTTPSOptions(options)
  const { ca, cert, key } = options
  const tls = Object.fromEntries(Object.entries({ ca, cert, key }).filter(([, value]) => value !== undefined))
  const dispatcher = new Agent({ connections: clients, connect: tls, bodyTimeout: 120_000, headersTimeout: 120_000 })
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
    apply: async (path, object) =>
      JSON.parse(
        await ask("PATCH", `${path}?fieldManager=raw&force=true`, object, "application/apply-patch+yaml"),
      ) as unknown,
    text: (path) => ask("GET", path),
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
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
