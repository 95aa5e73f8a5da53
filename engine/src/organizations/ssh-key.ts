// SSH keys that fetch private modules. The value is write-only: it is read from the database only for use.
import type { Fault } from "../core/errors.ts"
import type { OrganizationId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Instant } from "../core/time.ts"

export interface SshKey {
  readonly id: string
  readonly organizationId: OrganizationId
  readonly name: string
  readonly createdAt: Instant
}

/** SSH key as callers get it. */
export type SshKeyView = Pick<SshKey, "id" | "name">

export interface SshKeyInput {
  readonly name: string
  readonly value: string
}

/** Operations on SSH keys of an organization. The value of a key cannot be read. */
export interface SshKeys {
  create(organization: string, input: SshKeyInput): Promise<SshKeyView>
  list(organization: string, page: PageRequest): Promise<Page<SshKeyView>>
  get(id: string): Promise<SshKeyView>
  update(id: string, patch: Partial<SshKeyInput>): Promise<SshKeyView>
  /** Deletes a key. Workspaces that use it have no key afterwards. */
  delete(id: string): Promise<void>
}

export interface SshKeyStore {
  find(id: string): Promise<SshKey | undefined>
  list(organizationId: OrganizationId, page: PageRequest): Promise<Page<SshKey>>
  /** `insert` and `save` throw `EngineError("invalid")` on `name` if the organization has a key of that name. */
  insert(key: SshKey, value: string): Promise<void>
  /** Keeps the value if `value` is undefined. */
  save(key: SshKey, value: string | undefined): Promise<void>
  remove(id: string): Promise<void>
  value(id: string): Promise<string | undefined>
}

const maxName = 255
const maxValue = 65_536
/** Matches PKCS#1, PKCS#8, SEC 1 and OpenSSH keys (RFC 7468, section 2). */
const privateKey = /^-----BEGIN ((?:[A-Z0-9]+ )*PRIVATE KEY)-----\r?\n[A-Za-z0-9+/=:,\r\n -]+-----END \1-----$/

/** Returns faults of the given members. */
export function sshKeyFaults({ name, value }: Partial<SshKeyInput>): Fault[] {
  return [...(name === undefined ? [] : nameFaults(name)), ...(value === undefined ? [] : valueFaults(value))]
}

function nameFaults(name: string): Fault[] {
  const field = ["name"]
  if (name.trim() === "") return [{ field, detail: "Name can't be blank" }]
  if (/\p{Cc}/u.test(name)) return [{ field, detail: "Name can't contain control characters" }]
  return name.length > maxName ? [{ field, detail: `Name is too long (maximum is ${maxName} characters)` }] : []
}

/** Returns whether SSH clients can read the value. The API accepts other values too, as HCP Terraform does. Their use logs a warning. */
export const isPrivateKey = (value: string): boolean => privateKey.test(value.trim())

// Error texts never contain the value: another secret may have been sent by mistake.
function valueFaults(value: string): Fault[] {
  const field = ["value"]
  if (value.trim() === "") return [{ field, detail: "Value can't be blank" }]
  return value.length > maxValue ? [{ field, detail: `Value is too long (maximum is ${maxValue} characters)` }] : []
}
