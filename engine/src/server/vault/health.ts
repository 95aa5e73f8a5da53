import {
  encodeHealth,
  encodeInitialization,
  encodeLeader,
  encodeSealStatus,
  health,
} from "../../contracts/vault/health.ts"
import { vaultOpenApi } from "../../contracts/vault/openapi.ts"
import { badRequest } from "../../core/errors.ts"
import { implement } from "./implement.ts"
import { bare, type SystemRequest } from "./vault-route.ts"
import { rawBytes } from "./conditional.ts"
import { release } from "../release.ts"

/** Created at the first request, because it takes about 200 ms. */
let openApi: string | undefined

/** Health of the server, readable without a token. */
export const healthRoutes = implement(health, {
  health: async ({ server, query }: SystemRequest) => {
    const [up, down] = [healthStatus(query, "activecode", 200), healthStatus(query, "sealedcode", 503)]
    const isReady = await server.ready().then(
      () => true,
      () => false,
    )
    return bare(encodeHealth(server, release, server.now()), isReady ? up : down)
  },
  sealStatus: async ({ server }) => bare(encodeSealStatus(server, release)),
  initialization: async () => bare(encodeInitialization()),
  leader: async () => bare(encodeLeader()),
  openApi: async () => rawBytes((openApi ??= JSON.stringify(vaultOpenApi())), "application/json"),
})

/** Returns the status of a health check. Load balancers can choose it in the query. Throws `bad-request` outside 200 to 599. */
export function healthStatus(query: URLSearchParams, name: "activecode" | "sealedcode", defaultStatus: number): number {
  const text = query.get(name)
  if (text === null) return defaultStatus
  const status = Number(text)
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw badRequest(`"${name}" must be an integer from 200 to 599`)
  return status
}
