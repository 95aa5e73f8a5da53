import type { Instant } from "../../core/time.ts"
import type { KeyPage } from "../mounts/key-page.ts"
import type { EnrolmentDecider, EnrolmentOperation, EnrolmentProtocol, EnrolmentState } from "./enrolment.ts"

/** Enrolment request that waits for a decision, or has one. */
export interface EnrolmentView {
  readonly id: string
  readonly state: EnrolmentState
  readonly subject: string
  /** Common name and subject alternative names of the CSR, in lower case. */
  readonly names: readonly string[]
  /** Display name of the login that sent the request. */
  readonly requester: string
  /** Accessor of the auth method of that login. */
  readonly requesterAccessor: string
  readonly protocol: EnrolmentProtocol
  readonly operation: EnrolmentOperation
  /** Path below the mount that the request was sent to. */
  readonly path: string
  /** Path policy that signs the request. */
  readonly policy: string
  readonly decider: EnrolmentDecider
  readonly createdAt: Instant
  readonly expiresAt: Instant
  readonly decidedAt: Instant | null
  /** Name of the caller that decided; empty before the decision. */
  readonly decidedBy: string
  readonly comment: string
  /** Serial number of the issued certificate. */
  readonly serialNumber: string | null
  /** SHA-256 of the CSR (DER), hexadecimal. */
  readonly csrSha256: string
}

export interface EnrolmentWithCsr extends EnrolmentView {
  /** PEM. */
  readonly csr: string
}

export interface EnrolmentListQuery extends KeyPage {
  readonly state?: EnrolmentState
}

export interface EnrolmentDecisionInput {
  /** Text for the list and, of a denial, for the client. At most 1024 characters. */
  readonly comment?: string
}

/** Enrolment requests of a mount that wait for a decision. */
export interface Enrolments {
  /** Lists enrolments that have not expired, oldest first, at most `maxListedEnrolments` at once. */
  list(query?: EnrolmentListQuery): Promise<readonly EnrolmentView[]>
  get(id: string): Promise<EnrolmentWithCsr>
  /**
   * Approves a pending enrolment: the client gets its certificate when it repeats the request. Succeeds if it was approved before. Throws
   * `unprocessable` if it was denied, has expired or is decided by the external policy service.
   */
  approve(id: string, input?: EnrolmentDecisionInput): Promise<EnrolmentView>
  /** Denies a pending enrolment. Succeeds if it was denied before, and throws like `approve`. */
  deny(id: string, input?: EnrolmentDecisionInput): Promise<EnrolmentView>
}

export const maxListedEnrolments = 1_000
