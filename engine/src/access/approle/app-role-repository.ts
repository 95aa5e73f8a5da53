import type { Instant } from "../../core/time.ts"
import type { KeyPage } from "../../pki/mounts/key-page.ts"
import type { AppRole } from "./app-role.ts"
import type { AuthMethodId } from "../logins/auth-method.ts"
import type { SecretId } from "./secret-id.ts"

/** AppRoles of an auth method, by name in lower case. */
export interface AppRoleRepository {
  /** Returns the names in order. */
  names(methodId: AuthMethodId, page: KeyPage): Promise<readonly string[]>
  find(methodId: AuthMethodId, name: string): Promise<AppRole | undefined>
  findByRoleId(methodId: AuthMethodId, roleId: string): Promise<AppRole | undefined>
  /** Inserts or replaces the role. Throws `invalid` if another role of the method has the role id. */
  save(methodId: AuthMethodId, role: AppRole): Promise<void>
  /** Deletes the role with its secret ids. */
  remove(methodId: AuthMethodId, name: string): Promise<void>
}

/** Role that a secret id belongs to. */
export interface SecretIdOwner {
  readonly methodId: AuthMethodId
  /** Name of the role. */
  readonly name: string
}

/** Key of a secret id: its digest or its accessor. */
export type SecretIdKey = { readonly digest: string } | { readonly accessor: string }

export interface SecretIdRepository {
  /** Returns the accessors of unexpired secret ids, in order. */
  accessors(owner: SecretIdOwner, page: KeyPage, now: Instant): Promise<readonly string[]>
  /** Returns the secret id even if it has expired. */
  find(owner: SecretIdOwner, key: SecretIdKey): Promise<SecretId | undefined>
  /** Throws `invalid` if the role has a secret id with this digest. */
  insert(owner: SecretIdOwner, secretId: SecretId, digest: string): Promise<void>
  /** Spends one use; the last use deletes the secret id. Returns false if it has no use left or does not exist. */
  spendUse(accessor: string, now: Instant): Promise<boolean>
  /** Returns true if the secret id existed. */
  remove(owner: SecretIdOwner, key: SecretIdKey): Promise<boolean>
  /** Deletes at most `limit` expired secret ids. Returns their number. */
  sweep(now: Instant, limit: number): Promise<number>
}
