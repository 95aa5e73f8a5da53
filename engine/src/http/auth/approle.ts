import { invalid } from "../../core/errors.ts"
import { keysMaximum } from "../../pki/key-page.ts"
import { appRoleParts } from "../../pki/logins/app-role.ts"
import type { AppRoleMethod, SecretIdRef } from "../../pki/logins/app-roles.ts"
import {
  appRoleParameters,
  appRolePartParameters,
  credentialParameters,
  decodeAppRoleInput,
  encodeAppRole,
  encodeAppRoleInput,
  encodeCreatedSecretId,
  encodeSecretId,
  roleIdParameters,
  newSecretIdParameters,
  secretIdParameters,
  secretIdRefParameters,
} from "../../wire/pki/app-role.ts"
import { keyPageParameters } from "../../wire/pki/key-page.ts"
import { tokenTermsNames } from "../../wire/pki/token-terms.ts"
import { issuedToken } from "../issued-token.ts"
import { accepted, answer, type AuthRequest, type AuthRoute, listedUpTo, nothing, param } from "../pki-route.ts"

const name = (request: AuthRequest): string => param(request, "name")
const method = ({ engine, authMethod }: AuthRequest): AppRoleMethod => engine.appRoles(authMethod.path)

/** What has been said of a secret id: by itself, or by its accessor. */
interface Naming {
  readonly path: string
  readonly refOf: (request: AuthRequest) => SecretIdRef
}

const namings: readonly Naming[] = [
  {
    path: "secret-id",
    refOf: (request) => {
      const { secretId = "" } = request.decode(secretIdRefParameters)
      if (secretId === "") throw invalid([{ field: ["secretId"], detail: "missing secret_id" }])
      return { secretId }
    },
  },
  {
    path: "secret-id-accessor",
    refOf: (request) => {
      const { accessor = "" } = request.decode(secretIdRefParameters)
      if (accessor === "") throw invalid([{ field: ["secretIdAccessor"], detail: "missing secret_id_accessor" }])
      return { accessor }
    },
  },
]

async function destroyed(request: AuthRequest, ref: SecretIdRef) {
  await method(request).secretIds.destroy(name(request), ref)
  return nothing()
}

const roleRoutes: readonly AuthRoute[] = [
  {
    operation: "list",
    path: "/role",
    parameters: [keyPageParameters],
    handle: async (request) =>
      listedUpTo(keysMaximum, await method(request).roles.list(request.decode(keyPageParameters))),
  },
  {
    operation: "read",
    path: "/role/:name",
    handle: async (request) => answer(encodeAppRole(await method(request).roles.get(name(request)))),
  },
  {
    operation: "write",
    path: "/role/:name",
    wireNames: tokenTermsNames,
    parameters: [appRoleParameters],
    handle: async (request) =>
      nothing(await method(request).roles.save(name(request), decodeAppRoleInput(request.read(appRoleParameters)))),
  },
  {
    operation: "delete",
    path: "/role/:name",
    handle: async (request) => {
      await method(request).roles.delete(name(request))
      return nothing()
    },
  },
  ...appRoleParts.flatMap((part): AuthRoute[] => {
    const table = appRolePartParameters(part)
    return [
      {
        operation: "read",
        path: `/role/:name/${part}`,
        handle: async (request) => answer(encodeAppRoleInput(await method(request).roles.getPart(name(request), part))),
      },
      {
        operation: "write",
        path: `/role/:name/${part}`,
        wireNames: tokenTermsNames,
        parameters: [table],
        handle: async (request) => {
          const change = decodeAppRoleInput(request.read(table))
          await method(request).roles.changePart(name(request), part, change)
          return nothing()
        },
      },
      {
        operation: "delete",
        path: `/role/:name/${part}`,
        handle: async (request) => {
          await method(request).roles.resetPart(name(request), part)
          return nothing()
        },
      },
    ]
  }),
  {
    operation: "read",
    path: "/role/:name/role-id",
    handle: async (request) => answer({ role_id: await method(request).roles.getRoleId(name(request)) }),
  },
  {
    operation: "write",
    path: "/role/:name/role-id",
    parameters: [roleIdParameters],
    handle: async (request) => {
      const { roleId = "" } = request.decode(roleIdParameters)
      await method(request).roles.changeRoleId(name(request), roleId)
      return nothing()
    },
  },
]

const secretIdRoutes: readonly AuthRoute[] = [
  {
    operation: "list",
    path: "/role/:name/secret-id",
    parameters: [keyPageParameters],
    handle: async (request) =>
      listedUpTo(keysMaximum, await method(request).secretIds.list(name(request), request.decode(keyPageParameters))),
  },
  {
    operation: "write",
    path: "/role/:name/secret-id",
    parameters: [newSecretIdParameters],
    handle: async (request) => {
      const { secretId: _, ...input } = request.decode(newSecretIdParameters)
      const created = await method(request).secretIds.create(name(request), input)
      return answer(encodeCreatedSecretId(created), { warnings: created.warnings })
    },
  },
  {
    operation: "write",
    path: "/role/:name/custom-secret-id",
    parameters: [secretIdParameters],
    handle: async (request) => {
      const { secretId = "", ...input } = request.decode(secretIdParameters)
      const created = await method(request).secretIds.create(name(request), { secretId, ...input })
      return answer(encodeCreatedSecretId(created), { warnings: created.warnings })
    },
  },
  ...namings.flatMap(({ path, refOf }): AuthRoute[] => [
    {
      operation: "write",
      path: `/role/:name/${path}/lookup`,
      readOnly: true,
      parameters: [secretIdRefParameters],
      handle: async (request) =>
        answer(encodeSecretId(await method(request).secretIds.get(name(request), refOf(request)))),
    },
    {
      operation: "write",
      path: `/role/:name/${path}/destroy`,
      parameters: [secretIdRefParameters],
      handle: async (request) => destroyed(request, refOf(request)),
    },
    {
      operation: "delete",
      path: `/role/:name/${path}/destroy`,
      parameters: [secretIdRefParameters],
      handle: async (request) => destroyed(request, refOf(request)),
    },
  ]),
  {
    operation: "write",
    path: "/tidy/secret-id",
    handle: async (request) => accepted(await method(request).secretIds.tidy()),
  },
]

export const appRoleRoutes: readonly AuthRoute[] = [
  ...roleRoutes,
  ...secretIdRoutes,
  {
    operation: "write",
    path: "/login",
    open: true,
    parameters: [credentialParameters],
    handle: async (request) => {
      const { roleId = "", secretId } = request.decode(credentialParameters)
      const credentials = { roleId, ...(secretId === undefined ? {} : { secretId }) }
      return issuedToken(request, await method(request).logins.logIn(credentials, request.remoteAddress))
    },
  },
]
