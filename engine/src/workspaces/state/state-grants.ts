// Addresses for uploads and downloads of states are their own credentials: clients send no token with the bytes
// (docs/compatibility.md, "State versions"). An address is valid for one document of one state version, one direction and a time.
import { notFound } from "../../core/errors.ts"
import { grantFor, isGranted } from "../../core/grants.ts"
import type { StateVersionId } from "../../core/ids.ts"
import type { Signer } from "../../core/signing.ts"
import { hourMs, type Instant } from "../../core/time.ts"
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

export const grant = (signer: Signer, granted: Granted & { readonly id: StateVersionId }, now: Instant): string =>
  grantFor(signer, subjectOf(granted), now + grantMs[granted.transfer])

/** Not found unless the credential was made for exactly this and is still good. */
export function requireGrant(signer: Signer, granted: Granted & { readonly credential: string }, now: Instant): void {
  if (!isGranted(signer, subjectOf(granted), granted.credential, now)) throw notFound(granted.id)
}

const subjectOf = ({ transfer, id, document }: Granted) => `state-${transfer}/${id}/${document}`
