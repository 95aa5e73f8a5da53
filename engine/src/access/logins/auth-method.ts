// An auth method is one way to log in, at a path below `auth/`: who proves what the method asks for gets a service token. Its
// roles say what that token may do and how long it lives. Paths never nest, as those of mounts.
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

export type AuthMethodId = Id<"auth">

/** Those that can be enabled; each has its endpoints in `http/auth-routes.ts`. */
export const authMethodTypes = ["approle", "kubernetes"] as const
export type AuthMethodType = (typeof authMethodTypes)[number]

/** Leases are the tokens of logins: what a role does not say of their lifetimes, this does. */
export interface AuthMethodConfig extends MountConfig {
  readonly tokenType: TokenType
}

export interface AuthMethod {
  readonly id: AuthMethodId
  /** Below `auth/`, without a "/" at either end. */
  readonly path: string
  readonly type: AuthMethodType
  readonly description: string
  readonly config: AuthMethodConfig
  readonly traits: MountTraits
  readonly options: MountOptions
  /** Names the method where policies and logs must not follow its path. */
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

/** What is left out stays as it is. */
export interface AuthMethodPatch {
  readonly description?: string
  readonly config?: Partial<AuthMethodConfig>
  /** Merged with those there are; one that is empty text is removed. */
  readonly options?: MountOptions
}

export const initialAuthMethodConfig: AuthMethodConfig = { ...initialMountConfig, tokenType: "default-service" }

/** Where the server's own endpoints for tokens are, which no method takes away. */
export const tokenMethodPath = "token"

export function authMethodPathFaults(path: string): Fault[] {
  const faults = pathFaults(path)
  return faults.length > 0 || path.split("/")[0] !== tokenMethodPath
    ? faults
    : [{ field: ["path"], detail: `path must not begin with "${tokenMethodPath}/", which is reserved` }]
}

/** Of a method as it would become. */
export const authMethodFaults = (method: Pick<AuthMethod, "description" | "config" | "options">): Fault[] =>
  mountFaults(method)

/** Every change increments the version of mounts, under which replicas cache auth methods too. */
export interface AuthMethodRepository {
  /** By path. */
  list(): Promise<readonly AuthMethod[]>
  find(id: AuthMethodId): Promise<AuthMethod | undefined>
  /** Both throw `EngineError("conflict")` when the path is taken. */
  insert(method: AuthMethod): Promise<void>
  save(method: AuthMethod): Promise<void>
  /** With everything that hangs on it, tokens among that. */
  remove(id: AuthMethodId): Promise<void>
}
