// The commands of docs/from-hcp-terraform.md and docs/from-vault.md, run as written. Chancery serves the API of the old server too.
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { type Block, typedPage } from "../documents/typed-page.ts"
import { printNotice } from "../toolchain/missing.ts"
import { run, serve, type Served, temporaryFolder } from "./chancery.ts"

const workspaces = typedPage(import.meta.url, "docs/from-hcp-terraform.md")
const authorities = typedPage(import.meta.url, "docs/from-vault.md")

const hasTools = await promisify(execFile)("sh", ["-c", "command -v curl && command -v jq && command -v openssl"]).then(
  () => true,
  () => false,
)
if (!hasTools)
  printNotice("curl, jq or openssl is missing, so the pages about moving from other servers are not typed.")

interface Resource {
  readonly id: string
  readonly attributes: Readonly<Record<string, unknown>>
}

interface VaultAnswer {
  readonly data: Readonly<Record<string, unknown>>
  readonly auth: { readonly client_token: unknown }
}

interface Site extends AsyncDisposable {
  readonly served: Served
  readonly token: string
}

/** Starts a server with the organizations in a folder below `place`. */
async function openSite(place: string, organizations: readonly string[] = []): Promise<Site> {
  const environment = { CHANCERY_DATA: place }
  for (const name of organizations)
    await run(["organization", "create", name, "--email", "ops@example.com"], { environment })
  const { out } = await run(["token", "create", "--user", "root"], { environment })
  const served = await serve(["serve"], { environment })
  return { served, token: out.trim(), [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() }
}

/** Returns a function that runs blocks in one session: variables and the functions of the first block stay. */
async function openSession(
  folder: string,
  {
    first,
    placed,
    environment,
  }: { first: Block; placed: (script: string) => string; environment: Record<string, string> },
) {
  await writeFile(join(folder, "session"), "")
  const functions = first.commands.filter((command) => /^\w+\(\)/.test(command)).join("\n")
  return (block: Block): Promise<string> =>
    block.type({
      folder,
      environment: { PATH: process.env["PATH"], HOME: folder, ...environment },
      before: ["set -a", ". ./session", functions].join("\n"),
      placed,
      after: "export -p > session",
    })
}

test.skipIf(!hasTools)("a workspace moves with its tags, variables and state", { timeout: 300_000 }, async () => {
  await using folder = await temporaryFolder()
  await using site = await openSite(join(folder.path, "data"), ["acme", "other"])
  const api = `${site.served.url}/api/v2`
  const call = async <T = Resource>(method: string, path: string, body?: unknown): Promise<{ readonly data: T }> => {
    const response = await fetch(`${api}${path}`, {
      method,
      headers: { authorization: `Bearer ${site.token}`, "content-type": "application/vnd.api+json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    expect([method, path, response.ok]).toEqual([method, path, true])
    return (response.status === 204 ? {} : await response.json()) as { readonly data: T }
  }
  const document = (type: string, attributes: unknown) => ({ data: { type, attributes } })
  const old = await call("POST", "/organizations/acme/workspaces", document("workspaces", { name: "network" }))
  const path = `/workspaces/${old.data.id}`
  await call("POST", `${path}/relationships/tags`, { data: [{ type: "tags", attributes: { name: "production" } }] })
  await call("PATCH", `${path}/tag-bindings`, {
    data: [{ type: "tag-bindings", attributes: { key: "team", value: "net" } }],
  })
  await call(
    "POST",
    `${path}/vars`,
    document("vars", { key: "text", value: 'two\nlines, "quoted"', category: "terraform" }),
  )
  await call("POST", `${path}/vars`, document("vars", { key: "SECRET", value: "s", category: "env", sensitive: true }))
  const state = JSON.stringify({
    version: 4,
    terraform_version: "1.9.0",
    serial: 3,
    lineage: "a-b",
    outputs: {},
    resources: [],
  })
  const md5 = createHash("md5").update(state).digest("hex")
  await call("POST", `${path}/actions/lock`, {})
  const version = { serial: 3, lineage: "a-b", md5, state: Buffer.from(state).toString("base64") }
  await call("POST", `${path}/state-versions`, document("state-versions", version))
  await call("POST", `${path}/actions/unlock`)

  const heading = "Move a workspace"
  const type = await openSession(folder.path, {
    first: workspaces.block(heading),
    placed: (script) =>
      script
        .replace("https://app.terraform.io/api/v2", api)
        .replace("https://chancery.example/api/v2", api)
        .replace("to_organization=acme", "to_organization=other"),
    environment: { HCP_TOKEN: site.token, CHANCERY_TOKEN: site.token },
  })
  const outputs: string[] = []
  for (let index = 0; index < 6; index += 1) outputs.push(await type(workspaces.block(heading, index)))
  expect(outputs[4]).toBe("SECRET\n")

  const { data } = await call("GET", "/organizations/other/workspaces/network")
  expect(data.attributes).toMatchObject({ "tag-names": ["production"], locked: false, "execution-mode": "local" })
  const variables = await call<Resource[]>("GET", `/workspaces/${data.id}/vars`)
  const values = variables.data.map(({ attributes }) => [String(attributes["key"]), attributes["value"]])
  expect(Object.fromEntries(values)).toEqual({ text: 'two\nlines, "quoted"', SECRET: null })
  const bindings = await call<Resource[]>("GET", `/workspaces/${data.id}/tag-bindings`)
  expect(bindings.data[0]?.attributes).toMatchObject({ key: "team", value: "net" })
  const current = await call("GET", `/workspaces/${data.id}/current-state-version`)
  expect(current.data.attributes).toMatchObject({ serial: 3, lineage: "a-b", md5, status: "finalized" })
})

test.skipIf(!hasTools)("roles, certificates and AppRole move from a Vault API", { timeout: 300_000 }, async () => {
  await using folder = await temporaryFolder()
  await using old = await openSite(join(folder.path, "old"))
  await using site = await openSite(join(folder.path, "new"))
  const write = async (path: string, body: unknown): Promise<void> => {
    const response = await fetch(`${old.served.url}/v1/${path}`, {
      method: "POST",
      headers: { "x-vault-token": old.token, "content-type": "application/json" },
      body: JSON.stringify(body),
    })
    expect([path, response.ok]).toEqual([path, true])
  }
  for (const mount of ["pki-root", "pki"]) {
    await write(`sys/mounts/${mount}`, { type: "pki", config: { max_lease_ttl: "87600h" } })
    await write(`${mount}/root/generate/internal`, { common_name: mount, key_type: "ec", ttl: "87600h" })
  }
  await write("pki/roles/web", { allowed_domains: "example.com", allow_subdomains: true, key_type: "ec", ttl: "72h" })
  await write("pki/issue/web", { common_name: "www.example.com" })
  await write("pki/config/urls", { crl_distribution_points: ["http://ca.example/v1/pki/crl"] })
  await write("sys/auth/approle", { type: "approle" })
  await write("auth/approle/role/web", {})
  await write("auth/approle/role/web/role-id", { role_id: "web-1" })

  const type = await openSession(folder.path, {
    first: authorities.block("Copy mounts and roles"),
    placed: (script) => script,
    environment: {
      VAULT_ADDR: old.served.url,
      VAULT_TOKEN: old.token,
      server: site.served.url,
      TOKEN: site.token,
      SECRET_ID: "known-secret-id",
    },
  })
  await type(authorities.block("Copy mounts and roles"))
  await type(authorities.block("Import an issuer with its key"))
  expect(await readdir(join(folder.path, "issued"))).toHaveLength(2)
  expect((await readFile(join(folder.path, "old.crl"))).length).toBeGreaterThan(100)
  await type(authorities.block("Issue a new intermediate"))
  await type(authorities.block("Policies and logins"))

  const read = async (path: string, init: RequestInit = {}): Promise<VaultAnswer> => {
    const response = await fetch(`${site.served.url}/v1/${path}`, { headers: { "x-vault-token": site.token }, ...init })
    return (await response.json()) as VaultAnswer
  }
  expect((await read("pki/roles/web")).data).toMatchObject({ allowed_domains: ["example.com"], ttl: 259_200 })
  expect((await read("pki/config/urls")).data["crl_distribution_points"]).toEqual(["http://ca.example/v1/pki/crl"])
  const issue = { method: "POST", body: JSON.stringify({ common_name: "a.example.com" }) }
  expect((await read("pki/issue/web", issue)).data["ca_chain"]).toHaveLength(2)
  const login = { method: "POST", body: JSON.stringify({ role_id: "web-1", secret_id: "known-secret-id" }) }
  expect((await read("auth/approle/login", login)).auth.client_token).toEqual(expect.any(String))
})
