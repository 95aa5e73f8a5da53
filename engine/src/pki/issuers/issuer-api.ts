import type { IssuerId, KeyId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { AuthorityRequest } from "../issuance/authority-request.ts"
import type { AuthorityUrls, Issuer } from "./issuer.ts"
import type { KeyPage } from "../mounts/key-page.ts"
import type { KeyFields } from "../keys/key-request.ts"

/** What is left out has its default. */
type AuthorityFields = Partial<Omit<AuthorityRequest, "useCsrValues">> & {
  /** Of RSA keys: PSS instead of PKCS#1 v1.5. */
  readonly usePss?: boolean
}

/** Contents and key of a new root. */
export interface RootInput extends AuthorityFields, KeyFields {
  /** Unique in the mount. Empty: none, or `next` where a root is rotated. */
  readonly issuerName?: string
}

/** Each form of the address is allowed by itself; rotating names the new issuer `next` where it is given no name. */
export type RootEndpoint = "root/generate" | "issuers/generate/root" | "root/rotate"

export interface GeneratedRoot {
  readonly issuerId: IssuerId
  readonly issuerName: string | null
  readonly keyId: KeyId
  readonly keyName: string | null
  /** DER. */
  readonly certificate: Uint8Array
  readonly serialNumber: SerialNumber
  readonly notAfter: Instant
  /** Only where it was to be exported, and only this once. */
  readonly privateKey: PrivateKey | undefined
  readonly warnings: readonly string[]
}

/** Contents and key of the CSR of a new intermediate. */
export interface IntermediateInput extends AuthorityFields, KeyFields {
  /** Whether the request says that it is for a CA; some signers look for it. */
  readonly addBasicConstraints?: boolean
}

/** A cross-signing is with an existing key. */
export type IntermediateEndpoint = "intermediate/generate" | "issuers/generate/intermediate" | "intermediate/cross-sign"

export interface GeneratedIntermediate {
  /** PKCS #10, DER. */
  readonly csr: Uint8Array
  readonly keyId: KeyId
  readonly keyName: string | null
  /** Only where it was to be exported, and only this once. */
  readonly privateKey: PrivateKey | undefined
  readonly warnings: readonly string[]
}

/** The last two take certificates alone. */
export type ImportEndpoint = "issuers/import/bundle" | "config/ca" | "issuers/import/cert" | "intermediate/set-signed"

/** What came of importing, in the order of the bundle. */
export interface ImportedBundle {
  readonly importedIssuers: readonly IssuerId[]
  readonly importedKeys: readonly KeyId[]
  /** What was in the mount already. */
  readonly existingIssuers: readonly IssuerId[]
  readonly existingKeys: readonly KeyId[]
  /** Of every issuer in the bundle, its key; null where that is not in the mount. */
  readonly mapping: ReadonlyMap<IssuerId, KeyId | null>
  readonly warnings: readonly string[]
}

export interface IssuerSummary extends Pick<Issuer, "id" | "name" | "keyId"> {
  readonly isDefault: boolean
  /** Hex joined by ":". Some authorities elsewhere give numbers that `SerialNumber` has no room for. */
  readonly serialNumber: string
}

/** What anybody may know of an issuer. */
export interface IssuerCertificate extends Pick<Issuer, "id" | "name"> {
  /** DER. */
  readonly certificate: Uint8Array
  /** DER; the issuer itself first. */
  readonly caChain: readonly Uint8Array[]
}

export interface IssuerView extends IssuerCertificate, Pick<Issuer, "keyId" | "settings" | "revokedAt"> {}

/** Any part of what can be set, as it is said: words may be none, and the chain is named by references. */
export interface IssuerInput extends Partial<AuthorityUrls> {
  /** Unique in the mount; null or empty: none. */
  readonly issuerName?: string | null
  readonly leafNotAfterBehavior?: string
  readonly usage?: readonly string[]
  /** Ids, names or `default`; begins with the issuer itself. Empty: the chain is built. */
  readonly manualChain?: readonly string[]
  /** Empty: what suits the key. */
  readonly revocationSignatureAlgorithm?: string
  /** True lets the issuer sign what verifiers refuse; each names the check that is left out. */
  readonly disableNameConstraintChecks?: boolean
  readonly disableNameChecks?: boolean
  readonly disablePathLengthChecks?: boolean
  readonly disableCriticalExtensionChecks?: boolean
}

export interface SavedIssuer {
  readonly issuer: IssuerView
  readonly warnings: readonly string[]
}

/** Issuers of a mount: generate, import, read, change, revoke, delete. */
export interface Issuers {
  generateRoot(input: RootInput, endpoint?: RootEndpoint): Promise<GeneratedRoot>
  /** Makes a key, or takes one of the mount, and a request for a certificate to it; the answer comes by `import`. */
  generateIntermediate(input: IntermediateInput, endpoint?: IntermediateEndpoint): Promise<GeneratedIntermediate>
  /**
   * Certificates of authorities, and private keys where the endpoint takes them, in PEM, in any order. Keys and certificates that
   * belong together are put together, whichever came first. What is in the mount already stays as it is.
   */
  import(bundle: string, endpoint?: ImportEndpoint): Promise<ImportedBundle>

  // A reference is an id, a name, or `default`. The first two verbs are anybody's.

  /** In the order they came; in parts in the order of their ids. */
  list(page?: KeyPage): Promise<readonly IssuerSummary[]>
  certificate(reference: string): Promise<IssuerCertificate>
  get(reference: string): Promise<IssuerView>
  /** What is left out gets its default. */
  replace(reference: string, input: IssuerInput): Promise<SavedIssuer>
  /** What is left out stays as it is. */
  update(reference: string, patch: IssuerInput): Promise<SavedIssuer>
  /** For ever: it issues nothing more, and still signs what tells of revocations. The first time stands. */
  revoke(reference: string): Promise<SavedIssuer>
  /** Its key stays. One that is not there is deleted already. The answer is what to warn of. */
  delete(reference: string): Promise<readonly string[]>
  /** All of them, and all keys. The answer is what to warn of. */
  deleteAll(): Promise<readonly string[]>
}

export interface ServedIssuerCertificate extends IssuerCertificate, Pick<Issuer, "revokedAt"> {
  /** Since when all that anybody may know of the mount's issuers is as it is. */
  readonly changedAt: Instant
}

/** Issuers as the server's routes read them. */
export interface ServedIssuers extends Issuers {
  certificate(reference: string): Promise<ServedIssuerCertificate>
}
