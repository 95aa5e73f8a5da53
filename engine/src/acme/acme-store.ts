// The stores of ACME. Conditions that others may have changed meanwhile stand in the statements themselves: what answers a
// boolean has done nothing when it is false.
import { type Instant, minuteMs } from "../core/time.ts"
import type { MountId } from "../pki/mount.ts"
import type { SerialNumber } from "../x509/serial-number.ts"
import type { PublicJwk } from "../x509/jwk.ts"
import type { AccountStanding, AccountStatus, AcmeAccount, AcmeAccountId } from "./account.ts"
import type { ProvedIdentifier } from "./identifier.ts"
import type { AcmeOrder, AcmeOrderId, Authorization, AuthorizationId, Challenge, ChallengeType } from "./order.ts"
import type { Problem } from "./problem.ts"

/** External account binding: lets a client register one account in one directory (RFC 8555, section 7.3.4). */
export interface AccountBinding {
  readonly id: string
  readonly mountId: MountId
  readonly directory: string
  readonly createdAt: Instant
  /** Null: it waits for ever. */
  readonly expiresAt: Instant | null
}

export interface AccountBindingWithKey extends AccountBinding {
  readonly key: Uint8Array
}

export interface AcmeAccountRepository {
  /** False where the key has an account in the directory. */
  insert(account: AcmeAccount): Promise<boolean>
  find(mountId: MountId, id: AcmeAccountId): Promise<AcmeAccount | undefined>
  /** The part of it that every request asks for. */
  standing(mountId: MountId, id: AcmeAccountId): Promise<AccountStanding | undefined>
  byThumbprint(mountId: MountId, directory: string, thumbprint: string): Promise<AcmeAccount | undefined>
  change(
    id: AcmeAccountId,
    change: { readonly status: AccountStatus; readonly statusAt: Instant; readonly contact: readonly string[] },
  ): Promise<void>
  /** False where the key has another account. */
  changeKey(id: AcmeAccountId, key: { readonly jwk: PublicJwk; readonly thumbprint: string }): Promise<boolean>
  count(mountId: MountId): Promise<number>
  /** Valid ones without orders whose status is older than an instant; the answer is how many, at most `limit`. */
  revokeUnused(
    mountId: MountId,
    asked: { readonly before: Instant; readonly now: Instant; readonly limit: number },
  ): Promise<number>
  /** Likewise, those that were revoked or deactivated before an instant. */
  removeEnded(mountId: MountId, before: Instant, limit: number): Promise<number>
  insertBinding(binding: AccountBindingWithKey): Promise<void>
  binding(mountId: MountId, id: string): Promise<AccountBindingWithKey | undefined>
  bindings(mountId: MountId, now: Instant): Promise<readonly AccountBinding[]>
  /** Whoever is told true has used it, and nobody else has. */
  removeBinding(mountId: MountId, id: string): Promise<boolean>
  sweepBindings(now: Instant, limit: number): Promise<number>
}

/** An attempt takes its turn by putting the next one off until it must have ended. */
export interface Turn {
  /** How many there have been, this one included. */
  readonly attempts: number
  readonly attemptAt: Instant
}

/** A turn that ends later than its lease and this was taken while a server's clock was ahead; waits for a retry are shorter. */
export const turnToleranceMs = minuteMs

/** An order that is somebody's turn to finalize. */
export interface ClaimedOrder extends AcmeOrder {
  readonly csr: Uint8Array
  readonly attempts: number
  readonly directory: string
}

/** A challenge that is somebody's turn to look at. */
export interface ClaimedChallenge extends Challenge {
  readonly mountId: MountId
  readonly accountId: AcmeAccountId
  readonly identifier: ProvedIdentifier
  readonly thumbprint: string
  readonly directory: string
}

