// Serves while the server is sealed, that is, while its seal key is missing. Reports the sealed state in the format of either API, without
// an engine.
import { encodeHealth, encodeInitialization, encodeSealStatus } from "../../contracts/vault/health.ts"
import { isEngineError, outOfService } from "../../core/errors.ts"
import type { Runtime } from "../../core/runtime.ts"
import { ocspResponseType } from "../../contracts/vault/ocsp.ts"
import { encodeOcspFailure } from "../../x509/ocsp.ts"
import { isPkiPath, pathOf } from "./exchange.ts"
import { jsonResponse, errorAnswer } from "./responses.ts"
import { type HttpRequest, type HttpResponse, respond } from "./message.ts"
import { healthStatus } from "../vault/health.ts"
import { release } from "../release.ts"
import { type WebApp, webApp } from "./web-fetch.ts"

export const sealedEngine = () => outOfService("The engine is sealed: the seal key is missing.")

/** Returns true for an OCSP request to any mount; which mounts exist is unknown. OCSP errors have status 200 (RFC 6960, appendix A.1). */
const isOcsp = (method: string, path: string): boolean =>
  isPkiPath(path) &&
  !/^\/v1\/(sys|auth)\//.test(path) &&
  (method === "GET" || method === "HEAD"
    ? /^\/v1\/.+\/(unified-)?ocsp\/./.test(path)
    : ["POST", "PUT"].includes(method) && /^\/v1\/.+\/(unified-)?ocsp$/.test(path))

/** The server checks for the key at this interval (`cli/unsealing.ts`). */
const retryAfterSeconds = "1"
const tryLater = Uint8Array.from(encodeOcspFailure("tryLater"))

export function sealedApp({ clock }: Pick<Runtime, "clock">): WebApp {
  const answered = ({ method, url }: HttpRequest): HttpResponse => {
    const path = pathOf(url)
    if (method === "GET" || method === "HEAD") {
      if (path === "/v1/sys/seal-status") return jsonResponse(200, encodeSealStatus(undefined, release), { method })
      if (path === "/v1/sys/init") return jsonResponse(200, encodeInitialization(), { method })
      if (path === "/v1/sys/health") {
        const status = healthStatus(new URL(url).searchParams, "sealedcode", 503)
        return jsonResponse(status, encodeHealth(undefined, release, clock.now()), { method })
      }
    }
    if (isOcsp(method, path))
      return respond(tryLater, {
        headers: { "content-type": ocspResponseType, "cache-control": "no-store", "retry-after": retryAfterSeconds },
      })
    const { message } = sealedEngine()
    const answer = isPkiPath(path)
      ? jsonResponse(503, { errors: [message] }, { method })
      : errorAnswer(path, 503, "service unavailable", message)
    return { ...answer, headers: { ...answer.headers, "retry-after": retryAfterSeconds } }
  }
  return webApp({
    handle(request) {
      try {
        return answered(request)
      } catch (error) {
        if (!isEngineError(error, "bad-request")) throw error
        return jsonResponse(400, { errors: [error.message] }, { method: request.method })
      }
    },
  })
}
