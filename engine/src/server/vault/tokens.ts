import type { TokenRef } from "../../access/service-tokens/service-token-service.ts"
import { ownToken, serviceTokens, tokensByAccessor, tokensBySecret } from "../../contracts/vault/service-token.ts"
import { tokenRoles } from "../../contracts/vault/token-role.ts"
import { serviceToken } from "../http/authenticate.ts"
import { implement } from "./implement.ts"
import type { SystemRequest } from "./vault-route.ts"

/** Returns the token's secret if the request contains it; otherwise returns "". */
function secretOf({ headers }: SystemRequest, ref: TokenRef): string {
  if (ref === "self") return serviceToken(headers)
  return "secret" in ref ? ref.secret : ""
}

const lookUp = async (request: SystemRequest, ref: TokenRef) => ({
  token: await request.engine.serviceTokens.lookup(ref),
  secret: secretOf(request, ref),
})

export const tokenRoutes = [
  ...implement(serviceTokens, {
    create: ({ engine }: SystemRequest, input) => engine.serviceTokens.create(input),
    createOrphan: ({ engine }, input) => engine.serviceTokens.createOrphan(input),
    createByRole: ({ engine }, role, input) => engine.serviceTokens.createByRole(role, input),
    lookupSelf: (request) => lookUp(request, "self"),
    revokeOrphan: ({ engine }, secret) => engine.serviceTokens.revokeOrphan(secret),
    list: ({ engine }, page) => engine.serviceTokens.list(page),
  }),
  ...[tokensBySecret, tokensByAccessor, ownToken].flatMap((contract) =>
    implement<SystemRequest, typeof contract>(contract, {
      lookup: lookUp,
      renew: async (request, { ref, incrementMs }) => ({
        ...(await request.engine.serviceTokens.renew(ref, incrementMs, {
          remoteAddress: request.remoteAddress,
          clientCertificate: request.clientCertificate,
        })),
        secret: secretOf(request, ref),
      }),
      revoke: ({ engine }, ref) => engine.serviceTokens.revoke(ref),
      capabilities: ({ engine }, { ref, paths }) => engine.serviceTokens.capabilities(ref, paths),
    }),
  ),
]

export const tokenRoleRoutes = implement(tokenRoles, {
  list: ({ engine }: SystemRequest, page) => engine.tokenRoles.list(page),
  get: async ({ engine }, name) => ({ name, role: await engine.tokenRoles.get(name) }),
  save: async ({ engine }, name, input) => void (await engine.tokenRoles.save(name, input)),
  delete: ({ engine }, name) => engine.tokenRoles.delete(name),
})
