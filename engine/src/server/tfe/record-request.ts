import type { AuditTrail } from "../../core/audit.ts"
import type { Caller } from "../../core/caller.ts"
import { type Exchange, pathOf } from "../http/exchange.ts"
import type { HttpRequest } from "../http/message.ts"

/**
 * Puts a request on the workspace API into the audit log, without its body: before anything is done where it may change or
 * disclose something, and at no cost to its answer where it only reads. Throws `out-of-service` if one of the former cannot be
 * recorded. `secret` is an unknown token.
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
