import { createHash } from "node:crypto"
import { document, type Subject } from "./users.ts"
import { nothing, type Prepare } from "./prepared-request.ts"

export const newState = (serial: number, resources: readonly unknown[] = []) => {
  const state = JSON.stringify({
    version: 4,
    terraform_version: "1.11.4",
    serial,
    lineage: "matrix",
    outputs: { address: { value: "10.0.0.1", type: "string" } },
    resources,
  })
  return document("state-versions", {
    serial,
    lineage: "matrix",
    md5: createHash("md5").update(state).digest("hex"),
    state: Buffer.from(state).toString("base64"),
    "json-state": Buffer.from("{}").toString("base64"),
  })
}

let serial = 0
/** Saves a state as the site administrator. */
export async function saveState({ root, workspaceId }: Subject, resources: readonly unknown[] = []) {
  serial += 1
  await root("POST", `/workspaces/${workspaceId}/actions/lock`)
  const made = await root("POST", `/workspaces/${workspaceId}/state-versions`, newState(serial, resources))
  await root("POST", `/workspaces/${workspaceId}/actions/unlock`)
  return made.body.data
}
const withState: Prepare = async (subject) => {
  await saveState(subject)
  return {}
}
const aboutStateVersion: Prepare = async (subject) => ({
  params: { state_version_id: (await saveState(subject)).id },
})

/** Saves a state version and a later one, then performs `actions` on the first. */
const aboutEarlier =
  (...actions: readonly string[]): Prepare =>
  async (subject) => {
    const { id } = await saveState(subject)
    await saveState(subject)
    for (const action of actions) await subject.root("POST", `/state-versions/${id}/actions/${action}_backing_data`)
    return { params: { state_version_id: id } }
  }

export const stateRequests: Readonly<Record<string, Prepare>> = {
  // The creator of a state version must hold the lock.
  "POST /workspaces/:workspace_id/state-versions": async ({ as, workspaceId }, caller) => {
    await as(caller, "POST", `/workspaces/${workspaceId}/actions/lock`)
    return { body: newState(1) }
  },
  "PATCH /workspaces/:workspace_id/state-versions": async (subject, caller) => {
    const { id } = await saveState(subject)
    await subject.as(caller, "POST", `/workspaces/${subject.workspaceId}/actions/lock`)
    const relationships = { "rollback-state-version": { data: { type: "state-versions", id } } }
    return { body: { data: { type: "state-versions", relationships } } }
  },
  "GET /workspaces/:workspace_id/state-versions": nothing,
  "GET /workspaces/:workspace_id/resources": withState,
  "POST /state-versions/:state_version_id/actions/soft_delete_backing_data": aboutEarlier(),
  "POST /state-versions/:state_version_id/actions/restore_backing_data": aboutEarlier("soft_delete"),
  "POST /state-versions/:state_version_id/actions/permanently_delete_backing_data": aboutEarlier("soft_delete"),
  "GET /state-versions": ({ organization, workspaceName }) => ({
    query: `?filter%5Borganization%5D%5Bname%5D=${organization}&filter%5Bworkspace%5D%5Bname%5D=${workspaceName}`,
  }),
  "GET /workspaces/:workspace_id/current-state-version": withState,
  "GET /workspaces/:workspace_id/current-state-version-outputs": withState,
  "GET /state-versions/:state_version_id": aboutStateVersion,
  "GET /state-versions/:state_version_id/download": aboutStateVersion,
  "GET /state-versions/:state_version_id/json-download": aboutStateVersion,
  "GET /state-versions/:state_version_id/outputs": aboutStateVersion,
  "GET /state-version-outputs/:output_id": async (subject) => ({
    params: { output_id: (await saveState(subject)).relationships.outputs.data[0].id },
  }),
}
