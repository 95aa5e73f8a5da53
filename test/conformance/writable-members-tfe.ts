// Writable members of `/api/v2`: every attribute, and every relationship inside a document, that docs/conformance.md, HCP Terraform's API
// documentation (https://developer.hashicorp.com/terraform/cloud-docs/api-docs, June 2025) or go-tfe 1.93.0 names for a resource that
// exists here. Values are not the defaults.
import { createHash } from "node:crypto"
import { announceExecutor } from "../../engine/testing/announced-executor.ts"
import { type Answer, openTestEngine, type TestEngine } from "../../engine/testing/test-engine.ts"
import {
  type Expectation,
  type Members,
  Reference,
  type WireFormat,
  type WritableMember,
  type WritableResource,
} from "./writable-members.ts"

interface Refs {
  readonly workspace: string
  readonly otherWorkspace: string
  readonly project: string
  readonly team: string
  readonly pool: string
  readonly oauthToken: string
  readonly installation: string
  readonly user: string
}

const refused: Expectation = { kind: "refused" }
const ref = (of: (refs: Refs) => unknown) => new Reference<Refs>(of)
const linkTo = (type: string, id: (refs: Refs) => string) => ref((refs) => ({ type, id: id(refs) }))
const linksTo = (type: string, id: (refs: Refs) => string) => ref((refs) => [{ type, id: id(refs) }])

/** Builds a document. `a.b` is the member `b` of the attribute `a`; `relationships.c` is the data of a relationship. */
function document(type: string, members: Members): unknown {
  const attributes: Record<string, unknown> = {}
  const relationships: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(members)) {
    const [first = "", second] = name.split(".")
    if (first === "relationships") relationships[second as string] = { data: value }
    else if (second === undefined) attributes[first] = value
    else attributes[first] = { ...(attributes[first] as object | undefined), [second]: value }
  }
  return { data: { type, attributes, ...(Object.keys(relationships).length === 0 ? {} : { relationships }) } }
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Groups of read-only attributes. */
const readOnlyGroups = new Set(["permissions", "actions", "two-factor", "status-timestamps"])

function membersOf({ body }: Answer): Members {
  const { attributes = {}, relationships = {} } = body.data
  return Object.fromEntries([
    ...Object.entries(attributes as object).flatMap(([name, value]): [string, unknown][] => {
      if (readOnlyGroups.has(name)) return []
      if (!isPlain(value)) return [[name, value]]
      return Object.entries(value).map(([inner, one]) => [`${name}.${inner}`, one])
    }),
    ...Object.entries(relationships as object).flatMap(([name, value]): [string, unknown][] =>
      "data" in value ? [[`relationships.${name}`, value.data]] : [],
    ),
  ])
}

interface Routes {
  readonly type: string
  readonly collection: (refs: Refs) => string
  /** Undefined for resources without a URL of their own. */
  readonly item?: (id: string, refs: Refs) => string
  readonly canUpdate?: boolean
}

function resource(
  name: string,
  { type, collection, item, canUpdate = item !== undefined }: Routes,
  rest: Pick<WritableResource<Refs>, "members" | "required" | "readOnly">,
): WritableResource<Refs> {
  const write = (method: string, testEngine: TestEngine, path: string, members: Members) =>
    testEngine.request(method, path, { body: document(type, members) })
  return {
    name,
    ...rest,
    create: (testEngine, refs, members) => write("POST", testEngine, collection(refs), members),
    ...(item === undefined
      ? {}
      : {
          read: (testEngine: TestEngine, refs: Refs, id: string) => testEngine.request("GET", item(id, refs)),
          ...(canUpdate && {
            update: (testEngine: TestEngine, refs: Refs, id: string, members: Members) =>
              write("PATCH", testEngine, item(id, refs), members),
          }),
        }),
    membersOf,
    idOf: ({ body }) => body.data.id as string,
  }
}

const readOnlyOf = ({ readOnly }: WritableResource<Refs>): readonly string[] =>
  readOnly === "all others" ? [] : readOnly

