import type { IssuerId, KeyId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { AuthorityRequest } from "../issuance/authority-request.ts"
import type { AuthorityUrls, Issuer } from "./issuer.ts"
import type { KeyPage } from "../mounts/key-page.ts"
import type { KeyFields } from "../keys/key-request.ts"

/** Fields of a new CA. Absent ones have their default. */
type AuthorityFields = Partial<Omit<AuthorityRequest, "useCsrValues">> & {
  /** Sign with PSS instead of PKCS#1 v1.5; for RSA keys. */
  readonly usePss?: boolean
}

/** Content and key of a new root. */
export interface RootInput extends AuthorityFields, KeyFields {
  /** Unique in the mount. Empty: no name, or `next` for `root/rotate`. */
  readonly issuerName?: string
}

/** Endpoints that generate a root. Policies grant each of them separately. `root/rotate` names an issuer without a name `next`. */
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
  /** Present only if the key is exported. It is returned only once. */
  readonly privateKey: PrivateKey | undefined
  readonly warnings: readonly string[]
}

/** Content and key of the CSR of a new intermediate. */
export interface IntermediateInput extends AuthorityFields, KeyFields {
  /** Add basicConstraints with CA:TRUE to the CSR. Some CAs require it there. */
  readonly addBasicConstraints?: boolean
}

/** Endpoints that generate a CSR for an intermediate. `intermediate/cross-sign` uses an existing key. */
export type IntermediateEndpoint = "intermediate/generate" | "issuers/generate/intermediate" | "intermediate/cross-sign"

export interface GeneratedIntermediate {
  /** PKCS #10, DER. */
  readonly csr: Uint8Array
  readonly keyId: KeyId
  readonly keyName: string | null
  /** Present only if the key is exported. It is returned only once. */
  readonly privateKey: PrivateKey | undefined
  readonly warnings: readonly string[]
}

/** Endpoints that import. The last two accept only certificates. */
export type ImportEndpoint = "issuers/import/bundle" | "config/ca" | "issuers/import/cert" | "intermediate/set-signed"

/** Result of an import, in the order of the bundle. */
export interface ImportedBundle {
  readonly importedIssuers: readonly IssuerId[]
  readonly importedKeys: readonly KeyId[]
  /** Issuers and keys of the bundle that the mount had before. */
  readonly existingIssuers: readonly IssuerId[]
  readonly existingKeys: readonly KeyId[]
  /** Key of every issuer in the bundle. Null if the mount does not have the key. */
  readonly mapping: ReadonlyMap<IssuerId, KeyId | null>
  readonly warnings: readonly string[]
}

export interface IssuerSummary extends Pick<Issuer, "id" | "name" | "keyId"> {
  readonly isDefault: boolean
  /** Hex octets joined by ":". Other CAs may use numbers that `SerialNumber` cannot represent. */
  readonly serialNumber: string
}

/** Public data of an issuer, which clients read without a token. */
export interface IssuerCertificate extends Pick<Issuer, "id" | "name"> {
  /** DER. */
  readonly certificate: Uint8Array
  /** DER; the issuer's certificate first. */
  readonly caChain: readonly Uint8Array[]
}

export interface IssuerView extends IssuerCertificate, Pick<Issuer, "keyId" | "settings" | "revokedAt"> {}

/** Settings of an issuer as clients send them. Enumerated values are not validated yet, and the chain consists of references. */
export interface IssuerInput extends Partial<AuthorityUrls> {
  /** Unique in the mount. Null or empty: no name. */
  readonly issuerName?: string | null
  readonly leafNotAfterBehavior?: string
  readonly usage?: readonly string[]
  /** Ids, names or `default`, beginning with the issuer itself. Empty: the chain is built automatically. */
  readonly manualChain?: readonly string[]
  /** Empty: an algorithm that suits the key. */
  readonly revocationSignatureAlgorithm?: string
  /** Each of these members disables the check that it names. The issuer can then sign certificates that verifiers reject. */
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
  /** Generates a key, or uses one of the mount, and returns a CSR for it. The signed certificate is added with `import`. */
  generateIntermediate(input: IntermediateInput, endpoint?: IntermediateEndpoint): Promise<GeneratedIntermediate>
  /**
   * Imports CA certificates in PEM, in any order, and private keys if the endpoint accepts them. A certificate and its key are
   * linked, whichever was imported first. Items that the mount has already stay unchanged.
   */
  import(bundle: string, endpoint?: ImportEndpoint): Promise<ImportedBundle>

  // A reference is an id, a name, or `default`. `list` and `certificate` need no permission.

  /** Returns all issuers ordered by creation time, or a page of them ordered by id. */
  list(page?: KeyPage): Promise<readonly IssuerSummary[]>
  certificate(reference: string): Promise<IssuerCertificate>
  get(reference: string): Promise<IssuerView>
  /** Replaces the settings. Absent ones get their default. */
  replace(reference: string, input: IssuerInput): Promise<SavedIssuer>
  /** Changes the settings. Absent ones stay unchanged. */
  update(reference: string, patch: IssuerInput): Promise<SavedIssuer>
  /**
   * Revokes an issuer permanently. It issues no more certificates, and still signs CRLs and OCSP responses. Repeated calls do not
   * change the time.
   */
  revoke(reference: string): Promise<SavedIssuer>
  /** Deletes an issuer, but not its key. Succeeds if there is no such issuer. Returns warnings. */
  delete(reference: string): Promise<readonly string[]>
  /** Deletes all issuers and all keys. Returns warnings. */
  deleteAll(): Promise<readonly string[]>
}

export interface ServedIssuerCertificate extends IssuerCertificate, Pick<Issuer, "revokedAt"> {
  /** Time of the last change of any public data of the mount's issuers. */
  readonly changedAt: Instant
}

/** API of issuers inside the server. */
export interface ServedIssuers extends Issuers {
  certificate(reference: string): Promise<ServedIssuerCertificate>
}
