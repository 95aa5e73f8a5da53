// Policies (ACL), and the users, teams and tokens that they are attached to.
import type { PolicyView } from "../../access/policies/policy.ts"
import { type Answer, contract, data, dataOf, keys, nothing } from "./endpoint.ts"
import { type Body, fields, parameter, record } from "./record.ts"
import { text, textUpTo } from "./types.ts"

/** Text of a policy. The limit exceeds that of policies, so that the policy's own rule reports the fault with its reason. */
const policyText = parameter(textUpTo(1_024 * 1_024), "Rules, in HCL or JSON.", {
  example: 'path "pki/issue/web" { capabilities = ["update"] }',
})
/** Room for a policy of the maximum length in which most characters are escaped. */
const bodyLimitBytes = 256 * 1024

const policy = record({
  name: parameter(text, "Name, in lower case.", { example: "web" }),
  text: { ...policyText, wireName: "policy" },
})
const policyTable = fields({ policy: policyText, rules: { ...policyText, rule: "Older name of policy." } })
const policyBody: Body<string> = {
  table: policyTable,
  decode(request) {
    const { policy: rules, rules: older = "" } = request.decode(policyTable)
    return rules ?? older
  },
  encode: (rules) => ({ policy: rules }),
}
/** Answer for older clients, which read `rules`. */
const olderAnswer = {
  ...dataOf(
    policyTable,
    ({ name, text: rules }: PolicyView) => ({ data: { name, policy: rules, rules } }),
    (_envelope): unknown => undefined,
  ),
  repeated: true as const,
}
const olderNames: Answer<readonly string[], unknown> = {
  kind: "data",
  encode: (names) => ({ data: { keys: names, policies: names } }),
  repeated: true,
}

export const policies = contract({
  list: {
    operation: "list",
    path: "/sys/policies/acl",
    summary: "Lists the names of policies.",
    rights: "list",
    answers: keys,
  },
  get: {
    operation: "read",
    path: "/sys/policies/acl/:name",
    summary: "Returns a policy.",
    rights: "read",
    answers: data(policy),
  },
  put: {
    operation: "write",
    path: "/sys/policies/acl/:name",
    alsoAt: ["/sys/policy/:name"],
    summary: "Creates or replaces a policy.",
    rights: "create or update",
    bodyLimitBytes,
    body: policyBody,
    answers: nothing,
  },
  delete: {
    operation: "delete",
    path: "/sys/policies/acl/:name",
    alsoAt: ["/sys/policy/:name"],
    summary: "Deletes a policy, and detaches it. A policy that does not exist is deleted already.",
    rights: "delete",
    answers: nothing,
  },
})

/** Paths of older clients. The client in this repository does not use them. */
export const olderPolicies = contract({
  read: {
    operation: "read",
    path: "/sys/policy",
    summary: "Lists the names of policies.",
    rights: "read",
    answers: olderNames,
  },
  list: {
    operation: "list",
    path: "/sys/policy",
    summary: "Lists the names of policies.",
    rights: "list",
    answers: olderNames,
  },
  get: {
    operation: "read",
    path: "/sys/policy/:name",
    summary: "Returns a policy, with rules as a member of its own.",
    rights: "read",
    answers: olderAnswer,
  },
})

/** Returns the endpoints of policies attached to a subject. `subject` is the path of a user, a team or a token. */
const attachmentsTo = <const Path extends string>(subject: Path, noun: string) =>
  contract({
    list: {
      operation: "list",
      path: `/sys/policies/attachments/${subject}` as const,
      summary: `Lists the policies that are attached to ${noun}.`,
      rights: "list",
      answers: keys,
    },
    attach: {
      operation: "write",
      path: `/sys/policies/attachments/${subject}/:policy` as const,
      summary: `Attaches a policy to ${noun}.`,
      rights: "create or update; the policy's holders, or sudo",
      answers: nothing,
    },
    detach: {
      operation: "delete",
      path: `/sys/policies/attachments/${subject}/:policy` as const,
      summary: `Detaches a policy from ${noun}.`,
      rights: "delete",
      answers: nothing,
    },
  })

export const userPolicies = attachmentsTo("user/:username", "a user")
export const teamPolicies = attachmentsTo("team/:organization/:team", "a team")
export const tokenPolicies = attachmentsTo("token/:id", "a token of a user, a team or an organization")