const inOrganization = (path: string) => () => `/organizations/acme/${path}`
const stored = (values: Readonly<Record<string, unknown>>): WritableMember[] =>
  Object.entries(values).map(([name, value]) => ({ name, value }))
const refusing = (values: Readonly<Record<string, unknown>>): WritableMember[] =>
  Object.entries(values).map(([name, value]) => ({ name, value, expects: refused }))

const teamPermissions = [
  "manage-policies",
  "manage-policy-overrides",
  "manage-run-tasks",
  "manage-workspaces",
  "manage-vcs-settings",
  "manage-agent-pools",
  "manage-providers",
  "manage-modules",
  "manage-projects",
  "read-projects",
  "read-workspaces",
  "manage-membership",
  "manage-teams",
  "manage-organization-access",
  "access-secret-teams",
]

const future = "2099-01-31T08:00:00.000Z"

const organizations = resource(
  "organizations",
  { type: "organizations", collection: () => "/organizations", item: (id) => `/organizations/${id}` },
  {
    required: (unique) => ({ name: unique, email: "ops@example.com" }),
    members: [
      { name: "email", value: "other@example.com" },
      ...stored({
        "session-timeout": 30,
        "session-remember": 600,
        "collaborator-auth-policy": "two_factor_mandatory",
        "cost-estimation-enabled": true,
        "send-passing-statuses-for-untriggered-speculative-plans": true,
        "aggregated-commit-status-enabled": false,
        "speculative-plan-management-enabled": false,
        "stacks-enabled": true,
        "owners-team-saml-role-id": "owners",
        "assessments-enforced": true,
        "allow-force-delete-workspaces": true,
        "default-execution-mode": "local",
        "remote-operations": "off",
        "plan-identifier": "standard",
      }),
      ...refusing({
        "user-tokens-enabled": false,
        "enforce-hyok": true,
        "registry-monorepo-support-enabled": true,
      }),
    ],
    readOnly: [
      "external-id",
      "created-at",
      "saml-enabled",
      "two-factor-conformant",
      "relationships.default-project",
      "relationships.default-agent-pool",
      "relationships.entitlement-set",
    ],
  },
)

/** A pool belongs to an organization, so only an existing organization can have a default pool. */
const defaultPools: WritableResource<Refs> = {
  ...organizations,
  name: "organizations with a default agent pool",
  create: (testEngine) => testEngine.request("GET", "/organizations/acme"),
  read: (testEngine) => testEngine.request("GET", "/organizations/acme"),
  required: () => ({}),
  members: [
    {
      name: "relationships.default-agent-pool",
      value: linkTo("agent-pools", ({ pool }) => pool),
      beside: { "default-execution-mode": "agent" },
      verbs: ["update"],
    },
    {
      name: "default-agent-pool-id",
      value: ref(({ pool }) => pool),
      beside: { "default-execution-mode": "agent" },
      verbs: ["update"],
      expects: {
        kind: "hidden",
        shows: { "relationships.default-agent-pool": linkTo("agent-pools", ({ pool }) => pool) },
      },
    },
  ],
  readOnly: [...readOnlyOf(organizations), ...organizations.members.map(({ name }) => name), "name"],
}

const projects = resource(
  "projects",
  { type: "projects", collection: inOrganization("projects"), item: (id) => `/projects/${id}` },
  {
    required: (unique) => ({ name: unique }),
    members: [
      ...stored({
        description: "about it",
        "auto-destroy-activity-duration": "14d",
        "default-execution-mode": "local",
      }),
      { name: "setting-overwrites.default-execution-mode", value: true, beside: { "default-execution-mode": "local" } },
      { name: "setting-overwrites.default-agent-pool", value: true, beside: { "default-execution-mode": "local" } },
      {
        name: "relationships.default-agent-pool",
        value: linkTo("agent-pools", ({ pool }) => pool),
        beside: { "default-execution-mode": "agent" },
      },
      {
        name: "default-agent-pool-id",
        value: ref(({ pool }) => pool),
        beside: { "default-execution-mode": "agent" },
        expects: {
          kind: "hidden",
          shows: { "relationships.default-agent-pool": linkTo("agent-pools", ({ pool }) => pool) },
        },
      },
    ],
    readOnly: ["created-at", "workspace-count", "team-count", "is-unified", "relationships.organization"],
  },
)

