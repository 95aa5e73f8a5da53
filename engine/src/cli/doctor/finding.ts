import type { ExitCode } from "../exit-code.ts"

export type FindingLevel = "ok" | "warn" | "fail"

/** Result of one check. */
export interface Finding {
  readonly check:
    | "configuration"
    | "files"
    | "clock"
    | "storage"
    | "seal"
    | "authorities"
    | "roles"
    | "organizations"
    | "est"
    | "logins"
    | "tls"
    | "jobs"
    | "webhooks"
  readonly level: FindingLevel
  /** One sentence: the fact and its consequence. */
  readonly message: string
  /** Remedy; present unless the level is `ok`. */
  readonly advice?: string
  /** Exit code of the command for this failure. Default: 1. */
  readonly exitCode?: ExitCode
}

type Check = Finding["check"]

export const ok = (check: Check, message: string): Finding => ({ check, level: "ok", message })
export const warn = (check: Check, message: string, advice: string): Finding => ({
  check,
  level: "warn",
  message,
  advice,
})
export const fail = (check: Check, message: string, advice: string, exitCode?: ExitCode): Finding => ({
  check,
  level: "fail",
  message,
  advice,
  ...(exitCode === undefined ? {} : { exitCode }),
})

/** Returns the problems, or one `ok` finding if there are none. */
export const orOk = (troubles: readonly Finding[], check: Check, message: string): readonly Finding[] =>
  troubles.length > 0 ? troubles : [ok(check, message)]

/** Formats a duration for people: `90 s`, `5 min`, `36 h`, `12 days`. */
export function roughly(durationMs: number): string {
  const seconds = Math.abs(durationMs) / 1_000
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 2 * 3_600) return `${Math.round(seconds / 60)} min`
  return seconds < 48 * 3_600 ? `${Math.round(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} days`
}
