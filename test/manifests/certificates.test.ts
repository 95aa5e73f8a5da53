// A Certificate without a cluster: `chancery reconcile` stores the same as a cluster would.
import { spawn } from "node:child_process"
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { parse } from "yaml"
import { startServer } from "../../engine/src/server/server.ts"
import { openssl } from "../../engine/testing/openssl.ts"
import { openTestEngine } from "../../engine/testing/test-engine.ts"
import { temporaryFolder } from "../cli/chancery.ts"

const chancery = fileURLToPath(new URL("../../engine/bin/chancery.js", import.meta.url))
const dayMs = 86_400_000

function run(
  folder: string,
  ...words: readonly string[]
): Promise<{ readonly code: number | null; readonly out: string }> {
  const child = spawn(process.execPath, [chancery, ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] },
    stdio: ["ignore", "pipe", "ignore"],
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  let out = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text))
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out })))
}

const manifest = (kind: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: "chancery.dev/v1alpha1", kind, metadata: { name }, spec })

test("a certificate is issued under a role of the folder, stored readable by its owner only, and revoked with its manifest", async () => {
  const testEngine = await openTestEngine({ jobs: false })
  const { engine } = testEngine
  await engine.mounts.create({ path: "pki", config: { maxLeaseTtlMs: 3_650 * dayMs } })
  const pki = engine.pki("pki")
  await pki.issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 3_000 * dayMs })
  const server = await startServer({ engine })
  onTestFinished(async () => {
    await server.close()
    await testEngine[Symbol.asyncDispose]()
  })
  const folder = await temporaryFolder()
  onTestFinished(() => folder[Symbol.asyncDispose]())
  const at = (...names: readonly string[]) => join(folder.path, ...names)
  await mkdir(at("manifests"))
  const put = (file: string, text: string) => writeFile(at("manifests", file), text)
  const connectionRef = { name: "engine" }
  await put(
    "token.yaml",
    JSON.stringify({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "engine" },
      stringData: { token: testEngine.rootToken },
    }),
  )
  await put("engine.yaml", manifest("Connection", "engine", { baseURL: server.url, tokenSecretRef: connectionRef }))
  await put("ca.yaml", manifest("Issuer", "ca", { connectionRef, mount: "pki", caChainConfigMap: "chain" }))
  const rules = { allowedDomains: ["example.com"], allowSubdomains: true, keyType: "ec", ttl: "2160h" }
  await put("role.yaml", manifest("CertificateRole", "web", { connectionRef, mount: "pki", ...rules }))
  await put(
    "web.yaml",
    manifest("Certificate", "web", {
      secretName: "web-tls",
      issuerRef: { name: "ca" },
      role: "web",
      dnsNames: ["www.example.com"],
      trust: { publishTo: { configMapName: "trust" } },
      revocationPolicy: { onDelete: true },
    }),
  )
  const reconcile = () => run(folder.path, "reconcile", "manifests", "--data", "data")
  const first = await reconcile()
  expect(first).toMatchObject({
    code: 0,
    out: expect.stringMatching(/Certificate +default\/web +ready +Issued/) as string,
  })

  const stateFolder = at("data/manifests")
  const file = join(stateFolder, "secrets/default/web-tls.yaml")
  const read = async () => parse(await readFile(file, "utf8")) as { data: Record<string, string> }
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await readdir(join(stateFolder, "secrets/default"))).toSorted()).toEqual(["engine.yaml", "web-tls.yaml"])
  expect((await readdir(join(stateFolder, "configmaps/default"))).toSorted()).toEqual(["chain.yaml", "trust.yaml"])
  const { data } = await read()
  const pem = (key: string) => Buffer.from(data[key] ?? "", "base64").toString()
  const files = { "chain.pem": pem("tls.crt"), "ca.pem": pem("ca.crt") }
  expect(openssl(["verify", "-x509_strict", "-CAfile", "ca.pem", "chain.pem"], files)).toBe("chain.pem: OK\n")

  const before = (await stat(file)).mtimeMs
  expect((await reconcile()).code).toBe(0)
  expect((await stat(file)).mtimeMs).toBe(before)

  const serial = openssl(["x509", "-in", "chain.pem", "-noout", "-serial"], files).replace(/serial=|\n/g, "")
  const serialNumber = serial.toLowerCase().replaceAll(/(..)(?=.)/g, "$1:")
  await rm(at("manifests/web.yaml"))
  expect((await reconcile()).code).toBe(0)
  expect((await pki.certificates.get(serialNumber)).revokedAt).not.toBeNull()
  expect(await readdir(join(stateFolder, "secrets/default"))).toEqual(["engine.yaml"])
})
