import type { Roles, SavedRole } from "../pki/roles/roles.ts"
import type { DecodedEnvelope } from "../wire/pki/envelope.ts"
import { decodeRole, encodeRoleInput, roleParameters } from "../wire/pki/role.ts"
import { namesOf, pageQuery, type PkiCalls } from "./pki-calls.ts"
import { path } from "./transport.ts"

export const remoteRoles = (calls: PkiCalls): Roles => ({
  list: async (page) => (await calls.list("/roles", pageQuery(page))).keys,
  get: async (name) => decodeRole((await calls.read(path`/roles/${name}`)).data),
  save: async (name, input) =>
    saved(await calls.write(path`/roles/${name}`, { document: encodeRoleInput(input), names })),
  update: async (name, patch) =>
    saved(await calls.patch(path`/roles/${name}`, { document: encodeRoleInput(patch), names })),
  delete: async (name) => void (await calls.delete(path`/roles/${name}`)),
})

const names = namesOf(roleParameters)

const saved = ({ data, warnings }: DecodedEnvelope): SavedRole => ({ role: decodeRole(data), warnings })
