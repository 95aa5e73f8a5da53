// A receiver of webhooks: a real HTTP server on the loopback interface, whose answers the test controls.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface SeenDelivery {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string
  readonly seen: readonly SeenDelivery[]
  /** Sets the answer to all further deliveries. Default: status 204. */
  answerWith(answer: (response: ServerResponse, delivery: SeenDelivery) => void): void
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const seen: SeenDelivery[] = []
  let answer: Parameters<WebhookReceiver["answerWith"]>[0] = (response) => void response.writeHead(204).end()
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (piece: string) => (body += piece))
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request
      const delivery = { method, path, headers, body }
      seen.push(delivery)
      answer(response, delivery)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    answerWith(next) {
      answer = next
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
