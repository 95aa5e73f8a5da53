// One mount as callers see it: a family of verbs for each kind of thing in it. Embedded and remote engines implement it alike.
import type { Certificates, ServedCertificates } from "../issuance/certificate-api.ts"
import type { Crls } from "../crl/crl-api.ts"
import type { Revocations } from "../revocation/revocation.ts"
import type { ExternalPolicy } from "../external-policy/external-policy.ts"
import type { Issuers, ServedIssuers } from "../issuers/issuer-api.ts"
import type { Keys } from "../keys/key.ts"
import type { Ocsp, ServedOcsp } from "../ocsp/ocsp.ts"
import type { Roles } from "../roles/role.ts"
import type { Settings } from "./mount-settings-service.ts"
import type { Tidy } from "../tidy/tidy-api.ts"

/** Refusals are `EngineError`s; beside the codes that `Engine` lists, `forbidden`: no policy of the caller allows it. */
export interface Pki {
  readonly issuers: Issuers
  readonly keys: Keys
  readonly settings: Settings
  readonly roles: Roles
  readonly certificates: Certificates
  readonly revocations: Revocations
  readonly crls: Crls
  readonly ocsp: Ocsp
  readonly externalPolicy: ExternalPolicy
  readonly tidy: Tidy
}

/** On the server's side. */
export interface ServedPki extends Pki {
  readonly issuers: ServedIssuers
  readonly certificates: ServedCertificates
  readonly ocsp: ServedOcsp
}
