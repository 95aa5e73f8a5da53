import type { Command } from "commander"
import { type Runtime, systemRuntime } from "../core/runtime.ts"
import type { ServedEngine } from "../engine.ts"
import { addSettingOptions, settingsOf, storeSettingNames } from "./setting-options.ts"
import type { Settings } from "./settings.ts"
import type { Terminal } from "./terminal.ts"

/** For commands that work on the store directly, beside a server on the same store if need be. */
export const addStoreOptions = (command: Command): Command =>
  addSettingOptions(command, { names: storeSettingNames, dev: true, group: "Store options:" })

export async function withEngine<T>(
  command: Command,
  terminal: Terminal,
  work: (engine: ServedEngine, settings: Settings, runtime: Runtime) => Promise<T>,
): Promise<T> {
  const settings = settingsOf(command, terminal, true)
  // Not before the settings are known to be good.
  const [{ processLog }, { openStore }] = await Promise.all([import("./log.ts"), import("./store.ts")])
  const log = processLog(settings.logLevel)
  try {
    const runtime = systemRuntime(log)
    await using engine = await openStore(settings, runtime, { server: false })
    return await work(engine, settings, runtime)
  } finally {
    log.flush()
  }
}
