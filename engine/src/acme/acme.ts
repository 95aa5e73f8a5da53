// The ACME port of one directory of one mount. The signature of a request is verified before it gets here; the services check the rights
// of the key. Rejections are `AcmeProblem`s.
import { type Instant, minuteMs } from "../core/time.ts"
import type { MountId } from "../pki/mounts/mount.ts"
import type { RevocationReason } from "../x509/certificate-list.ts"
import type { PublicJwk } from "../x509/jwk.ts"
import type { PublicKey } from "../x509/public-key.ts"
import type { SerialNumber } from "../x509/serial-number.ts"
import type { AccountKey, AccountSummary, AccountStatus, AcmeAccount, AcmeAccountId } from "./accounts/account.ts"
import type { Identifier, ProvedIdentifier } from "./orders/identifier.ts"
import {
  type AcmeOrder,
  type AcmeOrderId,
  type Authorization,
  type AuthorizationId,
  type AuthorizationStatus,
  authorizationStatusOf,
  type Challenge,
  type ChallengeStatus,
  type ChallengeType,
  type OrderStatus,
  orderStatusOf,
} from "./orders/order.ts"
import type { Problem } from "./problem.ts"

/** Account and the key that verified the signature. */
export interface AccountSigner {
  readonly nonce: string
  readonly accountId: AcmeAccountId
  readonly thumbprint: string
}

/** Key that verified the signature; it may have no account. */
export interface KeySigner {
  readonly nonce: string
  readonly jwk: PublicJwk
  readonly thumbprint: string
  readonly key: PublicKey
}

export interface DirectoryView {
  /** Base of all URLs of the directory, without a trailing slash. */
  readonly base: string
  readonly externalAccountRequired: boolean
  readonly termsOfService: string
  readonly website: string
  readonly caaIdentities: readonly string[]
  /** Descriptions of profiles by name. */
  readonly profiles: ReadonlyMap<string, string>
}

export interface AccountView {
  readonly id: AcmeAccountId
  readonly status: AccountStatus
  readonly contact: readonly string[]
  readonly termsOfServiceAgreed: boolean
  readonly externalAccountBinding: object | null
}

export interface OrderView {
  readonly id: AcmeOrderId
  readonly status: OrderStatus
  readonly expiresAt: Instant
  readonly identifiers: readonly Identifier[]
  readonly notBefore: Instant | null
  readonly notAfter: Instant | null
  readonly profile: string | null
  readonly replaces: string | null
  readonly authorizations: readonly AuthorizationId[]
  readonly error: Problem | null
}

export interface ChallengeView {
  readonly authorizationId: AuthorizationId
  readonly type: ChallengeType
  readonly status: ChallengeStatus
  readonly token: string
  readonly validatedAt: Instant | null
  readonly error: Problem | null
}

export interface AuthorizationView {
  readonly id: AuthorizationId
  readonly status: AuthorizationStatus
  readonly expiresAt: Instant
  readonly identifier: ProvedIdentifier
  readonly challenges: readonly ChallengeView[]
}

export interface NewAccount {
  readonly contact: unknown
  readonly termsOfServiceAgreed: boolean
  readonly onlyReturnExisting: boolean
  readonly binding: GivenBinding | undefined
  /** Address of the client, if known. */
  readonly address: string | undefined
}

/** External account binding of a request: a MAC over the account key, with a key that the client received out of band. */
export interface GivenBinding {
  readonly keyId: string
  readonly document: object
  /** Returns true if the MAC is valid under `key`. */
  verify(key: Uint8Array): Promise<boolean>
}

export interface NewOrder {
  readonly identifiers: readonly Identifier[]
  readonly notBefore: Instant | null
  readonly notAfter: Instant | null
  readonly profile: string | null
  readonly replaces: string | null
}

export interface Revocation {
  /** DER. */
  readonly certificate: Uint8Array
  readonly reason: RevocationReason
}

export interface RenewalInfo {
  readonly start: Instant
  readonly end: Instant
  readonly explanationUrl: string | null
  readonly retryAfterMs: number
}

/** Chains of a certificate, the default first. Each begins with the certificate itself; DER. */
export type CertificateChains = readonly (readonly Uint8Array[])[]

export interface OrderPage {
  readonly orders: readonly AcmeOrderId[]
  /** Last order of this page, if there are more. */
  readonly next: AcmeOrderId | undefined
}

