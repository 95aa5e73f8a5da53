// How a program asks the engine of the stack's configuration while it runs.
import * as pulumi from "@pulumi/pulumi"
import type { Engine } from "@chancery/engine"
import { type Configuration, readConfiguration } from "../configuration.ts"
import { createEngines } from "../dynamic/engines.ts"
import { explain } from "../dynamic/explain.ts"

export const stackConfiguration = (): Configuration =>
  readConfiguration((key) => pulumi.runtime.getConfig(`chancery:${key}`), process.env)

/** Closed after each question: a program ends when nothing is open any more. `what` begins the sentence of a refusal. */
export async function asking<T>(
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
