import { actingFor } from "./acting-for.ts"
import type { TransportOptions } from "./client/transport.ts"
import { unauthenticated } from "./core/errors.ts"
import { systemRuntime } from "./core/runtime.ts"
import type { EmbeddedOptions } from "./embedded.ts"
import type { Engine } from "./engine.ts"

export interface EngineOptions extends EmbeddedOptions, Partial<Omit<TransportOptions, "random">> {
  /**
   * Token whose owner the engine acts for. Required for a remote engine. An embedded engine without one acts as the site administrator
   * `root`.
   */
  readonly token?: string
}

/**
 * Opens an engine, embedded or remote depending on the URL. Both return the same values and errors.
 *
 * - `sqlite:PATH`, `sqlite::memory:`, `postgres://…`: embedded in this process, with that database. Uses the options of
 *   `EmbeddedOptions`.
 * - `http://…`, `https://…`: remote, with or without `/api/v2` at the end. Nothing is sent before the first call. Uses the options of
 *   `TransportOptions`.
 *
 * Throws `EngineError("unauthenticated")` for a remote engine without a token. Close it when done: `await using`.
 */
export async function openEngine(url: string, options: EngineOptions = {}): Promise<Engine> {
  const { token } = options
  if (/^https?:/i.test(url)) {
    if (token === undefined) throw unauthenticated()
    // Loads only the implementation in use: the embedded engine is most of this package.
    const { openRemote } = await import("./client/remote.ts")
    return openRemote(url, { ...options, token, random: (options.runtime ?? systemRuntime()).random })
  }
  const { openEmbedded } = await import("./embedded.ts")
  const embedded = await openEmbedded(url, options)
  return token === undefined ? embedded : actingFor(embedded, token)
}
