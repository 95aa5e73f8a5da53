import type { ParameterTable } from "../../wire/pki/parameters.ts"
import { invalid } from "../../core/errors.ts"
import type { ServiceTokenInput } from "../../pki/access/service-token.ts"
import type { CreatedServiceToken, ServiceTokens, TokenRef } from "../../pki/access/service-tokens.ts"
import {
  accessorParameters,
  capabilityParameters,
  decodeServiceTokenInput,
  encodeCapabilities,
  encodeServiceToken,
  serviceTokenParameters,
  tokenParameters,
} from "../../wire/pki/service-token.ts"
import { serviceToken } from "../authenticate.ts"
import { issuedToken } from "../issued-token.ts"
import { answer, listed, nothing, param, type Operation, type SystemRequest, type SystemRoute } from "../pki-route.ts"

/** How a request says which token it means, and what comes after the verb in its path. */
interface Naming {
  readonly suffix: string
  readonly parameters: readonly ParameterTable[]
  readonly refOf: (request: SystemRequest) => TokenRef
  /** As far as the request shows it; empty where it does not. */
  readonly secretOf: (request: SystemRequest) => string
}

const bySecret: Naming = {
  suffix: "",
  parameters: [tokenParameters],
  refOf: (request) => ({ secret: tokenIn(request) }),
  secretOf: (request) => tokenIn(request),
}
const byAccessor: Naming = {
  suffix: "-accessor",
  parameters: [tokenParameters],
  refOf: (request) => {
    const { accessor = "" } = request.decode(tokenParameters)
    if (accessor === "") throw invalid([{ field: ["accessor"], detail: "accessor can't be blank" }])
    return { accessor }
  },
  secretOf: () => "",
}
const bySelf: Naming = {
  suffix: "-self",
  parameters: [],
  refOf: () => "self",
  secretOf: ({ headers }) => serviceToken(headers),
}
const namings = [bySecret, byAccessor, bySelf]

function tokenIn(request: SystemRequest): string {
  const { token = "" } = request.decode(tokenParameters)
  if (token === "") throw invalid([{ field: ["token"], detail: "token can't be blank" }])
  return token
}

const creation = (
  path: string,
  create: (tokens: ServiceTokens, input: ServiceTokenInput, request: SystemRequest) => Promise<CreatedServiceToken>,
): SystemRoute => ({
  operation: "write",
  path,
  parameters: [serviceTokenParameters],
  handle: async (request) => {
    const input = decodeServiceTokenInput(request.read(serviceTokenParameters))
    return issuedToken(request, await create(request.engine.serviceTokens, input, request))
  },
})

const look = (operation: Operation, path: string, { parameters, refOf, secretOf }: Naming): SystemRoute => ({
  operation,
  path,
  parameters,
  ...(operation === "write" ? { readOnly: true as const } : {}),
  handle: async (request) => {
    const token = await request.engine.serviceTokens.lookup(refOf(request))
    return answer(encodeServiceToken(token, secretOf(request)))
  },
})

export const tokenRoutes: readonly SystemRoute[] = [
  creation("/auth/token/create", (tokens, input) => tokens.create(input)),
  creation("/auth/token/create-orphan", (tokens, input) => tokens.createOrphan(input)),
  creation("/auth/token/create/:role_name", (tokens, input, request) =>
    tokens.createByRole(param(request, "role_name"), input),
  ),
  look("read", "/auth/token/lookup-self", bySelf),
  ...namings.flatMap((naming): SystemRoute[] => [
    look("write", `/auth/token/lookup${naming.suffix}`, naming),
    {
      operation: "write",
      path: `/auth/token/renew${naming.suffix}`,
      parameters: [tokenParameters],
      handle: async (request) => {
        const { incrementMs = 0 } = request.decode(tokenParameters)
        const increment = incrementMs === 0 ? undefined : incrementMs
        const renewed = await request.engine.serviceTokens.renew(naming.refOf(request), increment)
        return issuedToken(request, { ...renewed, secret: naming.secretOf(request) })
      },
    },
    {
      operation: "write",
      path: `/auth/token/revoke${naming.suffix}`,
      parameters: naming.parameters,
      handle: async (request) => {
        await request.engine.serviceTokens.revoke(naming.refOf(request))
        return nothing()
      },
    },
    {
      operation: "write",
      path: `/sys/capabilities${naming.suffix}`,
      readOnly: true,
      parameters: [capabilityParameters, ...naming.parameters],
      handle: async (request) => {
        const { paths, path = [] } = request.decode(capabilityParameters)
        const told = await request.engine.serviceTokens.capabilities(naming.refOf(request), paths ?? path)
        return { ...answer(encodeCapabilities(told)), repeated: true }
      },
    },
  ]),
  {
    operation: "write",
    path: "/auth/token/revoke-orphan",
    parameters: [tokenParameters],
    handle: async (request) => {
      await request.engine.serviceTokens.revokeOrphan(tokenIn(request))
      return nothing()
    },
  },
  {
    operation: "list",
    path: "/auth/token/accessors",
    parameters: [accessorParameters],
    handle: async (request) => listed(await request.engine.serviceTokens.list(request.decode(accessorParameters))),
  },
]
