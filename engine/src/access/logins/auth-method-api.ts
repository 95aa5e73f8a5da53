import { initialMountTraits } from "../../pki/mounts/mount.ts"
import { type AuthMethod, type AuthMethodInput, type AuthMethodPatch, initialAuthMethodConfig } from "./auth-method.ts"

/** Auth method as callers see it. The type `token` is the built-in method of all tokens that no login has created. */
export type AuthMethodView = Omit<AuthMethod, "id" | "createdAt" | "type"> & {
  readonly type: AuthMethod["type"] | "token"
}

/**
 * Auth methods, by which clients log in. A path may end in "/".
 *
 * Throws `not-found` for a path without a method. Throws `conflict` for a path that is taken, or that lies above or below a taken one. The
 * method `token` always exists and cannot be changed.
 */
export interface AuthMethods {
  enable(input: AuthMethodInput): Promise<AuthMethodView>
  /** Returns all methods, sorted by path. */
  list(): Promise<readonly AuthMethodView[]>
  get(path: string): Promise<AuthMethodView>
  /** Changes settings. They apply to later logins; existing tokens stay unchanged. */
  tune(path: string, patch: AuthMethodPatch): Promise<AuthMethodView>
  /** Deletes the method with its contents, and all tokens of its logins. */
  disable(path: string): Promise<void>
}

export const tokenMethod: AuthMethodView = {
  path: "token",
  type: "token",
  description: "token based credentials",
  config: initialAuthMethodConfig,
  traits: initialMountTraits,
  options: {},
  accessor: "auth_token_00000000",
  uuid: "00000000-0000-4000-8000-000000000000",
}
