// Port of the external policy service, which decides the contents of a certificate instead of a role.
import type { Trust } from "../../core/fetch.ts"
import type { AuthorityUrls, LeafNotAfterBehavior } from "../issuers/issuer.ts"

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
