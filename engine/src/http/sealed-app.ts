// What a server answers while the key is missing that its secrets are sealed under: that it is sealed, in the words of either
// API, and nothing else. It has no engine; it stands in for one.
import { isEngineError, outOfService } from "../core/errors.ts"
import type { Runtime } from "../core/runtime.ts"
import { encodeHealth, encodeSealStatus } from "../wire/pki/health.ts"
import { type App, pathOf } from "./exchange.ts"
import { healthStatus } from "./pki/health.ts"
import { refusal } from "./refusal.ts"

export const sealedEngine = () => outOfService("The engine is sealed: the key that opens its secrets is missing.")

export function sealedApp({ clock }: Pick<Runtime, "clock">): App {
  const answered = ({ method, url }: Request): Response => {
    const path = pathOf(url)
    if (method === "GET" || method === "HEAD") {
      if (path === "/v1/sys/seal-status") return Response.json(encodeSealStatus(undefined))
      if (path === "/v1/sys/health") {
        const status = healthStatus(new URL(url).searchParams, "sealedcode", 503)
        return Response.json(encodeHealth(undefined, clock.now()), { status })
      }
    }
    return refusal(path, 503, "service unavailable", sealedEngine().message)
  }
  return {
    fetch(request) {
      try {
        const { body, status, headers } = answered(request)
        return new Response(request.method === "HEAD" ? null : body, {
          status,
          headers: { ...Object.fromEntries(headers), "cache-control": "no-store" },
        })
      } catch (error) {
        if (isEngineError(error, "bad-request")) return refusal("/v1", 400, "bad request", error.message)
        throw error
      }
    },
  }
}
