import { z } from "zod"

/** URL with its own credential: handlers return the URL, and the client decodes the credential only. */
export const credentialAddress = z.codec(z.string(), z.custom<string>(), {
  decode: (address) => URL.parse(address)?.searchParams.get("credential") ?? "",
  encode: (address) => address,
})
