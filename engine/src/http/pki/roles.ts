import { decodeRoleInput, decodeRolePatch, encodeRole, roleParameters } from "../../wire/pki/role.ts"
import { keyPageParameters } from "../../wire/pki/key-page.ts"
import { answer, listed, nothing, param, type PkiRequest, type PkiRoute } from "../pki-route.ts"

const name = (request: PkiRequest): string => param(request, "name")

/** Roles (specification 4.3; the rest of the verbs as pki-facts 1.1 has them). */
export const roleRoutes: readonly PkiRoute[] = [
  {
    operation: "list",
    path: "/roles",
    parameters: [keyPageParameters],
    handle: async (request) => listed(await request.pki.roles.list(request.decode(keyPageParameters))),
  },
  {
    operation: "read",
    path: "/roles/:name",
    handle: async (request) => answer(encodeRole(await request.pki.roles.get(name(request)), request.dialect)),
  },
  {
    operation: "write",
    path: "/roles/:name",
    parameters: [roleParameters],
    handle: async (request) => {
      const input = decodeRoleInput(request.read(roleParameters))
      const { role, warnings } = await request.pki.roles.save(name(request), input)
      return answer(encodeRole(role, request.dialect), { warnings })
    },
  },
  {
    operation: "patch",
    path: "/roles/:name",
    parameters: [roleParameters],
    handle: async (request) => {
      const patch = decodeRolePatch(request.read(roleParameters))
      const { role, warnings } = await request.pki.roles.update(name(request), patch)
      return answer(encodeRole(role, request.dialect), { warnings })
    },
  },
  {
    operation: "delete",
    path: "/roles/:name",
    handle: async (request) => {
      await request.pki.roles.delete(name(request))
      return nothing()
    },
  },
]
