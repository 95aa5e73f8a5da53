// The engine as whoever types the command may use it: a server elsewhere with a token, or the store itself.
import { readFile } from "node:fs/promises"
import { type Command, Option } from "commander"
import type { Engine } from "../engine.ts"
import { openEngine } from "../open.ts"
import { configurationError, usageError } from "./exit-code.ts"
import type { Terminal } from "./terminal.ts"
import { addStoreOptions, withEngine } from "./with-engine.ts"

interface CallerOptions {
  readonly engineUrl?: string
  readonly tokenFile?: string
}

const urlVariable = "CHANCERY_ENGINE_URL"
const tokenVariable = "CHANCERY_TOKEN"
const tokenFileVariable = "CHANCERY_TOKEN_FILE"

/** The names that the Pulumi provider has for them too. */
export const addCallerOptions = (command: Command): Command =>
  addStoreOptions(
    command
      .addOption(
        new Option(
          "--engine-url <url>",
          `a server to ask, such as https://chancery.example (environment ${urlVariable}); without one the store is opened`,
        ),
      )
      .addOption(
        new Option(
          "--token-file <file>",
          `file with the token for that server (environment ${tokenFileVariable}, or the token itself in ${tokenVariable})`,
        ),
      ),
  )

export async function withCallerEngine<T>(
  command: Command,
  terminal: Terminal,
  work: (engine: Engine) => Promise<T>,
): Promise<T> {
  const { environment } = terminal
  const options: CallerOptions = command.opts()
  const url = options.engineUrl ?? (environment[urlVariable] || undefined)
  if (url === undefined) return withEngine(command, terminal, work)
  if (!/^https?:\/\//i.test(url)) throw configurationError(`The engine's URL must begin with http:// or https://.`)
  const token = await tokenOf(options, environment)
  await using engine = await openEngine(url, { token, traceparent: () => environment["TRACEPARENT"] })
  return await work(engine)
}

async function tokenOf(options: CallerOptions, environment: Terminal["environment"]): Promise<string> {
  const given = environment[tokenVariable]
  if (options.tokenFile === undefined && given) return given
  const file = options.tokenFile ?? environment[tokenFileVariable]
  if (!file)
    throw usageError(`A server needs a token: set ${tokenVariable} or ${tokenFileVariable}, or give --token-file.`)
  try {
    return (await readFile(file, "utf8")).trim()
  } catch (cause) {
    throw configurationError(`The file with the token, ${file}, cannot be read: ${(cause as Error).message}.`)
  }
}
