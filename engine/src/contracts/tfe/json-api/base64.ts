import { z } from "zod"

const alphabet = /^[A-Za-z0-9+/_-]*={0,2}$/

/** Standard or URL-safe base64, with or without padding or line breaks, as clients send files. */
export const base64Bytes = z.string().transform((text, context): Uint8Array => {
  const compact = text.replaceAll(/\s/g, "")
  if (alphabet.test(compact) && compact.replaceAll("=", "").length % 4 !== 1) return Buffer.from(compact, "base64")
  context.issues.push({ code: "custom", message: "must be base64", input: text })
  return z.NEVER
})
