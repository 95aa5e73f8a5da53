// A public generator makes a client from the served OpenAPI documents, as docs/openapi.md shows. The client compiles, and its calls
// succeed.
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type RunningServer, startServer } from "../../../engine/src/server/server.ts"
import { openTestEngine, type TestEngine } from "../../../engine/testing/test-engine.ts"
import { typedPage } from "../../documents/typed-page.ts"

const execute = promisify(execFile)
const page = typedPage(import.meta.url, "docs/openapi.md")
/** Fetched for this test alone, as is the generator. */
const validator = "@seriousme/openapi-schema-validator@2.11.0"
const validation = `
  import { readFile } from "node:fs/promises"
  import { Validator } from "@seriousme/openapi-schema-validator"
  const document = JSON.parse(await readFile(process.argv[2], "utf8"))
  const { valid, errors } = await new Validator().validate(document)
  console.log(JSON.stringify({ valid, errors: errors ?? [] }))
`

/** Fetched for this test only, with the compiler that it needs. */
const generator = ["@hey-api/openapi-ts@0.99.0", "typescript@npm:@typescript/typescript6@6.0.2", "@types/node@26.6.6"]
const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url))
const documentAt = async (name: string): Promise<unknown> =>
  JSON.parse(await readFile(new URL(`../../../docs/openapi/${name}.json`, import.meta.url), "utf8"))

/** One call of each family. The compiler checks what it sends and reads. */
const families = `import { client as certificates } from "./certificates/client.gen.js"
import * as vault from "./certificates/index.js"
import { client as workspaces } from "./workspaces/client.gen.js"
import * as tfe from "./workspaces/index.js"

const url = process.env["CHANCERY_URL"] ?? ""
const token = process.env["CHANCERY_TOKEN"] ?? ""
workspaces.setConfig({ baseUrl: url + "/api/v2", auth: token })
certificates.setConfig({ baseUrl: url + "/v1", headers: { "X-Vault-Token": token } })

const workspace_id = process.env["WORKSPACE"] ?? ""
const mount = "pki"
const variable = await tfe.variablesCreate({
  path: { workspace_id },
  body: { data: { type: "vars", attributes: { key: "region", value: "eu-west-1", category: "env" } } },
})
const teams = await tfe.teamsList({ path: { organization_name: "acme" }, query: { q: "own", "page[size]": 5 } })
const team = teams.data?.data[0]
const refused = await tfe.teamsCreate({
  path: { organization_name: "acme" },
  body: { data: { type: "teams", attributes: { name: "" } } },
})
const teamToken = await tfe.tokensCreateForTeam({ path: { team_id: team?.id ?? "" } })
const role = await vault.rolesSave({ path: { mount, name: "families" }, body: { allow_any_name: true, ttl: 3600 } })
const roles = await vault.rolesList({ path: { mount }, query: { list: "true" } })
const issued = await vault.certificatesIssue({ path: { mount, name: "families" }, body: { common_name: "a.example" } })
const serviceToken = await vault.serviceTokensCreate({ body: { policies: ["default"], ttl: "1h" } })
const wrong = await vault.rolesGet({ path: { mount, name: "absent" } })
const crl = await vault.crlFilesCrlPem({ path: { mount }, parseAs: "text" })
const health = await vault.serverHealth()
// ACME is off until the mount enables it.
const directory = await vault.acmeDirectory({ path: { mount } })
console.log(
  JSON.stringify({
    variable: variable.data?.data.attributes.key,
    team: team?.attributes.name,
    total: teams.data?.meta.pagination?.["total-count"],
    refused: refused.error?.errors[0]?.source?.pointer,
    teamToken: typeof teamToken.data?.data.attributes.token,
    role: role.data?.data?.ttl,
    roles: roles.data?.data?.keys.includes("families"),
    certificate: issued.data?.data?.certificate?.slice(0, 27),
    serviceToken: serviceToken.data?.auth?.policies,
    wrong: wrong.error?.errors,
    crl: String(crl.data).slice(0, 24),
    health: health.data?.["initialized"],
    directory: directory.error?.type,
  }),
)
`

