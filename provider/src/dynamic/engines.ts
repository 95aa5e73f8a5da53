// Engines of a process: one for each address and token, with a shared limit on requests.
import { readFile } from "node:fs/promises"
import { setTimeout as sleep } from "node:timers/promises"
import type { Engine, EngineOptions } from "@chancery/engine"
import type { Configuration } from "../configuration.ts"

// Limits requests of one process to one engine. Pulumi starts as many operations at once as the machine has cores.

export interface Limits {
  /** Starts per second, evenly spread; undefined for no limit. */
  readonly perSecond: number | undefined
  readonly atOnce: number
}

export type Limiter = <T>(work: () => Promise<T>) => Promise<T>

export function createLimiter({ perSecond, atOnce }: Limits): Limiter {
  // Bounded by the number of operations that Pulumi runs at once.
  const waiting: (() => void)[] = []
  let running = 0
  let nextStart = 0

  const enter = async (): Promise<void> => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    if (perSecond === undefined) return
    const now = performance.now()
    const start = Math.max(now, nextStart)
    nextStart = start + 1_000 / perSecond
    if (start > now) await sleep(start - now)
  }
  // Passes the slot directly to the caller that has waited longest.
  const leave = (): void => {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }

  return async (work) => {
    await enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }
}

export interface Engines {
  /**
   * Runs `work` with the configured engine. Repeats it once with a new token if the old one has expired and the token file has another one.
   */
  use<T>(configuration: Configuration, work: (engine: Engine) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Opens an engine. The package is loaded on demand, because a preview may not need it. */
type Open = (url: string, options: EngineOptions) => Promise<Engine>

const openByName: Open = async (url, options) => (await import("@chancery/engine")).openEngine(url, options)

/** Time limit for retries of one request: longer than any Retry-After of a server, shorter than the deadline of any operation. */
const patienceMs = 240_000

/** Pulumi shows standard error next to the results. */
const warnAloud = (text: string): void => void process.stderr.write(`${text}\n`)

export function createEngines(signal: AbortSignal, open: Open = openByName, warn = warnAloud): Engines {
  const opened = new Map<string, Promise<Engine>>()

  function engineFor(url: string, token: string | undefined, configuration: Configuration): Promise<Engine> {
    const key = JSON.stringify([url, token])
    const known = opened.get(key)
    if (known !== undefined) return known
    const opening = openLimited(url, token, configuration)
    opened.set(key, opening)
    opening.catch(() => opened.delete(key))
    return opening
  }

  async function openLimited(url: string, token: string | undefined, configuration: Configuration): Promise<Engine> {
    const { caFile, skipTlsVerify, maxRetries, requestTimeoutMs } = configuration
    const isRemote = /^https?:/i.test(url)
    if (skipTlsVerify)
      warn(
        `WARNING: chancery:skipTlsVerify is set. The certificate of ${url} is not verified, so another host may receive the token. ` +
          "Set chancery:caFile to its CA certificates instead.",
      )
    const engine = await open(url, {
      ...(token === undefined ? {} : { token }),
      ...(caFile === undefined ? {} : { certificateAuthority: await certificatesIn(caFile) }),
      ...(skipTlsVerify ? { skipTlsVerify } : {}),
      // For a database in this process, background jobs are left to a server, because this process is short-lived.
      ...(isRemote
        ? {
            signal,
            attempts: maxRetries + 1,
            patienceMs,
            answerTimeoutMs: requestTimeoutMs,
            traceparent: () => configuration.traceparent,
          }
        : { jobs: false, ...(isInFile(url) ? { connections: 1 } : {}) }),
    })
    const limiter = createLimiter({
      perSecond: isRemote ? configuration.requestsPerSecond : undefined,
      atOnce: configuration.maxConcurrency,
    })
    // The remote engine retries by itself.
    return limited(engine, limiter, isRemote ? 0 : maxRetries)
  }

  return {
    async use(configuration, work) {
      const { engineUrl } = configuration
      if (engineUrl === undefined) throw new Error(engineMissing)
      const token = await configuration.token()
      if (/^https?:/i.test(engineUrl) && token === undefined) throw new Error(tokenMissing)
      try {
        return await work(await engineFor(engineUrl, token, configuration))
      } catch (error) {
        if (codeOf(error) !== "unauthenticated") throw error
        const renewed = await configuration.token()
        if (renewed === token) throw error
        return work(await engineFor(engineUrl, renewed, configuration))
      }
    },
    async close() {
      const engines = await Promise.allSettled(opened.values())
      opened.clear()
      for (const engine of engines) if (engine.status === "fulfilled") await engine.value[Symbol.asyncDispose]()
    },
  }
}

/** Returns whether the URL is one of SQLite. Its reads are synchronous: further connections would only add page and statement caches. */
const isInFile = (url: string): boolean => /^sqlite:/i.test(url)

const certificatesIn = (file: string): Promise<string> =>
  readFile(file, "utf8").catch((cause: unknown) => {
    throw new Error(`chancery:caFile: ${file} cannot be read`, { cause })
  })

const engineMissing =
  "No engine is configured. Set its address with `pulumi config set chancery:engineUrl URL` or in CHANCERY_ENGINE_URL: " +
  "https://… for a server, sqlite:FILE for one in this process."

const tokenMissing =
  "The engine needs a token. Set it with `pulumi config set --secret chancery:token TOKEN`, in CHANCERY_TOKEN, or set a file " +
  "in chancery:tokenFile or CHANCERY_TOKEN_FILE."

type Method = (...args: unknown[]) => Promise<unknown>

/** Returns the engine with each call limited, including calls for a mount (`pki`). */
const limited = (engine: Engine, limiter: Limiter, retries: number): Engine =>
  withLimitedFamilies(engine, limiter, retries, {
    pki: (path) => withLimitedFamilies(engine.pki(path), limiter, retries),
  })

function withLimitedFamilies<T extends object>(
  holder: T,
  limiter: Limiter,
  retries: number,
  instead: Partial<T> = {},
): T {
  const families = new Map<PropertyKey, unknown>()
  return new Proxy(holder, {
    get(target, name) {
      if (Object.hasOwn(instead, name)) return Reflect.get(instead, name)
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value === "function") return value.bind(target)
      if (typeof value !== "object" || value === null) return value
      if (!families.has(name)) families.set(name, limitedFamily(value, limiter, retries))
      return families.get(name)
    },
  })
}

const limitedFamily = (family: object, limiter: Limiter, retries: number): object =>
  new Proxy(family, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name, target)
      if (typeof method !== "function") return method
      return (...args: unknown[]) => limiter(() => patiently(() => (method as Method).apply(target, args), retries))
    },
  })

const longestPauseMs = 5_000

/** Retries if the engine is busy, since it has then changed nothing. */
async function patiently<T>(work: () => Promise<T>, retries: number): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (codeOf(error) !== "busy" || attempt > retries) throw error
      await sleep(Math.min(longestPauseMs, 50 * 2 ** attempt))
    }
  }
}

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | null)?.code
