// The callers of the permission matrix around one organization, created over HTTP as an administrator does it.
import { addDeadLetter } from "../../../engine/testing/dead-letter.ts"
import {
  type Answer,
  openTestEngine,
  type RequestOptions,
  type TestEngine,
  type TestEngineOptions,
} from "../../../engine/testing/test-engine.ts"

export const callers = [
  "no token",
  "stranger",
  "reader",
  "locker",
  "workspace admin",
  "manager",
  "owner",
  "organization token",
] as const
/** The matrix has no column for the site administrator, who is never refused. */
export type CallerName = (typeof callers)[number] | "site administrator"
type Person = Exclude<(typeof callers)[number], "no token" | "organization token">

/** Subject of one cell of the matrix; every cell has its own workspace. */
export interface Subject {
  readonly organization: string
  readonly workspaceId: string
  readonly workspaceName: string
  readonly projectId: string
  /** Unique in the run, for use in names. */
  readonly unique: string
  readonly users: Readonly<Record<Person, { readonly id: string; readonly username: string }>>
  /** Sends a request as the site administrator; throws unless it succeeds. */
  root(method: string, path: string, body?: unknown): Promise<Answer>
  /** Sends a request as any caller, who may be refused. */
  as(caller: CallerName, method: string, path: string, body?: unknown): Promise<Answer>
  /** Creates a dead letter of the webhook and returns its id. */
  newDeadLetter(webhookId: string): Promise<string>
  /** Creates another workspace with the same access. */
  newWorkspace(name: string): Promise<{ readonly id: string }>
  /** Creates another organization with the same users, for requests that would disturb the shared one. */
  newOrganization(name: string): Promise<{ readonly name: string; readonly organizationToken: string }>
}

export interface Users extends AsyncDisposable {
  readonly testEngine: TestEngine
  readonly tokens: Readonly<Record<CallerName, string | null>>
  newSubject(): Promise<Subject>
}

const organization = "matrix"
const locking = {
  access: "custom",
  runs: "read",
  variables: "none",
  "state-versions": "none",
  "sentinel-mocks": "none",
  "workspace-locking": true,
  "run-tasks": false,
}
const members = ["owner", "reader", "locker", "workspace admin", "manager"] as const
const workspaceAccess = { reader: { access: "read" }, locker: locking, "workspace admin": { access: "admin" } }

export async function openUsers(options: TestEngineOptions = {}): Promise<Users> {
  const testEngine = await openTestEngine(options)
  const send = (token: string | null) => (method: string, path: string, body?: unknown) => {
    const request: RequestOptions = body === undefined ? { token } : { token, body }
    return testEngine.request(method, path, request)
  }
  const root = async (method: string, path: string, body?: unknown) => {
    const answer = await send(testEngine.rootToken)(method, path, body)
    if (answer.status < 300) return answer
    throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  }

  const users: Record<string, { id: string; username: string }> = {}
  const tokens: Record<string, string | null> = { "no token": null, "site administrator": testEngine.rootToken }
  for (const name of ["stranger", ...members]) {
    const username = name.replaceAll(" ", "-")
    const user = await root("POST", "/admin/users", document("users", { username, email: `${username}@example.com` }))
    const { id } = user.body.data
    users[name] = { id, username }
    const input = document("authentication-tokens", { description: "matrix" })
    tokens[name] = (await root("POST", `/users/${id}/authentication-tokens`, input)).body.data.attributes.token
  }

  /** Creates an organization with the same users in the same teams. */
  async function populate(name: string) {
    await root("POST", "/organizations", document("organizations", { name, email: `${name}@example.com` }))
    const teams: Record<string, string> = {}
    for (const team of (await root("GET", `/organizations/${name}/teams`)).body.data)
      if (team.attributes.name === "owners") teams["owner"] = team.id
    for (const member of members) {
      const access = member === "manager" ? { "organization-access": { "manage-workspaces": true } } : {}
      const attributes = { name: member.replaceAll(" ", "-"), ...access }
      teams[member] ??= (await root("POST", `/organizations/${name}/teams`, document("teams", attributes))).body.data.id
      const data = [{ type: "users", id: users[member]?.username }]
      await root("POST", `/teams/${teams[member]}/relationships/users`, { data })
    }
    // An executor has asked for a run, so that runs can be queued.
    await root("POST", `/organizations/${name}/run-claims`)
    const token = await root("POST", `/organizations/${name}/authentication-token`)
    return { teams, name, organizationToken: token.body.data.attributes.token as string }
  }

  const { teams, organizationToken } = await populate(organization)
  tokens["organization token"] = organizationToken
  // The stranger owns another organization: rights there must not count here.
  const home = document("organizations", { name: "elsewhere", email: "stranger@example.com" })
  await send(tokens["stranger"] ?? null)("POST", "/organizations", home)

  async function newWorkspace(name: string) {
    // Set explicitly, because the default of the site can differ.
    const input = document("workspaces", { name, "global-remote-state": false })
    const made = await root("POST", `/organizations/${organization}/workspaces`, input)
    const { id, relationships } = made.body.data
    for (const [member, access] of Object.entries(workspaceAccess)) {
      const team = { data: { type: "teams", id: teams[member] } }
      const workspace = { data: { type: "workspaces", id } }
      await root("POST", "/team-workspaces", document("team-workspaces", access, { team, workspace }))
    }
    return { id: id as string, projectId: relationships.project.data.id as string }
  }

  let count = 0
  return {
    testEngine,
    tokens: tokens as Users["tokens"],
    async newSubject() {
      count += 1
      const unique = `s${count}`
      const workspaceName = `${unique}-workspace`
      const { id: workspaceId, projectId } = await newWorkspace(workspaceName)
      return {
        organization,
        workspaceId,
        workspaceName,
        projectId,
        unique,
        async newDeadLetter(webhookId) {
          const id = `whd-${unique}-${webhookId}`
          await addDeadLetter(testEngine.engine, webhookId, id)
          return id
        },
        newWorkspace,
        users: users as Subject["users"],
        root,
        as: (caller, ...request) => send(tokens[caller] ?? null)(...request),
        newOrganization: populate,
      }
    },
    [Symbol.asyncDispose]: () => testEngine[Symbol.asyncDispose](),
  }
}

export const document = (type: string, attributes: Readonly<Record<string, unknown>>, relationships?: unknown) => ({
  data: { type, attributes, ...(relationships === undefined ? {} : { relationships }) },
})
