// An upload address is its own credential: clients send no token with the bytes (workspace-facts 1.9). It names one document
// of one state version, and ends.
import { notFound } from "../core/errors.ts"
import type { StateVersionId } from "../core/ids.ts"
import type { Signer } from "../core/signing.ts"
import { hourMs, type Instant } from "../core/time.ts"
import type { StateDocument } from "./state-version.ts"

/** As long as the hosted service's own addresses live. */
export const uploadGrantMs = 25 * hourMs

export function grantUpload(signer: Signer, id: StateVersionId, document: StateDocument, now: Instant): string {
  const expiresAt = now + uploadGrantMs
  return `${expiresAt}.${signer.sign(message(id, document, expiresAt))}`
}

/** Not found unless the credential was made for exactly this document and is still good. */
export function requireUploadGrant(
  signer: Signer,
  { id, document, credential }: { readonly id: string; readonly document: StateDocument; readonly credential: string },
  now: Instant,
): void {
  const [expiry = "", signature = ""] = credential.split(".", 2)
  const expiresAt = /^\d{1,15}$/.test(expiry) ? Number(expiry) : 0
  if (!signer.verify(message(id, document, expiresAt), signature) || expiresAt <= now) throw notFound(id)
}

const message = (id: string, document: StateDocument, expiresAt: Instant) =>
  `state-upload/${id}/${document}/${expiresAt}`
