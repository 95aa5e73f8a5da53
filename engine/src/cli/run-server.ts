import { setFlagsFromString } from "node:v8"
import { type Runtime, systemRuntime } from "../core/runtime.ts"
import type { ServedEngine } from "../engine.ts"
import { systemTimers } from "../core/timers.ts"
import { release } from "../server/release.ts"
import { assertListenable, type RunningServer, type SecureContextSource, startServer } from "../server/server.ts"
import { createMetrics } from "../telemetry/metrics.ts"
import { listening } from "./listening.ts"
import { CommandError } from "./exit-code.ts"
import { issueManagedTls, type ManagedCertificate, type ManagedTlsOptions } from "./managed-tls.ts"
import type { ManagedTls } from "./managed-tls-setting.ts"
import { type ProcessLog, processLog } from "./log.ts"
import type { Settings } from "./settings.ts"
import { untilStopped } from "./shutdown.ts"
import { describeStorage, storageUrl } from "./store.ts"
import { openTelemetry } from "./telemetry.ts"
import type { Terminal } from "./terminal.ts"
import { tlsAddressOf } from "./tls-address.ts"
import { followTlsFiles, type TlsFiles } from "./tls-files.ts"
import { openUnsealed } from "./unsealing.ts"

export interface ServerHooks {
  /** Runs before the first request. */
  readonly prepare?: (engine: ServedEngine) => Promise<void>
  readonly onReady?: (server: RunningServer) => Promise<void>
  /** Runs while the server serves, until the signal aborts. The server closes after it has ended. */
  readonly beside?: (engine: ServedEngine, log: ProcessLog, signal: AbortSignal) => Promise<void>
  /**
   * Default managed certificate: used if none is configured and HTTPS has its own address. If it cannot be issued, the server serves HTTP
   * only.
   */
  readonly usualTls?: ManagedTls
  readonly onTlsIssued?: ManagedTlsOptions["onIssued"]
}

/**
 * Garbage may take as much memory as live objects before V8 collects it. By default, V8 allows four times as much if memory is available,
 * at the cost of other processes. A server under load then takes a third more memory and is no faster.
 */
const heapGrowingFlag = "--heap-growing-percent=100"

/** Serves until the process receives a stop signal, then lets requests in flight finish. */
export async function runServer(settings: Settings, terminal: Terminal, hooks: ServerHooks = {}): Promise<void> {
  setFlagsFromString(heapGrowingFlag)
  const log = processLog(settings.logLevel)
  // Node ends the process after such an error. Flush, so that the last log lines are not lost.
  process.on("uncaughtExceptionMonitor", (error, origin) => {
    log.error("the process fails", { error, origin })
    log.flush()
  })
  const stopped = untilStopped(log, terminal)
  const tlsListen = tlsAddressOf(settings)
  const files = tlsFilesOf(settings)
  try {
    // Disposed last, so that telemetry of the shutdown is exported too.
    await using telemetry = await openTelemetry(settings, terminal.environment, log)
    const runtime = telemetry?.runtime ?? systemRuntime(log)
    using followed = files && followTlsFiles(files, log)
    const listeners = (tls: { readonly source: SecureContextSource } | undefined) => ({
      runtime,
      listen: settings.listen,
      ...(tls && { tls: { source: tls.source, ...(tlsListen && { listen: tlsListen }) } }),
      accessLog: settings.accessLog,
      ...(settings.maxConnectionsPerAddress === "off"
        ? {}
        : { connectionsPerAddress: settings.maxConnectionsPerAddress }),
      ...(settings.deviceListen && { deviceListen: settings.deviceListen }),
      ...(settings.metricsListen && { metricsListen: settings.metricsListen }),
      ...(settings.hsts === "off" ? {} : { hstsMs: settings.hsts }),
      proxies: { trusted: settings.trustedProxies, header: settings.proxyHeader },
    })
    await assertAllListenable(settings)
    const metrics = createMetrics(release)
    await using engine = await openUnsealed(settings, { ...listeners(followed), metrics }, stopped)
    if (engine === undefined) return
    // SIGHUP after log rotation: the file was moved, and the audit log reopens its path. On a terminal, SIGHUP means that the terminal
    // closes.
    if (!process.stdin.isTTY) process.on("SIGHUP", () => engine.audit.reopen())
    await hooks.prepare?.(engine)
    using managed = followed === undefined ? await managedTls(settings, engine, runtime, hooks) : undefined
    const server = await listening(() =>
      startServer({
        ...listeners(followed ?? managed),
        engine,
        ...(settings.publicUrl === undefined ? {} : { publicUrl: settings.publicUrl }),
        ...(settings.rateLimit === "off" ? {} : { rateLimit: settings.rateLimit }),
        bodyLimitBytes: settings.bodyLimit,
        jsonBounds: {
          depth: settings.maxJsonDepth,
          members: settings.maxJsonMembers,
          elements: settings.maxJsonElements,
          stringBytes: settings.maxJsonString,
          values: settings.maxJsonValues,
        },
        snapshotIntervalSeconds: settings.stateSnapshots === "off" ? 0 : settings.stateSnapshots / 1_000,
        shutdownDelayMs: settings.shutdownDelay,
        shutdownGraceMs: settings.shutdownGrace,
      }),
    )
    const measuring = telemetry?.measure(metrics)
    log.info("serving", {
      url: server.url,
      httpsUrl: server.httpsUrl,
      metricsUrl: server.metricsUrl,
      deviceUrl: server.deviceUrl,
      storage: describeStorage(storageUrl(settings)),
      edition: settings.edition,
    })
    await hooks.onReady?.(server)

    const ending = new AbortController()
    const beside = Promise.resolve(hooks.beside?.(engine, log, ending.signal))
    // A failure of this task must not stop the server.
    const ended = beside.catch((error: unknown) => log.error("what goes on beside the server has failed", { error }))
    const signal = await stopped
    log.info("stopping", { signal })
    ending.abort()
    await ended
    const { cut } = await server.close()
    // The last measurement reads the database, so it runs before the engine is closed.
    await measuring?.[Symbol.asyncDispose]()
    log.info("stopped", { cutRequestCount: cut })
  } finally {
    log.flush()
  }
}

/** Throws if an address is taken, before a data folder is created. */
async function assertAllListenable(settings: Settings): Promise<void> {
  for (const address of [settings.listen, tlsAddressOf(settings), settings.deviceListen, settings.metricsListen])
    if (address !== undefined) await listening(() => assertListenable(address))
}

async function managedTls(
  settings: Settings,
  engine: ServedEngine,
  runtime: Runtime,
  { usualTls, onTlsIssued }: ServerHooks,
): Promise<ManagedCertificate | undefined> {
  const options = { runtime, timers: systemTimers, ...(onTlsIssued && { onIssued: onTlsIssued }) }
  if (settings.tlsManaged !== undefined) return issueManagedTls(engine, settings.tlsManaged, options)
  if (usualTls === undefined || tlsAddressOf(settings) === undefined) return undefined
  try {
    return await issueManagedTls(engine, usualTls, options)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    runtime.log.warn("serving without HTTPS", { reason: error.message })
    return undefined
  }
}

const tlsFilesOf = ({ tlsCert, tlsKey }: Settings): TlsFiles | undefined =>
  tlsCert === undefined || tlsKey === undefined ? undefined : { certificate: tlsCert, privateKey: tlsKey }
