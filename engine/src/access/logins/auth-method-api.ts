import { initialMountTraits } from "../../pki/mounts/mount.ts"
import { type AuthMethod, type AuthMethodInput, type AuthMethodPatch, initialAuthMethodConfig } from "./auth-method.ts"

/** What a caller is shown of a method; `token` is the server's own, which every token is made by that no method has made. */
export type AuthMethodView = Omit<AuthMethod, "id" | "createdAt" | "type"> & {
  readonly type: AuthMethod["type"] | "token"
}

/**
 * By which methods clients log in. A path is taken with or without a "/" at its end; one with no method is `not-found`, one that
 * is taken, or lies above or below another, is a `conflict`. The method `token` is always there and cannot be changed.
 */
export interface AuthMethods {
  enable(input: AuthMethodInput): Promise<AuthMethodView>
  /** All of them, by path. */
  list(): Promise<readonly AuthMethodView[]>
  get(path: string): Promise<AuthMethodView>
  /** What logs in from then on lives by it; tokens that there are stay as they are. */
  tune(path: string, patch: AuthMethodPatch): Promise<AuthMethodView>
  /** With everything in it, and every token that has logged in by it. */
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
