// ACME as its server has it: one directory of one mount. Whoever asks has proved which key they hold by the time they are here;
// what is left to settle is what that key may do. Refusals are `AcmeProblem`s.
import { type Instant, minuteMs } from "../core/time.ts"
import type { MountId } from "../pki/mounts/mount.ts"
import type { RevocationReason } from "../x509/certificate-list.ts"
import type { PublicJwk } from "../x509/jwk.ts"
import type { PublicKey } from "../x509/public-key.ts"
import type { SerialNumber } from "../x509/serial-number.ts"
import type { AccountKey, AccountStanding, AccountStatus, AcmeAccount, AcmeAccountId } from "./accounts/account.ts"
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

/** The account's key, as it was when the signature was checked. */
export interface AccountSigner {
  readonly nonce: string
  readonly accountId: AcmeAccountId
  readonly thumbprint: string
}

/** A key that need not have an account. */
export interface KeySigner {
  readonly nonce: string
  readonly jwk: PublicJwk
  readonly thumbprint: string
  readonly key: PublicKey
}

export interface DirectoryView {
  /** Without a slash at its end: all other addresses begin with it. */
  readonly base: string
  readonly externalAccountRequired: boolean
  readonly termsOfService: string
  readonly website: string
  readonly caaIdentities: readonly string[]
  /** What each is, by its name. */
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
  /** Where the request came from, if that is known. */
  readonly address: string | undefined
}

/** What a client shows for a binding: the MAC of its own key under the key that it was handed out of band. */
export interface GivenBinding {
  readonly keyId: string
  readonly document: object
  /** Whether that is so. */
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

/** The chains that a certificate is handed out with, the usual one first; DER, the certificate itself before each. */
export type CertificateChains = readonly (readonly Uint8Array[])[]

export interface OrderPage {
  readonly orders: readonly AcmeOrderId[]
  /** What the next page begins behind. */
  readonly next: AcmeOrderId | undefined
}

/** As one request finds it. */
/** What who has come to a directory is told at once. */
export interface Entrance {
  /** Where the directory is, without a slash at its end. */
  readonly base: string
  newNonce(): string
  /** As it was when somebody last signed as the account, where that is known: `keyOf` is asked for what it has not signed. */
  knownKeyOf(id: AcmeAccountId): AccountKey | undefined
}

export interface AcmeServer {
  describe(): Promise<DirectoryView>
  /** Throws while it is not served. */
  enter(): Promise<Entrance>
  /** Of a request that has come to nothing, which uses it up all the same (RFC 8555, section 6.5). Throws `badNonce` for none of ours. */
  spend(nonce: string): Promise<void>
  /** For who signs as an account; whether that may still do anything is found out later. */
  keyOf(id: AcmeAccountId): Promise<AccountKey>
  /** Who asks, signed, for what anybody may see. */
  admit(signer: AccountSigner): Promise<void>
  newAccount(
    signer: KeySigner,
    input: NewAccount,
  ): Promise<{ readonly account: AccountView; readonly created: boolean }>
  /** Undefined members stay as they are. */
  changeAccount(
    signer: AccountSigner,
    id: AcmeAccountId,
    change: { readonly contact: unknown; readonly deactivate: boolean },
  ): Promise<AccountView>
  /** The new key has signed as well. */
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
  /** Its holder says that it can be looked at. */
  beginChallenge(signer: AccountSigner, id: AuthorizationId, type: ChallengeType): Promise<ChallengeView>
  revoke(signer: AccountSigner | KeySigner, input: Revocation): Promise<void>
  /** By its unique identifier (RFC 9773, section 4.1). */
  renewalInfo(certificateId: string): Promise<RenewalInfo>
}

// The stores of ACME. Conditions that others may have changed meanwhile stand in the statements themselves: what answers a
// boolean has done nothing when it is false.

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

// What is told of accounts, orders and challenges.

/** Of one that is settled, what settled it (RFC 8555, section 7.1.4). */
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

/** Why an order has come to nothing that nobody has failed. */
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
