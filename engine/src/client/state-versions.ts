import { signedAddresses } from "../contracts/tfe/open-address.ts"
import { stateVersions } from "../contracts/tfe/state-version.ts"
import { conflict, notFound } from "../core/errors.ts"
import { uploadProblems } from "../workspaces/state/state-version-rules.ts"
import type { StateVersions } from "../workspaces/state/state-version-api.ts"
import type { StateVersionView } from "../workspaces/state/state-version.ts"
import { filled, remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"
import { byWorkspaceId } from "./workspaces.ts"

export function remoteStateVersions(transport: Transport): StateVersions {
  const { listOfNamed: _, downloadState, downloadJsonState, ...same } = remote(stateVersions, transport)
  const get = async (id: string): Promise<StateVersionView> => (await same.get(id, {})).data
  return {
    ...same,
    create: byWorkspaceId(transport, same.create),
    get,
    current: byWorkspaceId(transport, async (id) => (await same.current(id, {})).data),
    list: byWorkspaceId(transport, same.list),
    // The upload URLs are visible only to callers that may use them.
    async upload(id, document, content) {
      const { uploads, status } = await get(id)
      if (uploads === null)
        throw status === "pending" ? notFound(id) : conflict(uploadProblems[status], { subject: id })
      await transport.upload(
        filled(signedAddresses.uploadState.path, [id, document]),
        new URLSearchParams({ credential: uploads[document] }),
        content,
      )
    },
    download: (id, document) => (document === "state" ? downloadState : downloadJsonState)(id),
    rollback: byWorkspaceId(transport, (id, rollbackStateVersion: string) =>
      same.rollback(id, { rollbackStateVersion }),
    ),
    resources: byWorkspaceId(transport, same.resources),
    currentOutputs: byWorkspaceId(transport, same.currentOutputs),
  }
}
