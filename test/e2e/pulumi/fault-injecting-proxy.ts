// A proxy to a server that drops answers and rejects requests.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { buffer } from "node:stream/consumers"
import { request } from "undici"

/** Either the server executes the request and its answer is dropped, or the proxy answers with this status instead. */
type FaultyAnswer = "lost" | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }

export interface Fault {
  readonly matches: (method: string, path: string) => boolean
  readonly answer: FaultyAnswer
}

export interface FaultInjectingProxy extends AsyncDisposable {
  readonly url: string
  /** Faults to inject once each, in this order. */
  readonly nextFaults: Fault[]
  /** Called for every request that does not match the first of those faults. */
  always: (method: string, path: string) => FaultyAnswer | undefined
}

export async function openFaultInjectingProxy(server: string): Promise<FaultInjectingProxy> {
  const nextFaults: Fault[] = []
  let always: FaultInjectingProxy["always"] = () => undefined

  async function pass(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method = "GET", url = "/", headers } = incoming
    const body = await buffer(incoming)
    const isMet = nextFaults[0]?.matches(method, url) === true
    const fault = isMet ? nextFaults.shift()?.answer : always(method, url)
    if (fault !== undefined && fault !== "lost") {
      answer.writeHead(fault.status, fault.headers).end()
      return
    }
    const { connection: _hop, host: _host, "content-length": _length, ...others } = headers
    const got = await request(`${server}${url}`, {
      method: method as "GET",
      headers: others,
      body: body.length === 0 ? null : body,
    })
    const content = await buffer(got.body)
    if (fault === "lost") incoming.socket.destroy()
    else answer.writeHead(got.statusCode, { "content-type": String(got.headers["content-type"] ?? "") }).end(content)
  }

  const listener = createServer((incoming, answer) => {
    pass(incoming, answer).catch(() => incoming.socket.destroy())
  })
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve))
  const address = listener.address()
  if (address === null || typeof address === "string") throw new Error("it listens on a port")
  return {
    url: `http://127.0.0.1:${address.port}`,
    nextFaults,
    set always(decide: FaultInjectingProxy["always"]) {
      always = decide
    },
    get always() {
      return always
    },
    [Symbol.asyncDispose]: async () => {
      listener.closeAllConnections()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}