/** Bindings are read at a separate URL. */
const bindingsAt = (of: WritableResource<Refs>, path: string): WritableResource<Refs> => ({
  ...of,
  name: `tag bindings of ${of.name}`,
  read: (testEngine, _refs, id) => testEngine.request("GET", `/${path}/${id}/tag-bindings`),
  membersOf: ({ body }) => ({
    "relationships.tag-bindings": (body.data as { attributes: { key: string; value: string } }[]).map(
      ({ attributes: { key, value } }) => ({ type: "tag-bindings", attributes: { key, value } }),
    ),
  }),
  members: [
    ["a value", "prod"],
    ["no value", ""],
  ].map(([, value]) => ({
    name: "relationships.tag-bindings",
    value: [{ type: "tag-bindings", attributes: { key: "env", value } }],
  })),
  readOnly: [],
})

const teams = resource(
  "teams",
  { type: "teams", collection: inOrganization("teams"), item: (id) => `/teams/${id}` },
  {
    required: (unique) => ({ name: unique }),
    members: [
      ...stored({
        "sso-team-id": "7dddb675-73e0-4858-a8ad-0e597064301b",
        visibility: "organization",
        "allow-member-token-management": false,
        "allow-team-token-management": false,
      }),
      { name: "name", value: "with/slash", verbs: ["create"] },
      ...stored(Object.fromEntries(teamPermissions.map((name) => [`organization-access.${name}`, true]))),
    ],
    readOnly: ["users-count", "relationships.organization", "relationships.users"],
  },
)

const agentPools = resource(
  "agent pools",
  { type: "agent-pools", collection: inOrganization("agent-pools"), item: (id) => `/agent-pools/${id}` },
  {
    required: (unique) => ({ name: unique }),
    members: [
      { name: "organization-scoped", value: false },
      { name: "relationships.allowed-workspaces", value: linksTo("workspaces", ({ workspace }) => workspace) },
      { name: "relationships.allowed-projects", value: linksTo("projects", ({ project }) => project) },
      { name: "relationships.excluded-workspaces", value: linksTo("workspaces", ({ workspace }) => workspace) },
    ],
    readOnly: ["created-at", "agent-count", "relationships.organization", "relationships.workspaces"],
  },
)

