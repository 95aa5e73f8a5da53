// Resources of an organization that are assigned to workspaces: SSH keys, agent pools and retention policies.
import { document, type Subject } from "./users.ts"
import { nothing, type Prepare } from "./prepared-request.ts"

const privateKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nbWF0cml4\n-----END OPENSSH PRIVATE KEY-----\n"
const newKey = (unique: string) => document("ssh-keys", { name: `${unique}-key`, value: privateKey })
const newPool = (unique: string) => document("agent-pools", { name: `${unique}-pool` })

const keyOf = async ({ root, organization, unique }: Subject): Promise<string> =>
  (await root("POST", `/organizations/${organization}/ssh-keys`, newKey(unique))).body.data.id
/** Assigns a new SSH key to the workspace. */
export const assignKey = async (subject: Subject): Promise<void> => {
  const body = document("workspaces", { id: await keyOf(subject) })
  await subject.root("PATCH", `/workspaces/${subject.workspaceId}/relationships/ssh-key`, body)
}
const aboutKey: Prepare = async (subject) => ({ params: { ssh_key_id: await keyOf(subject) } })
// Disabled, because no server listens at the address.
const newWebhook = (unique: string) =>
  document("webhooks", { name: `${unique}-hook`, url: "https://receiver.example", enabled: false })
const webhookOf = async ({ root, organization, unique }: Subject): Promise<string> =>
  (await root("POST", `/organizations/${organization}/webhooks`, newWebhook(unique))).body.data.id
const aboutWebhook: Prepare = async (subject) => ({ params: { webhook_id: await webhookOf(subject) } })
const aboutDeadLetter: Prepare = async (subject) => {
  const webhookId = await webhookOf(subject)
  return { params: { webhook_id: webhookId, dead_letter_id: await subject.newDeadLetter(webhookId) } }
}
export const aboutPool: Prepare = async ({ root, organization, unique }) => {
  const made = await root("POST", `/organizations/${organization}/agent-pools`, newPool(unique))
  return { params: { agent_pool_id: made.body.data.id } }
}

const policy = document("data-retention-policy-delete-olders", { "delete-older-than-n-days": 30 })
const setting: Prepare = () => ({ body: policy })
const afterSetting =
  (pathOf: (subject: Subject) => string): Prepare =>
  async (subject) => {
    await subject.root("POST", pathOf(subject), policy)
    return {}
  }
const ofWorkspace = afterSetting(({ workspaceId }) => `/workspaces/${workspaceId}/relationships/data-retention-policy`)
const ofOrganization = afterSetting(
  ({ organization }) => `/organizations/${organization}/relationships/data-retention-policy`,
)
const ofSite = afterSetting(() => "/admin/data-retention-policy-settings")

export const assignedRequests: Readonly<Record<string, Prepare>> = {
  "GET /organizations/:organization_name/events": nothing,

  "POST /organizations/:organization_name/ssh-keys": ({ unique }) => ({ body: newKey(unique) }),
  "GET /organizations/:organization_name/ssh-keys": nothing,
  "GET /ssh-keys/:ssh_key_id": aboutKey,
  "PATCH /ssh-keys/:ssh_key_id": async (subject, caller) => ({
    ...(await aboutKey(subject, caller)),
    body: document("ssh-keys", { name: `${subject.unique}-renamed` }),
  }),
  "DELETE /ssh-keys/:ssh_key_id": aboutKey,
  "PATCH /workspaces/:workspace_id/relationships/ssh-key": async (subject) => ({
    body: document("workspaces", { id: await keyOf(subject) }),
  }),

  "POST /organizations/:organization_name/webhooks": ({ unique }) => ({ body: newWebhook(unique) }),
  "GET /organizations/:organization_name/webhooks": nothing,
  "GET /organizations/:organization_name/webhooks/:webhook_id": aboutWebhook,
  "PATCH /organizations/:organization_name/webhooks/:webhook_id": async (subject, caller) => ({
    ...(await aboutWebhook(subject, caller)),
    body: document("webhooks", { name: `${subject.unique}-renamed` }),
  }),
  "DELETE /organizations/:organization_name/webhooks/:webhook_id": aboutWebhook,
  "GET /organizations/:organization_name/webhooks/:webhook_id/dead-letters": aboutWebhook,
  "POST /organizations/:organization_name/webhooks/:webhook_id/dead-letters/:dead_letter_id/actions/redeliver":
    aboutDeadLetter,
  "DELETE /organizations/:organization_name/webhooks/:webhook_id/dead-letters/:dead_letter_id": aboutDeadLetter,

  "POST /organizations/:organization_name/agent-pools": ({ unique }) => ({ body: newPool(unique) }),
  "GET /organizations/:organization_name/agent-pools": nothing,
  "GET /agent-pools/:agent_pool_id": aboutPool,
  "PATCH /agent-pools/:agent_pool_id": async (subject, caller) => ({
    ...(await aboutPool(subject, caller)),
    body: document("agent-pools", { name: `${subject.unique}-renamed` }),
  }),
  "DELETE /agent-pools/:agent_pool_id": aboutPool,
  "POST /agent-pools/:agent_pool_id/authentication-tokens": async (subject, caller) => ({
    ...(await aboutPool(subject, caller)),
    body: document("authentication-tokens", { description: "agent" }),
  }),
  "GET /agent-pools/:agent_pool_id/authentication-tokens": aboutPool,

  "GET /workspaces/:workspace_id/relationships/data-retention-policy": ofWorkspace,
  "POST /workspaces/:workspace_id/relationships/data-retention-policy": setting,
  "PATCH /workspaces/:workspace_id/relationships/data-retention-policy": setting,
  "DELETE /workspaces/:workspace_id/relationships/data-retention-policy": ofWorkspace,
  "GET /organizations/:organization_name/relationships/data-retention-policy": ofOrganization,
  "POST /organizations/:organization_name/relationships/data-retention-policy": setting,
  "PATCH /organizations/:organization_name/relationships/data-retention-policy": setting,
  "DELETE /organizations/:organization_name/relationships/data-retention-policy": ofOrganization,
  "GET /admin/data-retention-policy-settings": ofSite,
  "POST /admin/data-retention-policy-settings": setting,
  "PATCH /admin/data-retention-policy-settings": setting,
  "DELETE /admin/data-retention-policy-settings": ofSite,
}
