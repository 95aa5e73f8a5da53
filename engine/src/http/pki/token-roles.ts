import { keyPageParameters } from "../../wire/pki/key-page.ts"
import {
  decodeTokenRoleInput,
  encodeTokenRole,
  tokenRoleNames,
  tokenRoleParameters,
} from "../../wire/pki/token-role.ts"
import { answer, listed, nothing, param, type SystemRequest, type SystemRoute } from "../pki-route.ts"

const name = (request: SystemRequest): string => param(request, "role_name")

/** Ways to make tokens; what makes one by them is among the other endpoints for tokens. */
export const tokenRoleRoutes: readonly SystemRoute[] = [
  {
    operation: "list",
    path: "/auth/token/roles",
    parameters: [keyPageParameters],
    handle: async (request) => listed(await request.engine.tokenRoles.list(request.decode(keyPageParameters))),
  },
  {
    operation: "read",
    path: "/auth/token/roles/:role_name",
    handle: async (request) =>
      answer(encodeTokenRole(name(request), await request.engine.tokenRoles.get(name(request)))),
  },
  {
    operation: "write",
    path: "/auth/token/roles/:role_name",
    wireNames: tokenRoleNames,
    parameters: [tokenRoleParameters],
    handle: async (request) => {
      await request.engine.tokenRoles.save(name(request), decodeTokenRoleInput(request.read(tokenRoleParameters)))
      return nothing()
    },
  },
  {
    operation: "delete",
    path: "/auth/token/roles/:role_name",
    handle: async (request) => {
      await request.engine.tokenRoles.delete(name(request))
      return nothing()
    },
  },
]