/** Data of a directory that every request needs, constant during one request. */
export interface DirectoryAccess {
  /** URL of the directory without a trailing slash. */
  readonly base: string
  newNonce(): string
  /** Returns the cached key of an account, which may be outdated, or undefined. If the key does not fit the signature, use `keyOf`. */
  knownKeyOf(id: AcmeAccountId): AccountKey | undefined
}

export interface AcmeServer {
  describe(): Promise<DirectoryView>
  /** Throws if the mount does not serve ACME. */
  enter(): Promise<DirectoryAccess>
  /** Uses up the nonce of a failed request (RFC 8555, section 6.5). Throws `badNonce` if this directory did not issue it. */
  spend(nonce: string): Promise<void>
  /** Returns the current key of an account. Its status is checked later. */
  keyOf(id: AcmeAccountId): Promise<AccountKey>
  /** Admits a signed request for a public resource. */
  admit(signer: AccountSigner): Promise<void>
  newAccount(
    signer: KeySigner,
    input: NewAccount,
  ): Promise<{ readonly account: AccountView; readonly created: boolean }>
  /** Undefined members are not changed. */
  changeAccount(
    signer: AccountSigner,
    id: AcmeAccountId,
    change: { readonly contact: unknown; readonly deactivate: boolean },
  ): Promise<AccountView>
  /** The caller has verified the signature with the new key. */
  changeKey(
    signer: AccountSigner,
    oldThumbprint: string,
    key: Pick<KeySigner, "jwk" | "thumbprint" | "key">,
  ): Promise<AccountView>
  orders(signer: AccountSigner, id: AcmeAccountId, before: AcmeOrderId | undefined): Promise<OrderPage>
  newOrder(signer: AccountSigner, input: NewOrder): Promise<OrderView>
  order(signer: AccountSigner, id: AcmeOrderId): Promise<OrderView>
  /** `csr` is DER. */
  finalize(signer: AccountSigner, id: AcmeOrderId, csr: Uint8Array): Promise<OrderView>
  chains(signer: AccountSigner, id: AcmeOrderId): Promise<CertificateChains>
  newAuthorization(
    signer: AccountSigner,
    identifier: Identifier,
  ): Promise<{ readonly authorization: AuthorizationView; readonly created: boolean }>
  authorization(signer: AccountSigner, id: AuthorizationId): Promise<AuthorizationView>
  deactivateAuthorization(signer: AccountSigner, id: AuthorizationId): Promise<AuthorizationView>
  challenge(signer: AccountSigner, id: AuthorizationId, type: ChallengeType): Promise<ChallengeView>
  /** Starts the validation, because the client reports that the challenge is ready. */
  beginChallenge(signer: AccountSigner, id: AuthorizationId, type: ChallengeType): Promise<ChallengeView>
  revoke(signer: AccountSigner | KeySigner, input: Revocation): Promise<void>
  /** Returns renewal information by certificate identifier (RFC 9773, section 4.1). */
  renewalInfo(certificateId: string): Promise<RenewalInfo>
}

// Repositories of ACME. Statements contain the conditions that other requests may have changed. A method that returns false has changed
// nothing.

/** External account binding: lets a client register one account in one directory (RFC 8555, section 7.3.4). */
export interface AccountBinding {
  readonly id: string
  readonly mountId: MountId
  readonly directory: string
  readonly createdAt: Instant
  /** Null if it does not expire. */
  readonly expiresAt: Instant | null
}

export interface AccountBindingWithKey extends AccountBinding {
  readonly key: Uint8Array
}

export interface AcmeAccountRepository {
  /** Returns false if the key has an account in the directory. */
  insert(account: AcmeAccount): Promise<boolean>
  find(mountId: MountId, id: AcmeAccountId): Promise<AcmeAccount | undefined>
  /** Returns the members that every request needs. */
  summary(mountId: MountId, id: AcmeAccountId): Promise<AccountSummary | undefined>
  byThumbprint(mountId: MountId, directory: string, thumbprint: string): Promise<AcmeAccount | undefined>
  change(
    id: AcmeAccountId,
    change: { readonly status: AccountStatus; readonly statusAt: Instant; readonly contact: readonly string[] },
  ): Promise<void>
  /** Returns false if another account has the key. */
  changeKey(id: AcmeAccountId, key: { readonly jwk: PublicJwk; readonly thumbprint: string }): Promise<boolean>
  count(mountId: MountId): Promise<number>
  /** Revokes valid accounts without orders whose status is older than `before`. Returns their number, at most `limit`. */
  revokeUnused(
    mountId: MountId,
    asked: { readonly before: Instant; readonly now: Instant; readonly limit: number },
  ): Promise<number>
  /** Removes accounts that were revoked or deactivated before an instant. Returns their number, at most `limit`. */
  removeEnded(mountId: MountId, before: Instant, limit: number): Promise<number>
  insertBinding(binding: AccountBindingWithKey): Promise<void>
  binding(mountId: MountId, id: string): Promise<AccountBindingWithKey | undefined>
  bindings(mountId: MountId, now: Instant): Promise<readonly AccountBinding[]>
  /** Returns true to exactly one caller, which has used up the binding. */
  removeBinding(mountId: MountId, id: string): Promise<boolean>
  sweepBindings(now: Instant, limit: number): Promise<number>
}

