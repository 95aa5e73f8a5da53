// An address to upload to or download from is its own credential: clients send no token with the bytes (workspace-facts 1.9). It
// names one document of one state version and one direction, and ends.
import { notFound } from "../core/errors.ts"
import type { StateVersionId } from "../core/ids.ts"
import type { Signer } from "../core/signing.ts"
import { hourMs, type Instant } from "../core/time.ts"
import type { StateDocument } from "./state-version.ts"

export type StateTransfer = "upload" | "download"

export const grantMs: Readonly<Record<StateTransfer, number>> = {
  /** As long as the hosted service's own addresses live. */
  upload: 25 * hourMs,
  /** Long enough to follow the address of a document that was just read. */
  download: hourMs,
}

/** What an address is good for. */
export interface Granted {
  readonly transfer: StateTransfer
  readonly id: string
  readonly document: StateDocument
}

export function grant(signer: Signer, granted: Granted & { readonly id: StateVersionId }, now: Instant): string {
  const expiresAt = now + grantMs[granted.transfer]
  return `${expiresAt}.${signer.sign(message(granted, expiresAt))}`
}

/** Not found unless the credential was made for exactly this and is still good. */
export function requireGrant(signer: Signer, granted: Granted & { readonly credential: string }, now: Instant): void {
  const [expiry = "", signature = ""] = granted.credential.split(".", 2)
  const expiresAt = /^\d{1,15}$/.test(expiry) ? Number(expiry) : 0
  if (!signer.verify(message(granted, expiresAt), signature) || expiresAt <= now) throw notFound(granted.id)
}

const message = ({ transfer, id, document }: Granted, expiresAt: Instant) =>
  `state-${transfer}/${id}/${document}/${expiresAt}`
