import type { Subject } from "./users.ts"
import { nothing, type Prepare } from "./prepared-request.ts"

const flatTag = ({ unique }: Pick<Subject, "unique">) => ({
  data: [{ type: "tags", attributes: { name: `${unique}-flat` } }],
})
const binding = { data: [{ type: "tag-bindings", attributes: { key: "stage", value: "test" } }] }

const newTag = async ({ root, organization, unique }: Subject): Promise<string> => {
  const input = { data: { type: "tags", attributes: { name: `${unique}-tag` } } }
  return (await root("POST", `/organizations/${organization}/tags`, input)).body.data.id
}
const aboutProject: Prepare = ({ projectId }) => ({ params: { project_id: projectId } })

export const tagRequests: Readonly<Record<string, Prepare>> = {
  "GET /organizations/:organization_name/tags": nothing,
  "POST /organizations/:organization_name/tags": ({ unique }) => ({
    body: { data: { type: "tags", attributes: { name: `${unique}-new` } } },
  }),
  "DELETE /organizations/:organization_name/tags": async (subject) => ({
    body: { data: [{ type: "tags", id: await newTag(subject) }] },
  }),
  "POST /tags/:tag_id/relationships/workspaces": async (subject) => ({
    params: { tag_id: await newTag(subject) },
    body: { data: [{ type: "workspaces", id: subject.workspaceId }] },
  }),
  "GET /workspaces/:workspace_id/relationships/tags": nothing,
  "POST /workspaces/:workspace_id/relationships/tags": (subject) => ({ body: flatTag(subject) }),
  "DELETE /workspaces/:workspace_id/relationships/tags": async (subject) => {
    const body = flatTag(subject)
    await subject.root("POST", `/workspaces/${subject.workspaceId}/relationships/tags`, body)
    return { body }
  },
  "GET /workspaces/:workspace_id/tag-bindings": nothing,
  "PATCH /workspaces/:workspace_id/tag-bindings": () => ({ body: binding }),
  "POST /workspaces/:workspace_id/relationships/tag-bindings": () => ({ body: binding }),
  "PATCH /workspaces/:workspace_id/relationships/tag-bindings": () => ({ body: binding }),
  "GET /workspaces/:workspace_id/effective-tag-bindings": nothing,
  "GET /projects/:project_id/tag-bindings": aboutProject,
  "GET /projects/:project_id/effective-tag-bindings": aboutProject,
  "PATCH /projects/:project_id/tag-bindings": ({ projectId }) => ({
    params: { project_id: projectId },
    body: binding,
  }),
}
