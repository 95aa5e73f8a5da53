// Organizations and their members. Requests about one user are about the owner; teams are visible to all members.
import { type CallerName, document, type Subject } from "./users.ts"
import { nothing, type Prepare } from "./prepared-request.ts"

const newUser = async ({ root, unique }: Subject) => {
  const attributes = { username: `${unique}-user`, email: `${unique}-user@example.com` }
  return (await root("POST", "/admin/users", document("users", attributes))).body.data
}
const newTeam = async ({ root, organization, unique }: Subject): Promise<string> => {
  const attributes = { name: `${unique}-team`, visibility: "organization" }
  return (await root("POST", `/organizations/${organization}/teams`, document("teams", attributes))).body.data.id
}
const newProject = async ({ root, organization, unique }: Subject): Promise<string> => {
  const input = document("projects", { name: `${unique}-project` })
  return (await root("POST", `/organizations/${organization}/projects`, input)).body.data.id
}
const newMembership = async (subject: Subject) => {
  const { username } = (await newUser(subject)).attributes
  const path = `/organizations/${subject.organization}/organization-memberships`
  const { id } = (await subject.root("POST", path, document("organization-memberships", { username }))).body.data
  return { id: id as string, username: username as string }
}
const token = document("authentication-tokens", { description: "made" })
const list = (type: string, ...ids: readonly string[]) => ({ data: ids.map((id) => ({ type, id })) })
const related = (type: string, id: string) => ({ data: { type, id } })

const aboutUser: Prepare = async (subject) => ({ params: { user_id: (await newUser(subject)).id } })
const terraformBinary = { url: "https://releases.example.com/terraform.zip", sha: "ab".repeat(32) }
const terraformVersion = ({ unique }: Subject) =>
  document("terraform-versions", { version: `1.5.7-${unique}`, ...terraformBinary })
const aboutTerraformVersion: Prepare = async (subject) => ({
  params: { id: (await subject.root("POST", "/admin/terraform-versions", terraformVersion(subject))).body.data.id },
})
const aboutOwner: Prepare = ({ users }) => ({ params: { user_id: users.owner.id } })
const aboutTeam: Prepare = async (subject) => ({ params: { team_id: await newTeam(subject) } })
const aboutProject: Prepare = async (subject) => ({ params: { project_id: await newProject(subject) } })
const aboutTeamToken: Prepare = async (subject) => {
  const id = await newTeam(subject)
  await subject.root("POST", `/teams/${id}/authentication-token`)
  return { params: { team_id: id } }
}
const aboutToken: Prepare = async ({ root, users }) => {
  const made = await root("POST", `/users/${users.owner.id}/authentication-tokens`, token)
  return { params: { token_id: made.body.data.id } }
}
const changedAccount: Prepare = ({ unique }) => ({ body: document("users", { email: `${unique}@example.com` }) })

/** Uses a new organization for requests that would disturb the shared one, or the organization token that sends them. */
const inAnOrganizationOfItsOwn = async ({ newOrganization, unique }: Subject, caller: CallerName) => {
  const { name, organizationToken } = await newOrganization(`${unique}-organization`)
  const params = { organization_name: name }
  return caller === "organization token" ? { params, token: organizationToken } : { params }
}

const teamWorkspaceOf = async (subject: Subject) =>
  document(
    "team-workspaces",
    { access: "read" },
    { team: related("teams", await newTeam(subject)), workspace: related("workspaces", subject.workspaceId) },
  )
const newTeamWorkspace = async (subject: Subject) => {
  const made = await subject.root("POST", "/team-workspaces", await teamWorkspaceOf(subject))
  return { params: { id: made.body.data.id } }
}
const teamProjectOf = async (subject: Subject, projectId: string) =>
  document(
    "team-projects",
    { access: "read" },
    { team: related("teams", await newTeam(subject)), project: related("projects", projectId) },
  )
const newTeamProject = async (subject: Subject) => {
  const made = await subject.root("POST", "/team-projects", await teamProjectOf(subject, await newProject(subject)))
  return { params: { id: made.body.data.id } }
}

