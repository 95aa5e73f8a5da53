import type { TokenRoles } from "../pki/access/token-roles.ts"
import { decodeTokenRole, encodeTokenRoleInput, tokenRoleParameters } from "../wire/pki/token-role.ts"
import { namesOf, pageQuery, type PkiCalls } from "./pki-calls.ts"
import { path } from "./transport.ts"

/** What is written is read back, because that answer is empty: whoever does it must be allowed to read it. */
export const remoteTokenRoles = (calls: PkiCalls): TokenRoles => {
  const get = async (name: string) => decodeTokenRole((await calls.read(path`/auth/token/roles/${name}`)).data)
  return {
    list: async (page) => (await calls.list("/auth/token/roles", pageQuery(page))).keys,
    get,
    async save(name, input) {
      await calls.write(path`/auth/token/roles/${name}`, { document: encodeTokenRoleInput(input), names })
      return get(name)
    },
    delete: async (name) => void (await calls.delete(path`/auth/token/roles/${name}`)),
  }
}

const names = { ...namesOf(tokenRoleParameters), role_name: "roleName" }
