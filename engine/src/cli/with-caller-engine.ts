// Engine of a command: a server with a token, or the database itself.
import { readFile } from "node:fs/promises"
import { type Command, Option } from "commander"
import { isEngineError } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import { openEngine } from "../open.ts"
import { CommandError, configurationError, exitCodes, usageError } from "./exit-code.ts"
import type { Terminal } from "./terminal.ts"
import { addStoreOptions, withEngine } from "./with-engine.ts"

export interface CallerOptions {
  readonly engineUrl?: string
  readonly tokenFile?: string
  readonly caFile?: string
}

const urlVariable = "CHANCERY_ENGINE_URL"
const tokenVariable = "CHANCERY_TOKEN"
const tokenFileVariable = "CHANCERY_TOKEN_FILE"
const caFileVariable = "CHANCERY_CA_FILE"

const serverOptions = "Server options:"

/** Adds options for the connection to a server, named as in the Pulumi provider, and the options for the database. */
export const addCallerOptions = (command: Command): Command =>
  addStoreOptions(addServerOptions(command, "none, the command opens the store"))

export const addServerOptions = (command: Command, defaultUrl: string): Command =>
  command
    .addOption(
      new Option(
        "--engine-url <url>",
        `URL of the server, such as https://chancery.example (environment ${urlVariable}). Default: ${defaultUrl}.`,
      ).helpGroup(serverOptions),
    )
    .addOption(
      new Option(
        "--token-file <file>",
        `File with the API token for the server (environment ${tokenFileVariable}, or ${tokenVariable} with the token).`,
      ).helpGroup(serverOptions),
    )
    .addOption(
      new Option(
        "--ca-file <file>",
        `File with certificates (PEM) to trust in addition to those of the system (environment ${caFileVariable}).`,
      ).helpGroup(serverOptions),
    )

/**
 * Runs `work` with the server that options or environment name, or else with the opened database. Throws a `CommandError` if the URL, the
 * token or the certificates are unusable.
 */
export async function withCallerEngine<T>(
  command: Command,
  terminal: Terminal,
  work: (engine: Engine) => Promise<T>,
  traceparent = (): string | undefined => terminal.environment["TRACEPARENT"],
): Promise<T> {
  const { environment } = terminal
  const options: CallerOptions = command.opts()
  const url = serverUrlOf(command, environment)
  if (url === undefined) return withEngine(command, terminal, work)
  await using engine = await openServer(url, options, environment, traceparent)
  try {
    return await work(engine)
  } catch (error) {
    if (!isEngineError(error, "unavailable") || error.notSent !== "untrusted-certificate") throw error
    const remedy = `If a private authority issued it, give the certificate of that authority with --ca-file or ${caFileVariable}.`
    throw new CommandError(exitCodes.configuration, `${error.message} ${remedy}`, { cause: error })
  }
}

/** Opens the engine of a server. Throws a `CommandError` if the URL, the token or the certificates are unusable. */
export async function openServer(
  url: string,
  options: CallerOptions,
  environment: Terminal["environment"],
  traceparent = (): string | undefined => undefined,
): Promise<Engine> {
  if (!/^https?:\/\//i.test(url)) throw configurationError(`--engine-url must begin with http:// or https://.`)
  const token = await tokenOf(options, environment)
  const certificateAuthority = await certificatesOf(options, environment)
  return openEngine(url, {
    token,
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
    traceparent,
  })
}

/** Returns the path of the token file, or undefined if the environment contains the token. */
export const tokenFileOf = ({ tokenFile }: CallerOptions, environment: Terminal["environment"]): string | undefined =>
  tokenFile ?? (environment[tokenVariable] ? undefined : environment[tokenFileVariable])

/** Returns undefined if the command opens the database: no server is named, or a flag names the database. */
export function serverUrlOf(command: Command, environment: Terminal["environment"]): string | undefined {
  const { engineUrl }: CallerOptions = command.opts()
  if (engineUrl !== undefined) return engineUrl
  const isStoreNamed = ["data", "storage", "config"].some((name) => command.getOptionValueSource(name) === "cli")
  return isStoreNamed ? undefined : environment[urlVariable] || undefined
}

/** Returns the certificates that are trusted in addition to those of the system. */
export async function certificatesOf(
  { caFile }: CallerOptions,
  environment: Terminal["environment"],
): Promise<string | undefined> {
  const file = caFile ?? (environment[caFileVariable] || undefined)
  if (file === undefined) return undefined
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw configurationError(`The certificates in ${file} cannot be read: ${(cause as Error).message}.`)
  })
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text
  throw configurationError(`${file} does not contain a PEM certificate; check --ca-file or ${caFileVariable}.`)
}

async function tokenOf(options: CallerOptions, environment: Terminal["environment"]): Promise<string> {
  const token = environment[tokenVariable]
  if (options.tokenFile === undefined && token) return token
  const file = options.tokenFile ?? environment[tokenFileVariable]
  if (!file)
    throw usageError(`The server needs a token; set ${tokenVariable} or ${tokenFileVariable}, or give --token-file.`)
  try {
    return (await readFile(file, "utf8")).trim()
  } catch (cause) {
    throw configurationError(`The token file ${file} cannot be read: ${(cause as Error).message}.`)
  }
}
