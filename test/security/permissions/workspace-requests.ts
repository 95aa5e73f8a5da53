import { document, type Subject } from "./users.ts"
import { nothing, type Prepare } from "./prepared-request.ts"

const changed: Prepare = () => ({ body: document("workspaces", { description: "changed" }) })
const variable = document("vars", { key: "region", value: "eu", category: "terraform" })
const newVariable = async ({ root, workspaceId }: Subject) => {
  const made = await root("POST", `/workspaces/${workspaceId}/vars`, variable)
  return { params: { variable_id: made.body.data.id } }
}

/** Locks the workspace as the caller if permitted, so that the caller can unlock it; else as the site administrator. */
const locked: Prepare = async ({ as, root, workspaceId }, caller) => {
  const path = `/workspaces/${workspaceId}/actions/lock`
  if ((await as(caller, "POST", path)).status !== 200) await root("POST", path)
  return {}
}

const anotherWorkspace = async ({ newWorkspace, unique }: Subject) => ({
  data: [{ type: "workspaces", id: (await newWorkspace(`${unique}-consumer`)).id }],
})
const anotherConsumer: Prepare = async (subject) => ({ body: await anotherWorkspace(subject) })

export const workspaceRequests: Readonly<Record<string, Prepare>> = {
  "POST /organizations/:organization_name/workspaces": ({ unique }) => ({
    body: document("workspaces", { name: `${unique}-new` }),
  }),
  "GET /organizations/:organization_name/workspaces": nothing,
  "GET /workspaces/:workspace_id": nothing,
  "PATCH /workspaces/:workspace_id": changed,
  "DELETE /workspaces/:workspace_id": nothing,
  "POST /workspaces/:workspace_id/actions/safe-delete": nothing,
  "GET /organizations/:organization_name/workspaces/:name": nothing,
  "PATCH /organizations/:organization_name/workspaces/:name": changed,
  "DELETE /organizations/:organization_name/workspaces/:name": nothing,
  "POST /organizations/:organization_name/workspaces/:name/actions/safe-delete": nothing,
  "POST /organizations/:organization_name/workspaces/actions/bulk": ({ unique }) => ({
    body: document("bulk-actions", { action: "tag", tags: [unique], all: true, "dry-run": true }),
  }),
  "POST /workspaces/:workspace_id/actions/lock": () => ({ body: { reason: "matrix" } }),
  "POST /workspaces/:workspace_id/actions/extend-lock": async (subject, caller) => {
    await locked(subject, caller)
    return { body: { ttl: "15m" } }
  },
  "POST /workspaces/:workspace_id/actions/unlock": locked,
  "POST /workspaces/:workspace_id/actions/force-unlock": async ({ root, workspaceId }) => {
    await root("POST", `/workspaces/${workspaceId}/actions/lock`)
    return {}
  },

  "GET /workspaces/:workspace_id/relationships/remote-state-consumers": nothing,
  "PATCH /workspaces/:workspace_id/relationships/remote-state-consumers": anotherConsumer,
  "POST /workspaces/:workspace_id/relationships/remote-state-consumers": anotherConsumer,
  "DELETE /workspaces/:workspace_id/relationships/remote-state-consumers": async (subject) => {
    const body = await anotherWorkspace(subject)
    await subject.root("POST", `/workspaces/${subject.workspaceId}/relationships/remote-state-consumers`, body)
    return { body }
  },

  "POST /workspaces/:workspace_id/vars": () => ({ body: variable }),
  "GET /workspaces/:workspace_id/vars": nothing,
  "GET /workspaces/:workspace_id/vars/:variable_id": newVariable,
  "PATCH /workspaces/:workspace_id/vars/:variable_id": async (subject) => ({
    ...(await newVariable(subject)),
    body: document("vars", { value: "us" }),
  }),
  "DELETE /workspaces/:workspace_id/vars/:variable_id": newVariable,
  "GET /workspaces/:workspace_id/all-vars": nothing,
  "POST /vars": ({ workspaceId }) => ({
    body: {
      data: { ...variable.data, relationships: { workspace: { data: { type: "workspaces", id: workspaceId } } } },
    },
  }),
  "GET /vars": async ({ root, workspaceId }) => {
    const { attributes, relationships } = (await root("GET", `/workspaces/${workspaceId}`)).body.data
    const organization = relationships.organization.data.id
    return { query: `?filter[organization][name]=${organization}&filter[workspace][name]=${attributes.name}` }
  },
  "GET /vars/:variable_id": newVariable,
  "PATCH /vars/:variable_id": async (subject) => ({
    ...(await newVariable(subject)),
    body: document("vars", { value: "us" }),
  }),
  "DELETE /vars/:variable_id": newVariable,
}