const repo = { "vcs-repo.identifier": "acme/web", "vcs-repo.oauth-token-id": ref(({ oauthToken }) => oauthToken) }
const workspaces = resource(
  "workspaces",
  { type: "workspaces", collection: inOrganization("workspaces"), item: (id) => `/workspaces/${id}` },
  {
    required: (unique) => ({ name: unique }),
    members: [
      ...stored({
        "allow-destroy-plan": false,
        "auto-apply": true,
        "auto-apply-run-trigger": true,
        "auto-destroy-at": future,
        "auto-destroy-activity-duration": "14d",
        "inherits-project-auto-destroy": false,
        description: "about it",
        "execution-mode": "local",
        "file-triggers-enabled": false,
        "global-remote-state": true,
        "project-remote-state": true,
        operations: false,
        "queue-all-runs": true,
        "source-name": "made by us",
        "source-url": "https://example.com/made",
        "speculative-enabled": false,
        "structured-run-output-enabled": false,
        "engine-version": "1.5.0",
        "terraform-version": "1.5.0",
        "trigger-patterns": ["/a/**/*"],
        "trigger-prefixes": ["/a"],
        "working-directory": "/db",
      }),
      {
        name: "agent-pool-id",
        value: ref(({ pool }) => pool),
        beside: { "execution-mode": "agent" },
        expects: { kind: "hidden", shows: { "relationships.agent-pool": linkTo("agent-pools", ({ pool }) => pool) } },
      },
      { name: "setting-overwrites.execution-mode", value: true, beside: { "execution-mode": "local" } },
      { name: "setting-overwrites.agent-pool", value: true, beside: { "execution-mode": "local" } },
      { name: "vcs-repo.identifier", value: "acme/web", beside: repo },
      { name: "vcs-repo.oauth-token-id", value: ref(({ oauthToken }) => oauthToken), beside: repo },
      { name: "vcs-repo.branch", value: "next", beside: repo },
      { name: "vcs-repo.ingress-submodules", value: true, beside: repo },
      { name: "vcs-repo.tags-regex", value: String.raw`v\d+`, beside: repo },
      {
        name: "vcs-repo.github-app-installation-id",
        value: ref(({ installation }) => installation),
        beside: { "vcs-repo.identifier": "acme/web" },
      },
      { name: "relationships.project", value: linkTo("projects", ({ project }) => project) },
      {
        name: "relationships.tags",
        value: [{ type: "tags", attributes: { name: "red" } }],
        expects: { kind: "hidden", shows: { "tag-names": ["red"] } },
      },
      ...refusing({
        "assessments-enabled": true,
        "drift-detection": true,
        "migration-environment": "legacy",
        "hyok-enabled": true,
      }),
      { name: "vcs-repo.source-directory", value: "modules", beside: repo, expects: refused },
      { name: "vcs-repo.tag-prefix", value: "v", beside: repo, expects: refused },
    ],
    readOnly: [
      "auto-destroy-status",
      "can-queue-destroy-plan",
      "created-at",
      "environment",
      "latest-change-at",
      "last-assessment-result-at",
      "locked",
      "locked-reason",
      "locked-at",
      "locked-until",
      "lock-expires-at",
      "oauth-client-name",
      "apply-duration-average",
      "plan-duration-average",
      "policy-check-failures",
      "run-failures",
      "workspace-kpis-runs-count",
      "workspace-kpis-run-count",
      "resource-count",
      "source",
      "tag-names",
      "updated-at",
      "vcs-repo",
      "vcs-repo-identifier",
      "relationships.agent-pool",
      "relationships.current-configuration-version",
      "relationships.current-run",
      "relationships.latest-run",
      "relationships.current-state-version",
      "relationships.current-assessment-result",
      "relationships.organization",
      "relationships.outputs",
      "relationships.readme",
      "relationships.ssh-key",
      "relationships.locked-by",
      "relationships.vars",
    ],
  },
)

const variables = resource(
  "variables",
  {
    type: "vars",
    collection: ({ workspace }) => `/workspaces/${workspace}/vars`,
    item: (id, { workspace }) => `/workspaces/${workspace}/vars/${id}`,
  },
  {
    required: (unique) => ({ key: unique.replaceAll("-", "_"), category: "env" }),
    members: [
      ...stored({ value: "v", description: "about it" }),
      { name: "hcl", value: true, beside: { category: "terraform", value: "[]" } },
      { name: "category", value: "terraform" },
      { name: "sensitive", value: true },
      {
        name: "value",
        value: "secret",
        beside: { sensitive: true },
        expects: { kind: "hidden", shows: { sensitive: true, value: null } },
      },
    ],
    readOnly: ["created-at", "version-id", "relationships.configurable", "relationships.workspace"],
  },
)

const teamWorkspaces = (): WritableResource<Refs> => ({
  ...resource(
    "team access to workspaces",
    { type: "team-workspaces", collection: () => "/team-workspaces", item: (id) => `/team-workspaces/${id}` },
    {
      required: () => ({ access: "read" }),
      members: [
        { name: "access", value: "plan" },
        ...Object.entries({
          runs: "apply",
          variables: "write",
          "state-versions": "read-outputs",
          "sentinel-mocks": "read",
          "workspace-locking": true,
          "run-tasks": true,
        }).map(([name, value]) => ({ name, value, beside: { access: "custom" } })),
      ],
      readOnly: ["relationships.team", "relationships.workspace"],
    },
  ),
  create: (testEngine, { workspace }, members) =>
    granted(testEngine, "team-workspaces", "workspace", workspace, members),
})

