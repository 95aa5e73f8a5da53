import type { RecordKeyUse } from "../core/audit.ts"
import type { Caller } from "../core/caller.ts"
import type { PkiContext } from "./authority-service.ts"
import { CrlService } from "./crl/crl-service.ts"
import { RevokeService } from "./revoke/revoke-service.ts"
import { ExternalPolicyService } from "./external-policy/external-policy-service.ts"
import { CertificateService } from "./certificates/certificate-service.ts"
import { IssuerService } from "./issuers/issuer-service.ts"
import { OcspService } from "./ocsp/ocsp-service.ts"
import type { ServedPki } from "./pki.ts"
import { KeyService } from "./keys/key-service.ts"
import { RoleService } from "./roles/role-service.ts"
import { TidyService } from "./tidy/tidy-service.ts"
import { SettingsService } from "./settings/settings-service.ts"

/** The services of one mount for one caller; each is made when it is first asked for. Whether the mount is there, they find out. */
export class MountedPki implements ServedPki {
  readonly #context: PkiContext
  readonly #mountPath: string
  readonly #caller: Caller
  readonly #recordKeyUse: RecordKeyUse

  constructor(context: PkiContext, mountPath: string, caller: Caller, recordKeyUse: RecordKeyUse) {
    this.#context = context
    this.#mountPath = mountPath
    this.#caller = caller
    this.#recordKeyUse = recordKeyUse
  }

  get issuers() {
    return this.#made(IssuerService)
  }

  get keys() {
    return this.#made(KeyService)
  }

  get settings() {
    return this.#made(SettingsService)
  }

  get roles() {
    return this.#made(RoleService)
  }

  get certificates() {
    return this.#made(CertificateService)
  }

  get revocations() {
    return this.#made(RevokeService)
  }

  get crls() {
    return this.#made(CrlService)
  }

  get tidy() {
    return this.#made(TidyService)
  }

  get ocsp() {
    return this.#made(OcspService)
  }

  get externalPolicy() {
    return this.#made(ExternalPolicyService)
  }

  #made<T>(Service: new (context: PkiContext, mountPath: string, caller: Caller, recordKeyUse: RecordKeyUse) => T): T {
    return new Service(this.#context, this.#mountPath, this.#caller, this.#recordKeyUse)
  }
}