/** Claim of one attempt on a queued row. It postpones the next attempt until this one must have ended. */
export interface AttemptSchedule {
  /** Number of attempts, including this one. */
  readonly attempts: number
  readonly attemptAt: Instant
}

/**
 * A turn that ends later than its lease and this tolerance was claimed by a server whose clock was ahead. Delays of retries are shorter.
 */
export const turnToleranceMs = minuteMs

/** An order that this server has claimed for finalization. */
export interface ClaimedOrder extends AcmeOrder {
  readonly csr: Uint8Array
  readonly attempts: number
  readonly directory: string
}

/** A challenge that this server has claimed for validation. */
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
  /** Returns orders that are not invalid, the newest first. */
  ofAccount(
    accountId: AcmeAccountId,
    page: { readonly now: Instant; readonly before?: AcmeOrderId; readonly limit: number },
  ): Promise<readonly AcmeOrderId[]>
  /** Returns the order that replaces a certificate, unless it failed. */
  replacementOf(mountId: MountId, replaces: string, now: Instant): Promise<AcmeOrderId | undefined>
  /** Returns true if there was an order to replace the certificate, regardless of its result. */
  wasToBeReplaced(mountId: MountId, certificateId: string): Promise<boolean>
  /** Changes the state from `open` to `processing`, with a turn that is claimed or due. */
  beginFinalizing(id: AcmeOrderId, csr: Uint8Array, turn: AttemptSchedule): Promise<boolean>
  /** Claims due orders that no server finalizes, and orders whose turn a server postponed while its clock was ahead. */
  claim(now: Instant, leasedUntil: Instant, limit: number): Promise<readonly ClaimedOrder[]>
  /** Returns the time of the next attempt on any order. */
  nextAttemptAt(): Promise<Instant | undefined>
  /** Completes a `processing` order if `attempts` is still current. The order is stored as long as its certificate is valid. */
  complete(
    order: Pick<ClaimedOrder, "id" | "attempts">,
    kept: { readonly serialNumber: SerialNumber; readonly keptUntil: Instant },
  ): Promise<boolean>
  /** Postpones a `processing` order if `attempts` is still current. */
  retry(order: Pick<ClaimedOrder, "id" | "attempts">, attemptAt: Instant): Promise<boolean>
  /** Changes a `processing` order to `invalid` if `attempts` is still current. */
  fail(order: Pick<ClaimedOrder, "id" | "attempts">, error: Problem): Promise<boolean>
  /** Fails the `processing` orders of a deactivated or revoked account. */
  failAll(accountId: AcmeAccountId, error: Problem): Promise<void>
  /** Counts the open orders that an authorization made invalid, without those that another authorization had made invalid before. */
  endedWith(id: AuthorizationId, now: Instant): Promise<number>
  /**
   * Ends open orders that expired after `after` and not after `until`, at most `limit`. `newly` counts those that no failed authorization
   * had made invalid before.
   */
  endExpired(
    mountId: MountId,
    time: { readonly after: Instant; readonly until: Instant },
    limit: number,
  ): Promise<{ readonly ended: number; readonly newly: number }>
  ofCertificate(mountId: MountId, serialNumber: SerialNumber): Promise<AcmeOrder | undefined>
  /** Returns the account that ordered a certificate, even if the order has been deleted. */
  accountOfCertificate(mountId: MountId, serialNumber: SerialNumber): Promise<AcmeAccountId | undefined>
  /** Removes orders that ended before an instant. Returns their number, at most `limit`. */
  removeEnded(mountId: MountId, before: Instant, limit: number): Promise<number>
}

