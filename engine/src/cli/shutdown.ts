import type { ProcessLog } from "./log.ts"
import type { Terminal } from "./terminal.ts"

const parentCheckMs = 250

/** Resolves at the first SIGTERM or SIGINT. A second signal ends the process at once, without waiting for requests. */
export function untilStopped(log: ProcessLog, terminal: Terminal): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    // npm sends the signal to the shell between npm and this process. The shell dies of it without passing it on.
    if (terminal.environment["npm_lifecycle_event"] !== undefined) whenOrphaned(() => resolve("SIGTERM"))
    let signals = 0
    const onSignal = (signal: NodeJS.Signals): void => {
      signals += 1
      if (signals === 1) {
        resolve(signal)
        return
      }
      log.warn("stopped without waiting", { signal })
      log.flush()
      process.exit(1)
    }
    process.on("SIGTERM", onSignal)
    process.on("SIGINT", onSignal)
  })
}

function whenOrphaned(then: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    then()
  }, parentCheckMs)
  timer.unref()
}