export interface AcmeOrderRepository {
  insert(order: AcmeOrder, authorizations: readonly AuthorizationId[]): Promise<void>
  find(mountId: MountId, accountId: AcmeAccountId, id: AcmeOrderId): Promise<AcmeOrder | undefined>
  /** Those that are not invalid, newest first. */
  ofAccount(
    accountId: AcmeAccountId,
    page: { readonly now: Instant; readonly before?: AcmeOrderId; readonly limit: number },
  ): Promise<readonly AcmeOrderId[]>
  /** What takes the place of a certificate, unless that order has come to nothing. */
  replacementOf(mountId: MountId, replaces: string, now: Instant): Promise<AcmeOrderId | undefined>
  /** Whether there was such an order, whatever came of it. */
  wasToBeReplaced(mountId: MountId, certificateId: string): Promise<boolean>
  /** From `open` to `processing`, with the turn that somebody has taken, or that waits to be taken. */
  beginFinalizing(id: AcmeOrderId, csr: Uint8Array, turn: Turn): Promise<boolean>
  /** Orders that are due and that no server finalizes, and those whose turn a server put off while its clock was ahead. */
  claim(now: Instant, leasedUntil: Instant, limit: number): Promise<readonly ClaimedOrder[]>
  /** When the next one's turn comes. */
  nextAttemptAt(): Promise<Instant | undefined>
  /** From `processing`, in the attempt of this number; it is kept for as long as its certificate is valid. */
  complete(
    order: Pick<ClaimedOrder, "id" | "attempts">,
    kept: { readonly serialNumber: SerialNumber; readonly keptUntil: Instant },
  ): Promise<boolean>
  /** Likewise. */
  retry(order: Pick<ClaimedOrder, "id" | "attempts">, attemptAt: Instant): Promise<boolean>
  /** Likewise, to `invalid`. */
  fail(order: Pick<ClaimedOrder, "id" | "attempts">, error: Problem): Promise<boolean>
  /** Those of an account that is gone. */
  failAll(accountId: AcmeAccountId, error: Problem): Promise<void>
  /** How many open ones came to nothing with an authorization, and not before it with another. */
  endedWith(id: AuthorizationId, now: Instant): Promise<number>
  /**
   * Ends open ones whose time ran out between two instants, the first one excluded, at most `limit`; `newly` are those that had
   * not come to nothing before, with an authorization.
   */
  endExpired(
    mountId: MountId,
    time: { readonly after: Instant; readonly until: Instant },
    limit: number,
  ): Promise<{ readonly ended: number; readonly newly: number }>
  ofCertificate(mountId: MountId, serialNumber: SerialNumber): Promise<AcmeOrder | undefined>
  /** Returns the account that ordered a certificate, also where the order has been deleted since. */
  accountOfCertificate(mountId: MountId, serialNumber: SerialNumber): Promise<AcmeAccountId | undefined>
  /** Those that ended before an instant; the answer is how many, at most `limit`. */
  removeEnded(mountId: MountId, before: Instant, limit: number): Promise<number>
}

/** Authorizations, their challenges, and the queue of those that are to be looked at. */
export interface AcmeAuthorizationRepository {
  insert(authorization: Authorization, challenges: readonly Challenge[]): Promise<void>
  find(mountId: MountId, accountId: AcmeAccountId, id: AuthorizationId): Promise<Authorization | undefined>
  /** As the order asks for them. */
  ofOrder(id: AcmeOrderId): Promise<readonly Authorization[]>
  challenges(id: AuthorizationId): Promise<readonly Challenge[]>
  /** Valid beyond an instant, the one that is valid longest. */
  validFor(accountId: AcmeAccountId, identifier: ProvedIdentifier, beyond: Instant): Promise<Authorization | undefined>
  /** From `pending` or `valid`. */
  deactivate(id: AuthorizationId): Promise<boolean>
  /** Of an account that is gone. */
  deactivateAll(accountId: AcmeAccountId): Promise<void>

  /** From `pending`, with the turn that somebody has taken, or that waits to be taken. */
  beginChallenge(id: AuthorizationId, type: ChallengeType, turn: Turn): Promise<boolean>
  /** Challenges that are due and that no server validates, and those whose turn a server put off while its clock was ahead. */
  claim(now: Instant, leasedUntil: Instant, limit: number): Promise<readonly ClaimedChallenge[]>
  /** When the next one's turn comes. */
  nextAttemptAt(): Promise<Instant | undefined>
  /** After the attempt of this number; its authorization is valid until the instant. */
  succeed(challenge: Challenge, validatedAt: Instant, validUntil: Instant): Promise<boolean>
  retry(challenge: Challenge, error: Problem, attemptAt: Instant): Promise<boolean>
  /** Takes its authorization with it. */
  failChallenge(challenge: Challenge, error: Problem): Promise<boolean>

  /** Those that ended before an instant and no order asks for; the answer is how many, at most `limit`. */
  removeEnded(mountId: MountId, before: Instant, limit: number): Promise<number>
}

export interface AcmeNonceRepository {
  /** False where it has been used. */
  redeem(digest: Uint8Array, expiresAt: Instant): Promise<boolean>
  sweep(now: Instant, limit: number): Promise<number>
}
