// An engine behind a socket: the app, everything around it, and an orderly end. The package's "./server".
import { setTimeout as sleep } from "node:timers/promises"
import type { JobActivities } from "./core/job-activity.ts"
import type { Runtime } from "./core/runtime.ts"
import type { StorageActivity } from "./core/storage-activity.ts"
import { systemRuntime } from "./core/runtime.ts"
import type { ServedEngine } from "./engine.ts"
import { createApp } from "./http/app.ts"
import type { App } from "./http/exchange.ts"
import { createFront } from "./http/front.ts"
import { type ListenAddress, urlOf } from "./http/listen-address.ts"
import { createMetrics } from "./http/metrics.ts"
import { createNodeServer, type NodeServerOptions } from "./http/node-server.ts"
import { rateLimiter } from "./http/rate-limit.ts"

export type { ListenAddress } from "./http/listen-address.ts"
export { ListenError } from "./http/node-server.ts"

export interface ServerOptions {
  /** Stays the caller's: closing the server does not close it. */
  readonly engine: ServedEngine
  readonly runtime?: Runtime
  /** A free port on 127.0.0.1 unless given. */
  readonly listen?: ListenAddress
  readonly tls?: NonNullable<NodeServerOptions["tls"]>
  readonly publicUrl?: URL
  /** Requests a second per token, or per address without one; no limit unless given. */
  readonly rateLimit?: number
  readonly bodyLimitBytes?: number
  readonly accessLog?: "off" | "debug" | "info"
  /** How long to go on serving after `close`, with `/readyz` answering 503, so that balancers notice. */
  readonly shutdownDelayMs?: number
  /** How long requests in flight may take once the server has stopped accepting. */
  readonly shutdownGraceMs?: number
}

export interface RunningServer {
  readonly url: string
  /** Resolves when the last connection has ended; counts the requests that had to be cut. */
  close(): Promise<{ readonly cut: number }>
}

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { engine, runtime = systemRuntime(), publicUrl, bodyLimitBytes } = options
  const app = createApp({
    engine,
    runtime,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(bodyLimitBytes === undefined ? {} : { bodyLimitBytes }),
  })
  const { storageActivity, jobActivities } = engine
  return serveApp(app, { ...options, runtime, ready: () => engine.ready(), storageActivity, jobActivities })
}

/** The same around any app. */
export async function serveApp(
  app: App,
  options: Omit<ServerOptions, "engine"> & {
    readonly runtime: Runtime
    readonly ready: () => Promise<void>
    readonly storageActivity?: StorageActivity
    readonly jobActivities?: JobActivities
  },
): Promise<RunningServer> {
  const { runtime, tls, bodyLimitBytes } = options
  let draining = false
  const serve = createFront({
    app,
    runtime,
    metrics: createMetrics(options.storageActivity, options.jobActivities),
    rateLimiter: options.rateLimit === undefined ? undefined : rateLimiter(options.rateLimit),
    accessLog: options.accessLog ?? "off",
    ready: () => answeringInTime(options.ready()),
    draining: () => draining,
    stopwatch: () => performance.now(),
  })
  const server = createNodeServer(serve, {
    ...(tls === undefined ? {} : { tls }),
    ...(bodyLimitBytes === undefined ? {} : { bodyLimitBytes }),
  })
  const address = await server.listen(options.listen ?? { host: "127.0.0.1", port: 0 })

  async function close(): Promise<{ readonly cut: number }> {
    draining = true
    const { shutdownDelayMs = 0, shutdownGraceMs = 30_000 } = options
    if (shutdownDelayMs > 0) await sleep(shutdownDelayMs)
    return server.close(shutdownGraceMs)
  }

  let closing: Promise<{ readonly cut: number }> | undefined
  return { url: urlOf(address, tls === undefined ? "http" : "https"), close: () => (closing ??= close()) }
}

const readinessTimeoutMs = 2_000

async function answeringInTime(answer: Promise<void>): Promise<void> {
  const timer = new AbortController()
  const late = sleep(readinessTimeoutMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`the store did not answer within ${readinessTimeoutMs} ms`)
  })
  try {
    await Promise.race([answer, late])
  } finally {
    timer.abort()
    await late.catch(() => undefined)
  }
}
