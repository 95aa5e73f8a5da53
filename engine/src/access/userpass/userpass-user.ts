// Users of a userpass method: names, passwords, and the terms of their tokens.
import { type Fault, rejectFaults } from "../../core/errors.ts"
import { initialTokenTerms, type TokenTerms, tokenTermsFaults } from "../logins/token-terms.ts"
import { bcryptHashFaults, passwordFaults } from "./password-hash.ts"

/** User without the password, which is not returned. */
export type UserpassUser = TokenTerms

/** New password, or its hash of bcrypt. At most one of the members is set. */
export interface UserpassPassword {
  readonly password?: string
  readonly passwordHash?: string
  /** Faults of the parsed document. */
  readonly faults?: readonly Fault[]
}

/** Input for a user. Omitted members stay unchanged, or get their defaults in a new user, which needs a password. */
export type UserpassUserInput = Partial<UserpassUser> & UserpassPassword

/** Folds a name. Users are found and authorized in lower case, so that no spelling of a name circumvents a policy. */
export const userNameOf = (name: string): string => name.toLowerCase()

const maxName = 255

/** Returns the faults of the name of a new user. The characters are those of Vault. */
export function userNameFaults(name: string): Fault[] {
  const fault = (detail: string): Fault[] => [{ field: ["name"], detail }]
  if (name.length > maxName) return fault(`"name" must not be longer than ${maxName} characters`)
  if (/^\w([\w.-]*\w)?$/.test(name)) return []
  return fault(
    '"name" may contain letters, digits, "_", "-" and ".", and must begin and end with a letter, digit or "_"',
  )
}

/** Changes a user, or creates one if `before` is undefined. Throws `invalid` with all faults. */
export function changeUserpassUser(
  name: string,
  before: UserpassUser | undefined,
  { faults = [], password, passwordHash, ...terms }: UserpassUserInput,
): UserpassUser {
  const user: UserpassUser = { ...(before ?? initialTokenTerms), ...terms }
  const given = { ...(password !== undefined && { password }), ...(passwordHash !== undefined && { passwordHash }) }
  rejectFaults([
    ...faults,
    ...(before === undefined ? userNameFaults(name) : []),
    // A password that could not be parsed is not reported as missing.
    ...(faults.some(({ field }) => field?.[0] === "password" || field?.[0] === "passwordHash")
      ? []
      : newPasswordFaults(given, before === undefined)),
    ...tokenTermsFaults(user),
  ])
  return user
}

/** Returns the faults of a new password. */
export function newPasswordFaults({ password, passwordHash }: UserpassPassword, required: boolean): Fault[] {
  if (password !== undefined && passwordHash !== undefined)
    return [{ field: ["passwordHash"], detail: '"password_hash" and "password" are mutually exclusive' }]
  if (password !== undefined) return passwordFaults(password)
  if (passwordHash !== undefined) return bcryptHashFaults(passwordHash)
  return required ? [{ field: ["password"], detail: "missing password" }] : []
}
