import type { CreatedServiceToken } from "../service-tokens/service-token-service.ts"
import type { KeyPage } from "../../pki/mounts/key-page.ts"
import type { AppRole, AppRoleInput, AppRolePart } from "./app-role.ts"
import type { SecretId, SecretIdInput } from "./secret-id.ts"

/**
 * One auth method that programs log in by, with a role id and a secret id (`auth/<path>/…`). Where there is no such method, or one
 * of another type, every verb throws `not-found`; so do those of a role that is not there. A role's name is the same in upper and
 * lower case.
 */
export interface AppRoleMethod {
  readonly roles: AppRoles
  readonly secretIds: SecretIds
  readonly logins: AppRoleLogins
}

/** The role id has an address of its own, so that it can be handed out by itself. */
export type AppRoleView = Omit<AppRole, "roleId">

export interface AppRoles {
  /** Names in order. */
  list(page?: KeyPage): Promise<readonly string[]>
  get(name: string): Promise<AppRoleView>
  /** Creates the role, or changes what is given of it; the answer is what its writer should know. */
  save(name: string, input: AppRoleInput): Promise<readonly string[]>
  /** With its secret ids. A role that is not there is deleted already. */
  delete(name: string): Promise<void>
  /** That part of it alone. */
  getPart(name: string, part: AppRolePart): Promise<AppRoleInput>
  /** What is given besides that part counts for nothing. */
  changePart(name: string, part: AppRolePart, change: AppRoleInput): Promise<void>
  /** To what it is in a role that says nothing of it. */
  resetPart(name: string, part: AppRolePart): Promise<void>
  getRoleId(name: string): Promise<string>
  changeRoleId(name: string, roleId: string): Promise<void>
}

/** The one answer that carries the secret. `warnings` are sentences about what was done otherwise than asked. */
export interface CreatedSecretId {
  readonly secretId: string
  readonly accessor: string
  /** Null without an end. Milliseconds, whole seconds. */
  readonly ttlMs: number | null
  /** Null for any number. */
  readonly usesLeft: number | null
  readonly warnings: readonly string[]
}

/** A secret id by itself, or by its accessor. */
export type SecretIdRef = { readonly secretId: string } | { readonly accessor: string }

export interface SecretIds {
  create(name: string, input: SecretIdInput): Promise<CreatedSecretId>
  /** Accessors in order. */
  list(name: string, page?: KeyPage): Promise<readonly string[]>
  /** One that is not there, or is over, is `not-found`. */
  get(name: string, ref: SecretIdRef): Promise<SecretId>
  /** A secret id that is not there is destroyed already; an accessor that names none is `not-found`. */
  destroy(name: string, ref: SecretIdRef): Promise<void>
  /** Takes away at once, in all roles, what is over; the answer is what to know about that. */
  tidy(): Promise<readonly string[]>
}

export interface AppRoleCredentials {
  readonly roleId: string
  /** Not asked for by a role that says so. */
  readonly secretId?: string
}

export interface AppRoleLogins {
  /**
   * A token for whoever holds the credentials; `unprocessable`, in the same words, whatever is wrong. `from` is the address of who
   * asks; a remote engine's server sees that itself.
   */
  logIn(credentials: AppRoleCredentials, from?: string): Promise<CreatedServiceToken>
}
