// URLs for uploads and downloads of states contain their own credentials: clients send no token with the bytes (docs/compatibility.md,
// "State versions"). A URL is valid for one document of one state version, one direction and a limited time.
import { notFound } from "../../core/errors.ts"
import { grantFor, isGranted } from "../../core/grants.ts"
import type { StateVersionId } from "../../core/ids.ts"
import type { Signer } from "../../core/signing.ts"
import { hourMs, type Instant } from "../../core/time.ts"
import type { StateDocument } from "./state-version.ts"

export type StateTransfer = "upload" | "download"

export const grantMs: Readonly<Record<StateTransfer, number>> = {
  /** Lifetime of the URLs of HCP Terraform. */
  upload: 25 * hourMs,
  /** Long enough to follow the URL in a document that was just read. */
  download: hourMs,
}

/** Transfer that a credential permits. */
export interface Granted {
  readonly transfer: StateTransfer
  readonly id: string
  readonly document: StateDocument
}

export const grant = (signer: Signer, granted: Granted & { readonly id: StateVersionId }, now: Instant): string =>
  grantFor(signer, subjectOf(granted), now + grantMs[granted.transfer])

/** Throws `not-found` unless the credential was made for exactly this transfer and has not expired. */
export function requireGrant(signer: Signer, granted: Granted & { readonly credential: string }, now: Instant): void {
  if (!isGranted(signer, subjectOf(granted), granted.credential, now)) throw notFound(granted.id)
}

const subjectOf = ({ transfer, id, document }: Granted) => `state-${transfer}/${id}/${document}`
