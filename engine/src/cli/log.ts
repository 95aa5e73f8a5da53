// The log of the process: one JSON object per line on standard error, with secrets redacted.
import { pino, stdTimeFunctions } from "pino"
import type { DestinationStream } from "pino"
import { EngineError } from "../core/errors.ts"
import type { Log } from "../core/runtime.ts"
import type { LogLevel } from "./log-level.ts"
import { logStream } from "./log-stream.ts"

export interface ProcessLog extends Log {
  /** Writes the buffered lines at once. Call before the process ends. */
  flush(): void
}

export function processLog(level: LogLevel, stream?: DestinationStream): ProcessLog {
  const standardError = logStream(2)
  const logger = pino(
    {
      level,
      base: null,
      messageKey: "event",
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream ?? standardError,
  )
  const write = (at: "debug" | "info" | "warn" | "error") => (event: string, fields?: Fields) => {
    if (logger.isLevelEnabled(at)) logger[at](fields === undefined ? {} : redacted(fields), event)
  }
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    flush: () => standardError.flush(),
  }
}

type Fields = Readonly<Record<string, unknown>>

const maxDepth = 5
const secretName = /token|secret|password|passphrase|authorization|credential|cookie|private-?key|seal-?key/i
// Ids, counts and kinds of secrets are not secret.
const harmlessName = /(Id|Count|Kind)$/

/** Returns the fields without values that are named like secrets, and without credentials in URLs and authorization headers. */
export const redacted = (fields: Fields, depth = 0): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      secretName.test(name) && !harmlessName.test(name) ? "[redacted]" : redactedValue(value, depth + 1),
    ]),
  )

function redactedValue(value: unknown, depth: number): unknown {
  if (typeof value === "string") return redactedText(value)
  if (typeof value !== "object" || value === null) return value
  if (depth > maxDepth) return "[deep]"
  if (value instanceof Error) return redactedError(value, depth)
  if (Array.isArray(value)) return value.map((item) => redactedValue(item, depth + 1))
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (value instanceof URL) return redactedText(value.href)
  return redacted(value as Fields, depth)
}

function redactedError(error: Error & { code?: unknown }, depth: number): Fields {
  const { name, code, cause } = error
  const described = { name, message: redactedText(error.message), ...(code === undefined ? {} : { code }) }
  // The stack of a rejected request or an unavailable database does not help anyone who reads the log.
  if (error instanceof EngineError && code !== "internal")
    return { ...described, ...(cause instanceof Error && { cause: redactedText(cause.message) }) }
  return {
    ...described,
    stack: redactedText(error.stack ?? ""),
    ...(cause === undefined ? {} : { cause: redactedValue(cause, depth + 1) }),
  }
}

const redactedText = (text: string): string =>
  text.replace(/:\/\/[^\s/@:]*:[^\s/@]*@/g, "://[redacted]@").replace(/\b(Bearer|Basic)\s+[^\s"',]+/gi, "$1 [redacted]")
