import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import {
  decodeAccountPatch,
  decodeUserInput,
  encodeAccount,
  encodeAdminUser,
  encodeUser,
} from "../../wire/jsonapi/user.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const idOf = (request: ApiRequest) => param(request, "user_id")

/** Users as everybody sees them, one's own account, and the administrators' part. */
export const userRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/users/:user_id",
    handle: async (request) => ok({ data: encodeUser(await request.engine.users.get(idOf(request))) }),
  },
  {
    method: "GET",
    path: "/account/details",
    handle: async ({ engine }) => ok({ data: encodeAccount(await engine.users.account()) }),
  },
  {
    method: "PATCH",
    path: "/account/details",
    handle: updateAccount,
  },
  // The path that public clients use.
  { method: "PATCH", path: "/account/update", handle: updateAccount },
  {
    method: "GET",
    path: "/admin/users",
    handle: async ({ engine, query, url }) => {
      const page = await engine.users.list(query.get("q") ?? undefined, decodePage(query))
      return ok(encodePage(page, encodeAdminUser, url))
    },
  },
  {
    method: "POST",
    path: "/admin/users",
    handle: async (request) => {
      const input = decodeUserInput(await request.body())
      return created({ data: encodeAdminUser(await request.engine.users.create(input)) })
    },
  },
  {
    method: "GET",
    path: "/admin/users/:user_id",
    handle: async (request) =>
      ok({ data: encodeAdminUser(await request.engine.users.getAsAdministrator(idOf(request))) }),
  },
  {
    method: "DELETE",
    path: "/admin/users/:user_id",
    handle: async (request) => {
      await request.engine.users.delete(idOf(request))
      return noContent
    },
  },
  {
    method: "POST",
    path: "/admin/users/:user_id/actions/grant_admin",
    handle: async (request) =>
      ok({ data: encodeAdminUser(await request.engine.users.setSiteAdmin(idOf(request), true)) }),
  },
  {
    method: "POST",
    path: "/admin/users/:user_id/actions/revoke_admin",
    handle: async (request) =>
      ok({ data: encodeAdminUser(await request.engine.users.setSiteAdmin(idOf(request), false)) }),
  },
]

async function updateAccount(request: ApiRequest) {
  const patch = decodeAccountPatch(await request.body())
  return ok({ data: encodeAccount(await request.engine.users.updateAccount(patch)) })
}
