// Requests that terraform-provider-tfe 0.70.0 (with go-tfe 1.93.0) sends to create and to read some of its resources, and the attributes
// that it keeps in the state. The Go module proxy does not serve the provider, which is therefore not run here. Sources:
// https://github.com/hashicorp/terraform-provider-tfe/tree/v0.70.0/internal/provider
import type { Answer } from "../../../engine/testing/test-engine.ts"

export type Send = (method: string, path: string, body?: unknown) => Promise<Answer>
export type Attributes = Readonly<Record<string, unknown>>

export interface Kind {
  /** Creates the resource (or updates it, if the provider makes no difference) and returns its id. */
  readonly create: (send: Send, config: Attributes) => Promise<string>
  /** Returns the state after a refresh. Null and absent members have Go's zero value. */
  readonly read: (send: Send, id: string) => Promise<Attributes>
  /** Values that the schema supplies for unset attributes: defaults, and zero values of attributes that are not computed. */
  readonly schema: Attributes
}

/** Returns the attributes that a plan would change: those of the configuration and schema that differ from the state. */
export function plan(kind: Kind, config: Attributes, state: Attributes): string[] {
  const wanted: Attributes = { ...kind.schema, ...config }
  return Object.entries(wanted).flatMap(([name, value]) =>
    JSON.stringify(sorted(value)) === JSON.stringify(sorted(state[name])) ? [] : [name],
  )
}

const byText = (one: unknown, other: unknown): number => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)

/** Sorts arrays and members, because sets and maps are unordered. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted).toSorted(byText)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => [name, sorted(member)] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
}

export async function succeed(answer: Promise<Answer>): Promise<Answer["body"]> {
  const { status, body } = await answer
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

const document = (type: string, attributes: object, relationships?: object) => ({
  data: { type, attributes, ...(relationships === undefined ? {} : { relationships }) },
})

const dashed = (members: Attributes): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.replaceAll("_", "-"), value] as const],
    ),
  )

const related = (type: string, ids: unknown) => ({ data: (ids as string[]).map((id) => ({ type, id })) })
const idsOf = (resource: Answer["body"], name: string): string[] =>
  (resource.relationships?.[name]?.data ?? []).map(({ id }: { readonly id: string }) => id)

const organizationNames = {
  session_timeout_minutes: "session-timeout",
  session_remember_minutes: "session-remember",
  collaborator_auth_policy: "collaborator-auth-policy",
  owners_team_saml_role_id: "owners-team-saml-role-id",
  cost_estimation_enabled: "cost-estimation-enabled",
  send_passing_statuses_for_untriggered_speculative_plans: "send-passing-statuses-for-untriggered-speculative-plans",
  aggregated_commit_status_enabled: "aggregated-commit-status-enabled",
  assessments_enforced: "assessments-enforced",
  allow_force_delete_workspaces: "allow-force-delete-workspaces",
  speculative_plan_management_enabled: "speculative-plan-management-enabled",
}

/** resource_tfe_organization.go: created with name and email, then updated with all configured attributes. */
export const organization: Kind = {
  async create(send, config) {
    const { name, email } = config
    const { data } = await succeed(send("POST", "/organizations", document("organizations", { name, email })))
    const settings: Attributes = { ...organization.schema, ...config }
    const sent = Object.entries(organizationNames).flatMap(([own, wire]) => {
      const value = settings[own]
      // GetOk skips zero values of numbers and strings.
      return value === undefined || value === 0 || value === "" ? [] : [[wire, value] as const]
    })
    const update = document("organizations", { name, email, ...Object.fromEntries(sent) })
    await succeed(send("PATCH", `/organizations/${data.id}`, update))
    return data.id
  },
  async read(send, id) {
    const { data } = await succeed(send("GET", `/organizations/${id}`))
    const zeros: Attributes = { session_timeout_minutes: 0, session_remember_minutes: 0, owners_team_saml_role_id: "" }
    return {
      name: data.attributes.name,
      email: data.attributes.email,
      ...Object.fromEntries(
        Object.entries(organizationNames).map(([own, wire]) => [own, data.attributes[wire] ?? zeros[own] ?? false]),
      ),
      default_project_id: data.relationships["default-project"].data.id,
    }
  },
  schema: {
    session_timeout_minutes: 0,
    session_remember_minutes: 0,
    collaborator_auth_policy: "password",
    owners_team_saml_role_id: "",
    assessments_enforced: false,
    allow_force_delete_workspaces: false,
    speculative_plan_management_enabled: true,
  },
}

