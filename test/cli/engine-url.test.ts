// Every command uses the same engine: the server that the environment names, else the local database.
import { access, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openEmbedded } from "../../engine/src/embedded.ts"
import type { ServedEngine } from "../../engine/src/engine.ts"
import { ReloadableIdentity } from "../../engine/src/server/http/secure-context.ts"
import { startServer } from "../../engine/src/server/server.ts"
import { run, temporaryFolder } from "./chancery.ts"

const file = (name: string): string => fileURLToPath(new URL(`tls/${name}.pem`, import.meta.url))

const opened = new AsyncDisposableStack()
let engine: ServedEngine
let url: string
let secureUrl: string
let token: string
beforeAll(async () => {
  engine = opened.use(await openEmbedded("sqlite::memory:", { jobs: false }))
  await engine.organizations.create({ name: "acme", email: "acme@example.com" })
  await engine.mounts.create({ path: "pki" })
  const account = await engine.users.account()
  token = (await engine.tokens.createForUser(account.id, { description: "test" })).secret
  const plain = await startServer({ engine })
  opened.defer(async () => void (await plain.close()))
  url = plain.url
  const [certificate, privateKey] = await Promise.all([
    readFile(file("certificate"), "utf8"),
    readFile(file("key"), "utf8"),
  ])
  const secure = await startServer({ engine, tls: { source: new ReloadableIdentity({ certificate, privateKey }) } })
  opened.defer(async () => void (await secure.close()))
  secureUrl = secure.url
})
afterAll(() => opened.disposeAsync())

const missing = { code: "ENOENT" }

describe("[F-C1] with CHANCERY_ENGINE_URL", () => {
  test.each([
    { words: ["organization", "list"], out: "acme" },
    {
      words: ["organization", "create", "globex", "--email", "globex@example.com"],
      out: "Created the organization globex",
    },
    { words: ["mount", "list"], out: "pki/" },
    { words: ["mount", "create", "team/pki"], out: "Mounted team/pki/" },
    { words: ["token", "list", "--user", "root"], out: "test" },
    { words: ["policy", "list"], out: "root" },
    { words: ["acme", "accounts", "list", "pki"], out: "ID" },
    { words: ["workspace", "list", "--organization", "acme"], out: "NAME" },
  ])("$words sends a request to the server, and opens no store", async ({ words, out }) => {
    await using folder = await temporaryFolder()
    const environment = { CHANCERY_ENGINE_URL: url, CHANCERY_TOKEN: token }
    const ended = await run(words, { environment, folder: folder.path })
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining(out) })
    await expect(access(join(folder.path, ".chancery"))).rejects.toMatchObject(missing)
  })

  test("token create creates a token on the server", async () => {
    await using folder = await temporaryFolder()
    const environment = { CHANCERY_ENGINE_URL: url, CHANCERY_TOKEN: token }
    const created = await run(["token", "create", "--user", "root"], { environment, folder: folder.path })
    const listed = await run(["organization", "list"], {
      environment: { ...environment, CHANCERY_TOKEN: created.out.trim() },
      folder: folder.path,
    })
    expect(listed).toMatchObject({ code: 0, out: expect.stringContaining("acme") })
  })

  test("audit hash fails because it needs the store", async () => {
    await using folder = await temporaryFolder()
    const environment = { CHANCERY_ENGINE_URL: url, CHANCERY_TOKEN: token }
    const ended = await run(["audit", "hash", "text"], { environment, folder: folder.path })
    expect(ended).toMatchObject({ code: 78, out: "", stderr: expect.stringContaining("needs the store") })
    await expect(access(join(folder.path, ".chancery"))).rejects.toMatchObject(missing)
  })
})

test.each([
  [["organization", "list"]],
  [["token", "list", "--user", "root"]],
  [["mount", "list"]],
  [["policy", "read", "root"]],
  [["acme", "accounts", "list", "pki"]],
  [["workspace", "list"]],
  [["audit", "hash", "text"]],
])("[F-C1] %s without a store creates none", async (words) => {
  await using folder = await temporaryFolder()
  const ended = await run(words, { folder: folder.path })
  expect(ended).toMatchObject({ code: 78, out: "", stderr: expect.stringContaining("No store exists at") })
  await expect(access(join(folder.path, ".chancery"))).rejects.toMatchObject(missing)
})

describe("[F-C4] a server with a certificate of a private authority", () => {
  const list = (environment: Record<string, string>, ...words: string[]) =>
    run(["organization", "list", "--engine-url", secureUrl, ...words], {
      environment: { CHANCERY_TOKEN: token, ...environment },
    })

  test("is rejected, and the error names --ca-file", async () => {
    const { code, stderr } = await list({})
    expect(code).toBe(78)
    expect(stderr).toMatch(/certificate that is not trusted.*--ca-file or CHANCERY_CA_FILE/)
  })

  test.each([
    { by: "--ca-file", environment: {}, words: ["--ca-file", file("certificate")] },
    { by: "CHANCERY_CA_FILE", environment: { CHANCERY_CA_FILE: file("certificate") }, words: [] },
  ])("is trusted by $by", async ({ environment, words }) => {
    expect(await list(environment, ...words)).toMatchObject({ code: 0, out: expect.stringContaining("acme") })
  })

  test("a CA file without a certificate is named in the error", async () => {
    const { code, stderr } = await list({}, "--ca-file", file("key"))
    expect(code).toBe(78)
    expect(stderr).toContain(`${file("key")} does not contain a PEM certificate`)
  })
})
