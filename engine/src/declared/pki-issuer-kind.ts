import type { DeclaredResource } from "./declared-resource.ts"
import { issuerChanges, updateIssuer } from "./pki-issuer-change.ts"
import { createIssuer } from "./pki-issuer-making.ts"
import { type ObservedPkiAuthority, observeIssuer } from "./pki-issuer-observed.ts"
import { removeIssuer } from "./pki-issuer-removal.ts"
import { issuerFaults, issuerShape, type PkiIssuerSpec } from "./pki-issuer-spec.ts"

/** The id of an intermediate is `MOUNT/KEY`, by the id of its key, which it has before anybody signs it; else `MOUNT/ISSUER`. */
export const pkiIssuerResource: DeclaredResource<PkiIssuerSpec, ObservedPkiAuthority> = {
  memberNames: Object.keys(issuerShape.members),
  validate: issuerFaults,
  diff: issuerChanges,
  observe: observeIssuer,
  create: createIssuer,
  update: updateIssuer,
  delete: removeIssuer,
}