/** resource_tfe_team.go. */
export const team: Kind = {
  async create(send, config) {
    const { organization: name, ...settings } = { ...team.schema, ...config } as Attributes
    const { organization_access: access, sso_team_id: ssoTeamId, ...rest } = settings
    const attributes = {
      ...dashed(rest),
      ...(access === undefined ? {} : { "organization-access": dashed(access as Attributes) }),
      ...(ssoTeamId === "" ? {} : { "sso-team-id": ssoTeamId }),
    }
    return (await succeed(send("POST", `/organizations/${String(name)}/teams`, document("teams", attributes)))).data.id
  },
  async read(send, id) {
    const { attributes } = (await succeed(send("GET", `/teams/${id}`))).data
    return {
      name: attributes.name,
      visibility: attributes.visibility,
      sso_team_id: attributes["sso-team-id"] ?? "",
      allow_member_token_management: attributes["allow-member-token-management"] ?? false,
      organization_access: Object.fromEntries(
        teamPermissions.map((name) => [name, attributes["organization-access"][name.replaceAll("_", "-")] ?? false]),
      ),
    }
  },
  schema: { sso_team_id: "", allow_member_token_management: true },
}

export const teamPermissions = [
  "manage_policies",
  "manage_policy_overrides",
  "manage_workspaces",
  "manage_vcs_settings",
  "manage_providers",
  "manage_modules",
  "manage_run_tasks",
  "manage_projects",
  "read_projects",
  "read_workspaces",
  "manage_membership",
  "manage_teams",
  "manage_organization_access",
  "access_secret_teams",
  "manage_agent_pools",
]

/** resource_tfe_agent_pool.go. */
export const agentPool: Kind = {
  async create(send, { organization: name, ...config }) {
    const settings = dashed({ ...agentPool.schema, ...config })
    const path = `/organizations/${String(name)}/agent-pools`
    return (await succeed(send("POST", path, document("agent-pools", settings)))).data.id
  },
  async read(send, id) {
    const { attributes } = (await succeed(send("GET", `/agent-pools/${id}`))).data
    return { name: attributes.name, organization_scoped: attributes["organization-scoped"] }
  },
  schema: { organization_scoped: true },
}

/** resource_tfe_agent_pool_allowed_workspaces.go and its siblings: one list of ids, written by a separate PATCH. */
const poolScope = (attribute: string, relationship: string, type: string): Kind => ({
  async create(send, config) {
    const id = String(config["agent_pool_id"])
    const body = {
      data: { type: "agent-pools", id, relationships: { [relationship]: related(type, config[attribute]) } },
    }
    await succeed(send("PATCH", `/agent-pools/${id}`, body))
    return id
  },
  async read(send, id) {
    const { data } = await succeed(send("GET", `/agent-pools/${id}`))
    return { agent_pool_id: data.id, [attribute]: idsOf(data, relationship) }
  },
  schema: {},
})

export const agentPoolAllowedWorkspaces = poolScope("allowed_workspace_ids", "allowed-workspaces", "workspaces")
export const agentPoolAllowedProjects = poolScope("allowed_project_ids", "allowed-projects", "projects")
export const agentPoolExcludedWorkspaces = poolScope("excluded_workspace_ids", "excluded-workspaces", "workspaces")

/** resource_tfe_project_settings.go: the mode, and with it both overwrites, which the plan already contains. */
export const projectSettings: Kind = {
  async create(send, config) {
    const id = String(config["project_id"])
    const mode = config["default_execution_mode"]
    const isSet = mode !== undefined
    const body = {
      data: {
        type: "projects",
        attributes: {
          ...(isSet ? { "default-execution-mode": mode } : {}),
          ...(isSet ? { "default-agent-pool-id": config["default_agent_pool_id"] ?? "" } : {}),
          "setting-overwrites": { "default-execution-mode": isSet, "default-agent-pool": isSet },
        },
      },
    }
    await succeed(send("PATCH", `/projects/${id}`, body))
    return id
  },
  async read(send, id) {
    const { data } = await succeed(send("GET", `/projects/${id}`))
    const { attributes, relationships } = data
    const mode = attributes["default-execution-mode"]
    return {
      project_id: data.id,
      default_execution_mode: mode,
      default_agent_pool_id: mode === "agent" ? relationships["default-agent-pool"].data?.id : undefined,
      overwrites: {
        default_execution_mode: attributes["setting-overwrites"]["default-execution-mode"],
        default_agent_pool_id: attributes["setting-overwrites"]["default-agent-pool"],
      },
    }
  },
  schema: {},
}

