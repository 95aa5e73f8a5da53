import { badRequest } from "../../core/errors.ts"
import { encodeHealth, encodeInitialization, encodeLeader, encodeSealStatus } from "../../wire/pki/health.ts"
import { release } from "../release.ts"
import { bare, type SystemRoute } from "../pki-route.ts"

/** Whether the server is there, for whoever asks. */
export const healthRoutes: readonly SystemRoute[] = [
  {
    operation: "read",
    path: "/sys/health",
    open: true,
    handle: async (request) => {
      const { server, query } = request
      const [up, down] = [healthStatus(query, "activecode", 200), healthStatus(query, "sealedcode", 503)]
      const isReady = await server.ready().then(
        () => true,
        () => false,
      )
      return bare(encodeHealth(server, release, server.now()), isReady ? up : down)
    },
  },
  {
    operation: "read",
    path: "/sys/seal-status",
    open: true,
    handle: async ({ server }) => bare(encodeSealStatus(server, release)),
  },
  {
    operation: "read",
    path: "/sys/init",
    open: true,
    handle: async () => bare(encodeInitialization()),
  },
  {
    operation: "read",
    path: "/sys/leader",
    open: true,
    handle: async () => bare(encodeLeader()),
  },
]

/** A balancer may name the status that it takes for good or bad. */
export function healthStatus(query: URLSearchParams, name: "activecode" | "sealedcode", usual: number): number {
  const text = query.get(name)
  if (text === null) return usual
  const status = Number(text)
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw badRequest(`"${name}" must be a status between 200 and 599`)
  return status
}
