// Resources of certificate authorities: re-exports only.
export { authMethodResource, type AuthMethodSpec, type ObservedAuthMethod, observedAuthMethod } from "./auth-method.ts"
export {
  certificateAuthRoleResource,
  type CertificateAuthRoleSpec,
  type ObservedCertificateAuthRole,
} from "./certificate-auth-role.ts"
export { type ObservedUserpassUser, userpassUserResource, type UserpassUserSpec } from "./userpass-user.ts"
export {
  acmeConfigId,
  type ObservedPkiAcmeConfig,
  observedPkiAcmeConfig,
  pkiAcmeConfigResource,
  type PkiAcmeConfigSpec,
} from "./pki-acme-config.ts"
export { type ObservedPkiAcmeEab, pkiAcmeEabResource, type PkiAcmeEabSpec } from "./pki-acme-eab.ts"
export { type ObservedPkiCertificate, pkiCertificateResource, type PkiCertificateSpec } from "./pki-certificate.ts"
export {
  estConfigId,
  type ObservedPkiEstConfig,
  observedPkiEstConfig,
  pkiEstConfigResource,
  type PkiEstConfigSpec,
} from "./pki-est-config.ts"
export { pkiIntermediateResource, type PkiIntermediateSpec } from "./pki-intermediate.ts"
export type { ObservedIssuance } from "./pki-issuance.ts"
export { type MountSettingsPart, mountSettingsParts } from "./pki-mount-settings.ts"
export { type ObservedPkiMount, pkiMountResource, type PkiMountSpec } from "./pki-mount.ts"
export { type ObservedPkiIssuer, observedPkiIssuer } from "./pki-issuer.ts"
export { pkiIssuerResource } from "./pki-issuer-kind.ts"
export type { ObservedPkiAuthority } from "./pki-issuer-observation.ts"
export { deleteUnneededAuthorities } from "./pki-issuer-removal.ts"
export type { PkiIssuerSpec } from "./pki-issuer-spec.ts"
export { type ObservedPkiRole, observedPkiRole, pkiRoleResource, type PkiRoleSpec } from "./pki-role.ts"
export { type ObservedPkiRevocation, pkiRevocationResource, type PkiRevocationSpec } from "./pki-revocation.ts"
export { pkiSignedCertificateResource, type PkiSignedCertificateSpec } from "./pki-signed-certificate.ts"
