import type { ProcessLog } from "./log.ts"

/** Resolves at the first SIGTERM or SIGINT. A second one ends the process at once: whoever sends it does not want to wait. */
export function untilStopped(log: ProcessLog): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
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
