import type { MountAccess } from "../pki-context.ts"
import { CrlService } from "../crl/crl-service.ts"
import { RevokeService } from "../revocation/revocation-service.ts"
import { EnrolmentService } from "../enrolments/enrolment-service.ts"
import { ExternalPolicyService } from "../external-policy/external-policy-service.ts"
import { CertificateService } from "../issuance/certificate-service.ts"
import { IssuerService } from "../issuers/issuer-service.ts"
import { OcspService } from "../ocsp/ocsp-service.ts"
import type { ServedPki } from "./pki.ts"
import { KeyService } from "../keys/key-service.ts"
import { RoleService } from "../roles/role-service.ts"
import { TidyService } from "../tidy/tidy-service.ts"
import { SettingsService } from "./mount-settings-service.ts"

/** Creates the services of one mount for one caller on access. The services check that the mount exists. */
export class MountedPki implements ServedPki {
  readonly #access: MountAccess

  constructor(access: MountAccess) {
    this.#access = access
  }

  get issuers() {
    return new IssuerService(this.#access)
  }

  get keys() {
    return new KeyService(this.#access)
  }

  get settings() {
    return new SettingsService(this.#access)
  }

  get roles() {
    return new RoleService(this.#access)
  }

  get certificates() {
    return new CertificateService(this.#access)
  }

  get revocations() {
    return new RevokeService(this.#access)
  }

  get crls() {
    return new CrlService(this.#access)
  }

  get tidy() {
    return new TidyService(this.#access)
  }

  get ocsp() {
    return new OcspService(this.#access)
  }

  get externalPolicy() {
    return new ExternalPolicyService(this.#access)
  }

  get enrolments() {
    return new EnrolmentService(this.#access)
  }
}
