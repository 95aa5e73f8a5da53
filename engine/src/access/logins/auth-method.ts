// Auth methods are the ways to log in, each at a path below `auth/`. A client that proves its identity gets a service token. The roles of
// the method set the policies and the lifetime of that token. Paths never nest, like those of mounts.
import type { Fault } from "../../core/errors.ts"
import type { Id } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import {
  initialMountConfig,
  type MountConfig,
  mountFaults,
  type MountOptions,
  type MountTraits,
  pathFaults,
} from "../../pki/mounts/mount.ts"
import type { TokenType } from "./token-terms.ts"
import { initialUserLockout, type UserLockout, userLockoutFaults } from "./user-lockout.ts"

export type AuthMethodId = Id<"auth">

/** Types that can be enabled. `server/vault/logins.ts` has their endpoints. */
export const authMethodTypes = ["approle", "cert", "kubernetes", "userpass"] as const
export type AuthMethodType = (typeof authMethodTypes)[number]

/** Configuration of a method. Its lifetimes apply to the tokens of logins, unless their role sets its own. */
export interface AuthMethodConfig extends MountConfig {
  readonly tokenType: TokenType
  /** Members that differ from the defaults. Only methods of type `userpass` can have them. */
  readonly userLockout?: Partial<UserLockout>
}

/** Returns the lockout of users that applies to a method. */
export const userLockoutOf = ({ config }: Pick<AuthMethod, "config">): UserLockout => ({
  ...initialUserLockout,
  ...config.userLockout,
})

export interface AuthMethod {
  readonly id: AuthMethodId
  /** Path below `auth/`, without a "/" at either end. */
  readonly path: string
  readonly type: AuthMethodType
  readonly description: string
  readonly config: AuthMethodConfig
  readonly traits: MountTraits
  readonly options: MountOptions
  /** Identifies the method in policies and logs, independently of its path. */
  readonly accessor: string
  readonly uuid: string
  readonly createdAt: Instant
}

export interface AuthMethodInput {
  readonly path: string
  readonly type: AuthMethodType
  readonly description?: string
  readonly config?: Partial<AuthMethodConfig>
  readonly traits?: Partial<MountTraits>
  readonly options?: MountOptions
}

/** Changes of a method. Omitted members stay unchanged. */
export interface AuthMethodPatch {
  readonly description?: string
  readonly config?: Partial<AuthMethodConfig>
  /** Merged with the existing options. An empty string removes an option. */
  readonly options?: MountOptions
}

export const initialAuthMethodConfig: AuthMethodConfig = { ...initialMountConfig, tokenType: "default-service" }

/** Path of the built-in endpoints for tokens, which no method can take. */
export const tokenMethodPath = "token"

export function authMethodPathFaults(path: string): Fault[] {
  const faults = pathFaults(path)
  return faults.length > 0 || path.split("/")[0] !== tokenMethodPath
    ? faults
    : [{ field: ["path"], detail: `path must not begin with "${tokenMethodPath}/", which is reserved` }]
}

/** Returns the faults of a method as it would be after a change. */
export function authMethodFaults(method: Pick<AuthMethod, "type" | "description" | "config" | "options">): Fault[] {
  const { userLockout = {} } = method.config
  const isUnsupported = method.type !== "userpass" && Object.keys(userLockout).length > 0
  return [
    ...mountFaults(method),
    ...(isUnsupported
      ? [{ field: ["userLockout"], detail: '"user_lockout_config" is supported only by auth methods of type userpass' }]
      : userLockoutFaults(userLockout)),
  ]
}

/** Every change increments the version of mounts, under which replicas cache auth methods too. */
export interface AuthMethodRepository {
  /** Returns the methods, sorted by path. */
  list(): Promise<readonly AuthMethod[]>
  find(id: AuthMethodId): Promise<AuthMethod | undefined>
  /** `insert` and `save` throw `EngineError("conflict")` if the path is taken. */
  insert(method: AuthMethod): Promise<void>
  save(method: AuthMethod): Promise<void>
  /** Deletes the method with all that belongs to it, including tokens. */
  remove(id: AuthMethodId): Promise<void>
}
