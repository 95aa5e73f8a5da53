import { z } from "zod"
import { badRequest, invalid } from "../../core/errors.ts"
import { decodeDocument } from "./json-api/document.ts"
import { attributePointers } from "./json-api/errors.ts"
import { type Body, document, writable } from "./document.ts"
import { contract, created, nothing, page, resource } from "./endpoint.ts"
import { workspace } from "./workspace.ts"

export const sshKey = document("ssh-keys", {
  id: z.custom<string>(),
  self: (id) => `/api/v2/ssh-keys/${id}`,
  attributes: {
    name: writable(z.string(), {
      required: true,
      rule: "Name, unique in the organization, at most 255 characters.",
      example: "modules",
    }),
    value: {
      ...writable(z.string(), {
        required: true,
        rule: "Private key in PEM, PKCS#1, PKCS#8, SEC 1 or OpenSSH, at most 64 KiB.",
        example: "-----BEGIN OPENSSH PRIVATE KEY-----\\n…",
      }),
      writeOnly: true as const,
    },
  },
  relationships: {},
})

const assignment = z.object({
  type: z.string().nullish(),
  id: z.string().nullish(),
  attributes: z.object({ id: z.string().nullable() }).nullish(),
})

/**
 * Decodes `{ type: "workspaces", attributes: { id } }`, `{ type: "ssh-keys", id }`, or null data. Null, and the empty string that some
 * clients send instead, remove the key (docs/compatibility.md, "SSH key assignment").
 */
function decodeAssignment(body: unknown): string | null {
  if (typeof body !== "object" || body === null) throw badRequest("data is required")
  if ((body as { readonly data?: unknown }).data === null) return null
  const { type, id, attributes } = decodeDocument(body, assignment, { types: ["workspaces", "ssh-keys"] })
  if (type === "ssh-keys") {
    if (!id) throw invalid([{ detail: "id can't be blank", pointer: "/data/id" }])
    return id
  }
  if (!attributes) throw invalid([{ detail: "id is required; null removes the key", pointer: "/data/attributes/id" }])
  return attributes.id || null
}

const keyId = z.string().nullable()
const assignmentBody: Body<string | null> = {
  decode: decodeAssignment,
  encode: (id) => ({ data: { type: "workspaces", attributes: { id } } }),
  pointers: attributePointers(),
  names: {},
  describes: {
    document: {
      type: "workspaces",
      attributes: { id: { schema: keyId, input: keyId, required: true, rule: "Id of the key, or null for none." } },
      relationships: {},
    },
    creates: true,
  },
}

const all = "/organizations/:organization_name/ssh-keys"
const manages = "`manage-vcs-settings`."

export const sshKeys = contract({
  create: {
    method: "POST",
    path: all,
    summary: "Creates an SSH key, for modules in repositories.",
    rights: manages,
    body: sshKey.input,
    answers: created(sshKey),
  },
  list: {
    method: "GET",
    path: all,
    summary: "Lists the SSH keys of an organization.",
    rights: "Members of the organization.",
    answers: page(sshKey),
  },
  get: {
    method: "GET",
    path: "/ssh-keys/:ssh_key_id",
    summary: "Returns an SSH key, without its value.",
    rights: "Members of the organization.",
    answers: resource(sshKey),
  },
  update: {
    method: "PATCH",
    path: "/ssh-keys/:ssh_key_id",
    summary: "Changes an SSH key. Attributes left out keep their values.",
    rights: manages,
    body: sshKey.patch,
    answers: resource(sshKey),
  },
  delete: {
    method: "DELETE",
    path: "/ssh-keys/:ssh_key_id",
    summary: "Deletes an SSH key. Workspaces that use it have none afterwards.",
    rights: manages,
    answers: nothing,
  },
  assign: {
    method: "PATCH",
    path: "/workspaces/:workspace_id/relationships/ssh-key",
    summary: "Assigns an SSH key to a workspace, or takes it away. Returns the workspace.",
    rights: "`can-update` on the workspace.",
    body: assignmentBody,
    answers: resource(workspace),
  },
})
