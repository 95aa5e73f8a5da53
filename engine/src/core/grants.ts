// A credential that stands in an address: whoever has the address needs no other. It is good for one subject, and ends.
import type { Signer } from "./signing.ts"
import type { Instant } from "./time.ts"

/** `subject` names what the address is good for, and nothing else in the engine. */
export const grantFor = (signer: Signer, subject: string, expiresAt: Instant): string =>
  `${expiresAt}.${signer.sign(`${subject}/${expiresAt}`)}`

export function isGranted(signer: Signer, subject: string, credential: string, now: Instant): boolean {
  const [expiry = "", signature = ""] = credential.split(".", 2)
  const expiresAt = /^\d{1,15}$/.test(expiry) ? Number(expiry) : 0
  return signer.verify(`${subject}/${expiresAt}`, signature) && now < expiresAt
}
