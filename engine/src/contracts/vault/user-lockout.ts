// Lockout of users, an object in the configuration of auth methods.
import { z } from "zod"
import type { UserLockout } from "../../access/logins/user-lockout.ts"
import { decodeDocument, encodeMembers, isDocument } from "./format/parameters.ts"
import { record, parameter } from "./record.ts"
import { flag, integer, mistyped, type ParameterType, problem, seconds } from "./types.ts"

const lockout = record<UserLockout>({
  threshold: parameter(integer, "Failed logins after which a user is locked.", { wireName: "lockout_threshold" }),
  durationMs: parameter(seconds, "Time for which a user is locked.", { wireName: "lockout_duration" }),
  counterResetMs: parameter(seconds, "Time since the last failure after which failures are forgotten.", {
    wireName: "lockout_counter_reset",
    // Vault's command line sends this name.
    alias: "lockout_counter_reset_duration",
  }),
  disabled: parameter(flag, "Lock no user.", { wireName: "lockout_disable" }),
})

/** Members of a lockout, each of which may be absent. */
export const userLockoutType: ParameterType<Partial<UserLockout>> = {
  schema: z.codec(z.unknown(), z.custom<Partial<UserLockout>>(), {
    decode(value, context) {
      if (!isDocument(value)) return mistyped(context, value)
      const problems: string[] = []
      const { faults: _, ...decoded } = lockout.input.decode({
        decode: () => ({}),
        read(table) {
          const read = decodeDocument(table, value)
          problems.push(...read.faults.map(({ detail }) => detail))
          problems.push(
            ...[...read.ignored, ...read.removed].map((name) => `"${name}" is not a setting of the lockout`),
          )
          return read
        },
      })
      return problems.length === 0 ? decoded : problem(context, value, `is invalid: ${problems.join("; ")}`)
    },
    encode: (value) => encodeMembers(lockout.table, value, "native"),
  }),
  expected: "an object",
  type: "map",
}
