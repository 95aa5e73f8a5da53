import type { CreatedServiceToken } from "../pki/access/service-tokens.ts"
import { encodeAuth, encodeServiceToken } from "../wire/pki/service-token.ts"
import type { PkiResponse, SystemRequest } from "./pki-route.ts"

/** Returns the token in `auth`, and in the native dialect its record in `data`. */
export const issuedToken = (
  { dialect }: SystemRequest,
  { secret, token, warnings }: CreatedServiceToken,
): PkiResponse => ({
  kind: "data",
  status: 200,
  data: dialect === "native" ? encodeServiceToken(token, secret) : null,
  auth: encodeAuth(token, secret),
  warnings,
})
