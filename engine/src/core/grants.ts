// Credentials in URLs. A client that has the URL needs no token. A credential is valid for one subject until it expires.
import type { Signer } from "./signing.ts"
import type { Instant } from "./time.ts"

/** Returns the credential for a subject. `subject` must be unique among all subjects of the engine. */
export const grantFor = (signer: Signer, subject: string, expiresAt: Instant): string =>
  `${expiresAt}.${signer.sign(`${subject}/${expiresAt}`)}`

export function isGranted(signer: Signer, subject: string, credential: string, now: Instant): boolean {
  const [expiry = "", signature = ""] = credential.split(".", 2)
  const expiresAt = /^\d{1,15}$/.test(expiry) ? Number(expiry) : 0
  return signer.verify(`${subject}/${expiresAt}`, signature) && now < expiresAt
}
