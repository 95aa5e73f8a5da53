// What is packed runs by its bundle, in which nothing is missing that is loaded later; a checkout never does, whose bundle may be
// older than what was compiled.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { openEmbedded } from "../../engine/src/embedded.ts"
import { openssl } from "../../engine/src/testing/openssl.ts"
import type { KindName } from "../../provider/src/kind-name.ts"
import { providerText } from "../../provider/src/shell.ts"
import { type DynamicServer, startDynamicServer, type Values } from "./dynamic-server.ts"
import { installPackedProvider } from "./packed-provider.ts"
import { buildProvider } from "./stack.ts"

interface Installation {
  /** The provider's package. */
  readonly installed: string
  start(): Promise<DynamicServer>
}

async function installation(): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-packed-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await buildProvider()
  const installed = await installPackedProvider(folder)
  const url = `sqlite:${join(folder, "engine.db")}`
  await using engine = await openEmbedded(url, { jobs: false })
  await engine.organizations.create({ name: "acme", email: "acme@example.com" })
  return { installed, start: () => startDynamicServer({ CHANCERY_ENGINE_URL: url }, folder) }
}

const declared = (kind: KindName, values: Values): Values => ({
  ...values,
  __marker: "m",
  __provider: providerText(kind),
})

test("a packed provider runs by its bundle, with threads and what the engine loads late", async () => {
  const { installed, start } = await installation()
  await rm(join(installed, "dist/v1.js"))
  await using server = await start()

  const workspace = declared("workspace", { organization: "acme", name: "api" })
  const { id, outs } = await server.create(workspace)
  expect(await server.diff(id, outs, workspace)).toEqual({ isSame: true, replaces: [] })
  expect(await server.read(id, outs)).toMatchObject({ id, inputs: undefined })

  await server.create(declared("pkiMount", { path: "pki" }))
  const root = { mount: "pki", kind: "root", name: "root", commonName: "Root", keyType: "rsa", keyBits: 2048 }
  expect((await server.create(declared("pkiIssuer", root))).outs["certificate"]).toContain("BEGIN CERTIFICATE")

  // A bundle of certificates is read by a package that nothing else needs.
  const key = openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
  const certificate = openssl(["req", "-x509", "-key", "key.pem", "-subj", "/CN=Elsewhere"], { "key.pem": key })
  const others = openssl(["crl2pkcs7", "-nocrl", "-certfile", "ca.pem"], { "ca.pem": certificate })
  const bundle = certificate + others + key
  const imported = await server.create(
    declared("pkiIssuer", { mount: "pki", kind: "imported", name: "elsewhere", bundle }),
  )
  expect(imported.outs["certificate"]).toContain("BEGIN CERTIFICATE")
})

test("a bundle beside sources is not used", async () => {
  const { installed, start } = await installation()
  await mkdir(join(installed, "src"))
  await writeFile(join(installed, "bundled/v1.js"), "throw new Error('an older build')\n")
  await using server = await start()

  const { failures } = await server.check(declared("workspace", { organization: "acme", name: "api" }))
  expect(failures).toEqual([])
})

test("a bundle tells whose work it holds, and on what terms", async () => {
  const { installed } = await installation()

  const licenses = await readFile(join(installed, "bundled/LICENSES.txt"), "utf8")
  for (const name of ["kysely", "pg-types", "pgpass", "undici", "zod"])
    expect(licenses).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\\n[^-]*(Copyright|MIT)`, "m"))
})
