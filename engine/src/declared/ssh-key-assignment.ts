import { isEngineError } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import type { DeclaredResource, Definition } from "./declared-resource.ts"
import { diffMembers, required, type SpecOf, validator } from "./members.ts"
import { filledText } from "./types.ts"
import { workspaceMember } from "./organization-members.ts"

const members = {
  workspaceId: workspaceMember("Workspace that uses the key."),
  sshKeyId: required(filledText, "SSH key of the organization (`sshkey-…`) that fetches private modules."),
}

/** SSH key with which a workspace fetches modules. */
export type SshKeyAssignmentSpec = SpecOf<typeof members>

/** The id is that of the workspace. */
export const sshKeyAssignmentResource: DeclaredResource<SshKeyAssignmentSpec, SshKeyAssignmentSpec> & Definition = {
  name: "sshKeyAssignment",
  description: "The SSH key with which a workspace fetches modules. Its id is that of the workspace.",
  outputsDescription: "Outputs of an SSH key assignment.",
  members,
  outputs: {},
  memberNames: Object.keys(members),
  validate: validator(members),
  diff: (spec, observed) => diffMembers(members, spec, observed),
  observe,
  create: async (engine, spec) => ({ id: spec.workspaceId, observed: await assign(engine, spec), adopted: false }),
  update: (engine, _id, spec) => assign(engine, spec),
  delete: async (engine, id, { sshKeyId }) => {
    const observed = await observe(engine, id)
    // Another key that was assigned since stays.
    if (observed !== undefined && observed.sshKeyId === sshKeyId) await engine.workspaces.assignSshKey({ id }, null)
  },
}

async function observe(engine: Engine, id: string): Promise<SshKeyAssignmentSpec | undefined> {
  try {
    const { sshKeyId } = await engine.workspaces.get({ id })
    return sshKeyId === null ? undefined : { workspaceId: id, sshKeyId }
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

async function assign(engine: Engine, spec: SshKeyAssignmentSpec): Promise<SshKeyAssignmentSpec> {
  await engine.workspaces.assignSshKey({ id: spec.workspaceId }, spec.sshKeyId)
  return spec
}
