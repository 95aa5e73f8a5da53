// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { Adopted, LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

/**
 * A user with the terms of the user's tokens. The server never returns the password, so a change by others is not detected. A
 * term that the program never declared is not managed. A term removed from the program returns to its default. Durations are
 * strings: `10m`, `24h`.
 */
export interface UserpassUserArgs extends LifecycleArgs {
  /** Path of the auth method, below `auth/`. Example: `devices`. Changing it forces replacement. */
  authMethod: pulumi.Input<string>
  /** Name of the user, in lower case. Default: the resource's name in the program. Changing it forces replacement. */
  name?: pulumi.Input<string>
  /**
   * Password, at most 1,024 bytes; a secret. A new user needs it or `passwordHash`. A user keeps it if it is removed from the
   * program.
   */
  password?: pulumi.Input<string>
  /** Hash of bcrypt with a cost of at most 13, instead of `password`; a secret. Its passwords have at most 72 bytes. */
  passwordHash?: pulumi.Input<string>
  /** Lifetime of tokens. Null or `0s`: that of the auth method. Example: `1h`. */
  tokenTtl?: pulumi.Input<string | null>
  /** Maximum lifetime of tokens, from the login on. Null or `0s`: that of the auth method. Example: `24h`. */
  tokenMaxTtl?: pulumi.Input<string | null>
  /** Maximum lifetime of tokens, with a period too. Null or `0s`: none. Example: `24h`. */
  tokenExplicitMaxTtl?: pulumi.Input<string | null>
  /** Each renewal lasts this long, any number of times. Null or `0s`: none. Example: `1h`. */
  tokenPeriod?: pulumi.Input<string | null>
  /** Policies of tokens. Example: `["web"]`. */
  tokenPolicies?: pulumi.Input<pulumi.Input<string>[]>
  /** Ranges of addresses that tokens can be used from. Empty: any. Example: `["10.0.0.0/8"]`. */
  tokenBoundCidrs?: pulumi.Input<pulumi.Input<string>[]>
  /** Leave out the policy default. Default: false. */
  tokenNoDefaultPolicy?: pulumi.Input<boolean>
  /** Requests that a token is good for. 0: any number. Default: 0. Example: 10. */
  tokenNumUses?: pulumi.Input<number>
  /** Type of tokens, which are service tokens in any case. Default: `default`. Example: `service`. */
  tokenType?: pulumi.Input<"default" | "default-service" | "service">
  /**
   * Adopt an existing user of this name, and set the declared password. Destroying the stack then keeps it unless
   * `deletionPolicy` is set.
   */
  adopt?: pulumi.Input<boolean>
}

/** Outputs of a user: every term in force. */
export interface UserpassUserState extends Adopted {
  /** Path of the auth method, below `auth/`. */
  readonly authMethod: string
  /** Name of the user, in lower case. */
  readonly name: string
  /** Lifetime of tokens. Null or `0s`: that of the auth method. */
  readonly tokenTtl: string | null
  /** Maximum lifetime of tokens, from the login on. Null or `0s`: that of the auth method. */
  readonly tokenMaxTtl: string | null
  /** Maximum lifetime of tokens, with a period too. Null or `0s`: none. */
  readonly tokenExplicitMaxTtl: string | null
  /** Each renewal lasts this long, any number of times. Null or `0s`: none. */
  readonly tokenPeriod: string | null
  /** Policies of tokens. */
  readonly tokenPolicies: string[]
  /** Ranges of addresses that tokens can be used from. Empty: any. */
  readonly tokenBoundCidrs: string[]
  /** Leave out the policy default. */
  readonly tokenNoDefaultPolicy: boolean
  /** Requests that a token is good for. 0: any number. */
  readonly tokenNumUses: number
  /** Type of tokens, which are service tokens in any case. */
  readonly tokenType: "default" | "default-service" | "service"
  /** The declared password, a secret. Null if none is declared, and with `get`: the server never returns it. */
  readonly password: string | null
  /** The declared hash, a secret. Null if none is declared, and with `get`: the server never returns it. */
  readonly passwordHash: string | null
}

/** A user of an auth method of type `userpass`. Its id is `PATH/users/NAME`, with the path of the method. */
export const UserpassUser: ResourceClass<UserpassUserArgs, UserpassUserState> = declaredResource<UserpassUserArgs, UserpassUserState>({
  kind: "userpassUser",
  outputs: ["authMethod", "name", "tokenTtl", "tokenMaxTtl", "tokenExplicitMaxTtl", "tokenPeriod", "tokenPolicies", "tokenBoundCidrs", "tokenNoDefaultPolicy", "tokenNumUses", "tokenType", "password", "passwordHash", "adopted"],
  named: "name",
  secretInputs: { password: true, passwordHash: true },
  secretOutputs: { password: true, passwordHash: true },
})
export type UserpassUser = InstanceType<typeof UserpassUser>
