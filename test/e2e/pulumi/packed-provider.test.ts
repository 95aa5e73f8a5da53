// The packed provider runs, and contains every module that it loads lazily.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { openEmbedded } from "../../../engine/src/embedded.ts"
import { openssl } from "../../../engine/testing/openssl.ts"
import type { KindName } from "../../../provider/src/lifecycle/kind-name.ts"
import { providerText } from "../../../provider/src/dynamic/pulumi-resource.ts"
import { type DynamicServer, startDynamicServer, type Values } from "./dynamic-server.ts"
import { installPackedProvider } from "./packed-provider.ts"
import { buildProvider } from "./stack.ts"

async function startPacked(): Promise<DynamicServer> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-packed-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await buildProvider()
  await installPackedProvider(folder)
  const url = `sqlite:${join(folder, "engine.db")}`
  await using engine = await openEmbedded(url, { jobs: false })
  await engine.organizations.create({ name: "acme", email: "acme@example.com" })
  return await startDynamicServer({ CHANCERY_ENGINE_URL: url }, folder)
}

const declared = (kind: KindName, values: Values): Values => ({
  ...values,
  __marker: "m",
  __provider: providerText(kind),
})

test("a packed provider runs, with worker threads and lazily loaded modules of the engine", async () => {
  await using server = await startPacked()

  const workspace = declared("workspace", { organization: "acme", name: "api" })
  const { id, outs } = await server.create(workspace)
  expect(await server.diff(id, outs, workspace)).toEqual({ isSame: true, replaces: [] })
  expect(await server.read(id, outs)).toMatchObject({ id, inputs: undefined })

  await server.create(declared("pkiMount", { path: "pki" }))
  const root = { mount: "pki", kind: "root", name: "root", commonName: "Root", keyType: "rsa", keyBits: 2048 }
  expect((await server.create(declared("pkiIssuer", root))).outs["certificate"]).toContain("BEGIN CERTIFICATE")

  // Certificate bundles are parsed by a package that nothing else needs.
  const key = openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
  const certificate = openssl(["req", "-x509", "-key", "key.pem", "-subj", "/CN=Elsewhere"], { "key.pem": key })
  const others = openssl(["crl2pkcs7", "-nocrl", "-certfile", "ca.pem"], { "ca.pem": certificate })
  const bundle = certificate + others + key
  const imported = await server.create(
    declared("pkiIssuer", { mount: "pki", kind: "imported", name: "elsewhere", bundle }),
  )
  expect(imported.outs["certificate"]).toContain("BEGIN CERTIFICATE")
})
