// Serves an engine on sockets, with graceful shutdown. Exported as "./server" by the package.
import { setTimeout as sleep } from "node:timers/promises"
import type { JsonBounds } from "../core/json-bounds.ts"
import type { Metrics } from "../core/metrics.ts"
import { type Runtime, systemRuntime } from "../core/runtime.ts"
import type { ServedEngine } from "../engine.ts"
import { createApp } from "./app.ts"
import { type App, isUploadPath, type Serve } from "./http/exchange.ts"
import { isTrusted } from "./http/client-address.ts"
import type { ConnectionShareOptions } from "./http/connection-share.ts"
import { createFront, createMetricsFront, type FrontOptions } from "./http/front.ts"
import { type ListenAddress, urlOf } from "./http/listen-address.ts"
import { createNodeServer, type NodeServer } from "./http/node-server.ts"
import { rateLimiter } from "./http/rate-limit.ts"
import { sealedApp, sealedEngine } from "./http/sealed-app.ts"
import type { SecureContextSource } from "./http/secure-context.ts"
import { createMetrics } from "../telemetry/metrics.ts"

export type { ListenAddress } from "./http/listen-address.ts"
export { assertListenable, ListenError } from "./http/node-server.ts"
export {
  ReloadableIdentity,
  type SecureContextSource,
  type TlsIdentity,
  UnusableIdentity,
} from "./http/secure-context.ts"

export interface ServerOptions {
  /** The engine to serve. Closing the server does not close it. */
  readonly engine: ServedEngine
  readonly runtime?: Runtime
  /** Address to listen on. Default: a free port on 127.0.0.1. */
  readonly listen?: ListenAddress
  /** HTTPS. With `listen`, it is served in addition to HTTP; otherwise instead of HTTP. */
  readonly tls?: { readonly source: SecureContextSource; readonly listen?: ListenAddress }
  /** Address of the listener that requests client certificates. Serves only endpoints for devices. Needs `tls`. */
  readonly deviceListen?: ListenAddress
  readonly publicUrl?: URL
  /** Requests per second for each token, or for each address without a token. Default: no limit. */
  readonly rateLimit?: number
  /** Proxies that may report the client's address, and the header that they use. Default: none. */
  readonly proxies?: FrontOptions["proxies"]
  /** Maximum concurrent connections of one address, except trusted proxies. Default: no limit. */
  readonly connectionsPerAddress?: number
  /** Serves `/metrics` only at this address. */
  readonly metricsListen?: ListenAddress
  /** Milliseconds for which browsers must use HTTPS for this host (RFC 6797). Sent with every response over HTTPS. */
  readonly hstsMs?: number
  readonly bodyLimitBytes?: number
  /** Bounds on JSON in requests. Default: `defaultJsonBounds`. */
  readonly jsonBounds?: JsonBounds
  /** Seconds between state snapshots that clients are asked to save during an apply; 0 disables them. Default: 60. */
  readonly snapshotIntervalSeconds?: number
  readonly accessLog?: "off" | "debug" | "info"
  /** Milliseconds to keep serving after `close`. `/readyz` answers 503, and each response closes its connection. Default: 0. */
  readonly shutdownDelayMs?: number
  /** Milliseconds that requests in flight may take after the server stopped accepting. Default: 30000. */
  readonly shutdownGraceMs?: number
}

export interface RunningServer {
  /** URL of plain HTTP if both are served. */
  readonly url: string
  readonly httpsUrl: string | undefined
  /** URL of the separate metrics listener. */
  readonly metricsUrl: string | undefined
  /** URL of the device listener. */
  readonly deviceUrl: string | undefined
  /** Stops all listeners. Resolves after the last connection has closed; `cut` is the number of requests that were cut. */
  close(): Promise<{ readonly cut: number }>
}

/** Serves an engine. Rejects with `ListenError` if an address cannot be used. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { engine, runtime = systemRuntime(), publicUrl, bodyLimitBytes, jsonBounds, snapshotIntervalSeconds } = options
  const app = createApp({
    engine,
    runtime,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(bodyLimitBytes === undefined ? {} : { bodyLimitBytes }),
    ...(jsonBounds === undefined ? {} : { jsonBounds }),
    ...(snapshotIntervalSeconds === undefined ? {} : { snapshotIntervalSeconds }),
  })
  const uploadLimitBytes = engine.stateTransfers.limitBytes
  return serveApp(app, {
    ...options,
    runtime,
    ready: () => engine.ready(),
    metrics: engine.metrics,
    uploadLimitBytes,
    endStreams: () => engine.endEventStreams(),
  })
}

/** Serves while the database is sealed: reports the sealed state and is not ready. */
export function startSealedServer(
  options: Omit<ServerOptions, "engine"> & { readonly metrics?: Metrics },
): Promise<RunningServer> {
  const { runtime = systemRuntime() } = options
  return serveApp(sealedApp(runtime), { ...options, runtime, ready: () => Promise.reject(sealedEngine()) })
}

