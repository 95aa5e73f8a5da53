// The kinds around certificate authorities: re-exports only.
export {
  acmeConfigId,
  type ObservedPkiAcmeConfig,
  observedPkiAcmeConfig,
  pkiAcmeConfigKind,
  type PkiAcmeConfigSpec,
} from "./pki-acme-config.ts"
export { type ObservedPkiAcmeEab, pkiAcmeEabKind, type PkiAcmeEabSpec } from "./pki-acme-eab.ts"
export { type ObservedPkiCertificate, pkiCertificateKind, type PkiCertificateSpec } from "./pki-certificate.ts"
export { pkiIntermediateKind, type PkiIntermediateSpec } from "./pki-intermediate.ts"
export type { ObservedIssuance } from "./pki-issuance.ts"
export { type ObservedPkiMount, pkiMountKind, type PkiMountSpec } from "./pki-mount.ts"
export { type ObservedPkiIssuer, observedPkiIssuer } from "./pki-issuer.ts"
export { pkiIssuerKind } from "./pki-issuer-kind.ts"
export type { ObservedPkiAuthority } from "./pki-issuer-observed.ts"
export type { PkiIssuerSpec } from "./pki-issuer-spec.ts"
export { type ObservedPkiRole, observedPkiRole, pkiRoleKind, type PkiRoleSpec } from "./pki-role.ts"
export { type ObservedPkiRevocation, pkiRevocationKind, type PkiRevocationSpec } from "./pki-revocation.ts"
export { pkiSignedCertificateKind, type PkiSignedCertificateSpec } from "./pki-signed-certificate.ts"
