// Exit codes of sysexits.h, by which scripts can distinguish causes.
import { EngineError } from "../core/errors.ts"

export const exitCodes = { success: 0, failure: 1, usage: 64, unavailable: 69, busy: 75, configuration: 78 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Ends the command with an exit code. The message is a sentence with the problem and its remedy. */
export class CommandError extends Error {
  readonly exitCode: ExitCode
  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = "CommandError"
    this.exitCode = exitCode
  }
}

export const usageError = (message: string) => new CommandError(exitCodes.usage, message)
export const configurationError = (message: string) => new CommandError(exitCodes.configuration, message)

const unreachableCodes = new Set([
  "EADDRINUSE",
  "EADDRNOTAVAIL",
  "ECONNREFUSED",
  "ENOTFOUND",
  "ETIMEDOUT",
  "EHOSTUNREACH",
])

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode
  if (error instanceof EngineError && error.code === "unavailable") return exitCodes.unavailable
  if (error instanceof EngineError) return error.code === "busy" ? exitCodes.busy : exitCodes.failure
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code === "string" && unreachableCodes.has(code)) return exitCodes.unavailable
  if (error instanceof AggregateError && error.errors.length > 0) return exitCodeOf(error.errors[0])
  return exitCodes.failure
}
