import type { CreatedServiceToken } from "../service-tokens/service-token-service.ts"
import type { KeyPage } from "../../pki/mounts/key-page.ts"
import type { AppRole, AppRoleInput, AppRolePart } from "./app-role.ts"
import type { SecretId, SecretIdInput } from "./secret-id.ts"

/**
 * AppRole auth method: programs log in with a role id and a secret id (`auth/<path>/…`). Names of roles are case-insensitive.
 *
 * All methods throw `not-found` if there is no such auth method, or if it has another type. Methods of a role throw it if the role does not
 * exist.
 */
export interface AppRoleMethod {
  readonly roles: AppRoles
  readonly secretIds: SecretIds
  readonly logins: AppRoleLogins
}

/** Role without its role id, which has an endpoint of its own so that policies can grant it separately. */
export type AppRoleView = Omit<AppRole, "roleId">

export interface AppRoles {
  /** Returns the names in order. */
  list(page?: KeyPage): Promise<readonly string[]>
  get(name: string): Promise<AppRoleView>
  /** Creates the role or changes the given members. Returns warnings. */
  save(name: string, input: AppRoleInput): Promise<readonly string[]>
  /** Deletes the role with its secret ids. Does nothing if the role does not exist. */
  delete(name: string): Promise<void>
  /** Returns only that part. */
  getPart(name: string, part: AppRolePart): Promise<AppRoleInput>
  /** Changes only that part; other members of `change` are ignored. */
  changePart(name: string, part: AppRolePart, change: AppRoleInput): Promise<void>
  /** Resets the part to its default. */
  resetPart(name: string, part: AppRolePart): Promise<void>
  getRoleId(name: string): Promise<string>
  changeRoleId(name: string, roleId: string): Promise<void>
}

/** New secret id. The secret is not returned again. `warnings` are sentences about inputs that were not applied as requested. */
export interface CreatedSecretId {
  readonly secretId: string
  readonly accessor: string
  /** Null if it does not expire. Milliseconds, whole seconds. */
  readonly ttlMs: number | null
  /** Null if unlimited. */
  readonly usesLeft: number | null
  readonly warnings: readonly string[]
}

/** Reference to a secret id, by the secret or by its accessor. */
export type SecretIdRef = { readonly secretId: string } | { readonly accessor: string }

export interface SecretIds {
  create(name: string, input: SecretIdInput): Promise<CreatedSecretId>
  /** Returns accessors in order. */
  list(name: string, page?: KeyPage): Promise<readonly string[]>
  /** Throws `not-found` if the secret id does not exist or has expired. */
  get(name: string, ref: SecretIdRef): Promise<SecretId>
  /** Does nothing for an unknown secret id. Throws `not-found` for an unknown accessor. */
  destroy(name: string, ref: SecretIdRef): Promise<void>
  /** Deletes the expired secret ids of all roles, a first part at once. Returns messages for the caller. */
  tidy(): Promise<readonly string[]>
}

export interface AppRoleCredentials {
  readonly roleId: string
  /** Not needed if the role has no `bindSecretId`. */
  readonly secretId?: string
}

export interface AppRoleLogins {
  /**
   * Returns a token. Throws `unprocessable`, with the same text, for any problem with the credentials. `from` is the address of the client;
   * a remote engine ignores it, because its server sees the address itself.
   */
  logIn(credentials: AppRoleCredentials, from?: string): Promise<CreatedServiceToken>
}
