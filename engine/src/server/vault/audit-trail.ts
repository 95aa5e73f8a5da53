// Audit entries of a certificate API request. The request is recorded before any work. Its result is on disk before the answer is sent
// (docs/decisions/audit-before-answer.md).
import type { Audit, AuditedRequest, AuditTrail } from "../../core/audit.ts"
import type { ClientCertificate } from "../../core/client-certificate.ts"
import { sha256 } from "../../x509/digest.ts"
import { anonymous, type Caller } from "../../core/caller.ts"
import type { Mount, MountConfig } from "../../pki/mounts/mount.ts"
import type { Document } from "../../contracts/vault/format/parameters.ts"
import type { Operation } from "./vault-route.ts"

interface ReportedRequest {
  readonly method: string
  readonly path: string
  readonly remoteAddress: string | undefined
  readonly clientCertificate: ClientCertificate | undefined
  readonly operation: Operation | undefined
}

/** The part of a mount or an auth method that audit entries use. */
export interface RecordedMount extends Pick<Mount, "path"> {
  readonly config: Pick<MountConfig, "auditNonHmacRequestKeys">
}

interface LearnedIdentity {
  readonly caller?: Caller
  /** Unknown token of a request that failed to authenticate. */
  readonly secret?: string | undefined
  readonly mount?: RecordedMount | undefined
  readonly document?: Document
  /** Anonymous request that changes nothing. Such requests are frequent and have no caller who is accountable. */
  readonly openRead?: boolean
}

export class RequestTrail {
  readonly trail: AuditTrail
  readonly #audit: Audit
  readonly #request: ReportedRequest
  readonly #learned: LearnedIdentity = {}
  #recorded = false

  constructor(audit: Audit, requestId: string, request: ReportedRequest) {
    this.#audit = audit
    this.trail = audit.trail({ requestId })
    this.#request = request
  }

  learn(learned: LearnedIdentity): void {
    Object.assign(this.#learned, learned)
  }

  /** Records the request. Throws `out-of-service` if it cannot be recorded; the request must then not be executed. */
  async record({ signs = false }: { readonly signs?: boolean } = {}): Promise<void> {
    this.#recorded = true
    if (signs) this.trail.signingRequest(this.#described())
    else if (this.#learned.openRead !== true) {
      const written = this.trail.requestWritten(this.#described())
      this.trail.flush()
      await written
    } else if (this.#audit.recordsOpenReads) this.trail.readRequest(this.#described())
  }

  /** Records the result. Throws `out-of-service` if the entries may not be on disk. */
  async done(status: number): Promise<void> {
    this.trail.response({ status })
    await this.trail.durable()
  }

  /** Records a rejected request. Nothing was changed, so the answer does not wait for the entries. */
  refused(status: number, errors: readonly string[]): void {
    if (!this.#recorded) this.trail.readRequest(this.#described())
    this.#recorded = true
    this.trail.response({ status, errors })
  }

  #described(): AuditedRequest {
    const { method, path, remoteAddress, clientCertificate, operation } = this.#request
    const [leaf] = clientCertificate?.chain ?? []
    const { caller = anonymous, secret, mount, document } = this.#learned
    return {
      caller,
      method,
      path,
      ...(remoteAddress === undefined ? {} : { remoteAddress }),
      ...(leaf === undefined ? {} : { clientCertificateSha256: sha256(leaf) }),
      ...(operation === undefined ? {} : { operation }),
      ...(secret === undefined ? {} : { secret }),
      ...(mount === undefined ? {} : { mount: mount.path, plainKeys: mount.config.auditNonHmacRequestKeys }),
      ...(document === undefined ? {} : { data: document }),
    }
  }
}
