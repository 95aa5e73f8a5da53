import type { Instant } from "../../core/time.ts"
import type { KeyPage } from "../../pki/mounts/key-page.ts"
import type { AppRole } from "./app-role.ts"
import type { AuthMethodId } from "../logins/auth-method.ts"
import type { SecretId } from "./secret-id.ts"

/** Roles of a method that programs log in as, by name in lower case. */
export interface AppRoleRepository {
  /** Names in order. */
  names(methodId: AuthMethodId, page: KeyPage): Promise<readonly string[]>
  find(methodId: AuthMethodId, name: string): Promise<AppRole | undefined>
  findByRoleId(methodId: AuthMethodId, roleId: string): Promise<AppRole | undefined>
  /** Creates it or takes its place; throws `conflict` where another role of the method has the role id. */
  save(methodId: AuthMethodId, role: AppRole): Promise<void>
  /** With its secret ids. */
  remove(methodId: AuthMethodId, name: string): Promise<void>
}

/** Whose a secret id is. */
export interface SecretIdOwner {
  readonly methodId: AuthMethodId
  /** Of the role. */
  readonly name: string
}

/** The digest that stands for a secret id, or its accessor. */
export type SecretIdKey = { readonly digest: string } | { readonly accessor: string }

export interface SecretIdRepository {
  /** Accessors in order, of those that are not over. */
  accessors(owner: SecretIdOwner, page: KeyPage, now: Instant): Promise<readonly string[]>
  /** One that is over as well. */
  find(owner: SecretIdOwner, key: SecretIdKey): Promise<SecretId | undefined>
  /** Throws `conflict` where the role has one of that digest. */
  insert(owner: SecretIdOwner, secretId: SecretId, digest: string): Promise<void>
  /** Takes one use, and the secret id away with the last; false where it has none left, or is gone. */
  spendUse(accessor: string, now: Instant): Promise<boolean>
  /** Whether there was one. */
  remove(owner: SecretIdOwner, key: SecretIdKey): Promise<boolean>
  /** Forgets some whose time is over; how many. */
  sweep(now: Instant, limit: number): Promise<number>
}
