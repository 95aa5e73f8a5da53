// ACME as its server has it: one directory of one mount. Whoever asks has proved which key they hold by the time they are here;
// what is left to settle is what that key may do. Refusals are `AcmeProblem`s.
import type { Instant } from "../core/time.ts"
import type { PublicKey } from "../x509/public-key.ts"
import type { RevocationReason } from "../x509/certificate-list.ts"
import type { PublicJwk } from "../x509/jwk.ts"
import type { AccountStatus, AcmeAccountId } from "./account.ts"
import type { AccountKey } from "./account-keys.ts"
import type { Identifier, ProvedIdentifier } from "./identifier.ts"
import type {
  AcmeOrderId,
  AuthorizationId,
  AuthorizationStatus,
  ChallengeStatus,
  ChallengeType,
  OrderStatus,
} from "./order.ts"
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
