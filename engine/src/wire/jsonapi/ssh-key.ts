// SSH keys show their name only. Their assignment to a workspace has two forms (docs/compatibility.md, "SSH key assignment").
import { z } from "zod"
import { badRequest, invalid } from "../../core/errors.ts"
import type { SshKeyInput, SshKeyView } from "../../organizations/ssh-key.ts"
import { readResource } from "./answer.ts"
import { decodeDocument, encodeDocument, type RequestDocument, type Resource } from "./document.ts"
import { type Given, given } from "./given.ts"
import { dashedMembers } from "./member-name.ts"

export const encodeSshKey = ({ id, name }: SshKeyView): Resource => ({
  id,
  type: "ssh-keys",
  attributes: { name },
  links: { self: `/api/v2/ssh-keys/${id}` },
})

const input = z.object({ attributes: z.object({ name: z.string(), value: z.string() }) })
const patch = z.object({
  attributes: z.object({ name: z.string().optional(), value: z.string().optional() }).prefault({}),
})
const types = { types: ["ssh-keys"] }

export const decodeSshKeyInput = (body: unknown): SshKeyInput => decodeDocument(body, input, types).attributes

export const decodeSshKeyPatch = (body: unknown): Given<Partial<SshKeyInput>> =>
  given(decodeDocument(body, patch, types).attributes)

const assignment = z.object({
  type: z.string().nullish(),
  id: z.string().nullish(),
  attributes: z.object({ id: z.string().nullable() }).nullish(),
})

/**
 * `{ type: "workspaces", attributes: { id } }`, `{ type: "ssh-keys", id }`, or no data at all; null, and what some clients
 * send for it, the empty string, take the key away.
 */
export function decodeSshKeyAssignment(body: unknown): string | null {
  if (typeof body !== "object" || body === null) throw badRequest("The document has no data object.")
  if ((body as { readonly data?: unknown }).data === null) return null
  const { type, id, attributes } = decodeDocument(body, assignment, { types: ["workspaces", "ssh-keys"] })
  if (type === "ssh-keys") {
    if (!id) throw invalid([{ detail: "id can't be blank", pointer: "/data/id" }])
    return id
  }
  if (!attributes) throw invalid([{ detail: "id must be given, or be null", pointer: "/data/attributes/id" }])
  return attributes.id || null
}

export const encodeSshKeyAssignment = (sshKeyId: string | null) => ({
  data: { type: "workspaces", attributes: { id: sshKeyId } },
})

/** The other direction of `encodeSshKey`. */
export function decodeSshKey(resource: unknown): SshKeyView {
  const { id, attributes: own } = readResource(resource, "ssh-keys")
  return { id, name: own.text("name") }
}

/** Of an input as well as of a patch. */
export const encodeSshKeyPatch = (patch: Partial<SshKeyInput>): RequestDocument =>
  encodeDocument("ssh-keys", dashedMembers(patch))
