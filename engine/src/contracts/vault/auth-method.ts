import {
  type AuthMethodConfig,
  type AuthMethodType,
  authMethodTypes,
  initialAuthMethodConfig,
} from "../../access/logins/auth-method.ts"
import { initialUserLockout, type UserLockout } from "../../access/logins/user-lockout.ts"
import { contract, nothing, warnings } from "./endpoint.ts"
import { encodeMembers, type Parameters } from "./format/parameters.ts"
import {
  enableBody,
  encodeTune,
  mountConfigMembers,
  mountedAnswers,
  tuneBody,
  tuneMembers,
  unsupportedConfig,
} from "./mounted.ts"
import { fields, parameter, record } from "./record.ts"
import { tokenType } from "./token-terms.ts"
import { enumOf, flag, integer, seconds, substitute } from "./types.ts"
import { userLockoutType } from "./user-lockout.ts"

/** Lockout in force, under the names that Vault has in the answer of tune. */
const lockoutInForce = fields<UserLockout>({
  threshold: parameter(integer, "Failed logins after which a user is locked; userpass only.", {
    wireName: "user_lockout_threshold",
    example: 5,
  }),
  durationMs: parameter(seconds, "Time for which a user is locked; userpass only.", {
    wireName: "user_lockout_duration",
    example: 900,
  }),
  counterResetMs: parameter(seconds, "Time after which failures are forgotten; userpass only.", {
    wireName: "user_lockout_counter_reset_duration",
    example: 900,
  }),
  disabled: parameter(flag, "No user is locked; userpass only.", { wireName: "user_lockout_disable" }),
})

const configMembers = {
  ...mountConfigMembers,
  userLockout: {
    ...parameter(
      userLockoutType,
      "Lockout of users after failed logins, for userpass only: lockout_threshold (5), lockout_duration (15m), lockout_counter_reset (15m) and lockout_disable (false).",
      { wireName: "user_lockout_config", example: { lockout_threshold: 10 } },
    ),
    optional: true as const,
  },
  tokenType: parameter(
    substitute(tokenType, "", "default-service"),
    "Type of the tokens of logins, which are service tokens in any case.",
    { example: "service" },
  ),
}
const { userLockoutConfig: _, ...unsupportedMethodConfig } = unsupportedConfig
const config = record(configMembers, { defaults: initialAuthMethodConfig, unsupported: unsupportedMethodConfig })
/** The member that may be absent is declared as such. */
const configTable = config.table as Parameters<object> as Parameters<AuthMethodConfig>
const mounted = mountedAnswers<AuthMethodType | "token", AuthMethodConfig>({ table: configTable }, (type) =>
  [...authMethodTypes, "token" as const].find((one) => one === type),
)

const tunedMembers = [...config.table.members, ...lockoutInForce.members]
const tuned: typeof mounted.tuned = {
  ...mounted.tuned,
  encode: (method) => {
    const data = encodeTune(method, encodeMembers(configTable, method.config, "native"))
    if (method.type !== "userpass") return { data }
    const lockout = { ...initialUserLockout, ...method.config.userLockout }
    return { data: { ...data, ...encodeMembers(lockoutInForce, lockout, "native") } }
  },
  record: {
    ...mounted.tuned.record,
    table: { members: tunedMembers, byWireName: new Map(tunedMembers.map((member) => [member.wireName, member])) },
  },
}

const maxShownType = 64

export const enableAuthMethod = enableBody<AuthMethodType, AuthMethodConfig>(config.input, (given, faults) => {
  const type = authMethodTypes.find((one) => one === given)
  if (type === undefined) {
    const shown = given.slice(0, maxShownType).toWellFormed()
    const detail = `"type" must be ${enumOf(...authMethodTypes).expected}, and not "${shown}"`
    faults.push({ field: ["type"], detail })
  }
  return type
})
export const tuneAuthMethod = tuneBody<AuthMethodConfig>(
  record(
    { ...tuneMembers, tokenType: configMembers.tokenType, userLockout: configMembers.userLockout },
    { unsupported: unsupportedMethodConfig },
  ).change,
)

export const authMethods = contract({
  list: {
    operation: "read",
    path: "/sys/auth",
    summary: "Returns all auth methods, by path. The method token is always there.",
    rights: "read",
    answers: mounted.all,
  },
  get: {
    operation: "read",
    path: "/sys/auth/*path",
    alsoAt: ["/sys/mounts/auth/*path"],
    summary: "Returns an auth method as it was set up.",
    rights: "read",
    answers: mounted.one,
  },
  enable: {
    operation: "write",
    path: "/sys/auth/*path",
    summary: "Enables an auth method at a path.",
    rights: "create or update, and sudo",
    body: enableAuthMethod,
    answers: warnings,
  },
  disable: {
    operation: "delete",
    path: "/sys/auth/*path",
    summary: "Disables an auth method, and revokes every token of its logins.",
    rights: "delete and sudo",
    answers: nothing,
  },
  getTuned: {
    operation: "read",
    path: "/sys/auth/*path/tune",
    alsoAt: ["/sys/mounts/auth/*path/tune"],
    summary: "Returns the configuration that holds for an auth method, with the defaults of the system.",
    rights: "read",
    answers: tuned,
  },
  tune: {
    operation: "write",
    path: "/sys/auth/*path/tune",
    alsoAt: ["/sys/mounts/auth/*path/tune"],
    summary: "Changes the configuration of an auth method: parameters left out keep their values.",
    rights: "create or update, and sudo",
    body: tuneAuthMethod,
    answers: nothing,
  },
})
