import { describe, expect, test } from "vitest"
import { newMember, newOrganization, newTeam, newUser } from "../../../testing/users.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

const webPolicy = '# who issues\npath "pki/issue/web" {\n  capabilities = ["update"]\n}\n'

async function written(world: TestEngine, name: string, policy: string): Promise<void> {
  expect((await world.pki("PUT", `/sys/policies/acl/${name}`, { body: { policy } })).status).toBe(204)
}

test("a policy is written, read, listed and deleted", async () => {
  await using world = await openTestEngine()
  expect((await world.pki("POST", "/sys/policies/acl/Web", { body: { policy: webPolicy } })).status).toBe(204)
  const { status, body } = await world.pki("GET", "/sys/policies/acl/web")
  expect(status).toBe(200)
  expect(body.data).toEqual({ name: "web", policy: webPolicy })
  expect((await world.pki("LIST", "/sys/policies/acl")).body.data).toEqual({ keys: ["default", "root", "web"] })
  expect((await world.pki("GET", "/sys/policies/acl?list=true")).body.data.keys).toContain("web")
  expect((await world.pki("GET", "/sys/policies/acl/root")).body.data).toEqual({ name: "root", policy: "" })
  expect((await world.pki("GET", "/sys/policies/acl/default")).body.data.policy).toContain("+/revoke-with-key")
  expect((await world.pki("DELETE", "/sys/policies/acl/web")).status).toBe(204)
  expect((await world.pki("DELETE", "/sys/policies/acl/web")).status).toBe(204)
  expect(await world.pki("GET", "/sys/policies/acl/web")).toMatchObject({
    status: 404,
    body: { errors: ['policy "web" does not exist'] },
  })
})

test("policies are served at the paths of older clients", async () => {
  await using world = await openTestEngine()
  expect((await world.pki("PUT", "/sys/policy/web", { body: { rules: webPolicy } })).status).toBe(204)
  const read = await world.pki("GET", "/sys/policy/web")
  expect(read.body).toMatchObject({ name: "web", rules: webPolicy, data: { policy: webPolicy, rules: webPolicy } })
  for (const method of ["GET", "LIST"])
    expect((await world.pki(method, "/sys/policy")).body).toMatchObject({
      policies: ["default", "root", "web"],
      data: { keys: ["default", "root", "web"] },
    })
  expect((await world.pki("DELETE", "/sys/policy/web")).status).toBe(204)
  expect((await world.pki("GET", "/sys/policy/web")).status).toBe(404)
})

test.each<{ name: string; body: object; status: number; errors: readonly string[] }>([
  { name: "web", body: {}, status: 400, errors: ["policy can't be blank"] },
  {
    name: "web",
    body: { policy: 7 },
    status: 400,
    errors: [`policy line 1: "7" is not supported; only path "…" blocks are`],
  },
  { name: "web", body: { policy: ["path"] }, status: 400, errors: ['"policy" must be a string'] },
  {
    name: "web",
    body: { policy: 'path "a" {\n capabilities = ["write"]\n}\npath "" {}' },
    status: 400,
    errors: [
      'policy line 2: "write" is not a capability (create, read, update, patch, delete, list, sudo, deny)',
      'policy line 4: the path "" is empty',
      'policy line 4: the path "" has no "capabilities"',
    ],
  },
  {
    name: "-web",
    body: { policy: "#" },
    status: 400,
    errors: ["name may contain only letters, digits, _, . and -, and must begin and end with a letter, a digit or _"],
  },
  {
    name: "root",
    body: { policy: "#" },
    status: 400,
    errors: ["the policy root allows everything and cannot be changed"],
  },
])(
  "the policy $name as $body is rejected with $status and the fault, and not stored",
  async ({ name, body, status, errors }) => {
    await using world = await openTestEngine()
    expect(await world.pki("PUT", `/sys/policies/acl/${name}`, { body })).toMatchObject({ status, body: { errors } })
    expect((await world.pki("LIST", "/sys/policies/acl")).body.data.keys).toEqual(["default", "root"])
  },
)

test("built-in policies cannot be deleted", async () => {
  await using world = await openTestEngine()
  for (const name of ["root", "default"])
    expect(await world.pki("DELETE", `/sys/policies/acl/${name}`)).toMatchObject({
      status: 400,
      body: { errors: [`the policy ${name} cannot be deleted`] },
    })
})

describe("attachments", () => {
  test("to a user, a team and a token take effect with the next request", async () => {
    await using world = await openTestEngine()
    await newOrganization(world, "acme")
    const ada = await newMember(world, "acme", "ada")
    await newTeam(world, "acme", "web", { members: [ada] })
    await written(world, "mounts", 'path "sys/mounts" { capabilities = ["read"] }')
    const { items } = await world.engine.tokens.listForUser(ada.id, { number: 1, size: 1 })
    const allowed = async () => (await world.pki("GET", "/sys/mounts", { token: ada.token })).status
    for (const subject of ["user/ada", "team/acme/web", `token/${items[0]?.id}`]) {
      const address = `/sys/policies/attachments/${subject}`
      expect(await allowed()).toBe(403)
      expect((await world.pki("PUT", `${address}/mounts`)).status).toBe(204)
      expect((await world.pki("LIST", address)).body.data).toEqual({ keys: ["mounts"] })
      expect(await allowed()).toBe(200)
      expect((await world.pki("DELETE", `${address}/mounts`)).status).toBe(204)
      expect(await world.pki("LIST", address)).toMatchObject({ status: 404, body: { errors: [] } })
    }
    expect(await allowed()).toBe(403)
  })

  test.each([
    { path: "user/nobody/default", status: 404, errors: ['user "nobody" does not exist'] },
    { path: "team/none/web/default", status: 404, errors: ['team "none/web" does not exist'] },
    { path: "token/at-0/default", status: 404, errors: ['token "at-0" does not exist'] },
    { path: "user/ada/none", status: 404, errors: ['policy "none" does not exist'] },
    {
      path: "user/ada/root",
      status: 400,
      errors: ["the policy root cannot be attached; only site administrators have it"],
    },
  ])("at $path are rejected with $status", async ({ path, status, errors }) => {
    await using world = await openTestEngine()
    await newUser(world, "ada")
    expect(await world.pki("PUT", `/sys/policies/attachments/${path}`)).toMatchObject({ status, body: { errors } })
  })
})