export const identityRequests: Readonly<Record<string, Prepare>> = {
  "GET /openapi.json": nothing,
  "GET /organizations": nothing,
  "POST /organizations": ({ unique }) => ({
    body: document("organizations", { name: `${unique}-new`, email: "new@example.com" }),
  }),
  "GET /organizations/:organization_name": nothing,
  "PATCH /organizations/:organization_name": async (subject, caller) => ({
    ...(await inAnOrganizationOfItsOwn(subject, caller)),
    body: document("organizations", { email: `${subject.unique}@example.com` }),
  }),
  "DELETE /organizations/:organization_name": inAnOrganizationOfItsOwn,
  "GET /organizations/:organization_name/entitlement-set": nothing,

  "GET /organizations/:organization_name/organization-memberships": nothing,
  "POST /organizations/:organization_name/organization-memberships": async (subject) => {
    const { username } = (await newUser(subject)).attributes
    return { body: document("organization-memberships", { username }) }
  },
  "GET /organization-memberships/:membership_id": async (subject) => ({
    params: { membership_id: (await newMembership(subject)).id },
  }),
  "DELETE /organization-memberships/:membership_id": async (subject) => ({
    params: { membership_id: (await newMembership(subject)).id },
  }),

  "GET /organizations/:organization_name/projects": nothing,
  "POST /organizations/:organization_name/projects": ({ unique }) => ({
    body: document("projects", { name: `${unique}-new` }),
  }),
  "GET /projects/:project_id": aboutProject,
  "PATCH /projects/:project_id": async (subject) => ({
    params: { project_id: await newProject(subject) },
    body: document("projects", { description: "changed" }),
  }),
  "DELETE /projects/:project_id": aboutProject,

  "POST /projects/:project_id/relationships/workspaces": async (subject) => ({
    params: { project_id: await newProject(subject) },
    body: list("workspaces", subject.workspaceId),
  }),

  "GET /users/:user_id": aboutOwner,
  "GET /account/details": nothing,
  "PATCH /account/details": changedAccount,
  "PATCH /account/update": changedAccount,
  "GET /admin/users": nothing,
  "POST /admin/users": ({ unique }) => ({ body: document("users", { username: `${unique}-new` }) }),
  "GET /admin/users/:user_id": aboutUser,
  "DELETE /admin/users/:user_id": aboutUser,
  "POST /admin/users/:user_id/actions/grant_admin": aboutUser,
  "POST /admin/users/:user_id/actions/revoke_admin": aboutUser,
  "GET /admin/general-settings": nothing,
  "PATCH /admin/general-settings": () => ({
    body: document("general-settings", { "default-remote-state-access": false }),
  }),

  "GET /admin/terraform-versions": nothing,
  "POST /admin/terraform-versions": (subject) => ({ body: terraformVersion(subject) }),
  "GET /admin/terraform-versions/:id": aboutTerraformVersion,
  "PATCH /admin/terraform-versions/:id": async (subject, caller) => ({
    ...(await aboutTerraformVersion(subject, caller)),
    body: document("terraform-versions", {
      archs: [{ ...terraformBinary, os: "linux", arch: "arm64" }],
      "deprecated-reason": null,
    }),
  }),
  "DELETE /admin/terraform-versions/:id": aboutTerraformVersion,

  "GET /organizations/:organization_name/teams": nothing,
  "POST /organizations/:organization_name/teams": ({ unique }) => ({
    body: document("teams", { name: `${unique}-new` }),
  }),
  "GET /teams/:team_id": aboutTeam,
  "PATCH /teams/:team_id": async (subject) => ({
    params: { team_id: await newTeam(subject) },
    body: document("teams", { name: `${subject.unique}-renamed` }),
  }),
  "DELETE /teams/:team_id": aboutTeam,
  "POST /teams/:team_id/relationships/users": async (subject) => ({
    params: { team_id: await newTeam(subject) },
    body: list("users", subject.users.reader.username),
  }),
  "DELETE /teams/:team_id/relationships/users": async (subject) => {
    const id = await newTeam(subject)
    const { username } = subject.users.reader
    await subject.root("POST", `/teams/${id}/relationships/users`, list("users", username))
    return { params: { team_id: id }, body: list("users", username) }
  },
  "POST /teams/:team_id/relationships/organization-memberships": async (subject) => ({
    params: { team_id: await newTeam(subject) },
    body: list("organization-memberships", (await newMembership(subject)).id),
  }),
  "DELETE /teams/:team_id/relationships/organization-memberships": async (subject) => {
    const id = await newTeam(subject)
    const membership = await newMembership(subject)
    await subject.root("POST", `/teams/${id}/relationships/users`, list("users", membership.username))
    return { params: { team_id: id }, body: list("organization-memberships", membership.id) }
  },

  "GET /team-workspaces": ({ workspaceId }) => ({ query: `?filter%5Bworkspace%5D%5Bid%5D=${workspaceId}` }),
  "POST /team-workspaces": async (subject) => ({ body: await teamWorkspaceOf(subject) }),
  "GET /team-workspaces/:id": newTeamWorkspace,
  "PATCH /team-workspaces/:id": async (subject) => ({
    ...(await newTeamWorkspace(subject)),
    body: document("team-workspaces", { access: "write" }),
  }),
  "DELETE /team-workspaces/:id": newTeamWorkspace,
  "GET /team-projects": ({ projectId }) => ({ query: `?filter%5Bproject%5D%5Bid%5D=${projectId}` }),
  "POST /team-projects": async (subject) => ({ body: await teamProjectOf(subject, await newProject(subject)) }),
  "GET /team-projects/:id": newTeamProject,
  "PATCH /team-projects/:id": async (subject) => ({
    ...(await newTeamProject(subject)),
    body: document("team-projects", { access: "write" }),
  }),
  "DELETE /team-projects/:id": newTeamProject,

  "POST /users/:user_id/authentication-tokens": ({ users }) => ({ params: { user_id: users.owner.id }, body: token }),
  "GET /users/:user_id/authentication-tokens": aboutOwner,
  "POST /organizations/:organization_name/authentication-token": async (subject, caller) => ({
    ...(await inAnOrganizationOfItsOwn(subject, caller)),
    body: token,
  }),
  "GET /organizations/:organization_name/authentication-token": nothing,
  "DELETE /organizations/:organization_name/authentication-token": inAnOrganizationOfItsOwn,
  "GET /organizations/:organization_name/team-tokens": nothing,
  "POST /teams/:team_id/authentication-token": async (subject, caller) => ({
    ...(await aboutTeam(subject, caller)),
    body: document("authentication-tokens", {}),
  }),
  "GET /teams/:team_id/authentication-token": aboutTeamToken,
  "DELETE /teams/:team_id/authentication-token": aboutTeamToken,
  "POST /teams/:team_id/authentication-tokens": async (subject) => ({
    params: { team_id: await newTeam(subject) },
    body: token,
  }),
  "GET /teams/:team_id/authentication-tokens": aboutTeam,
  "GET /authentication-tokens/:token_id": aboutToken,
  "DELETE /authentication-tokens/:token_id": aboutToken,

  ...vcsConnections(),
}

