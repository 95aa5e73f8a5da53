import { systemRuntime } from "../core/runtime.ts"
import type { ServedEngine } from "../engine.ts"
import { systemTimers } from "../core/timers.ts"
import { type RunningServer, type SecureContextSource, startServer } from "../server.ts"
import { listening } from "./listening.ts"
import { issueManagedTls } from "./managed-tls.ts"
import { processLog } from "./log.ts"
import type { Settings } from "./settings.ts"
import { untilStopped } from "./shutdown.ts"
import { describeStorage, storageUrl } from "./store.ts"
import type { Terminal } from "./terminal.ts"
import { tlsAddressOf } from "./tls-address.ts"
import { followTlsFiles, type TlsFiles } from "./tls-files.ts"
import { openUnsealed } from "./unsealing.ts"

export interface ServerHooks {
  /** Before the first request. */
  readonly prepare?: (engine: ServedEngine) => Promise<void>
  readonly onReady?: (server: RunningServer) => void
}

/** Serves the store until the process is told to stop; then lets what is in flight finish. */
export async function runServer(settings: Settings, terminal: Terminal, hooks: ServerHooks = {}): Promise<void> {
  const log = processLog(settings.logLevel)
  // Node ends the process after such an error; the log's last lines must not be lost with it.
  process.on("uncaughtExceptionMonitor", (error, origin) => {
    log.error("the process fails", { error, origin })
    log.flush()
  })
  const stopped = untilStopped(log, terminal)
  const runtime = systemRuntime(log)
  const tlsListen = tlsAddressOf(settings)
  const files = tlsFilesOf(settings)
  try {
    using followed = files && followTlsFiles(files, log)
    const listeners = (tls: { readonly source: SecureContextSource } | undefined) => ({
      runtime,
      listen: settings.listen,
      ...(tls && { tls: { source: tls.source, ...(tlsListen && { listen: tlsListen }) } }),
      accessLog: settings.accessLog,
    })
    await using engine = await openUnsealed(settings, listeners(followed), stopped)
    if (engine === undefined) return
    // As log rotation does it: the file is moved away, and whoever writes it is told. From a terminal it means that this closes.
    if (!process.stdin.isTTY) process.on("SIGHUP", () => engine.audit.reopen())
    await hooks.prepare?.(engine)
    const { tlsManaged } = settings
    using managed = tlsManaged && (await issueManagedTls(engine, tlsManaged, { runtime, timers: systemTimers }))
    const server = await listening(startServer, {
      ...listeners(followed ?? managed),
      engine,
      ...(settings.publicUrl === undefined ? {} : { publicUrl: settings.publicUrl }),
      ...(settings.rateLimit === "off" ? {} : { rateLimit: settings.rateLimit }),
      bodyLimitBytes: settings.bodyLimit,
      shutdownDelayMs: settings.shutdownDelay,
      shutdownGraceMs: settings.shutdownGrace,
    })
    log.info("serving", {
      url: server.url,
      httpsUrl: server.httpsUrl,
      storage: describeStorage(storageUrl(settings)),
      edition: settings.edition,
    })
    hooks.onReady?.(server)

    const signal = await stopped
    log.info("stopping", { signal })
    const { cut } = await server.close()
    log.info("stopped", { cutRequestCount: cut })
  } finally {
    log.flush()
  }
}

const tlsFilesOf = ({ tlsCert, tlsKey }: Settings): TlsFiles | undefined =>
  tlsCert === undefined || tlsKey === undefined ? undefined : { certificate: tlsCert, privateKey: tlsKey }
