// Settings of the provider, from stack configuration `chancery:KEY`, an explicit `Provider`, or the environment. For tokens, the
// environment takes precedence: `destroy` and `refresh` run with the configuration of the last `up`, whose token may have expired. For
// other settings, the configuration takes precedence.
import { readFile } from "node:fs/promises"
import type { Defaults, DeletionPolicy, Edition } from "./lifecycle/lifecycle.ts"
import { isTimeout, durationMs } from "./lifecycle/deadline.ts"

export interface Configuration {
  readonly engineUrl: string | undefined
  /** Reads the token. Called for each operation, because a token file may change. */
  readonly token: () => Promise<string | undefined>
  readonly defaults: Defaults
  /** Limit for a remote engine; undefined for no limit. */
  readonly requestsPerSecond: number | undefined
  readonly maxConcurrency: number
  readonly maxRetries: number
  readonly requestTimeoutMs: number
  /** Trace context of the process that runs Pulumi, such as a pipeline (W3C Trace Context). */
  readonly traceparent: string | undefined
  readonly caFile: string | undefined
  /** Accepts any server certificate. */
  readonly skipTlsVerify: boolean
}

/** Returns the value of a key without its prefix; undefined if it is not set. */
export type ConfigurationSource = (key: string) => string | undefined

const defaultConcurrency = 16
const defaultRetries = 10
const defaultRequestTimeoutMs = 60_000

/** Reads the settings. Throws for malformed values, naming the key. Missing values are reported when they are needed. */
export function readConfiguration(
  get: ConfigurationSource,
  environment: Readonly<Record<string, string | undefined>>,
): Configuration {
  const value = (key: string, variable: string) => get(key) || environment[variable] || undefined
  const secret = (key: string, variable: string) => environment[variable] || get(key) || undefined
  const token = secret("token", "CHANCERY_TOKEN")
  const tokenFile = secret("tokenFile", "CHANCERY_TOKEN_FILE")
  const organization = value("organization", "CHANCERY_ORGANIZATION")
  const pkiMount = get("pkiMount")
  const edition = editionOf(get("edition"))
  return {
    engineUrl: value("engineUrl", "CHANCERY_ENGINE_URL"),
    token: async () => (tokenFile === undefined || environment["CHANCERY_TOKEN"] ? token : await tokenIn(tokenFile)),
    defaults: {
      ...(organization === undefined ? {} : { organization }),
      ...(pkiMount === undefined ? {} : { pkiMount }),
      ...(edition === undefined ? {} : { edition }),
      deletionPolicy: policyOf(get("deletionPolicy")),
      tagBindings: bindingsOf(get("defaultTagBindings")),
    },
    requestsPerSecond: positive("requestsPerSecond", get("requestsPerSecond")),
    maxConcurrency: positive("maxConcurrency", get("maxConcurrency")) ?? defaultConcurrency,
    maxRetries: positive("maxRetries", get("maxRetries")) ?? defaultRetries,
    traceparent: environment["TRACEPARENT"],
    requestTimeoutMs: timeoutOf(get("requestTimeout")) ?? defaultRequestTimeoutMs,
    caFile: value("caFile", "CHANCERY_CA_FILE"),
    skipTlsVerify: flagOf("skipTlsVerify", get("skipTlsVerify")),
  }
}

async function tokenIn(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new Error(`chancery:tokenFile: ${file} cannot be read`, { cause })
  })
  return text.trim()
}

function policyOf(text = "safe"): DeletionPolicy {
  if (text === "safe" || text === "force" || text === "retain") return text
  throw new Error(`chancery:deletionPolicy must be safe, force or retain`)
}

function editionOf(text = "auto"): Edition | undefined {
  if (text === "auto") return undefined
  if (text === "hosted" || text === "selfHosted") return text
  throw new Error("chancery:edition must be auto, hosted or selfHosted")
}

function flagOf(key: string, text = "false"): boolean {
  if (text === "true" || text === "false") return text === "true"
  throw new Error(`chancery:${key} must be true or false`)
}

function bindingsOf(text = "{}"): Readonly<Record<string, string>> {
  const bindings = parsed(text)
  const isObject = typeof bindings === "object" && bindings !== null && !Array.isArray(bindings)
  if (isObject && Object.values(bindings).every((value) => typeof value === "string"))
    return bindings as Readonly<Record<string, string>>
  throw new Error(`chancery:defaultTagBindings must be a JSON object of strings, such as {"team":"payments"}`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function positive(key: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new Error(`chancery:${key} must be an integer from 1 to 9999999`)
}

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined || isTimeout(text)) return durationMs(text)
  throw new Error("chancery:requestTimeout must be a duration such as 30s")
}
