import type { AuditTrail } from "../../core/audit.ts"
import type { Caller } from "../../core/caller.ts"
import { type Exchange, pathOf } from "../http/exchange.ts"
import type { HttpRequest } from "../http/message.ts"

/**
 * Records a request of the workspace API in the audit log, without its body. A request that may change or disclose something is recorded
 * before any work. Other reads are recorded without delaying the response.
 *
 * Throws `out-of-service` if a change or disclosure cannot be recorded. `secret` is an unknown token.
 */
export function recordRequest(
  trail: AuditTrail,
  request: HttpRequest,
  { remoteAddress, route, secretPath }: Exchange,
  caller: Caller,
  { secret, discloses = false }: { readonly secret?: string | undefined; readonly discloses?: boolean } = {},
): void {
  const { method } = request
  const described = {
    method,
    path: secretPath === true ? (route ?? "") : pathOf(request.url),
    caller,
    ...(remoteAddress === undefined ? {} : { remoteAddress }),
    ...(secret === undefined ? {} : { secret }),
  }
  if ((method === "GET" || method === "HEAD") && !discloses) trail.readRequest(described)
  else trail.request(described)
}
