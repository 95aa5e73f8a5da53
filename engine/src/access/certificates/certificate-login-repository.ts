import type { Instant } from "../../core/time.ts"
import type { AuthMethodId } from "../logins/auth-method.ts"
import type { CertificateLoginConfig } from "./certificate-login-config.ts"
import type { CertificateRole } from "./certificate-role.ts"

/** Revocation list without its content. */
export interface StoredRevocationList {
  readonly name: string
  /** URL that the list is fetched from; empty for a list that was uploaded. */
  readonly url: string
  /** Name, DER. */
  readonly issuer: Uint8Array
  /** Identifies the content. */
  readonly digest: string
  readonly nextUpdate: Instant | null
  readonly storedAt: Instant
}

export interface NewRevocationList extends StoredRevocationList {
  /** DER or PEM. */
  readonly content: Uint8Array
}

export interface NamedCertificateRole {
  readonly name: string
  readonly role: CertificateRole
}

export interface CertificateLoginRepository {
  config(methodId: AuthMethodId): Promise<CertificateLoginConfig | undefined>
  saveConfig(methodId: AuthMethodId, config: CertificateLoginConfig): Promise<void>
  /** Returns the names in order. */
  roleNames(methodId: AuthMethodId): Promise<readonly string[]>
  /** Returns all roles in the order of their names. */
  roles(methodId: AuthMethodId): Promise<readonly NamedCertificateRole[]>
  role(methodId: AuthMethodId, name: string): Promise<CertificateRole | undefined>
  /** Inserts the role or replaces the one with its name. */
  saveRole(methodId: AuthMethodId, name: string, role: CertificateRole): Promise<void>
  removeRole(methodId: AuthMethodId, name: string): Promise<void>
  /** Returns the lists in the order of their names. */
  lists(methodId: AuthMethodId): Promise<readonly StoredRevocationList[]>
  listContent(methodId: AuthMethodId, name: string): Promise<Uint8Array | undefined>
  /** Inserts the list or replaces the one with its name. */
  saveList(methodId: AuthMethodId, list: NewRevocationList): Promise<void>
  removeList(methodId: AuthMethodId, name: string): Promise<void>
}
