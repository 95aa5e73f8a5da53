import { unauthenticated } from "../../core/errors.ts"
import type { RequestHeaders } from "./message.ts"

const tokenMaximum = 512

/** What stands where a token would in `Authorization: Bearer …`. */
export const tokenIn = (header: string | null | undefined): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(header ?? "")?.[1]

/** The token of `Authorization: Bearer …`; throws `unauthenticated` for anything else. */
export function bearerToken(header: string | null): string {
  const token = tokenIn(header)
  if (token === undefined || token.length > tokenMaximum) throw unauthenticated()
  return token
}

/** Returns the token of a request to the certificate API: of `X-Service-Token`, else of `X-Vault-Token`, else Bearer. */
export const serviceTokenIn = (headers: RequestHeaders): string | undefined =>
  headers.get("x-service-token") ?? headers.get("x-vault-token") ?? tokenIn(headers.get("authorization"))

export function serviceToken(headers: RequestHeaders): string {
  const token = serviceTokenIn(headers)
  if (token === undefined || token === "" || token.length > tokenMaximum) throw unauthenticated()
  return token
}
