// consul-template renders files from a server on a socket, and renders them again before their certificates expire.
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { createPrivateKey, X509Certificate } from "node:crypto"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { dayMs, hourMs } from "../../../engine/src/core/time.ts"
import { type RunningServer, startServer } from "../../../engine/src/server/server.ts"
import { openTestEngine, type TestEngine } from "../../../engine/testing/test-engine.ts"
import { consulTemplateFolder, goProgram } from "../../toolchain/go-modules.ts"

const program = (await goProgram(consulTemplateFolder)) ?? ""

const rules = `
path "pki/issue/+" { capabilities = ["create", "update"] }
`

/** Templates by file name. The certificates are valid for a minute, and are renewed after a twentieth of that. */
const templates = {
  "authority.pem": `{{ with secret "pki/cert/ca" }}{{ .Data.certificate }}{{ end }}`,
  "certificate.pem": `{{ with pkiCert "pki/issue/web" "common_name=web.example.com" "ttl=60s" }}{{ .Cert }}{{ .CA }}{{ .Key }}{{ end }}`,
  "secret.pem": `{{ with secret "pki/issue/web" "common_name=secret.example.com" "ttl=60s" }}{{ .Data.certificate }}{{ end }}`,
  "leased.pem": `{{ with secret "pki/issue/leased" "common_name=leased.example.com" "ttl=60s" }}{{ .Data.certificate }}{{ end }}`,
}
const renewed = ["certificate.pem", "secret.pem", "leased.pem"] as const

describe.skipIf(program === "")("consul-template", () => {
  let testEngine: TestEngine
  let server: RunningServer
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "chancery-consul-template-"))
    testEngine = await openTestEngine()
    server = await startServer({ engine: testEngine.engine })
    await testEngine.engine.mounts.create({ path: "pki", config: { maxLeaseTtlMs: 365 * dayMs } })
    await sendPki("/pki/root/generate/internal", { common_name: "Root", key_type: "ec", ttl: "8760h" })
    const role = { allowed_domains: "example.com", allow_subdomains: true, key_type: "ec", not_before_duration: "1s" }
    await sendPki("/pki/roles/web", role)
    await sendPki("/pki/roles/leased", { ...role, generate_lease: true })
    await testEngine.engine.policies.put("renderer", rules)
  })
  afterAll(async () => {
    await server.close()
    await testEngine[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  async function sendPki(path: string, body: object): Promise<void> {
    const { status, body: answer } = await testEngine.pki("POST", path, { body })
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`)
  }

  /** Returns the arguments of a run, and the accessor of its token. */
  async function configured(name: string, wanted: Readonly<Record<string, string>>, { retries = false } = {}) {
    const { secret, token } = await testEngine.engine.serviceTokens.create({ policies: ["renderer"], ttlMs: hourMs })
    const files = Object.entries(wanted).map(
      ([file, template]) => `template {
  destination = ${JSON.stringify(join(folder, name, file))}
  contents = ${JSON.stringify(template)}
}`,
    )
    const configuration = join(folder, `${name}.hcl`)
    await writeFile(
      configuration,
      `vault {
  address = ${JSON.stringify(server.url)}
  token = ${JSON.stringify(secret)}
  renew_token = true
  lease_renewal_threshold = 0.05
  retry { enabled = ${retries} }
}
${files.join("\n")}
`,
    )
    return { args: ["-config", configuration, "-log-level", "warn"], accessor: token.accessor }
  }

  const environment = () => ({ PATH: process.env["PATH"], HOME: folder })

  function run(args: readonly string[]): Promise<{ readonly code: unknown; readonly text: string }> {
    return new Promise((resolve) => {
      execFile(program, args, { env: environment() }, (error, out, stderr) => {
        resolve({ code: error === null ? 0 : error.code, text: out + stderr })
      })
    })
  }

  const rendered = (name: string, file: string) => readFile(join(folder, name, file), "utf8")

  test("renders an authority, a certificate with its key, and certificates with and without a lease", async () => {
    const { args } = await configured("once", templates)
    expect(await run([...args, "-once"])).toEqual({ code: 0, text: "" })
    const authority = new X509Certificate(await rendered("once", "authority.pem"))
    const bundle = await rendered("once", "certificate.pem")
    expect(bundle.match(/-----BEGIN [A-Z ]+-----/g)).toEqual([
      "-----BEGIN CERTIFICATE-----",
      "-----BEGIN CERTIFICATE-----",
      "-----BEGIN EC PRIVATE KEY-----",
    ])
    const certificate = new X509Certificate(bundle)
    expect(certificate.checkPrivateKey(createPrivateKey(bundle.slice(bundle.indexOf("-----BEGIN EC"))))).toBe(true)
    for (const [file, name] of [
      ["certificate.pem", "web.example.com"],
      ["secret.pem", "secret.example.com"],
      ["leased.pem", "leased.example.com"],
    ] as const) {
      const leaf = new X509Certificate(await rendered("once", file))
      expect([leaf.subjectAltName, leaf.verify(authority.publicKey)]).toEqual([`DNS:${name}`, true])
    }
  })

  test("renews its token, and replaces certificates before they expire", async () => {
    const { args, accessor } = await configured("running", templates, { retries: true })
    const running = spawn(program, args, { env: environment(), stdio: "ignore" })
    try {
      const seen = new Map(renewed.map((file) => [file, new Map<string, X509Certificate>()]))
      const certificateCount = async () => {
        for (const [file, certificates] of seen) {
          const text = await rendered("running", file).catch(() => "")
          if (text === "") continue
          const certificate = new X509Certificate(text)
          certificates.set(certificate.serialNumber, certificate)
        }
        return Math.min(...[...seen.values()].map(({ size }) => size))
      }
      await expect.poll(certificateCount).toBeGreaterThanOrEqual(2)
      const { lastRenewedAt } = await testEngine.engine.serviceTokens.lookup({ accessor })
      expect(lastRenewedAt).not.toBeNull()
    } finally {
      await ended(running)
    }
  })

  test("prints why it was rejected, and exits", async () => {
    const refused = `{{ with secret "pki/issue/web" "common_name=web.example.org" }}{{ .Data.certificate }}{{ end }}`
    const { args } = await configured("refused", { "refused.pem": refused })
    const { code, text } = await run([...args, "-once"])
    expect(code).not.toBe(0)
    expect(text).toContain("common name web.example.org not allowed by this role")
  })
})

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, "exit")
  // consul-template forwards other signals to the program that it may have started.
  child.kill("SIGINT")
  await exit
}
