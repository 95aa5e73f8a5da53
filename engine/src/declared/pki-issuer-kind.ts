import type { DeclaredResource, Definition } from "./declared-resource.ts"
import { issuerChanges, updateIssuer } from "./pki-issuer-change.ts"
import { createIssuer } from "./pki-issuer-creation.ts"
import { type ObservedPkiAuthority, observeIssuer } from "./pki-issuer-observation.ts"
import { removeIssuer } from "./pki-issuer-removal.ts"
import { issuerFaults, issuerMembers, type PkiIssuerSpec } from "./pki-issuer-spec.ts"
import { output } from "./members.ts"
import { flag, orNull, text } from "./types.ts"

const urlNames = ["issuingCertificates", "crlDistributionPoints", "deltaCrlDistributionPoints", "ocspServers"] as const

const outputs = {
  name: output(text.schema, "Name. Empty if it has none."),
  issuerId: output(orNull(text).schema, "Id of the issuer. Null until its certificate is signed."),
  keyId: output(
    orNull(text).schema,
    "Id of the key. Null if the mount does not have the key; the issuer then signs nothing.",
  ),
  keyName: output(orNull(text).schema, "Name of the key. Null if it has none."),
  csr: output(
    orNull(text).schema,
    "Certificate signing request (PEM) for another authority. Null if no signature is pending.",
  ),
  certificate: output(orNull(text).schema, "Certificate of the issuer (PEM). Null until it is signed."),
  caChain: output(text.schema.array().readonly(), "Chain (PEM), the issuer's certificate first."),
  serialNumber: output(
    orNull(text).schema,
    'Serial number of the certificate: hexadecimal octets joined by ":". Null until it is signed.',
  ),
  expiration: output(orNull(text).schema, "End of validity (ISO 8601). Null until the certificate is signed."),
  revokedAt: output(orNull(text).schema, "Time of revocation (ISO 8601). Null if the issuer is not revoked."),
  ...Object.fromEntries(
    (["usage", "manualChain", ...urlNames] as const).map((name) => [
      name,
      output(issuerMembers[name].schema.readonly(), issuerMembers[name].description),
    ]),
  ),
  isDefault: output(flag.schema, "The issuer is the default issuer of the mount."),
}

/** The id of an intermediate is `MOUNT/KEY`, because it has a key before it is signed; ids of other issuers are `MOUNT/ISSUER`. */
export const pkiIssuerResource: DeclaredResource<PkiIssuerSpec, ObservedPkiAuthority> & Definition = {
  name: "pkiIssuer",
  description:
    'A certificate authority whose key stays in a mount. `deletionPolicy: "safe"` keeps it while certificates it issued are valid; deleting it deletes its key. Its id is `MOUNT/ISSUER_ID`, that of an intermediate `MOUNT/KEY_ID`.',
  argsDescription:
    "Changing the subject, the extensions or the key forces replacement: the old issuer is deleted first, unless `name` changes too. The members after `bundle` are updated in place and return to their defaults when removed, except `usage` and `isDefault`.",
  outputsDescription: "Outputs of an issuer: every setting in force.",
  members: issuerMembers,
  outputs,
  adoption: "an existing issuer of this name, subject and key",
  memberNames: Object.keys(issuerMembers),
  validate: issuerFaults,
  diff: issuerChanges,
  observe: observeIssuer,
  create: createIssuer,
  update: updateIssuer,
  delete: removeIssuer,
}
