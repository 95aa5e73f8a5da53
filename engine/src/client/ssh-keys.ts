import type { SshKeys } from "../organizations/ssh-key.ts"
import { decodeSshKey, encodeSshKeyPatch } from "../wire/jsonapi/ssh-key.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"

export const remoteSshKeys = ({ one, page, done }: Calls): SshKeys => ({
  create: async (organization, input) =>
    one(decodeSshKey, {
      method: "POST",
      path: path`/organizations/${organization}/ssh-keys`,
      document: encodeSshKeyPatch(input),
    }),
  list: async (organization, request) => page(decodeSshKey, path`/organizations/${organization}/ssh-keys`, request),
  get: async (id) => one(decodeSshKey, { method: "GET", path: path`/ssh-keys/${id}` }),
  update: async (id, patch) =>
    one(decodeSshKey, { method: "PATCH", path: path`/ssh-keys/${id}`, document: encodeSshKeyPatch(patch) }),
  delete: async (id) => done({ method: "DELETE", path: path`/ssh-keys/${id}` }),
})