/** resource_tfe_team_project_access.go. */
export const teamProjectAccess: Kind = {
  async create(send, config) {
    const attributes = {
      access: config["access"],
      "project-access": dashed((config["project_access"] ?? {}) as Attributes),
      "workspace-access": dashed((config["workspace_access"] ?? {}) as Attributes),
    }
    const relationships = {
      team: { data: { type: "teams", id: config["team_id"] } },
      project: { data: { type: "projects", id: config["project_id"] } },
    }
    return (await succeed(send("POST", "/team-projects", document("team-projects", attributes, relationships)))).data.id
  },
  async read(send, id) {
    const { attributes, relationships } = (await succeed(send("GET", `/team-projects/${id}`))).data
    const underscored = (members: object) =>
      Object.fromEntries(Object.entries(members).map(([name, value]) => [name.replaceAll("-", "_"), value]))
    return {
      access: attributes.access,
      team_id: relationships.team.data.id,
      project_id: relationships.project.data.id,
      project_access: underscored(attributes["project-access"]),
      workspace_access: underscored(attributes["workspace-access"]),
    }
  },
  schema: {},
}

/** resource_tfe_workspace.go, without a repository. */
export const workspace: Kind = {
  async create(send, config) {
    const { organization: name, tag_names: names = [], tags = {}, ...rest } = { ...workspace.schema, ...config }
    const { remote_state_consumer_ids: _consumers, ssh_key_id: _key, ...attributes } = rest as Attributes
    const bindings = Object.entries(tags as Attributes).map(([key, value]) => ({
      type: "tag-bindings",
      attributes: { key, ...(value === "" ? {} : { value }) },
    }))
    const flat = (names as string[]).map((tag) => ({ type: "tags", attributes: { name: tag } }))
    const path = `/organizations/${String(name)}/workspaces`
    const body = document(
      "workspaces",
      { ...dashed(attributes), "setting-overwrites": { "execution-mode": false, "agent-pool": false } },
      {
        ...(flat.length === 0 ? {} : { tags: { data: flat } }),
        ...(bindings.length === 0 ? {} : { "tag-bindings": { data: bindings } }),
      },
    )
    return (await succeed(send("POST", path, body))).data.id
  },
  async read(send, id) {
    const { data, included = [] } = await succeed(send("GET", `/workspaces/${id}?include=effective_tag_bindings`))
    const consumers = await succeed(
      send("GET", `/workspaces/${id}/relationships/remote-state-consumers?page%5Bsize%5D=100`),
    )
    const { attributes, relationships } = data
    const effective = idsOf(data, "effective-tag-bindings").map((bindingId) =>
      included.find((one: Answer["body"]) => one.type === "effective-tag-bindings" && one.id === bindingId),
    )
    return {
      ...Object.fromEntries(
        Object.keys({ ...workspace.schema, ...workspaceRead }).map((member) => [
          member,
          attributes[member.replaceAll("_", "-")] ?? workspaceRead[member],
        ]),
      ),
      organization: relationships.organization.data.id,
      ssh_key_id: relationships["ssh-key"]?.data?.id ?? "",
      tag_names: attributes["tag-names"],
      tags: Object.fromEntries(
        effective
          .filter((binding) => binding.links?.["inherited-from"] === undefined)
          .map((binding) => [binding.attributes.key, binding.attributes.value]),
      ),
      effective_tags: Object.fromEntries(
        effective.map((binding) => [binding.attributes.key, binding.attributes.value]),
      ),
      remote_state_consumer_ids: consumers.data.map((one: { readonly id: string }) => one.id),
    }
  },
  schema: {
    allow_destroy_plan: true,
    auto_apply: false,
    auto_apply_run_trigger: false,
    file_triggers_enabled: true,
    queue_all_runs: true,
    speculative_enabled: true,
    structured_run_output_enabled: true,
    assessments_enabled: false,
    working_directory: "",
    ssh_key_id: "",
  },
}

/** resource_tfe_terraform_version.go: `sha` and `deprecated_reason` are sent as empty strings if the configuration has none. */
export const terraformVersion: Kind = {
  async create(send, config) {
    const settings: Attributes = { ...terraformVersion.schema, sha: "", deprecated_reason: "", ...config }
    const body = document("terraform-versions", dashed(settings))
    return (await succeed(send("POST", "/admin/terraform-versions", body))).data.id
  },
  async read(send, id) {
    const { attributes } = (await succeed(send("GET", `/admin/terraform-versions/${id}`))).data
    return Object.fromEntries(
      ["version", "url", "sha", "official", "enabled", "beta", "deprecated", "deprecated_reason", "archs"].map(
        (name) => [name, attributes[name.replaceAll("_", "-")]],
      ),
    )
  },
  schema: { official: false, enabled: true, beta: false, deprecated: false, deprecated_reason: null },
}

/** Attributes that are read in addition to those of the schema above, with Go's zero values. */
const workspaceRead: Attributes = {
  name: "",
  description: "",
  working_directory: "",
  assessments_enabled: false,
  auto_destroy_at: null,
  auto_destroy_activity_duration: null,
  trigger_prefixes: [],
  trigger_patterns: [],
  source_name: "",
  source_url: "",
}