function vcsConnections(): Readonly<Record<string, Prepare>> {
  const client = document("oauth-clients", {
    "service-provider": "github",
    "http-url": "https://git.example.com",
    "api-url": "https://git.example.com/api",
    "oauth-token-string": "secret",
  })
  const newClient = async ({ root, organization }: Subject) =>
    (await root("POST", `/organizations/${organization}/oauth-clients`, client)).body.data
  const aboutClient: Prepare = async (subject) => ({ params: { client_id: (await newClient(subject)).id } })
  const aboutClientProjects: Prepare = async (subject, caller) => ({
    ...(await aboutClient(subject, caller)),
    body: { data: [{ type: "projects", id: await newProject(subject) }] },
  })
  const aboutOauthToken: Prepare = async (subject) => ({
    params: { oauth_token_id: (await newClient(subject)).relationships["oauth-tokens"].data[0].id },
  })
  const installation = ({ unique }: Subject) =>
    document("github-app-installations", { name: unique, "installation-id": Number(unique.slice(1)) })
  const aboutInstallation: Prepare = async (subject) => {
    const path = `/organizations/${subject.organization}/github-app/installations`
    return { params: { installation_id: (await subject.root("POST", path, installation(subject))).body.data.id } }
  }
  return {
    "POST /organizations/:organization_name/oauth-clients": () => ({ body: client }),
    "GET /organizations/:organization_name/oauth-clients": nothing,
    "GET /oauth-clients/:client_id": aboutClient,
    "PATCH /oauth-clients/:client_id": async (subject, caller) => ({
      ...(await aboutClient(subject, caller)),
      body: document("oauth-clients", { name: "renamed" }),
    }),
    "DELETE /oauth-clients/:client_id": aboutClient,
    "POST /oauth-clients/:client_id/relationships/projects": aboutClientProjects,
    "DELETE /oauth-clients/:client_id/relationships/projects": aboutClientProjects,
    "GET /organizations/:organization_name/oauth-tokens": nothing,
    "GET /oauth-tokens/:oauth_token_id": aboutOauthToken,
    "PATCH /oauth-tokens/:oauth_token_id": async (subject, caller) => ({
      ...(await aboutOauthToken(subject, caller)),
      body: document("oauth-tokens", {}),
    }),
    "DELETE /oauth-tokens/:oauth_token_id": aboutOauthToken,
    "POST /organizations/:organization_name/github-app/installations": (subject) => ({ body: installation(subject) }),
    "GET /organizations/:organization_name/github-app/installations": nothing,
    "GET /github-app/installations": nothing,
    "GET /github-app/installations/:installation_id": aboutInstallation,
    "GET /github-app/installation/:installation_id": aboutInstallation,
    "DELETE /github-app/installations/:installation_id": aboutInstallation,
  }
}
