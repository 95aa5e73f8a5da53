// Audit entries of a request of the certificate API: the request before anything is done, and its result, on disk before the answer is
// sent (docs/decisions/audit-before-answer.md).
import type { Audit, AuditedRequest, AuditTrail } from "../../core/audit.ts"
import { anonymous, type Caller } from "../../core/caller.ts"
import type { Mount, MountConfig } from "../../pki/mounts/mount.ts"
import type { Document } from "../../contracts/vault/format/parameters.ts"
import type { Operation } from "./vault-route.ts"

interface Told {
  readonly method: string
  readonly path: string
  readonly remoteAddress: string | undefined
  readonly operation: Operation | undefined
}

/** What the record has of a mount or an auth method. */
export interface RecordedMount extends Pick<Mount, "path"> {
  readonly config: Pick<MountConfig, "auditNonHmacRequestKeys">
}

interface Learned {
  readonly caller?: Caller
  /** A token that nobody knows. */
  readonly secret?: string | undefined
  readonly mount?: RecordedMount | undefined
  readonly document?: Document
  /** Anybody may ask, and nothing is changed. There are many of these, and nobody to hold to account. */
  readonly openRead?: boolean
}

export class RequestTrail {
  readonly trail: AuditTrail
  readonly #audit: Audit
  readonly #told: Told
  readonly #learned: Learned = {}
  #recorded = false

  constructor(audit: Audit, requestId: string, told: Told) {
    this.#audit = audit
    this.trail = audit.trail({ requestId })
    this.#told = told
  }

  learn(learned: Learned): void {
    Object.assign(this.#learned, learned)
  }

  /** Throws `out-of-service` where it may not be done because it cannot be recorded. */
  async record({ signs = false }: { readonly signs?: boolean } = {}): Promise<void> {
    this.#recorded = true
    if (signs) this.trail.signingRequest(this.#described())
    else if (this.#learned.openRead !== true) {
      const written = this.trail.requestWritten(this.#described())
      this.trail.flush()
      await written
    } else if (this.#audit.recordsOpenReads) this.trail.readRequest(this.#described())
  }

  /** Throws `out-of-service` where what was done may not be on disk. */
  async done(status: number): Promise<void> {
    this.trail.response({ status })
    await this.trail.durable()
  }

  /** Nothing was done, so nothing hinges on the record. */
  refused(status: number, errors: readonly string[]): void {
    if (!this.#recorded) this.trail.readRequest(this.#described())
    this.#recorded = true
    this.trail.response({ status, errors })
  }

  #described(): AuditedRequest {
    const { method, path, remoteAddress, operation } = this.#told
    const { caller = anonymous, secret, mount, document } = this.#learned
    return {
      caller,
      method,
      path,
      ...(remoteAddress === undefined ? {} : { remoteAddress }),
      ...(operation === undefined ? {} : { operation }),
      ...(secret === undefined ? {} : { secret }),
      ...(mount === undefined ? {} : { mount: mount.path, plainKeys: mount.config.auditNonHmacRequestKeys }),
      ...(document === undefined ? {} : { data: document }),
    }
  }
}
