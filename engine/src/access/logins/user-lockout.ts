// Lockout of users after failed logins, as in Vault (https://developer.hashicorp.com/vault/docs/concepts/user-lockout). Failures are
// counted in the row of the user, so that all replicas share the count.
import type { Fault } from "../../core/errors.ts"
import { dayMs, type Instant, minuteMs, secondMs } from "../../core/time.ts"

export interface UserLockout {
  /** Number of failures after which a user is locked. */
  readonly threshold: number
  readonly durationMs: number
  /** Time since the last failure after which the count starts again. */
  readonly counterResetMs: number
  readonly disabled: boolean
}

export const initialUserLockout: UserLockout = {
  threshold: 5,
  durationMs: 15 * minuteMs,
  counterResetMs: 15 * minuteMs,
  disabled: false,
}

/** Failed logins of a user since the last successful one. */
export interface FailedLogins {
  readonly count: number
  /** Undefined if there was none. */
  readonly lastAt: Instant | undefined
}

export const noFailedLogins: FailedLogins = { count: 0, lastAt: undefined }

export const isLocked = ({ count, lastAt }: FailedLogins, lockout: UserLockout, now: Instant): boolean =>
  !lockout.disabled && lastAt !== undefined && count >= lockout.threshold && now < lastAt + lockout.durationMs

/** Returns the count after a failure of a user who is not locked. After a lock that has ended, the count starts again. */
export function afterFailure(before: FailedLogins, lockout: UserLockout, now: Instant): FailedLogins {
  const { count, lastAt } = before
  const continues = lastAt !== undefined && now < lastAt + lockout.counterResetMs && count < lockout.threshold
  return { count: continues ? count + 1 : 1, lastAt: now }
}

const maxThreshold = 1_000
const maxPeriodMs = 366 * dayMs

const wireNames = {
  threshold: "lockout_threshold",
  durationMs: "lockout_duration",
  counterResetMs: "lockout_counter_reset",
} as const
type BoundedMember = keyof typeof wireNames

/** Returns the bounds of each member that is out of them. Texts continue the name of the member; those in them are of the wire. */
export function userLockoutProblems({
  threshold,
  durationMs,
  counterResetMs,
}: Partial<UserLockout>): readonly (readonly [BoundedMember, string])[] {
  const isPeriod = (ms: number) =>
    Number.isSafeInteger(ms) && ms >= secondMs && ms % secondMs === 0 && ms <= maxPeriodMs
  const periods = [
    ["durationMs", durationMs],
    ["counterResetMs", counterResetMs],
  ] as const
  return [
    ...(threshold === undefined || (Number.isSafeInteger(threshold) && threshold >= 1 && threshold <= maxThreshold)
      ? []
      : [["threshold", `from 1 to ${maxThreshold}; set "lockout_disable" to lock no user`] as const]),
    ...periods.flatMap(([member, ms]) =>
      ms === undefined || isPeriod(ms)
        ? []
        : [[member, `of whole seconds from 1 to ${maxPeriodMs / secondMs}`] as const],
    ),
  ]
}

/** Returns the faults of a lockout. Details have the names of the wire. */
export const userLockoutFaults = (lockout: Partial<UserLockout>): Fault[] =>
  userLockoutProblems(lockout).map(([member, bounds]) => ({
    field: ["userLockout"],
    detail: `"user_lockout_config" must have a "${wireNames[member]}" ${bounds}`,
  }))
