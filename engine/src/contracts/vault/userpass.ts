// Users who log in with a name and a password.
import { maxListedKeys } from "../../pki/mounts/key-page.ts"
import { initialTokenTerms } from "../../access/logins/token-terms.ts"
import type { UserpassPassword, UserpassUserInput } from "../../access/userpass/userpass-user.ts"
import { invalid } from "../../core/errors.ts"
import { contract, data, keyPage, keysUpTo, nothing } from "./endpoint.ts"
import { type Body, fields, parameter, record } from "./record.ts"
import { issuedToken } from "./service-token.ts"
import { tokenTermsMembers, unsupportedTerms } from "./token-terms.ts"
import { text } from "./types.ts"

const password = parameter(text, "Password, of at most 1,024 bytes. Stored as a hash, and never returned.", {
  example: "correct horse battery staple",
})
const passwords = {
  password,
  passwordHash: parameter(
    text,
    "Hash of bcrypt with a cost of at most 13, instead of password. Its passwords have at most 72 bytes.",
    { example: "$2y$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy" },
  ),
}
const policies = { ...tokenTermsMembers.policies, alias: "policies" }

export const userpassUser = record(
  {
    ...tokenTermsMembers,
    ttlMs: { ...tokenTermsMembers.ttlMs, alias: "ttl" },
    maxTtlMs: { ...tokenTermsMembers.maxTtlMs, alias: "max_ttl" },
    policies,
    boundCidrs: { ...tokenTermsMembers.boundCidrs, alias: "bound_cidrs" },
  },
  { defaults: initialTokenTerms, writeOnly: passwords, unsupported: unsupportedTerms },
)
const userInput: Body<UserpassUserInput> = userpassUser.input

const newPassword: Body<UserpassPassword> = record(passwords).input

const policyRecord = record({ policies })
const newPolicies: Body<readonly string[]> = {
  table: policyRecord.input.table,
  decode(request) {
    const { policies: given } = policyRecord.change.decode(request)
    if (given === undefined) throw invalid([{ field: ["policies"], detail: "token_policies is required" }])
    return given
  },
  encode: (given) => policyRecord.input.encode({ policies: given }),
}

export const userpassUsers = contract({
  list: {
    operation: "list",
    path: "/users",
    summary: "Lists the names of users.",
    rights: "list",
    body: keyPage,
    answers: keysUpTo(maxListedKeys, (key) => key),
  },
  get: {
    operation: "read",
    path: "/users/:name",
    summary: "Returns a user without the password.",
    rights: "read",
    answers: data(userpassUser),
  },
  save: {
    operation: "write",
    path: "/users/:name",
    summary: "Creates a user, or changes it: parameters left out keep their values.",
    rights: "create or update",
    body: userInput,
    answers: nothing,
  },
  delete: {
    operation: "delete",
    path: "/users/:name",
    summary: "Deletes a user. A user that does not exist is deleted already.",
    rights: "delete",
    answers: nothing,
  },
  changePassword: {
    operation: "write",
    path: "/users/:name/password",
    summary: "Changes the password of a user.",
    rights: "update",
    body: newPassword,
    answers: nothing,
  },
  changePolicies: {
    operation: "write",
    path: "/users/:name/policies",
    summary: "Changes the policies of the tokens of a user.",
    rights: "update",
    body: newPolicies,
    answers: nothing,
  },
})

const loginTable = fields({ password: parameter(text, "Password.", { example: "correct horse battery staple" }) })
const login: Body<string> = {
  table: loginTable,
  decode: (request) => request.decode(loginTable).password ?? "",
  encode: (given) => ({ password: given }),
}
export const userpassLogins = contract({
  logIn: {
    operation: "write",
    path: "/login/:name",
    summary: "Logs in with a password.",
    rights: "none",
    open: true,
    body: login,
    answers: issuedToken,
  },
})
