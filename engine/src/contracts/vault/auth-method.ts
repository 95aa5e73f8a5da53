import {
  type AuthMethodConfig,
  type AuthMethodType,
  authMethodTypes,
  initialAuthMethodConfig,
} from "../../access/logins/auth-method.ts"
import { contract, nothing, warnings } from "./endpoint.ts"
import { enableBody, mountConfigMembers, mountedAnswers, tuneBody, tuneMembers, unsupportedConfig } from "./mounted.ts"
import { parameter, record } from "./record.ts"
import { tokenType } from "./token-terms.ts"
import { enumOf, substitute } from "./types.ts"

const configMembers = {
  ...mountConfigMembers,
  tokenType: parameter(
    substitute(tokenType, "", "default-service"),
    "Type of the tokens of logins, which are service tokens in any case.",
    { example: "service" },
  ),
}
const config = record(configMembers, { defaults: initialAuthMethodConfig, unsupported: unsupportedConfig })
const mounted = mountedAnswers<AuthMethodType | "token", AuthMethodConfig>(config, (type) =>
  [...authMethodTypes, "token" as const].find((one) => one === type),
)

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
  record({ ...tuneMembers, tokenType: configMembers.tokenType }, { unsupported: unsupportedConfig }).change,
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
    answers: mounted.tuned,
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
