import { readFileSync } from "node:fs"
import { systemRuntime } from "../core/runtime.ts"
import type { ServedEngine } from "../engine.ts"
import { ListenError, type RunningServer, startServer } from "../server.ts"
import { CommandError, configurationError, exitCodes } from "./exit-code.ts"
import { processLog } from "./log.ts"
import type { Settings } from "./settings.ts"
import { untilStopped } from "./shutdown.ts"
import { describeStorage, openStore, storageUrl } from "./store.ts"
import type { Terminal } from "./terminal.ts"

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
  const tls = readTls(settings)
  try {
    await using engine = await openStore(settings, runtime, { jobs: true })
    await hooks.prepare?.(engine)
    const server = await listening({
      engine,
      runtime,
      listen: settings.listen,
      ...(tls === undefined ? {} : { tls }),
      ...(settings.publicUrl === undefined ? {} : { publicUrl: settings.publicUrl }),
      ...(settings.rateLimit === "off" ? {} : { rateLimit: settings.rateLimit }),
      bodyLimitBytes: settings.bodyLimit,
      accessLog: settings.accessLog,
      shutdownDelayMs: settings.shutdownDelay,
      shutdownGraceMs: settings.shutdownGrace,
    })
    log.info("serving", { url: server.url, storage: describeStorage(storageUrl(settings)), edition: settings.edition })
    hooks.onReady?.(server)

    const signal = await stopped
    log.info("stopping", { signal })
    const { cut } = await server.close()
    log.info("stopped", { cutRequestCount: cut })
  } finally {
    log.flush()
  }
}

async function listening(options: Parameters<typeof startServer>[0]): Promise<RunningServer> {
  try {
    return await startServer(options)
  } catch (error) {
    if (error instanceof ListenError) throw new CommandError(exitCodes.unavailable, error.message, { cause: error })
    if (error instanceof Error && "code" in error && String(error.code).startsWith("ERR_OSSL")) {
      throw configurationError(
        `The TLS certificate and key cannot be used (${error.message}); see that they are whole and belong together.`,
      )
    }
    throw error
  }
}

function readTls({ tlsCert, tlsKey }: Settings): { certificate: string; privateKey: string } | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined
  return { certificate: readPem(tlsCert, "certificate"), privateKey: readPem(tlsKey, "private key") }
}

function readPem(path: string, what: string): string {
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch {
    throw configurationError(`The TLS ${what} ${path} cannot be read; see that the file is there and readable.`)
  }
  if (!text.includes("-----BEGIN ")) {
    throw configurationError(`The TLS ${what} ${path} holds no PEM; see that the right file is named.`)
  }
  return text
}
