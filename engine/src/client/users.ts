import { maximumPageSize, totalPages } from "../core/page.ts"
import { foldName } from "../organizations/organization.ts"
import type { Users, UserView } from "../organizations/users.ts"
import { decodeUser, encodeAccountPatch, encodeUserInput } from "../wire/jsonapi/user.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"

export function remoteUsers({ one, page, done }: Calls): Users {
  const list: Users["list"] = (search, request) => page(decodeUser, "/admin/users", request, [["q", search]])

  /** Names are searched by their parts only: the whole one is among the answers. */
  async function findByUsername(username: string): Promise<UserView | undefined> {
    for (let number = 1; ; number += 1) {
      const answer = await list(username, { number, size: maximumPageSize })
      const found = answer.items.find((user) => foldName(user.username) === foldName(username))
      if (found !== undefined || number >= totalPages(answer)) return found
    }
  }

  return {
    get: async (id) => one(decodeUser, { method: "GET", path: path`/users/${id}` }),
    account: () => one(decodeUser, { method: "GET", path: "/account/details" }),
    updateAccount: (patch) =>
      one(decodeUser, { method: "PATCH", path: "/account/details", document: encodeAccountPatch(patch) }),
    create: (input) => one(decodeUser, { method: "POST", path: "/admin/users", document: encodeUserInput(input) }),
    getAsAdministrator: async (id) => one(decodeUser, { method: "GET", path: path`/admin/users/${id}` }),
    list,
    findByUsername,
    setSiteAdmin: async (id, siteAdmin) => {
      const action = siteAdmin ? "grant_admin" : "revoke_admin"
      return one(decodeUser, { method: "POST", path: path`/admin/users/${id}/actions/${action}` })
    },
    delete: async (id) => done({ method: "DELETE", path: path`/admin/users/${id}` }),
  }
}
