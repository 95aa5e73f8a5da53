// A request of the certificate API in the audit log: once, before anything is done about it, with all that is known of it by
// then; and what came of it, on disk before the answer leaves (architecture 0.19).
import type { AuditTrail } from "../core/audit.ts"
import { anonymous, type Caller } from "../core/caller.ts"
import type { Mount } from "../pki/mount.ts"
import type { Document } from "../wire/pki/parameters.ts"
import type { Operation } from "./pki-route.ts"

interface Told {
  readonly method: string
  readonly path: string
  readonly remoteAddress: string | undefined
  readonly operation: Operation | undefined
}

interface Learned {
  readonly caller?: Caller
  /** A token that nobody knows. */
  readonly secret?: string | undefined
  readonly mount?: Mount | undefined
  readonly document?: Document
  /** Nothing is changed, whatever the method says. */
  readonly readOnly?: boolean
}

export class RequestTrail {
  readonly trail: AuditTrail
  readonly #told: Told
  #learned: Learned = {}
  #recorded = false

  constructor(trail: AuditTrail, told: Told) {
    this.trail = trail
    this.#told = told
  }

  learn(learned: Learned): void {
    this.#learned = { ...this.#learned, ...learned }
  }

  /** Throws `out-of-service` where it may not be done because it cannot be recorded. */
  record(): void {
    this.#recorded = true
    const { method, path, remoteAddress, operation } = this.#told
    const { caller = anonymous, secret, mount, document } = this.#learned
    const described = {
      caller,
      method,
      path,
      ...(remoteAddress === undefined ? {} : { remoteAddress }),
      ...(operation === undefined ? {} : { operation }),
      ...(secret === undefined ? {} : { secret }),
      ...(mount === undefined ? {} : { mount: mount.path, plainKeys: mount.config.auditNonHmacRequestKeys }),
      ...(document === undefined ? {} : { data: document }),
    }
    if (this.#changesSomething) this.trail.request(described)
    else this.trail.readRequest(described)
  }

  /** Throws `out-of-service` where what was done may not be on disk. */
  async done(status: number): Promise<void> {
    this.trail.response({ status })
    if (this.#changesSomething) await this.trail.durable()
  }

  /** Nothing was done, so nothing hinges on the record. */
  refused(status: number, errors: readonly string[]): void {
    if (!this.#recorded) {
      this.#learned = { ...this.#learned, readOnly: true }
      this.record()
    }
    this.trail.response({ status, errors })
  }

  get #changesSomething(): boolean {
    const { operation } = this.#told
    return this.#learned.readOnly !== true && operation !== "read" && operation !== "list"
  }
}
