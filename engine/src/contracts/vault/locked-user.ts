// Users who are locked after failed logins. The answer has the shape of Vault's, in which all auth methods belong to the root namespace.
import type { LockedUserQuery, LockedUsersOfMethod } from "../../access/userpass/userpass-api.ts"
import { isDocument, unreadable } from "./format/parameters.ts"
import { type Answer, contract, dataOf, nothing } from "./endpoint.ts"
import { type Body, bodyOf, fields, parameter } from "./record.ts"
import { anything, integer, text } from "./types.ts"

const query = bodyOf(
  fields({
    mountAccessor: parameter(text, "Accessor of an auth method. Empty: all methods.", {
      example: "auth_userpass_1a2b3c4d",
    }),
  }),
)
const listQuery: Body<LockedUserQuery | undefined> = {
  ...query,
  encode: (given = {}) => query.encode(given),
}

const lockedTable = fields({
  byNamespace: parameter(anything, "Locked users by namespace, of which there is one, and by auth method.", {
    example: [
      {
        namespace_id: "root",
        namespace_path: "",
        counts: 1,
        mount_accessors: [{ mount_accessor: "auth_userpass_1a2b3c4d", counts: 1, alias_identifiers: ["mitchell"] }],
      },
    ],
  }),
  total: parameter(integer, "Number of locked users.", { example: 1 }),
})

const locked: Answer<readonly LockedUsersOfMethod[]> = dataOf(
  lockedTable,
  (methods: readonly LockedUsersOfMethod[]) => {
    const total = methods.reduce((sum, { names }) => sum + names.length, 0)
    const mount_accessors = methods.map(({ mountAccessor, names }) => ({
      mount_accessor: mountAccessor,
      counts: names.length,
      alias_identifiers: names,
    }))
    const root = { namespace_id: "root", namespace_path: "", counts: total, mount_accessors }
    return { data: { by_namespace: total === 0 ? [] : [root], total } }
  },
  ({ data }): readonly LockedUsersOfMethod[] =>
    listIn(data, "by_namespace")
      .flatMap((namespace) => listIn(namespace, "mount_accessors"))
      .map((method) => ({
        mountAccessor: isDocument(method) ? String(method["mount_accessor"]) : "",
        names: listIn(method, "alias_identifiers").map(String),
      })),
)

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = isDocument(value) ? value[name] : undefined
  if (!Array.isArray(list)) throw unreadable(`"${name}" must be an array`)
  return list
}

export const lockedUsers = contract({
  list: {
    operation: "read",
    path: "/sys/locked-users",
    summary: "Returns the users who are locked after failed logins.",
    rights: "read",
    body: listQuery,
    answers: locked,
  },
  unlock: {
    operation: "write",
    path: "/sys/locked-users/:mount_accessor/unlock/:alias_identifier",
    summary: "Unlocks a user. A user who is not locked is unlocked already.",
    rights: "update",
    answers: nothing,
  },
})
