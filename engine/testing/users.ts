// Users, organizations and teams for tests, created over HTTP as an administrator does.
import { rootUsername } from "../src/organizations/bootstrap.ts"
import type { TestEngine } from "./test-engine.ts"

export interface Person {
  readonly id: string
  readonly username: string
  readonly token: string
}

export const document = (type: string, attributes: object, relationships?: object) => ({
  data: { type, attributes, ...(relationships === undefined ? {} : { relationships }) },
})

export const one = (type: string, id: string) => ({ data: { type, id } })
export const many = (type: string, ids: readonly string[]) => ({ data: ids.map((id) => ({ type, id })) })

/** Throws if the request fails: a test with a missing fixture would pass or fail for the wrong reason. */
export async function made(
  testEngine: TestEngine,
  method: string,
  path: string,
  body?: unknown,
  token?: string,
  // oxlint-disable-next-line typescript/no-explicit-any
): Promise<any> {
  const answer = await testEngine.request(method, path, { body, ...(token === undefined ? {} : { token }) })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body?.data
}

/** Creates a user without any organization, and a token for the user. */
export async function newUser(testEngine: TestEngine, username: string): Promise<Person> {
  const user = await made(testEngine, "POST", "/admin/users", document("users", { username }))
  return { id: user.id, username, token: await newUserToken(testEngine, user.id) }
}

export async function newUserToken(testEngine: TestEngine, userId: string, attributes: object = {}): Promise<string> {
  const body = document("authentication-token", { description: "test", ...attributes })
  return (await made(testEngine, "POST", `/users/${userId}/authentication-tokens`, body)).attributes.token
}

/** Creates an organization that the given user owns, or root if none is given. */
export async function newOrganization(testEngine: TestEngine, name: string, owner?: Person): Promise<void> {
  const body = document("organizations", { name, email: `${name}@example.com` })
  await made(testEngine, "POST", "/organizations", body, owner?.token)
}

/** Creates a team with these organization permissions, in wire format, and these members. */
export async function newTeam(
  testEngine: TestEngine,
  organization: string,
  name: string,
  options: { readonly access?: object; readonly visibility?: string; readonly members?: readonly Person[] } = {},
): Promise<string> {
  const { access = {}, visibility = "secret", members = [] } = options
  const attributes = { name, visibility, "organization-access": access }
  const team = await made(testEngine, "POST", `/organizations/${organization}/teams`, document("teams", attributes))
  const usernames = members.map(({ username }) => username)
  if (usernames.length > 0)
    await made(testEngine, "POST", `/teams/${team.id}/relationships/users`, many("users", usernames))
  return team.id
}

/** Creates a member of the organization who is in no team. */
export async function newMember(testEngine: TestEngine, organization: string, username: string): Promise<Person> {
  const person = await newUser(testEngine, username)
  await made(
    testEngine,
    "POST",
    `/organizations/${organization}/organization-memberships`,
    document("organization-memberships", { username }),
  )
  return person
}

export async function rootId(testEngine: TestEngine): Promise<string> {
  const users = await made(testEngine, "GET", `/admin/users?q=${rootUsername}`)
  return users[0].id
}