const teamProjects = (): WritableResource<Refs> => ({
  ...resource(
    "team access to projects",
    { type: "team-projects", collection: () => "/team-projects", item: (id) => `/team-projects/${id}` },
    {
      required: () => ({ access: "read" }),
      members: [
        { name: "access", value: "maintain" },
        ...Object.entries({
          "project-access.settings": "update",
          "project-access.teams": "manage",
          "project-access.variable-sets": "write",
          "workspace-access.runs": "apply",
          "workspace-access.sentinel-mocks": "read",
          "workspace-access.state-versions": "read-outputs",
          "workspace-access.variables": "write",
          "workspace-access.create": true,
          "workspace-access.locking": true,
          "workspace-access.delete": true,
          "workspace-access.move": true,
          "workspace-access.run-tasks": true,
        }).map(([name, value]) => ({ name, value, beside: { access: "custom" } })),
      ],
      readOnly: ["relationships.team", "relationships.project"],
    },
  ),
  create: (testEngine, { project }, members) => granted(testEngine, "team-projects", "project", project, members),
})

let teamsMade = 0
/** Grants access to a new team, because a team has one access record for each subject. */
async function granted(
  testEngine: TestEngine,
  type: string,
  subject: "workspace" | "project",
  id: string,
  members: Members,
): Promise<Answer> {
  teamsMade += 1
  const team = await testEngine.engine.teams.create("acme", { name: `granted-${teamsMade}` })
  const links = {
    "relationships.team": { type: "teams", id: team.id },
    [`relationships.${subject}`]: { type: `${subject}s`, id },
  }
  return testEngine.request("POST", `/${type}`, { body: document(type, { ...members, ...links }) })
}

const sshKeys = resource(
  "SSH keys",
  { type: "ssh-keys", collection: inOrganization("ssh-keys"), item: (id) => `/ssh-keys/${id}` },
  {
    required: (unique) => ({ name: unique, value: pem }),
    members: [{ name: "name", value: "another name", verbs: ["update"] }],
    readOnly: ["relationships.organization"],
  },
)

const pem = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"

const oauthClients = resource(
  "OAuth clients",
  { type: "oauth-clients", collection: inOrganization("oauth-clients"), item: (id) => `/oauth-clients/${id}` },
  {
    required: () => ({
      "service-provider": "bitbucket_data_center",
      "http-url": "https://git.example.com",
      "api-url": "https://git.example.com/api",
      "oauth-token-string": "token",
    }),
    members: [
      ...stored({ name: "ours", key: "consumer", "rsa-public-key": "-----BEGIN PUBLIC KEY-----\nAA" }),
      { name: "secret", value: "s3cret", expects: { kind: "hidden", shows: { secret: null } } },
      { name: "private-key", value: pem, verbs: ["create"], expects: { kind: "hidden", shows: { secret: null } } },
      { name: "organization-scoped", value: false },
      { name: "relationships.projects", value: linksTo("projects", ({ project }) => project) },
      { name: "relationships.agent-pool", value: linkTo("agent-pools", ({ pool }) => pool) },
    ],
    readOnly: [
      "service-provider-display-name",
      "created-at",
      "callback-url",
      "connect-path",
      "relationships.organization",
      "relationships.oauth-tokens",
    ],
  },
)

const oauthTokens: WritableResource<Refs> = {
  ...resource(
    "OAuth tokens",
    { type: "oauth-tokens", collection: () => "/none", item: (id) => `/oauth-tokens/${id}` },
    {
      required: () => ({}),
      members: [
        {
          name: "ssh-key",
          value: pem,
          verbs: ["update"],
          expects: { kind: "hidden", shows: { "has-ssh-key": true } },
        },
      ],
      readOnly: ["created-at", "service-provider-user", "has-ssh-key", "relationships.oauth-client"],
    },
  ),
  create: (testEngine, { oauthToken }) => testEngine.request("GET", `/oauth-tokens/${oauthToken}`),
}

