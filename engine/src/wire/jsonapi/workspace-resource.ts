// What a workspace manages, as clients of the public API read it.
import type { StateVersionId } from "../../core/ids.ts"
import { formatInstant } from "../../core/time.ts"
import type { WorkspaceResource } from "../../workspaces/workspace-resource.ts"
import { readResource } from "./answer.ts"
import type { Resource } from "./document.ts"

export const encodeWorkspaceResource = (resource: WorkspaceResource): Resource => ({
  id: resource.id,
  type: "resources",
  attributes: {
    address: resource.address,
    name: resource.name,
    "created-at": formatInstant(resource.createdAt),
    "updated-at": formatInstant(resource.updatedAt),
    module: resource.module,
    provider: resource.provider,
    "provider-type": resource.providerType,
    "modified-by-state-version-id": resource.stateVersionId,
    "name-index": resource.nameIndex,
  },
})

/** The other direction of `encodeWorkspaceResource`. */
export function decodeWorkspaceResource(resource: unknown): WorkspaceResource {
  const { id, attributes: own } = readResource(resource, "resources")
  return {
    id,
    address: own.text("address"),
    name: own.text("name"),
    createdAt: own.instant("createdAt"),
    updatedAt: own.instant("updatedAt"),
    module: own.text("module"),
    provider: own.text("provider"),
    providerType: own.text("providerType"),
    stateVersionId: own.text("modifiedByStateVersionId") as StateVersionId,
    nameIndex: own.textOrNull("nameIndex"),
  }
}
