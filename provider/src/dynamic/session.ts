// What all kinds share in one process: the configuration, the engines, and the end.
//
// Pulumi's process for dynamic resources hands a provider out before its `configure` has come back, and calls `configure` once
// per kind. So whoever needs the configuration waits for it here, whichever kind it came through.
import type { Engine } from "@chancery/engine"
import { type Configuration, type ConfigurationSource, readConfiguration } from "../configuration.ts"
import type { Engines } from "./engines.ts"

export interface Session {
  /** Throws for what is malformed. */
  configure(source: ConfigurationSource): void
  readonly configured: Promise<Configuration>
  use<T>(work: (engine: Engine) => Promise<T>): Promise<T>
  /** Whether anything is being done with an engine. */
  isBusy(): boolean
  /** Of Pulumi's, that the stack belongs to. */
  readonly project: string
  /** Aborted when Pulumi gives up on what is under way. */
  readonly signal: AbortSignal
}

export function createSession(
  engines: Engines,
  signal: AbortSignal,
  environment: Readonly<Record<string, string | undefined>>,
): Session {
  let inFlight = 0
  const gate = Promise.withResolvers<Configuration>()
  // Whoever calls without a configuration is told; that nobody calls is no fault.
  gate.promise.catch(() => undefined)
  return {
    configure(source) {
      try {
        gate.resolve(readConfiguration(source, environment))
      } catch (error) {
        gate.reject(error)
        throw error
      }
    },
    configured: gate.promise,
    async use(work) {
      const configuration = await gate.promise
      inFlight += 1
      try {
        return await engines.use(configuration, work)
      } finally {
        inFlight -= 1
      }
    },
    isBusy: () => inFlight > 0,
    project: environment["PULUMI_NODEJS_PROJECT"] ?? "",
    signal,
  }
}