const tokenReadOnly = ["created-at", "last-used-at", "token", "relationships.created-by"]
const tokens = (
  name: string,
  collection: Routes["collection"],
  relationship: string,
  description: Partial<WritableMember>,
  required: WritableResource<Refs>["required"] = () => ({}),
) =>
  resource(
    name,
    {
      type: "authentication-tokens",
      collection,
      item: (id) => `/authentication-tokens/${id}`,
      canUpdate: false,
    },
    {
      required,
      members: [
        { name: "expired-at", value: future },
        { name: "description", value: "for the robot", ...description },
      ],
      readOnly: [...tokenReadOnly, `relationships.${relationship}`, "token-type"],
    },
  )

/** Makes the description read-only: the API documentation names none for an organization's token, and it is returned as null. */
const withoutDescription = (of: WritableResource<Refs>): WritableResource<Refs> => ({
  ...of,
  members: of.members.filter(({ name }) => name !== "description"),
  readOnly: [...readOnlyOf(of), "description"],
})

const described = (unique: string) => ({ description: unique })

const memberships = resource(
  "organization memberships",
  {
    type: "organization-memberships",
    collection: inOrganization("organization-memberships"),
    item: (id) => `/organization-memberships/${id}`,
    canUpdate: false,
  },
  {
    required: (unique) => ({ email: `${unique}@example.com` }),
    members: [
      { name: "relationships.teams", value: linksTo("teams", ({ team }) => team) },
      { name: "username", value: "known-by-name" },
    ],
    readOnly: ["status", "username", "created-at", "relationships.organization", "relationships.user"],
  },
)

const users = resource(
  "users, by administrators",
  { type: "users", collection: () => "/admin/users", item: (id) => `/admin/users/${id}`, canUpdate: false },
  {
    required: (unique) => ({ username: unique }),
    members: stored({ email: "someone@example.com", "is-admin": true, "is-service-account": true }),
    readOnly: ["auth-method", "avatar-url", "v2-only", "is-site-admin", "is-suspended", "relationships.organizations"],
  },
)

const account: WritableResource<Refs> = {
  ...users,
  name: "one's own account",
  required: () => ({}),
  create: (testEngine) => testEngine.request("GET", "/account/details"),
  read: (testEngine) => testEngine.request("GET", "/account/details"),
  update: (testEngine, _refs, _id, members) =>
    testEngine.request("PATCH", "/account/update", { body: document("users", members) }),
  members: [{ name: "email", value: "changed@example.com", verbs: ["update"] }],
  readOnly: [...readOnlyOf(users), "username", "is-service-account", "is-admin"],
}

const webhooks = resource(
  "webhooks",
  {
    type: "webhooks",
    collection: inOrganization("webhooks"),
    item: (id) => `/organizations/acme/webhooks/${id}`,
  },
  {
    required: (unique) => ({ name: unique, url: "https://hooks.example.com/one" }),
    members: [
      ...stored({
        enabled: false,
        kinds: ["workspace.created"],
        workspaces: ["ws-1"],
        tags: ["prod"],
      }),
      { name: "url", value: "https://hooks.example.com/two", verbs: ["update"] },
      { name: "secret", value: "0123456789abcdef0123456789abcdef", expects: { kind: "hidden", shows: {} } },
    ],
    readOnly: ["disabled-reason", "last-delivered-at", "last-error", "failing-since", "created-at"],
  },
)

const retentionPath = ({ workspace }: Refs) => `/workspaces/${workspace}/relationships/data-retention-policy`
const retentionPolicies: WritableResource<Refs> = {
  ...resource(
    "data retention policies",
    {
      type: "data-retention-policy-delete-olders",
      collection: retentionPath,
      item: (_id, refs) => retentionPath(refs),
    },
    {
      required: () => ({ "delete-older-than-n-days": 7 }),
      members: [{ name: "delete-older-than-n-days", value: 33, verbs: ["create"] }],
      readOnly: ["relationships.target"],
    },
  ),
}

