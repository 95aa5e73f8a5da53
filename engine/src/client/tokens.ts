import { tokens } from "../contracts/tfe/token.ts"
import type { OrganizationTokenKind } from "../organizations/token.ts"
import type { Tokens } from "../organizations/tokens.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

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
