// Role templates that contain the caller's identity: certificates for a name go to one user, even if another user takes the username.
import { afterAll, beforeAll, expect, test } from "vitest"
import { document, made, newUser, type Person } from "../../../testing/users.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

let testEngine: TestEngine
beforeAll(async () => {
  testEngine = await openTestEngine()
  await testEngine.engine.mounts.create({ path: "pki" })
  await testEngine.engine.pki("pki").issuers.generateRoot({ commonName: "Root", keyType: "ec" })
  await testEngine.engine.pki("pki").roles.save("own", {
    allowedDomains: ["{{identity.entity.name}}.example.com"],
    allowedDomainsTemplate: true,
    allowBareDomains: true,
    ttlMs: 60_000,
    keyType: "ec",
  })
  await testEngine.engine.policies.put("issue", 'path "pki/issue/own" { capabilities = ["create", "update"] }')
})
afterAll(() => testEngine[Symbol.asyncDispose]())

async function person(username: string): Promise<Person> {
  const made = await newUser(testEngine, username)
  await testEngine.engine.policies.attach("issue", { kind: "user", username })
  return made
}

/** Requests a certificate, and returns the status of the answer. */
const issue = async (token: string, name: string): Promise<number> => {
  const body = { common_name: `${name}.example.com` }
  return (await testEngine.pki("POST", "/pki/issue/own", { token, body })).status
}

const rename = ({ token }: Person, username: string) =>
  made(testEngine, "PATCH", "/account/update", document("users", { username }), token)

test("[F-P14] a user keeps its own name in templates when it takes the username of another", async () => {
  const [ada, eve] = [await person("ada"), await person("eve")]
  expect([await issue(ada.token, "ada"), await issue(eve.token, "eve")]).toEqual([200, 200])
  await rename(ada, "ada.lovelace")
  await rename(eve, "ada")
  expect([await issue(eve.token, "ada"), await issue(eve.token, "eve")]).toEqual([400, 200])
  expect([await issue(ada.token, "ada"), await issue(ada.token, "ada.lovelace")]).toEqual([200, 400])
})

test("[F-P14] a user with the username of a deleted or renamed user has a name of its own", async () => {
  const first = await person("Bob")
  await made(testEngine, "DELETE", `/admin/users/${first.id}`)
  const second = await person("bob")
  expect([await issue(second.token, "bob"), await issue(second.token, "bob-2")]).toEqual([400, 200])
  await rename(second, "robert")
  const third = await person("bob")
  expect([await issue(third.token, "bob-2"), await issue(third.token, "bob-3")]).toEqual([400, 200])
})

test("[F-P14] a team's name differs from those of all users and of teams of other organizations", async () => {
  const user = await person("ops")
  for (const organization of ["acme", "beta"]) {
    await testEngine.engine.organizations.create({ name: organization, email: `a@${organization}.example` })
    const team = await testEngine.engine.teams.create(organization, { name: "ops" })
    await testEngine.engine.policies.attach("issue", { kind: "team", organization, team: "ops" })
    const { attributes } = await made(testEngine, "POST", `/teams/${team.id}/authentication-token`)
    const name = organization === "acme" ? "ops-2" : "ops-3"
    await made(testEngine, "PATCH", `/teams/${team.id}`, document("teams", { name: "renamed" }))
    expect([await issue(attributes.token, "ops"), await issue(attributes.token, "renamed")]).toEqual([400, 400])
    expect(await issue(attributes.token, name)).toBe(200)
  }
  expect(await issue(user.token, "ops")).toBe(200)
})
