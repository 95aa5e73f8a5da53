// One mount as clients see it, with one API for each kind of resource. The embedded and the remote engine implement it.
import type { Certificates, ServedCertificates } from "../issuance/certificate-api.ts"
import type { Enrolments } from "../enrolments/enrolment-api.ts"
import type { Crls } from "../crl/crl-api.ts"
import type { Revocations } from "../revocation/revocation.ts"
import type { ExternalPolicy } from "../external-policy/external-policy.ts"
import type { Issuers, ServedIssuers } from "../issuers/issuer-api.ts"
import type { Keys } from "../keys/key.ts"
import type { Ocsp, ServedOcsp } from "../ocsp/ocsp.ts"
import type { Roles } from "../roles/role.ts"
import type { Settings } from "./mount-settings-service.ts"
import type { Tidy } from "../tidy/tidy-api.ts"

/** Methods throw `EngineError`. They add `forbidden` to the codes that `Engine` lists: no policy of the caller allows the operation. */
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
  readonly enrolments: Enrolments
}

/** API of a mount inside the server. */
export interface ServedPki extends Pki {
  readonly issuers: ServedIssuers
  readonly certificates: ServedCertificates
  readonly ocsp: ServedOcsp
}
