import { vcsConnections } from "../contracts/tfe/vcs-connection.ts"
import type { VcsConnections } from "../organizations/vcs-connections.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export function remoteVcsConnections(transport: Transport): VcsConnections {
  const { getInstallationAsClients: _, ...same } = remote(vcsConnections, transport)
  return same
}