const configurationVersions = resource(
  "configuration versions",
  {
    type: "configuration-versions",
    collection: ({ workspace }) => `/workspaces/${workspace}/configuration-versions`,
    item: (id) => `/configuration-versions/${id}`,
    canUpdate: false,
  },
  {
    required: () => ({}),
    members: stored({ "auto-queue-runs": false, speculative: true, provisional: true }),
    readOnly: "all others",
  },
)

const runs: WritableResource<Refs> = resource(
  "runs",
  { type: "runs", collection: () => "/runs", item: (id) => `/runs/${id}`, canUpdate: false },
  {
    required: () => ({ "relationships.workspace": linkTo("workspaces", ({ otherWorkspace }) => otherWorkspace) }),
    members: [
      ...stored({
        message: "because",
        "is-destroy": true,
        "auto-apply": true,
        "plan-only": true,
        refresh: false,
        "refresh-only": true,
        "save-plan": true,
        "allow-empty-apply": true,
        "allow-config-generation": true,
        "target-addrs": ["null_resource.a"],
        "replace-addrs": ["null_resource.a"],
        variables: [{ key: "a", value: '"b"' }],
      }),
      { name: "terraform-version", value: "1.5.0", beside: { "plan-only": true } },
      { name: "debugging-mode", value: true, expects: refused },
    ],
    readOnly: "all others",
  },
)

/** Each is created in its own workspace, because creating one requires the lock. */
const stateVersions: WritableResource<Refs> = {
  ...resource(
    "state versions",
    { type: "state-versions", collection: () => "/none", item: (id) => `/state-versions/${id}`, canUpdate: false },
    {
      required: () => ({ serial: 1, lineage: "one" }),
      members: [
        ...stored({ serial: 7, lineage: "another", intermediate: true }),
        { name: "relationships.run", value: null, expects: { kind: "hidden", shows: { serial: 1 } } },
      ],
      readOnly: "all others",
    },
  ),
  async create({ engine, request }, _refs, members) {
    statesMade += 1
    const { id } = await engine.workspaces.create("acme", { name: `state-${statesMade}` })
    await engine.workspaces.lock({ id }, { reason: "" })
    const { serial, lineage } = members
    const state = Buffer.from(
      JSON.stringify({ version: 4, terraform_version: "1.9.0", serial, lineage, outputs: {}, resources: [] }),
    )
    const md5 = createHash("md5").update(state).digest("hex")
    const body = document("state-versions", { ...members, md5, state: state.toString("base64") })
    return request("POST", `/workspaces/${id}/state-versions`, { body })
  },
}
let statesMade = 0

const installations = resource(
  "GitHub app installations",
  {
    type: "github-app-installations",
    collection: inOrganization("github-app/installations"),
    item: (id) => `/github-app/installation/${id}`,
    canUpdate: false,
  },
  {
    required: () => ({ name: "acme", "installation-id": 17 }),
    members: stored({ name: "other", "installation-id": 18 }),
    readOnly: ["created-at", "relationships.organization"],
  },
)

const siteSettings: WritableResource<Refs> = {
  ...resource(
    "site settings",
    { type: "general-settings", collection: () => "/none", item: () => "/admin/general-settings" },
    {
      required: () => ({}),
      members: [
        { name: "default-remote-state-access", value: true, verbs: ["update"] },
        { name: "engine-releases", value: ["99.1.0"], verbs: ["update"] },
      ],
      readOnly: [],
    },
  ),
  create: (testEngine) => testEngine.request("GET", "/admin/general-settings"),
}

