// Endpoints for kubelets and Prometheus: liveness, readiness and metrics.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { once } from "node:events"
import type { OperatorMetrics } from "./metrics.ts"

export interface HealthServerOptions {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  readonly metrics: Pick<OperatorMetrics, "expose">
  /** Returns why the process should be restarted; undefined while it is healthy. */
  readonly problem: () => string | undefined
  readonly ready: () => boolean
}

export interface HealthServer extends AsyncDisposable {
  readonly url: string
}

export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const server = createServer((incoming, outgoing) => void answer(options, incoming, outgoing))
  server.headersTimeout = 10_000
  server.requestTimeout = 10_000
  server.maxConnections = 100
  server.listen(options.port, options.host)
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const host = options.host.includes(":") ? `[${options.host}]` : options.host
  return {
    url: `http://${host}:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(options: HealthServerOptions, { method, url }: IncomingMessage, outgoing: ServerResponse) {
  const say = (status: number, text: string, contentType = "text/plain; charset=utf-8") =>
    outgoing.writeHead(status, { "content-type": contentType }).end(text)
  if (method !== "GET" && method !== "HEAD") return say(405, "the method must be GET or HEAD\n")
  switch (url?.split("?")[0]) {
    case "/healthz": {
      const problem = options.problem()
      return say(problem === undefined ? 200 : 500, `${problem ?? "ok"}\n`)
    }
    case "/readyz":
      return options.ready() ? say(200, "ok\n") : say(503, "the initial lists of objects are not complete\n")
    case "/metrics": {
      const { text, contentType } = await options.metrics.expose()
      return say(200, text, contentType)
    }
    default:
      return say(404, "not found; use /healthz, /readyz or /metrics\n")
  }
}
