import type { CreatedServiceToken } from "../pki/access/service-tokens.ts"
import { encodeAuth, encodeServiceToken } from "../wire/pki/service-token.ts"
import type { PkiResponse, SystemRequest } from "./pki-route.ts"

/** In the specification's dialect all that is known of the token is beside it, in `data`. */
export const issuedToken = (
  { dialect }: SystemRequest,
  { secret, token, warnings }: CreatedServiceToken,
): PkiResponse => ({
  kind: "data",
  status: 200,
  data: dialect === "specification" ? encodeServiceToken(token, secret) : null,
  auth: encodeAuth(token, secret),
  warnings,
})
