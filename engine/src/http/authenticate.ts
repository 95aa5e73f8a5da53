import { unauthenticated } from "../core/errors.ts"

const tokenMaximum = 512

/** The token of `Authorization: Bearer …`; throws `unauthenticated` for anything else. */
export function bearerToken(header: string | null): string {
  const match = /^Bearer +(\S+) *$/i.exec(header ?? "")
  const token = match?.[1]
  if (token === undefined || token.length > tokenMaximum) throw unauthenticated()
  return token
}
