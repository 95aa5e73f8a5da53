import { LRUCache } from "lru-cache"
import { EngineError } from "../../core/errors.ts"
import type { Trust } from "../../core/fetch.ts"
import type { Instant } from "../../core/time.ts"
import type { IssuedCertificate } from "../issuance/certificate-api.ts"
import type { AuthorityUrls, LeafNotAfterBehavior } from "../issuers/issuer.ts"
import type { MountId } from "../mounts/mount.ts"
import type { ExternalPolicyInput, ExternalPolicySettings } from "./external-policy-settings.ts"

export interface ExternalPolicyView {
  readonly settings: ExternalPolicySettings
  /** True if this server received a usable response since the last change of the settings. */
  readonly validated: boolean
  /** Time of the last successful request of this server since its start. */
  readonly lastSuccessfulRequest: Instant | null
}

export interface PolicyRequest {
  /** Last segment of the path, which is sent to the service. */
  readonly policy?: string
  /** Issuer of the path; the service may choose another one. Default: the mount's default issuer. */
  readonly issuerRef?: string
  /**
   * Parameters of the client by name: the unchanged JSON text of each value. The other members of the request reach the server and
   * the service together with them, under their names on the wire.
   */
  readonly parameters: ReadonlyMap<string, string>
  readonly removeRootsFromChain?: boolean
}

export interface PolicyIssueRequest extends PolicyRequest {
  /** Default: `rsa`. */
  readonly keyType?: string
  readonly keyBits?: number
}

export interface PolicySignRequest extends PolicyRequest {
  /** PEM. */
  readonly csr: string
}

/** Issuance of certificates as an external policy service decides. */
export interface ExternalPolicy {
  get(): Promise<ExternalPolicyView>
  /** Changes settings. Absent members stay unchanged. */
  configure(input: ExternalPolicyInput): Promise<ExternalPolicyView>
  /** Generates a key, which the service never receives, and issues a certificate for it. */
  issue(request: PolicyIssueRequest): Promise<IssuedCertificate>
  sign(request: PolicySignRequest): Promise<IssuedCertificate>
  signIntermediate(request: PolicySignRequest): Promise<IssuedCertificate>
}

// Port of the external policy service, which decides the contents of a certificate instead of a role.

/** Address of the service, and the credentials of both sides. */
export interface PolicyService {
  readonly url: string
  readonly timeoutMs: number
  readonly trust: Trust
  /** PEM. */
  readonly identity?: { readonly certificates: string; readonly privateKey: string }
}

/** Kind of the request, named as in the webhook. `ica` is an intermediate CA. */
export type IssuanceMode = "sign" | "issue" | "ica"

export interface PolicyQuestion {
  /** UUID, which the response must repeat. */
  readonly id: string
  readonly mode: IssuanceMode
  /** PEM. For a key that the server generated, the CSR contains only the key. */
  readonly csr: string
  /** Parameters of the client's request by name. Values are unchanged JSON text, because the policy service gets them as sent. */
  readonly parameters: ReadonlyMap<string, string>
  /** Undefined for a caller without identity, such as the holder of a service token. */
  readonly identity: PolicyIdentity | undefined
  /** Last segment of the path; empty if there is none. */
  readonly policyName: string
  /** Path without a slash at either end. */
  readonly mountPath: string
  /** Undefined if the mount has no default issuer. */
  readonly issuer: ProposedIssuer | undefined
  readonly defaultTtlMs: number
  readonly maxTtlMs: number
}

export interface PolicyIdentity {
  readonly entityId: string
  /** Present if the mount is configured to send it. */
  readonly entity?: Readonly<Record<string, unknown>>
  readonly groups?: readonly Readonly<Record<string, unknown>>[]
}

/** Issuer of the path, or the default issuer. The response may choose another one. */
export interface ProposedIssuer {
  readonly id: string
  readonly name: string
  /** PEM. */
  readonly certificate: string
  readonly urls: Omit<AuthorityUrls, "enableTemplating">
  readonly leafNotAfterBehavior: LeafNotAfterBehavior
}

export type PolicyAnswer =
  | { readonly kind: "refused"; readonly reason: string; readonly warnings: readonly string[] }
  /** The service has not decided yet. The same request is to be sent again after the pause. */
  | { readonly kind: "pending"; readonly retryAfterMs: number }
  | {
      readonly kind: "allowed"
      /** PEM. Its signature is ignored. */
      readonly template: string
      /** Undefined: the proposed issuer. */
      readonly issuerRef: string | undefined
      readonly store: boolean
      readonly lease: boolean
      readonly warnings: readonly string[]
    }

/** Calls the service. Throws `EngineError("unavailable")` if there is no usable response. */
export type PolicyClient = (service: PolicyService, question: PolicyQuestion) => Promise<PolicyAnswer>

/**
 * The service has not decided yet. Clients of a protocol that can wait repeat their request (docs/enrolments.md). Others get this error,
 * with the time to try again.
 */
export class PolicyPending extends EngineError {
  declare readonly retryAfterMs: number

  constructor(retryAfterMs: number) {
    super("pending", "The external policy service has not decided yet; repeat the same request.", { retryAfterMs })
  }
}

/** The service rejected the request, with the reason as the message. */
export class PolicyRefused extends EngineError {
  constructor(reason: string) {
    super("unprocessable", reason)
  }
}

interface Success {
  readonly at: Instant
  /** Time of the last change of the settings that the request used. */
  readonly settingsOf: Instant | null
}

const maxRemembered = 10_000

/** Last successful request to each service from this process. Other servers have their own; the information is not worth a write. */
export class PolicyServiceActivity {
  readonly #successes = new LRUCache<MountId, Success>({ max: maxRemembered })

  succeeded(mountId: MountId, success: Success): void {
    this.#successes.set(mountId, success)
  }

  last(mountId: MountId): Success | undefined {
    return this.#successes.get(mountId)
  }
}
