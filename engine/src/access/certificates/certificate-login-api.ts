// Logins of clients with TLS certificates, at a path below `auth/`.
import type { ClientCertificate } from "../../core/client-certificate.ts"
import type { Instant } from "../../core/time.ts"
import type { KeyPage } from "../../pki/mounts/key-page.ts"
import type { CreatedServiceToken } from "../service-tokens/service-token-service.ts"
import type { CertificateLoginConfig } from "./certificate-login-config.ts"
import type { CertificateRole, CertificateRoleInput } from "./certificate-role.ts"

export interface CertificateLogins {
  /** Returns the configuration, which has defaults. */
  getConfig(): Promise<CertificateLoginConfig>
  /** Changes the configuration. Omitted members stay unchanged. */
  configure(input: Partial<CertificateLoginConfig>): Promise<void>
  /** Returns the names in order. */
  listRoles(page?: KeyPage): Promise<readonly string[]>
  getRole(name: string): Promise<CertificateRole>
  /** Creates or changes the role. Omitted members of an existing role stay unchanged. */
  saveRole(name: string, input: CertificateRoleInput): Promise<void>
  /** Does nothing if the role does not exist. */
  deleteRole(name: string): Promise<void>
  /** Returns the names in order. */
  listRevocationLists(page?: KeyPage): Promise<readonly string[]>
  getRevocationList(name: string): Promise<RevocationListView>
  /** Stores the CRL, or fetches it from a URL. Replaces the one with its name. */
  saveRevocationList(name: string, input: RevocationListInput): Promise<void>
  /** Does nothing if the list does not exist. */
  deleteRevocationList(name: string): Promise<void>
  /**
   * Returns a token for a client certificate. Callers need no other authentication.
   *
   * Throws `bad-request` for a missing certificate, and for one that no role accepts. Throws `unavailable` if its revocation status
   * cannot be determined.
   */
  login(login: CertificateLogin, from?: CertificateLoginOrigin): Promise<CreatedServiceToken>
}

export interface CertificateLogin {
  /** Name of the role; empty for the first role that accepts the certificate. */
  readonly name: string
}

/** Origin of a login. A remote engine ignores it, because its server sees the connection itself. */
export interface CertificateLoginOrigin {
  /** Undefined if the client has no socket. */
  readonly remoteAddress: string | undefined
  readonly clientCertificate: ClientCertificate | undefined
}

/** Exactly one of the members must be set. */
export interface RevocationListInput {
  /** PEM. */
  readonly crl?: string
  /** The list is fetched again after its next update. */
  readonly url?: string
}

export interface RevocationListView {
  /** Serial numbers, decimal. */
  readonly serials: readonly string[]
  /** Empty for a list that was uploaded. */
  readonly url: string
  /** Next update; null if the list has none. */
  readonly validUntil: Instant | null
}
