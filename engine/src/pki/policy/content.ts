// Content to sign: a policy's approved request, together with the key that it was approved for.
import { oids } from "../../x509/asn1/oids.ts"
import { findExtension } from "../../x509/extension.ts"
import { subjectKeyIdentifier as subjectKeyIdentifierExtension } from "../../x509/extensions.ts"
import { encodeName } from "../../x509/name.ts"
import { type PublicKey, subjectKeyIdentifier } from "../../x509/public-key.ts"
import type { ApprovedContent } from "../issuance/certify.ts"
import { leafExtensions } from "../issuance/leaf.ts"
import type { ApprovedRequest } from "./approve.ts"
import type { ApprovedAuthority } from "./approve-authority.ts"
import type { ApprovedVerbatim } from "./approve-verbatim.ts"
import { approved } from "./approved.ts"

export const leafContent = (request: ApprovedRequest, key: PublicKey): ApprovedContent =>
  approved({
    ...request.validity,
    subject: encodeName(request.subject),
    publicKey: key.spki,
    extensions: leafExtensions(request, key),
  })

/** Adds the subject key identifier to approved extensions that have none. */
export function wholeContent(request: ApprovedVerbatim | ApprovedAuthority, key: PublicKey): ApprovedContent {
  const { extensions } = request
  const hasIdentifier = findExtension(extensions, oids.subjectKeyIdentifier) !== undefined
  return approved({
    ...request.validity,
    subject: request.subjectDer,
    publicKey: key.spki,
    extensions: hasIdentifier
      ? extensions
      : [...extensions, subjectKeyIdentifierExtension(keyIdentifierOf(request, key))],
  })
}

export const keyIdentifierOf = (request: ApprovedVerbatim | ApprovedAuthority, key: PublicKey): Uint8Array =>
  ("subjectKeyIdentifier" in request ? request.subjectKeyIdentifier : undefined) ?? subjectKeyIdentifier(key)
