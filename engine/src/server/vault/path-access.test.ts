// Access to the paths of a mount by policies (P-5 of docs/conformance.md).
import { execFileSync } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Answer, openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

let world: TestEngine
let csr: string
let selfIssued: string

const denied = { status: 403, body: { errors: ["permission denied"] } }
const name = { common_name: "www.example.com", ttl: "1h" }

beforeAll(async () => {
  world = await openTestEngine()
  for (const mount of ["pki", "elsewhere"]) await world.pki("POST", `/sys/mounts/${mount}`, { body: { type: "pki" } })
  const { issuers } = world.engine.pki("pki")
  for (const issuerName of ["one", "two"])
    await issuers.generateRoot({ commonName: `Root ${issuerName}`, keyType: "ec", issuerName, ttlMs: 2_000_000_000 })
  const old = await world.engine.pki("elsewhere").issuers.generateRoot({ commonName: "Old", keyType: "ec" })
  selfIssued = new X509Certificate(old.certificate).toString()
  for (const role of ["web", "mail"])
    await world.pki("POST", `/pki/roles/${role}`, {
      body: { allowed_domains: "example.com", allow_subdomains: true, key_type: "ec", issuer_ref: "one" },
    })
  csr = execFileSync(
    "openssl",
    "req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /dev/null -subj /CN=www.example.com".split(
      " ",
    ),
    { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
  )
})
afterAll(() => world[Symbol.asyncDispose]())

/** Creates a token with these capabilities on these paths and no others. */
async function tokenFor(rules: Readonly<Record<string, readonly string[]>>): Promise<string> {
  const policy = `policy-${Object.keys(rules).join("-").replaceAll(/\W+/g, "-")}`
  const path = Object.fromEntries(Object.entries(rules).map(([each, capabilities]) => [each, { capabilities }]))
  await world.engine.policies.put(policy, JSON.stringify({ path }))
  const input = { policies: [policy], noDefaultPolicy: true }
  return (await world.engine.serviceTokens.create(input)).secret
}

/** All endpoints that issue, each with a request that succeeds if the caller is permitted. */
const issuing = (): Readonly<Record<string, object>> => ({
  "issue/web": name,
  "sign/web": { ...name, csr },
  "sign-verbatim": { csr, ttl: "1h" },
  "sign-verbatim/web": { csr, ttl: "1h" },
  "root/sign-intermediate": { common_name: "Intermediate", csr, ttl: "1h" },
  "root/sign-self-issued": { certificate: selfIssued },
  "issuer/two/issue/web": name,
  "issuer/two/sign/web": { ...name, csr },
  "issuer/two/sign-verbatim": { csr, ttl: "1h" },
  "issuer/two/sign-verbatim/web": { csr, ttl: "1h" },
  "issuer/two/sign-intermediate": { common_name: "Intermediate", csr, ttl: "1h" },
  "issuer/two/sign-self-issued": { certificate: selfIssued },
})
const ask = (path: string, token: string | null): Promise<Answer> =>
  world.pki("POST", `/pki/${path}`, { token, body: issuing()[path] ?? name })
const issuerOf = ({ body }: Answer): string => new X509Certificate(body.data.certificate).issuer

/** Returns the paths that the token may use. Answers other than success and "permission denied" are listed with their status. */
async function reached(token: string | null): Promise<readonly string[]> {
  const paths: string[] = []
  for (const path of Object.keys(issuing())) {
    const { status, body } = await ask(path, token)
    if (status === 200) paths.push(path)
    else if (status !== 403 || body.errors[0] !== "permission denied") paths.push(`${path}: ${status}`)
  }
  return paths
}

describe("issuing endpoints", () => {
  test("[P-5-n3] all require a token", async () => {
    expect(await reached(null)).toEqual([])
    expect(await reached("chy_unknown")).toEqual([])
    expect(await reached(await tokenFor({ unused: ["update"] }))).toEqual([])
    expect(await reached(world.rootToken)).toEqual(Object.keys(issuing()))
  })

  test("[P-5-n3] of a role limit a caller to that role and its issuer", async () => {
    const token = await tokenFor({ "pki/issue/web": ["update"], "pki/sign/web": ["update"] })
    expect(await reached(token)).toEqual(["issue/web", "sign/web"])
    expect(issuerOf(await ask("issue/web", token))).toBe("CN=Root one")
    expect(await ask("issue/mail", token)).toMatchObject(denied)
    expect(await ask("sign/mail", token)).toMatchObject(denied)
  })

  test("[P-5-n3] of an issuer override the role's issuer, and need rights", async () => {
    const token = await tokenFor({ "pki/issuer/+/issue/web": ["update"], "pki/issuer/one/issue/web": ["deny"] })
    expect(await reached(token)).toEqual(["issuer/two/issue/web"])
    expect(issuerOf(await ask("issuer/two/issue/web", token))).toBe("CN=Root two")
    expect(await ask("issuer/one/issue/web", token)).toMatchObject(denied)
  })

  test("[P-5-n5] of self-issued certificates need sudo below root, and not below an issuer", async () => {
    const paths = ["pki/root/sign-self-issued", "pki/issuer/two/sign-self-issued"]
    const granted = (...capabilities: readonly string[]) =>
      Object.fromEntries(paths.map((path) => [path, capabilities]))
    expect(await reached(await tokenFor(granted("update")))).toEqual(["issuer/two/sign-self-issued"])
    expect(await reached(await tokenFor(granted("sudo")))).toEqual([])
    expect(await reached(await tokenFor(granted("update", "sudo")))).toEqual([
      "root/sign-self-issued",
      "issuer/two/sign-self-issued",
    ])
  })
})

describe("privileged endpoints", () => {
  const privileged = [
    "sign-verbatim",
    "sign-verbatim/web",
    "root/sign-intermediate",
    "root/sign-self-issued",
    "issuer/two/sign-verbatim",
    "issuer/two/sign-verbatim/web",
    "issuer/two/sign-intermediate",
    "issuer/two/sign-self-issued",
  ]
  const selfServe = { "pki/issue/+": ["update"], "pki/sign/+": ["update"], "pki/revoke-with-key": ["update"] }
  const revoke = (serialNumber: string, token: string) =>
    world.pki("POST", "/pki/revoke", { token, body: { serial_number: serialNumber } })

  test("[P-5-n4] are denied to callers of a role, and allowed to operators by policy", async () => {
    const token = await tokenFor(selfServe)
    for (const path of privileged) expect(await ask(path, token)).toMatchObject(denied)
    for (const path of privileged) {
      const operator = await tokenFor({ [`pki/${path}`]: ["update", "sudo"] })
      expect(await reached(operator)).toEqual([path])
    }
  })

  test("[P-5-n4] revoking depends on the policy, not on the issuing caller", async () => {
    const own = await tokenFor(selfServe)
    const { serial_number: serialNumber } = (await ask("issue/web", own)).body.data
    expect(await revoke(serialNumber, own)).toMatchObject(denied)
    const operator = await tokenFor({ "pki/revoke": ["update"] })
    expect(await reached(operator)).toEqual([])
    const revoked = await revoke(serialNumber, operator)
    expect(revoked.body.data).toMatchObject({ state: "revoked", serial_number: serialNumber })
    const byKey = { "pki/revoke-with-key": ["update"] }
    expect(await revoke(serialNumber, await tokenFor(byKey))).toMatchObject(denied)
  })
})

describe("a path with another spelling", () => {
  const rules = { "pki/sign/w*": ["update"], "pki/issue/web": ["update"], "pki/issuer/+/issue/web": ["update"] }
  const storedCount = async () => (await world.engine.pki("pki").certificates.list()).length

  test.each([
    "/pki/issue/web",
    "/pki/%69ssue/web",
    "/pki/issue/%77eb",
    "/%70ki/issue/web",
    "/pki/issue/mail/../web",
    "/pki/issue/mail/%2e%2e/web",
    "/elsewhere/../pki/issue/web",
    "/pki/issuer/%2E%2E/issue/web",
  ])("%s has the rights of the plain path", async (address) => {
    const token = await tokenFor(rules)
    expect((await world.pki("POST", address, { token, body: name })).status).toBe(200)
  })

  test.each([
    { address: "/pki/issue/mail%2F..%2Fweb", status: 403 },
    { address: "/pki/issue/web%2F..%2Fmail", status: 403 },
    // A path that ends in a slash is checked as a list under the rule without the slash; no role has such a name.
    { address: "/pki/issue/web%2F", status: 400 },
    { address: "/pki/issue/web%20", status: 403 },
    { address: "/pki/issue/Web", status: 403 },
    { address: "/pki/issue/web%00", status: 404 },
    { address: "/pki/issue/mail/..%2fweb", status: 404 },
    { address: "/pki//issue/web", status: 404 },
    { address: "//pki/issue/web", status: 404 },
    { address: "/pki/issue/web/", status: 400 },
    { address: "/pki/issue/web/./../mail", status: 403 },
    { address: "/pki/issue/web/%2e%2e/mail", status: 403 },
    { address: "/pki%2Fissue/web", status: 404 },
    { address: "/pki%2Fissue%2Fweb", status: 404 },
    // "+" in a rule matches one segment only.
    { address: "/pki/issuer/two%2Fissue/web", status: 404 },
    { address: "/pki/issuer/one%2Ftwo/issue/web", status: 403 },
    { address: "/pki/issuer/one%2Fissue%2Fweb/sign-intermediate", status: 403 },
    // "*" at the end of a rule matches the rest as a name, never as a path to another endpoint.
    { address: "/pki/sign/w%2F..%2F..%2Fsign-verbatim", status: 400 },
    { address: "/pki/sign/web%2F..%2Fmail", status: 400 },
  ])("$address is not allowed by any policy: $status", async ({ address, status }) => {
    const token = await tokenFor(rules)
    const before = await storedCount()
    const answer = await world.pki("POST", address, { token, body: { ...name, csr } })
    expect(answer.status).toBe(status)
    expect(await storedCount()).toBe(before)
  })
})

test.each<{ where: string; query?: string; headers?: (token: string) => Record<string, string> }>([
  { where: "in the query", query: "?token=TOKEN" },
  { where: "in the query, as its header is called", query: "?X-Service-Token=TOKEN&x-vault-token=TOKEN" },
  { where: "in a cookie", headers: (token) => ({ cookie: `X-Service-Token=${token}; X-Vault-Token=${token}` }) },
  {
    where: "as a password",
    headers: (token) => ({ authorization: `Basic ${Buffer.from(`root:${token}`).toString("base64")}` }),
  },
  { where: "behind another scheme", headers: (token) => ({ authorization: `Token ${token}` }) },
  {
    where: "beside an empty one",
    headers: (token) => ({ "x-service-token": "", authorization: `Bearer ${token}` }),
  },
])("a token $where is ignored and not repeated", async ({ query = "", headers = () => ({}) }) => {
  const { rootToken } = world
  const address = `/pki/issue/web${query.replaceAll("TOKEN", rootToken)}`
  const answer = await world.pki("POST", address, { token: null, body: name, headers: headers(rootToken) })
  expect(answer).toMatchObject(denied)
  expect(JSON.stringify([answer.body, [...answer.headers]])).not.toContain(rootToken)
})