/** Serves any app. Rejects with `ListenError` if an address cannot be used. */
export async function serveApp(
  app: App,
  options: Omit<ServerOptions, "engine"> & {
    readonly runtime: Runtime
    readonly ready: () => Promise<void>
    /** Metrics to serve. Default: new ones, which count only requests. */
    readonly metrics?: Metrics | undefined
    /** Bound on bodies of uploads. */
    readonly uploadLimitBytes?: number
    /** Ends streams that would otherwise last as long as the client stays connected. */
    readonly endStreams?: () => void
  },
): Promise<RunningServer> {
  const { runtime } = options
  let draining = false
  const metrics = options.metrics ?? createMetrics()
  const serve = createFront({
    app,
    runtime,
    metrics,
    rateLimiter: options.rateLimit === undefined ? undefined : rateLimiter(options.rateLimit),
    accessLog: options.accessLog ?? "off",
    proxies: options.proxies,
    ready: () => answeringInTime(options.ready()),
    draining: () => draining,
    metricsApart: options.metricsListen !== undefined,
    stopwatch: () => performance.now(),
  })
  const listeners = listenersOf(serve, options)
  if (options.metricsListen !== undefined)
    listeners.push({
      scheme: "metrics",
      address: options.metricsListen,
      server: createNodeServer(createMetricsFront(metrics), { listenFlag: "--metrics-listen" }),
    })
  const urls = await listening(listeners)

  async function close(): Promise<{ readonly cut: number }> {
    draining = true
    const { shutdownDelayMs = 0, shutdownGraceMs = 30_000 } = options
    for (const { server } of listeners) server.sendAway()
    if (shutdownDelayMs > 0) await sleep(shutdownDelayMs)
    const closing = listeners.map(({ server }) => server.close(shutdownGraceMs))
    // Event streams never end by themselves. Their clients reconnect, to another server or after the restart.
    options.endStreams?.()
    const ended = await Promise.all(closing)
    return { cut: ended.reduce((sum, { cut }) => sum + cut, 0) }
  }

  let closing: Promise<{ readonly cut: number }> | undefined
  return {
    url: urls.http ?? urls.https ?? "",
    httpsUrl: urls.https,
    metricsUrl: urls.metrics,
    deviceUrl: urls.device,
    close: () => (closing ??= close()),
  }
}

interface Listener {
  readonly scheme: "http" | "https" | "metrics" | "device"
  readonly address: ListenAddress
  readonly server: NodeServer
}

/** Enough for 1 GiB at 2.5 Mbit/s. */
const uploadTimeoutMs = 60 * 60_000

function listenersOf(
  serve: Serve,
  {
    tls,
    bodyLimitBytes,
    listen,
    uploadLimitBytes,
    hstsMs,
    deviceListen,
    ...options
  }: Omit<ServerOptions, "engine"> & { readonly runtime: Runtime; readonly uploadLimitBytes?: number },
): Listener[] {
  const connectionShare = connectionShareOf(options)
  const limits = {
    ...(connectionShare && { connectionShare }),
    ...(bodyLimitBytes === undefined ? {} : { bodyLimitBytes }),
    ...(uploadLimitBytes === undefined
      ? {}
      : { uploads: { matches: isUploadPath, bodyLimitBytes: uploadLimitBytes, requestTimeoutMs: uploadTimeoutMs } }),
  }
  const address = listen ?? { host: "127.0.0.1", port: 0 }
  const plain: Listener = { scheme: "http", address, server: createNodeServer(serve, limits) }
  if (tls === undefined) return [plain]
  const secured = (at: ListenAddress, listenFlag: string): Listener => ({
    scheme: "https",
    address: at,
    server: createNodeServer(serve, {
      ...limits,
      tls: tls.source,
      listenFlag,
      ...(hstsMs && { headers: { "strict-transport-security": `max-age=${Math.floor(hstsMs / 1_000)}` } }),
    }),
  })
  const usual = tls.listen === undefined ? [secured(address, "--listen")] : [plain, secured(tls.listen, "--tls-listen")]
  if (deviceListen === undefined) return usual
  const server = createNodeServer(serve, {
    ...limits,
    tls: tls.source,
    isDevice: true,
    listenFlag: "--device-listen",
  })
  return [...usual, { scheme: "device", address: deviceListen, server }]
}

const rejectionLogMs = 60_000

function connectionShareOf({
  connectionsPerAddress,
  proxies,
  runtime: { clock, log },
}: Omit<ServerOptions, "engine"> & { readonly runtime: Runtime }): ConnectionShareOptions | undefined {
  if (connectionsPerAddress === undefined) return undefined
  let loggedAt: number | undefined
  return {
    maxConnections: connectionsPerAddress,
    isExempt: (address) => proxies !== undefined && isTrusted(address, proxies.trusted),
    onExceeded(address) {
      const now = clock.now()
      if (loggedAt !== undefined && now >= loggedAt && now - loggedAt < rejectionLogMs) return
      loggedAt = now
      log.warn("connections refused", { remoteAddress: address, maxConnections: connectionsPerAddress })
    },
  }
}

/** Starts all listeners, or none if one fails. */
async function listening(listeners: readonly Listener[]): Promise<Partial<Record<Listener["scheme"], string>>> {
  const urls: Partial<Record<Listener["scheme"], string>> = {}
  try {
    for (const { scheme, address, server } of listeners)
      urls[scheme] = urlOf(await server.listen(address), scheme === "http" || scheme === "metrics" ? "http" : "https")
    return urls
  } catch (error) {
    await Promise.all(listeners.map(({ server }) => server.close(0)))
    throw error
  }
}

const readinessTimeoutMs = 2_000

async function answeringInTime(answer: Promise<void>): Promise<void> {
  const timer = new AbortController()
  const late = sleep(readinessTimeoutMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`the database did not answer within ${readinessTimeoutMs} ms`)
  })
  try {
    await Promise.race([answer, late])
  } finally {
    timer.abort()
    await late.catch(() => undefined)
  }
}
