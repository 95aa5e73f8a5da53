import { z } from "zod"

/** An address that carries its own credential: handlers give the address, clients get the credential alone. */
export const credentialAddress = z.codec(z.string(), z.custom<string>(), {
  decode: (address) => URL.parse(address)?.searchParams.get("credential") ?? "",
  encode: (address) => address,
})
