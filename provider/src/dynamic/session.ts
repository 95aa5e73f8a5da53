// State that all kinds share in one process: configuration, engines and shutdown.
//
// Pulumi's process for dynamic resources calls methods of a provider before its `configure` has returned, and calls `configure` once per
// kind. So operations wait here for the configuration, whichever kind received it.
import type { Engine } from "@chancery/engine"
import { type Configuration, type ConfigurationSource, readConfiguration } from "../configuration.ts"
import type { Engines } from "./engines.ts"

export interface Session {
  /** Throws if the configuration is malformed. */
  configure(source: ConfigurationSource): void
  readonly configured: Promise<Configuration>
  use<T>(work: (engine: Engine) => Promise<T>): Promise<T>
  /** Returns whether an operation uses an engine. */
  isBusy(): boolean
  /** Pulumi project of the stack. */
  readonly project: string
  /** Aborted when Pulumi cancels running operations. */
  readonly signal: AbortSignal
}

export function createSession(
  engines: Engines,
  signal: AbortSignal,
  environment: Readonly<Record<string, string | undefined>>,
): Session {
  let inFlight = 0
  const gate = Promise.withResolvers<Configuration>()
  // Operations receive the rejection. Without operations, it must not end the process.
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
