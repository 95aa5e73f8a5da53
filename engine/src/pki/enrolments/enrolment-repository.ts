import type { Instant } from "../../core/time.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { MountId } from "../mounts/mount.ts"
import type {
  Enrolment,
  EnrolmentDecision,
  EnrolmentId,
  EnrolmentKey,
  EnrolmentRequester,
  EnrolmentState,
} from "./enrolment.ts"

export interface EnrolmentPage {
  readonly state?: EnrolmentState
  readonly now: Instant
  readonly after: string
  readonly limit: number
}

export interface EnrolmentRepository {
  find(mountId: MountId, id: EnrolmentId): Promise<Enrolment | undefined>
  /** Returns the current enrolment of a request, which may have expired. */
  findByRequest(key: EnrolmentKey): Promise<Enrolment | undefined>
  /** Returns enrolments that have not expired, oldest first. */
  list(mountId: MountId, page: EnrolmentPage): Promise<readonly Enrolment[]>
  /** Counts pending enrolments of the mount, or of one of its requesters. Counts no further than `limit`. */
  countPending(
    mountId: MountId,
    query: { readonly requester?: EnrolmentRequester; readonly now: Instant; readonly limit: number },
  ): Promise<number>
  /** Inserts an enrolment. Returns false, with nothing inserted, if the request has a current one. */
  insert(enrolment: Enrolment): Promise<boolean>
  /** Makes room for a new enrolment of the same request: keeps an issued one for the list only, and deletes any other. */
  supersede(enrolment: Pick<Enrolment, "id" | "state">, now: Instant): Promise<void>
  /** Records a decision. Returns false unless the enrolment is pending and has not expired. */
  decide(
    id: EnrolmentId,
    decision: {
      readonly state: EnrolmentDecision
      readonly decidedAt: Instant
      readonly decidedBy: string
      readonly comment: string
    },
  ): Promise<boolean>
  /** Records that the external policy service has not decided yet. Returns false unless the enrolment is pending. */
  postpone(id: EnrolmentId, answer: { readonly askedAt: Instant; readonly retryAfterMs: number }): Promise<boolean>
  /**
   * Records the certificate of an enrolment. Returns false unless the enrolment is approved, or pending at the external policy service,
   * and has not expired. Of two servers that sign at the same time, one gets false.
   */
  markIssued(id: EnrolmentId, serialNumber: SerialNumber, now: Instant): Promise<boolean>
  /** Deletes enrolments that expired before `now`. Returns their number, at most `limit`. */
  sweep(now: Instant, limit: number): Promise<number>
  /** Returns the number and the age of the pending enrolments of a mount; undefined if there are none. */
  pending(mountId: MountId, now: Instant): Promise<PendingEnrolments | undefined>
}

export interface PendingEnrolments {
  readonly count: number
  /** Time of the oldest request. */
  readonly oldestAt: Instant
}
