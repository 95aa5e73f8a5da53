import { unauthenticated } from "../../core/errors.ts"
import type { RequestHeaders } from "./message.ts"

const maxToken = 512

/** Returns the token of an `Authorization: Bearer …` header, of any length. Returns undefined if there is none. */
export const tokenIn = (header: string | null | undefined): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(header ?? "")?.[1]

/** Returns the token of an `Authorization: Bearer …` header. Throws `unauthenticated` if the header is missing, malformed or too long. */
export function bearerToken(header: string | null): string {
  const token = tokenIn(header)
  if (token === undefined || token.length > maxToken) throw unauthenticated()
  return token
}

/** Returns the token of a certificate API request. The first of `X-Service-Token`, `X-Vault-Token` and `Authorization: Bearer` counts. */
export const serviceTokenIn = (headers: RequestHeaders): string | undefined =>
  headers.get("x-service-token") ?? headers.get("x-vault-token") ?? tokenIn(headers.get("authorization"))

/** Returns the token of a certificate API request. Throws `unauthenticated` if it is missing, empty or too long. */
export function serviceToken(headers: RequestHeaders): string {
  const token = serviceTokenIn(headers)
  if (token === undefined || token === "" || token.length > maxToken) throw unauthenticated()
  return token
}