const compilerOptions = {
  module: "nodenext",
  target: "es2024",
  lib: ["es2024", "dom", "dom.iterable"],
  strict: true,
  types: ["node"],
  rootDir: "src",
  outDir: "dist",
}

describe("a client that is generated from the OpenAPI documents", () => {
  let folder: string
  let testEngine: TestEngine
  let server: RunningServer
  let environment: Readonly<Record<string, string>>

  const run = async (program: string, ...args: readonly string[]): Promise<string> => {
    const outcome = await execute(program, args, { cwd: folder, env: environment }).catch((error: unknown) => {
      const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string }
      throw new Error(`${program}: ${stdout}${stderr}`)
    })
    return outcome.stdout
  }

  beforeAll(async () => {
    testEngine = await openTestEngine()
    server = await startServer({ engine: testEngine.engine })
    await testEngine.engine.organizations.create({ name: "acme", email: "owner@example.com" })
    const workspace = await testEngine.engine.workspaces.create("acme", { name: "network" })
    await testEngine.pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })
    await testEngine.pki("POST", "/pki/root/generate/internal", { body: { common_name: "Root", key_type: "ec" } })
    environment = {
      PATH: `${join(modules, ".bin")}:${process.env["PATH"] ?? ""}`,
      HOME: tmpdir(),
      CHANCERY_URL: server.url,
      CHANCERY_TOKEN: testEngine.rootToken,
      WORKSPACE: workspace.id,
    }
    folder = await mkdtemp(join(tmpdir(), "openapi-client-"))
    await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }')
    const options = ["--prefer-offline", "--no-audit", "--no-fund"]
    await execute("npm", ["install", ...options, ...generator, validator], { cwd: folder })
    await writeFile(join(folder, "validate.mjs"), validation)
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }))
    await page.block("Generate a client").write(join(folder, "openapi-ts.config.js"))
    await page
      .block("Generate a client", 1)
      .without(/^npm install/)
      .type({ folder, environment })
    await page.block("Call the client").write(join(folder, "src/main.ts"))
    await writeFile(join(folder, "src/families.ts"), families)
    await run("tsc")
  })
  afterAll(async () => {
    await server.close()
    await testEngine[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  test.each([
    { served: "workspaces.json", committed: "tfe" },
    { served: "certificates.json", committed: "vault" },
  ])("is generated from the committed document $committed", async ({ served, committed }) => {
    expect(JSON.parse(await readFile(join(folder, served), "utf8"))).toEqual(await documentAt(committed))
  })

  test.each(["workspaces.json", "certificates.json"])(
    "is generated from %s, which is valid OpenAPI 3.1",
    async (document) => {
      expect(JSON.parse(await run("node", "validate.mjs", document))).toEqual({ valid: true, errors: [] })
    },
  )

  test("compiles with TypeScript 6 as well", async () => {
    expect(await run("tsc6", "--noEmit")).toBe("")
  })

  test("runs the example of docs/openapi.md", async () => {
    expect(await run("node", "dist/main.js")).toMatch(/^platform 0\n([0-9a-f]{2}:)+[0-9a-f]{2}\n$/)
  })

  test("calls an operation of each family, and reads the errors", async () => {
    expect(JSON.parse(await run("node", "dist/families.js"))).toEqual({
      variable: "region",
      team: "owners",
      total: 1,
      refused: "/data/attributes/name",
      teamToken: "string",
      role: 3_600,
      roles: true,
      certificate: "-----BEGIN CERTIFICATE-----",
      serviceToken: ["default"],
      wrong: [],
      crl: "-----BEGIN X509 CRL-----",
      health: true,
      directory: "urn:ietf:params:acme:error:malformed",
    })
  })
})
