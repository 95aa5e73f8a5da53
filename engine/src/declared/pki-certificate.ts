import type { IssueInput, IssuedCertificate } from "../pki/certificates/certificates.ts"
import {
  flag,
  integer,
  nameMembers,
  refusedBy,
  requestOf,
  text,
  texts,
  validityMembers,
} from "./certificate-members.ts"
import { issuanceKind, issuanceMembers, leavings, type ObservedIssuance, type ObservedKey } from "./pki-issuance.ts"
import { judgeIssue } from "./request-rules.ts"
import * as shapes from "./spec-shape.ts"

const requestMembers = {
  ...nameMembers,
  ...validityMembers,
  userIds: texts,
  certMetadata: text,
  removeRootsFromChain: flag,
  keyType: shapes.oneOf(["rsa", "ec", "ed25519"]).optional(),
  keyBits: integer,
}

const shape = shapes.members({
  ...issuanceMembers,
  ...requestMembers,
  role: shapes.text().filled(),
  issuerRef: shapes.text().filled().optional(),
  privateKeyFormat: shapes.oneOf(["der", "pkcs8"]).optional(),
  onDestroy: shapes.oneOf(leavings).optional(),
})

/** A certificate with a new key, issued under a role. */
export type PkiCertificateSpec = Readonly<shapes.Of<typeof shape>>

export type ObservedPkiCertificate = ObservedIssuance & ObservedKey

const inputOf = (spec: Partial<PkiCertificateSpec>): IssueInput => requestOf(spec, Object.keys(requestMembers))

/** Its id is `MOUNT/SERIAL`. */
export const pkiCertificateResource = issuanceKind<PkiCertificateSpec, ObservedPkiCertificate>({
  shape,
  rules: (known) => refusedBy(shape, () => judgeIssue(inputOf(known))),
  issue: (pki, spec, certMetadata) =>
    pki.certificates.issue(
      spec.role,
      { ...inputOf(spec), ...(certMetadata === undefined ? {} : { certMetadata }) },
      spec.issuerRef === undefined ? {} : { issuerRef: spec.issuerRef },
    ),
  isMarked: ({ certMetadata = "" }) => certMetadata === "",
  hasKey: true,
  own: (issued, spec) => ({
    privateKey: keyText(issued, spec),
    privateKeyType: issued?.privateKey?.algorithm.type ?? null,
  }),
})

/** Returns the key as text. `der` is the usual form for the key type; `pkcs8` is PEM, whatever the format. */
function keyText(
  issued: IssuedCertificate | undefined,
  { format = "pem", privateKeyFormat = "der" }: Partial<PkiCertificateSpec>,
): string | null {
  if (issued?.privateKey === undefined) return null
  const { privateKey } = issued
  if (privateKeyFormat === "pkcs8") return privateKey.pem("pkcs8")
  return format === "der"
    ? Buffer.from(privateKey.der("traditional")).toString("base64")
    : privateKey.pem("traditional")
}
