import { LRUCache } from "lru-cache"
import type { Id } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { MountId } from "../../pki/mounts/mount.ts"
import type { PublicJwk } from "../../x509/jwk.ts"
import { AcmeProblem } from "../problem.ts"

export type AcmeAccountId = Id<"acct">

/** `deactivated` by its holder, `revoked` by an administrator of the CA (RFC 8555, section 7.1.2). */
export type AccountStatus = "valid" | "deactivated" | "revoked"

export interface AcmeAccount {
  readonly id: AcmeAccountId
  readonly mountId: MountId
  /** Path below the mount of the directory that the account belongs to. No other directory accepts the account. */
  readonly directory: string
  /** RFC 7638, SHA-256, base64url. */
  readonly thumbprint: string
  readonly jwk: PublicJwk
  readonly status: AccountStatus
  readonly contact: readonly string[]
  readonly termsOfServiceAgreed: boolean
  /** Binding that the account was created with, as the client sent it (RFC 8555, section 7.1.2), and its key identifier. */
  readonly externalAccountBinding: object | null
  readonly bindingId: string | null
  readonly createdAt: Instant
  /** Time of the last change of `status`. */
  readonly statusAt: Instant
}

/** Members of an account that decide if a request signed with its key is accepted. */
export type AccountSummary = Pick<AcmeAccount, "id" | "mountId" | "directory" | "thumbprint" | "status" | "bindingId">

const maxContacts = 10
const maxContact = 320

/** Throws `malformed`, `invalidContact` or `unsupportedContact`. */
export function readContact(value: unknown): readonly string[] {
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length > maxContacts)
    throw new AcmeProblem("malformed", `"contact" must be an array of at most ${maxContacts} URLs.`)
  return value.map((url: unknown) => {
    if (typeof url !== "string" || url.length > maxContact || /[^\x21-\x7e]/.test(url))
      throw new AcmeProblem("invalidContact", `A contact must be a URL of at most ${maxContact} ASCII characters.`)
    if (!/^[a-z][a-z0-9+.-]*:./i.test(url))
      throw new AcmeProblem(
        "invalidContact",
        `${JSON.stringify(url)} is not a valid URL, such as "mailto:admin@example.com".`,
      )
    if (!url.toLowerCase().startsWith("mailto:"))
      throw new AcmeProblem("unsupportedContact", "A contact must be a mailto URL.")
    // One address, and no header fields (RFC 8555, section 7.3).
    if (/[?,]/.test(url) || !/^mailto:[^@]+@[^@]+$/i.test(url))
      throw new AcmeProblem(
        "invalidContact",
        `${JSON.stringify(url)} must contain exactly one e-mail address, without header fields.`,
      )
    return url
  })
}

// Cache of the keys of accounts that signed recently. An entry may be outdated, because this or another server changed the account. The
// transaction of each request therefore checks that the account still has the key.

export interface AccountKey {
  readonly jwk: PublicJwk
  readonly thumbprint: string
}

/** These keys need half a megabyte of memory. */
const maxKeys = 1_000

export class AccountKeys {
  readonly #keys = new LRUCache<AcmeAccountId, AccountKey & { readonly scope: string }>({ max: maxKeys })

  /** `scope` identifies the directory of the account. */
  of(scope: string, id: AcmeAccountId): AccountKey | undefined {
    const known = this.#keys.get(id)
    return known?.scope === scope ? known : undefined
  }

  keep(scope: string, id: AcmeAccountId, { jwk, thumbprint }: AccountKey): void {
    this.#keys.set(id, { jwk, thumbprint, scope })
  }

  forget(id: AcmeAccountId): void {
    this.#keys.delete(id)
  }
}
