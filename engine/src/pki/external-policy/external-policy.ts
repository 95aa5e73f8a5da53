import type { Instant } from "../../core/time.ts"
import type { IssuedCertificate } from "../certificates/certificates.ts"
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
