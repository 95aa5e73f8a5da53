import { LRUCache } from "lru-cache"
import type { Trust } from "../../core/fetch.ts"
import type { Instant } from "../../core/time.ts"
import type { IssuedCertificate } from "../issuance/certificate-api.ts"
import type { AuthorityUrls, LeafNotAfterBehavior } from "../issuers/issuer.ts"
import type { MountId } from "../mounts/mount.ts"
import type { ExternalPolicyInput, ExternalPolicySettings } from "./external-policy-settings.ts"

export interface ExternalPolicyView {
  readonly settings: ExternalPolicySettings
  /** Whether this server has had a usable answer since the settings were last changed. */
  readonly validated: boolean
  /** Of this server, since it was started. */
  readonly lastSuccessfulRequest: Instant | null
}

export interface PolicyRequest {
  /** The last part of the path, which the service is told. */
  readonly policy?: string
  /** Of the path; the service may choose another one. The mount's default without it. */
  readonly issuerRef?: string
  /**
   * All that the caller sent, by name: the JSON text of each value, as it came. What stands beside them here is sent with them to
   * a server, and told to the service by its name there.
   */
  readonly parameters: ReadonlyMap<string, string>
  readonly removeRootsFromChain?: boolean
}

export interface PolicyIssueRequest extends PolicyRequest {
  /** `rsa` where it is left out. */
  readonly keyType?: string
  readonly keyBits?: number
}

export interface PolicySignRequest extends PolicyRequest {
  /** PEM. */
  readonly csr: string
}

/** Issuing of certificates by decision of an external policy service. */
export interface ExternalPolicy {
  get(): Promise<ExternalPolicyView>
  /** What is left out stays as it is. */
  configure(input: ExternalPolicyInput): Promise<ExternalPolicyView>
  /** Makes a key, which the service never sees. */
  issue(request: PolicyIssueRequest): Promise<IssuedCertificate>
  sign(request: PolicySignRequest): Promise<IssuedCertificate>
  signIntermediate(request: PolicySignRequest): Promise<IssuedCertificate>
}

// Port of the external policy service, which decides the contents of a certificate instead of a role.

/** How it is reached, and how both sides know each other. */
export interface PolicyService {
  readonly url: string
  readonly timeoutMs: number
  readonly trust: Trust
  /** PEM. */
  readonly identity?: { readonly certificates: string; readonly privateKey: string }
}

/** `ica` is an intermediate CA; the names are those of the webhook. */
export type IssuanceMode = "sign" | "issue" | "ica"

export interface PolicyQuestion {
  /** A UUID, which the answer repeats. */
  readonly id: string
  readonly mode: IssuanceMode
  /** PEM; of a request for a key that was made here, nothing but the key. */
  readonly csr: string
  /** What the caller sent, by name: the JSON text of each value, as it came. */
  readonly parameters: ReadonlyMap<string, string>
  /** Absent where whoever asks is nobody in particular: the holder of a service token. */
  readonly identity: PolicyIdentity | undefined
  /** The last part of the path; empty without one. */
  readonly policyName: string
  /** Without a slash at either end. */
  readonly mountPath: string
  /** Undefined where the mount has no default issuer. */
  readonly issuer: ProposedIssuer | undefined
  readonly defaultTtlMs: number
  readonly maxTtlMs: number
}

export interface PolicyIdentity {
  readonly entityId: string
  /** Where the mount is set to send it. */
  readonly entity?: Readonly<Record<string, unknown>>
  readonly groups?: readonly Readonly<Record<string, unknown>>[]
}

/** Of the path, or the default; the answer may name another. */
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
  | {
      readonly kind: "allowed"
      /** PEM; whatever signature it carries does not count. */
      readonly template: string
      /** Undefined: the one that was proposed. */
      readonly issuerRef: string | undefined
      readonly store: boolean
      readonly lease: boolean
      readonly warnings: readonly string[]
    }

/** Throws `EngineError("unavailable")` where no answer comes that can be used. */
export type PolicyClient = (service: PolicyService, question: PolicyQuestion) => Promise<PolicyAnswer>

interface Success {
  readonly at: Instant
  /** When the settings had been changed that it was made under. */
  readonly settingsOf: Instant | null
}

const rememberedMaximum = 10_000

/** Which services have answered this process. Every server knows of its own requests, and none of them is worth a write. */
export class PolicyServiceActivity {
  readonly #successes = new LRUCache<MountId, Success>({ max: rememberedMaximum })

  succeeded(mountId: MountId, success: Success): void {
    this.#successes.set(mountId, success)
  }

  last(mountId: MountId): Success | undefined {
    return this.#successes.get(mountId)
  }
}