/** Repository of authorizations and their challenges, and the queue of challenges to validate. */
export interface AcmeAuthorizationRepository {
  insert(authorization: Authorization, challenges: readonly Challenge[]): Promise<void>
  find(mountId: MountId, accountId: AcmeAccountId, id: AuthorizationId): Promise<Authorization | undefined>
  /** Returns the authorizations in the sequence in which the order references them. */
  ofOrder(id: AcmeOrderId): Promise<readonly Authorization[]>
  challenges(id: AuthorizationId): Promise<readonly Challenge[]>
  /** Returns the authorization that is valid longest, if it is valid beyond an instant. */
  validFor(accountId: AcmeAccountId, identifier: ProvedIdentifier, beyond: Instant): Promise<Authorization | undefined>
  /** Deactivates a `pending` or `valid` authorization. */
  deactivate(id: AuthorizationId): Promise<boolean>
  /** Deactivates all authorizations of a deactivated or revoked account. */
  deactivateAll(accountId: AcmeAccountId): Promise<void>

  /** Changes a `pending` challenge to `processing`, with a turn that is claimed or due. */
  beginChallenge(id: AuthorizationId, type: ChallengeType, turn: AttemptSchedule): Promise<boolean>
  /** Claims due challenges that no server validates, and challenges whose turn a server postponed while its clock was ahead. */
  claim(now: Instant, leasedUntil: Instant, limit: number): Promise<readonly ClaimedChallenge[]>
  /** Returns the time of the next attempt on any challenge. */
  nextAttemptAt(): Promise<Instant | undefined>
  /** Completes the attempt if `attempts` is still current. Its authorization is valid until `validUntil`. */
  succeed(challenge: Challenge, validatedAt: Instant, validUntil: Instant): Promise<boolean>
  retry(challenge: Challenge, error: Problem, attemptAt: Instant): Promise<boolean>
  /** Fails the challenge and its authorization. */
  failChallenge(challenge: Challenge, error: Problem): Promise<boolean>

  /** Removes authorizations that ended before an instant and that no order references. Returns their number, at most `limit`. */
  removeEnded(mountId: MountId, before: Instant, limit: number): Promise<number>
}

export interface AcmeNonceRepository {
  /** Returns false if the nonce has been used. */
  redeem(digest: Uint8Array, expiresAt: Instant): Promise<boolean>
  sweep(now: Instant, limit: number): Promise<number>
}

// Views of accounts, orders and challenges.

/** Returns only the challenges that decided a valid or invalid authorization (RFC 8555, section 7.1.4). */
export function challengesShown(challenges: readonly Challenge[], status: AuthorizationStatus): readonly Challenge[] {
  const settling = challenges.filter(({ status: own }) => own === status)
  return (status === "valid" || status === "invalid") && settling.length > 0 ? settling : challenges
}

export const accountView = ({
  id,
  status,
  contact,
  termsOfServiceAgreed,
  externalAccountBinding,
}: AcmeAccount): AccountView => ({
  id,
  status,
  contact,
  termsOfServiceAgreed,
  externalAccountBinding,
})

export function orderView(order: AcmeOrder, authorizations: readonly Authorization[], now: Instant): OrderView {
  const { id, expiresAt, identifiers, notBefore, notAfter, profile, replaces, error } = order
  const statuses = authorizations.map((one) => authorizationStatusOf(one, now))
  const status = orderStatusOf(order, statuses, now)
  return {
    id,
    status,
    expiresAt,
    identifiers,
    notBefore,
    notAfter,
    profile,
    replaces,
    authorizations: authorizations.map((one) => one.id),
    error: error ?? (status === "invalid" ? orderError(order, authorizations, statuses, now) : null),
  }
}

/** Returns the error of an order that is invalid without a stored error. */
function orderError(
  { expiresAt }: AcmeOrder,
  authorizations: readonly Authorization[],
  statuses: readonly AuthorizationStatus[],
  now: Instant,
) {
  if (expiresAt <= now) return { type: "malformed", detail: "The order has expired." } as const
  const failed = authorizations.filter((_one, at) => statuses[at] !== "valid" && statuses[at] !== "pending")
  const detail = (value: string, at: number) => `The authorization for ${value} is ${statuses[at]}.`
  return {
    type: "unauthorized",
    detail:
      failed.length === 1
        ? detail(failed[0]?.identifier.value ?? "", authorizations.indexOf(failed[0] as Authorization))
        : `${failed.length} authorizations have failed.`,
    subproblems: failed.map((one) => ({
      type: "unauthorized" as const,
      detail: detail(one.identifier.value, authorizations.indexOf(one)),
      identifier: { type: one.identifier.type, value: one.identifier.value },
    })),
  } as const
}

export const challengeView = ({
  authorizationId,
  type,
  status,
  token,
  validatedAt,
  error,
}: Challenge): ChallengeView => ({
  authorizationId,
  type,
  status,
  token,
  validatedAt,
  error,
})