const otherBinary = { url: "https://example.com/other.zip", sha: "cd".repeat(32) }
let terraformVersionCount = 0
const terraformVersions = resource(
  "Terraform versions",
  {
    type: "terraform-versions",
    collection: () => "/admin/terraform-versions",
    item: (id) => `/admin/terraform-versions/${id}`,
  },
  {
    required: () => ({
      version: `1.0.${(terraformVersionCount += 1)}`,
      url: "https://example.com/terraform.zip",
      sha: "ab".repeat(32),
    }),
    members: [
      { name: "version", value: "1.1.0-custom", verbs: ["update"] },
      { name: "url", value: otherBinary.url },
      { name: "sha", value: otherBinary.sha },
      {
        name: "archs",
        value: [
          { ...otherBinary, os: "linux", arch: "amd64" },
          { ...otherBinary, os: "linux", arch: "arm64" },
        ],
        beside: otherBinary,
      },
      ...stored({ official: true, deprecated: true, enabled: false, beta: true }),
      { name: "deprecated-reason", value: "old", beside: { deprecated: true } },
    ],
    readOnly: ["usage", "created-at"],
  },
)

const tags: WritableResource<Refs> = {
  ...resource(
    "tags",
    { type: "tags", collection: inOrganization("tags") },
    {
      required: (unique) => ({ name: unique }),
      members: [{ name: "name", value: "of-the-pool" }],
      readOnly: ["created-at", "instance-count", "relationships.organization"],
    },
  ),
}

async function open() {
  const testEngine = await openTestEngine({ jobs: false })
  const { engine } = testEngine
  await engine.organizations.create({ name: "acme", email: "ops@example.com" })
  await announceExecutor(engine, { kind: "organization", name: "acme" })
  const client = await engine.vcsConnections.createClient("acme", {
    name: null,
    serviceProvider: "github",
    httpUrl: "https://github.com",
    apiUrl: "https://api.github.com",
    token: "t",
  })
  const refs: Refs = {
    workspace: (await engine.workspaces.create("acme", { name: "referred" })).id,
    otherWorkspace: (await engine.workspaces.create("acme", { name: "referred-too" })).id,
    project: (await engine.projects.create("acme", { name: "referred" })).id,
    team: (await engine.teams.create("acme", { name: "referred" })).id,
    pool: (await engine.agentPools.create("acme", { name: "referred" })).id,
    oauthToken: client.tokenIds[0] as string,
    installation: (await engine.vcsConnections.createInstallation("acme", { name: "acme", installationId: 1 })).id,
    user: (await engine.users.create({ username: "referred" })).id,
  }
  return { testEngine, refs }
}

export const tfeFormat: WireFormat<Refs> = {
  name: "/api/v2",
  refusedStatus: 422,
  names: ({ body }, member) => {
    const [first = "", second] = member.split(".")
    const place =
      first === "relationships"
        ? `/data/relationships/${second}`
        : `/data/attributes/${[first, ...(second === undefined ? [] : [second])].join("/")}`
    const former = member === "drift-detection" ? "/data/attributes/assessments-enabled" : place
    return (body.errors as { source?: { pointer?: string } }[]).some(({ source }) =>
      [place, former].some((one) => source?.pointer?.startsWith(one)),
    )
  },
  open,
  resources: [
    organizations,
    defaultPools,
    projects,
    bindingsAt(projects, "projects"),
    teams,
    agentPools,
    workspaces,
    bindingsAt(workspaces, "workspaces"),
    variables,
    teamWorkspaces(),
    teamProjects(),
    sshKeys,
    oauthClients,
    oauthTokens,
    tokens("tokens of users", ({ user }) => `/users/${user}/authentication-tokens`, "user", {}),
    tokens("tokens of teams", ({ team }) => `/teams/${team}/authentication-tokens`, "team", {}, described),
    tokens("the token of a team", ({ team }) => `/teams/${team}/authentication-token`, "team", { expects: refused }),
    tokens("tokens of agents", ({ pool }) => `/agent-pools/${pool}/authentication-tokens`, "agent-pool", {}, described),
    withoutDescription(
      tokens("the token of an organization", inOrganization("authentication-token"), "organization", {}),
    ),
    withoutDescription(
      tokens(
        "the token for audit trails",
        inOrganization("authentication-token?token=audit-trails"),
        "organization",
        {},
      ),
    ),
    memberships,
    users,
    account,
    webhooks,
    retentionPolicies,
    configurationVersions,
    runs,
    stateVersions,
    installations,
    siteSettings,
    terraformVersions,
    tags,
  ],
}
