import { configurationVersions } from "../contracts/tfe/configuration-version.ts"
import type { ConfigurationVersions } from "../workspaces/configuration-versions.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"
import { byWorkspaceId } from "./workspaces.ts"

export function remoteConfigurationVersions(transport: Transport): ConfigurationVersions {
  const { create, list, readme, downloadOfRun: _, ...same } = remote(configurationVersions, transport)
  return {
    ...same,
    create: byWorkspaceId(transport, create),
    list: byWorkspaceId(transport, list),
    readme: byWorkspaceId(transport, readme),
  }
}
