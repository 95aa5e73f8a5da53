// A proxy between a client and a local server that records the client's requests. The address of the server may change, because a restarted
// server uses another port.
import { once } from "node:events"
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface RecordedRequest {
  readonly method: string
  /** Includes the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
  /** Undefined until the answer arrives, and if none arrives. */
  status: number | undefined
}

export interface RecordingProxy extends AsyncDisposable {
  readonly url: string
  /** Returns all requests since the proxy was opened or since the last call, in the order in which they began. */
  take(): readonly RecordedRequest[]
  /** Resolves when a matching request is answered. Requests that `take` returned earlier do not count. */
  answered(method: string, path: RegExp, status: number): Promise<void>
}

/** Calls `target` at every request. If the server does not answer, the client's connection ends. */
export async function openRecordingProxy(target: () => string): Promise<RecordingProxy> {
  const agent = new Agent({ keepAlive: true })
  let requests: RecordedRequest[] = []
  const watchers = new Set<(answered: RecordedRequest) => void>()

  const forward = async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { method = "", url: path = "", headers } = incoming
    const pieces: Buffer[] = []
    for await (const piece of incoming) pieces.push(piece as Buffer)
    const body = Buffer.concat(pieces)
    const recorded: RecordedRequest = { method, path, headers, body: body.toString(), status: undefined }
    requests.push(recorded)
    // Keeps the host header of the client, so that URLs in answers lead to the proxy too.
    const outgoing = request(new URL(path, target()), { agent, method, headers })
    outgoing.end(body)
    const [response] = (await once(outgoing, "response")) as [IncomingMessage]
    recorded.status = response.statusCode
    answer.writeHead(response.statusCode ?? 502, response.headers)
    response.pipe(answer)
    await once(response, "end")
    for (const watcher of watchers) watcher(recorded)
  }

  const server = createServer((incoming, answer) => {
    forward(incoming, answer).catch(() => answer.destroy())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    take() {
      const taken = requests
      requests = []
      return taken
    },
    answered: (method, path, status) =>
      new Promise((resolve) => {
        const watcher = (each: RecordedRequest): void => {
          if (each.method !== method || each.status !== status || !path.test(each.path)) return
          watchers.delete(watcher)
          resolve()
        }
        for (const each of requests) watcher(each)
        watchers.add(watcher)
      }),
    async [Symbol.asyncDispose]() {
      agent.destroy()
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
