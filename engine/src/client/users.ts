import { tokens } from "../contracts/tfe/token.ts"
import { users } from "../contracts/tfe/user.ts"
import { maximumPageSize, totalPages } from "../core/page.ts"
import { foldName } from "../organizations/organization.ts"
import type { OrganizationTokenKind, Tokens } from "../organizations/token.ts"
import type { Users } from "../organizations/user.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export function remoteUsers(transport: Transport): Users {
  const { list, grantAdmin, revokeAdmin, updateAccountAsClients: _, ...same } = remote(users, transport)
  return {
    ...same,
    list: (search, page) => list(search === undefined ? {} : { search }, page),
    /** Searches page by page: the search matches parts of names, so the exact name is among the results. */
    async findByUsername(username) {
      for (let number = 1; ; number += 1) {
        const answer = await list({ search: username }, { number, size: maximumPageSize })
        const found = answer.items.find((user) => foldName(user.username) === foldName(username))
        if (found !== undefined || number >= totalPages(answer)) return found
      }
    },
    setSiteAdmin: (id, siteAdmin) => (siteAdmin ? grantAdmin(id) : revokeAdmin(id)),
  }
}

const ofKind = (kind: OrganizationTokenKind | undefined) => (kind === "audit-trails" ? { kind } : {})

export function remoteTokens(transport: Transport): Tokens {
  const { createForOrganization, getForOrganization, deleteForOrganization, ...same } = remote(tokens, transport)
  return {
    ...same,
    createForOrganization: (name, input, kind) => createForOrganization(name, ofKind(kind), input),
    getForOrganization: (name, kind) => getForOrganization(name, ofKind(kind)),
    deleteForOrganization: (name, kind) => deleteForOrganization(name, ofKind(kind)),
  }
}
