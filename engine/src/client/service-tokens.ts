import type { ServiceTokenInput } from "../pki/access/service-token.ts"
import type { ServiceTokens, TokenRef } from "../pki/access/service-tokens.ts"
import {
  capabilityParameters,
  decodeCapabilities,
  decodeCreatedServiceToken,
  decodeServiceToken,
  decodeTokenAnswer,
  serviceTokenParameters,
  tokenParameters,
} from "../wire/pki/service-token.ts"
import { type PkiCalls, saying } from "./pki-calls.ts"
import { queryOf } from "./calls.ts"
import { path } from "./transport.ts"

export const remoteServiceTokens = (calls: PkiCalls): ServiceTokens => {
  const create = async (at: string, input: ServiceTokenInput) =>
    decodeCreatedServiceToken(await calls.write(at, saying(serviceTokenParameters, input)))
  const about = (token: TokenRef, more: { readonly incrementMs?: number } = {}) =>
    saying(tokenParameters, { ...membersOf(token), ...more })
  return {
    create: async (input) => create("/auth/token/create", input),
    createOrphan: async (input) => create("/auth/token/create-orphan", input),
    createByRole: async (role, input) => create(path`/auth/token/create/${role}`, input),
    lookup: async (token) =>
      decodeServiceToken((await calls.write(`/auth/token/lookup${suffixOf(token)}`, about(token))).data),
    async list({ after, limit } = {}) {
      const query = queryOf([
        ["after", after],
        ["limit", limit?.toString()],
      ])
      return (await calls.list("/auth/token/accessors", query)).keys
    },
    renew: async (token, incrementMs) =>
      decodeTokenAnswer(
        await calls.write(
          `/auth/token/renew${suffixOf(token)}`,
          about(token, incrementMs === undefined ? {} : { incrementMs }),
        ),
      ),
    async revoke(token) {
      await calls.write(`/auth/token/revoke${suffixOf(token)}`, about(token))
    },
    async revokeOrphan(secret) {
      await calls.write("/auth/token/revoke-orphan", about({ secret }))
    },
    async capabilities(token, paths) {
      const said = saying(capabilityParameters, { ...membersOf(token), paths })
      const { data } = await calls.write(`/sys/capabilities${suffixOf(token)}`, said)
      return decodeCapabilities(data, paths)
    },
  }
}

function suffixOf(token: TokenRef): "" | "-self" | "-accessor" {
  if (token === "self") return "-self"
  return "secret" in token ? "" : "-accessor"
}

function membersOf(token: TokenRef): { readonly token?: string; readonly accessor?: string } {
  if (token === "self") return {}
  return "secret" in token ? { token: token.secret } : { accessor: token.accessor }
}
