import { isEngineError } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import type { Changes, DeclaredResource } from "./declared-resource.ts"
import { differing } from "./same-value.ts"
import * as shapes from "./spec-shape.ts"

const shape = shapes.members({ workspaceId: shapes.text().filled(), sshKeyId: shapes.text().filled() })

/** SSH key with which a workspace fetches modules. */
export type SshKeyAssignmentSpec = Readonly<shapes.Of<typeof shape>>

/** The id is that of the workspace. */
export const sshKeyAssignmentResource: DeclaredResource<SshKeyAssignmentSpec, SshKeyAssignmentSpec> = {
  memberNames: Object.keys(shape.members),
  validate: (spec, open = new Set()) => shapes.faultsOf(shape, spec, open),
  diff: changes,
  observe,
  create: async (engine, spec) => ({ id: spec.workspaceId, observed: await assign(engine, spec), adopted: false }),
  update: (engine, _id, spec) => assign(engine, spec),
  delete: async (engine, id, { sshKeyId }) => {
    const observed = await observe(engine, id)
    // Another one has been put in its place.
    if (observed !== undefined && observed.sshKeyId === sshKeyId) await engine.workspaces.assignSshKey({ id }, null)
  },
}

function changes(spec: SshKeyAssignmentSpec, observed: SshKeyAssignmentSpec): Changes {
  const changed = differing(spec, observed, {})
  return { changed, mustReplace: changed.filter((name) => name === "workspaceId") }
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
