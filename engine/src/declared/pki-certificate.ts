import type { IssueInput, IssuedCertificate } from "../pki/issuance/certificate-api.ts"
import {
  nameMembers,
  faultsOfRule,
  requestMember,
  requestOf,
  requiredMember,
  validityMembers,
} from "./certificate-members.ts"
import { output, type SpecOf } from "./members.ts"
import {
  issuanceKind,
  issuanceMembers,
  leavings,
  type ObservedIssuance,
  type ObservedKey,
  onDestroyMember,
} from "./pki-issuance.ts"
import { judgeIssue } from "./request-rules.ts"
import { filledText, integer, oneOf, orNull, text, texts } from "./types.ts"

const requestMembers = {
  ...nameMembers,
  ...validityMembers,
  userIds: requestMember(texts(), "User IDs (UID) of the subject."),
  certMetadata: requestMember(text, "Metadata stored with the certificate (base64).", {
    defaultText: "the stack's name and the time, unless the role stores none",
  }),
  removeRootsFromChain: issuanceMembers.removeRootsFromChain,
  keyType: requestMember(oneOf("rsa", "ec", "ed25519"), "Type of the key, if the role allows any."),
  keyBits: requestMember(integer, "Size of the key in bits. 0: that of the role, else 2048 for RSA and 256 for EC.", {
    defaultText: "0",
  }),
}

const members = {
  ...issuanceMembers,
  ...requestMembers,
  role: requiredMember(filledText, "Role that issues the certificate."),
  privateKeyFormat: requestMember(
    oneOf("der", "pkcs8"),
    "Encoding of the private key: `der` (the usual form of the key type) or `pkcs8` (PEM).",
    { defaultText: "`der`" },
  ),
  onDestroy: onDestroyMember(
    "Action on the certificate when it is removed or replaced. `revokeWithKey` is for tokens that may revoke only with the private key.",
    ...leavings,
  ),
}

/** Certificate with a private key, issued by a role. */
export type PkiCertificateSpec = SpecOf<typeof members>

export type ObservedPkiCertificate = ObservedIssuance & ObservedKey

const inputOf = (spec: Partial<PkiCertificateSpec>): IssueInput => requestOf(spec, requestMembers)

/** The id is `MOUNT/SERIAL`. */
export const pkiCertificateResource = issuanceKind<PkiCertificateSpec, ObservedPkiCertificate>({
  name: "pkiCertificate",
  description:
    "A certificate with a private key, issued by a role. Its id is `MOUNT/SERIAL`. The private key is a secret output; it is stored in the state of the stack only.",
  outputsDescription: "Outputs of a certificate.",
  members,
  outputs: {
    // A bundle contains the private key.
    certificate: output(text.schema, "The certificate, in the declared format.", {
      secret: { member: "format", values: [undefined, "pem", "der"] },
    }),
    privateKey: output(
      orNull(text).schema,
      "Private key (PEM, or base64 of DER), a secret. The server returns it once, so it is null after `get`.",
      { secret: true },
    ),
    privateKeyType: output(orNull(text).schema, "Type of the private key: `rsa`, `ec` or `ed25519`. Null after `get`."),
  },
  rules: (known) => faultsOfRule(members, () => judgeIssue(inputOf(known))),
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

/** Returns the private key as text: `der` is the traditional encoding of the key type, `pkcs8` is PEM in every format. */
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
