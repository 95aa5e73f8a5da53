// Queries by a program while it runs, to the engine of the stack's configuration.
import * as pulumi from "@pulumi/pulumi"
import type { Engine } from "@chancery/engine"
import { type Configuration, readConfiguration } from "../configuration.ts"
import { createEngines } from "../dynamic/engines.ts"
import { explain } from "../dynamic/explain.ts"

export const stackConfiguration = (): Configuration =>
  readConfiguration((key) => pulumi.runtime.getConfig(`chancery:${key}`), process.env)

/**
 * Runs `ask` with an engine, and closes it afterwards, because an open one would keep the program alive. `what` begins the message of an
 * error.
 */
export async function withEngine<T>(
  configuration: Configuration,
  what: string,
  ask: (engine: Engine) => Promise<T>,
): Promise<T> {
  const engines = createEngines(new AbortController().signal)
  try {
    return await engines.use(configuration, ask)
  } catch (error) {
    throw new Error(`${what}: ${explain(error, what, "read")}`, { cause: error })
  } finally {
    await engines.close()
  }
}
