// Tests docs/acme.md: its commands for clients run as written, and its table of tested orders matches the tests.
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { once } from "node:events"
import { chown, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { connect } from "node:tls"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { codeBlocks } from "../../readme/shell-blocks.ts"
import { apache, apacheModules, caddy, certbot, challengeResponder, dehydrated, lego } from "../../toolchain/acme.ts"
import { publicProgram } from "../../toolchain/public-program.ts"
import { certbotClient } from "./acme-certbot.ts"
import { dehydratedClient } from "./acme-dehydrated.ts"
import { goClient } from "./acme-go.ts"
import { legoClient } from "./acme-lego.ts"
import { type AcmeClient, orderKinds, type OrderTitle } from "./acme-matrix.ts"
import { npmClient } from "./acme-npm.ts"
import { type AcmeFixture, namesInChain, openAcmeFixture } from "./acme-fixture.ts"

const document = "docs/acme.md"
const responder = (await publicProgram(challengeResponder)) ?? ""
const programs = {
  certbot: await publicProgram(certbot),
  lego: await publicProgram(lego),
  dehydrated: await publicProgram(dehydrated),
  caddy: await publicProgram(caddy),
  apache: await publicProgram(apache),
}
const paths = Object.values(programs).flatMap((program = "") => (program.includes("/") ? [dirname(program)] : []))
const written = { directory: "https://ca.example/v1/pki/acme/directory", root: "/etc/ssl/chancery-root.pem" }

describe.skipIf(responder === "")("docs/acme.md", () => {
  let fixture: AcmeFixture

  beforeAll(async () => {
    fixture = await openAcmeFixture(responder)
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  /** Makes a client host: a folder, and a loopback address that differs from a real host only in its ports. */
  async function machine(host: string, name: string) {
    const folder = join(fixture.folder, host)
    await mkdir(folder, { recursive: true })
    await fixture.responder.tell("add-a", { host: name, addresses: [host] })
    const env = { PATH: [...paths, process.env["PATH"]].join(":"), HOME: folder }
    const adapted = (text: string) =>
      text
        .replaceAll(written.directory, fixture.directory())
        .replaceAll(written.root, fixture.rootFile)
        .replaceAll("www.example.com", name)
    return {
      folder,
      env,
      adapted,
      type: (script: string) => promisify(execFile)("sh", ["-e", "-c", adapted(script)], { cwd: folder, env }),
    }
  }
  const onlyBlock = async (heading: string, language: string) => {
    const [block = "", ...others] = await codeBlocks(document, heading, language)
    expect([block, others]).toEqual([expect.stringMatching(/\S/), []])
    return block
  }

  test(
    "the commands for certbot obtain and renew",
    { concurrent: true, skip: programs.certbot === undefined },
    async () => {
      const host = "127.0.2.1"
      const { folder, type } = await machine(host, "certbot.example.com")
      const ini = [
        `http-01-address = ${host}`,
        `http-01-port = ${fixture.responder.httpPort}`,
        "force-renewal = true",
        "no-random-sleep-on-renew = true",
      ]
      const folders = ["config", "work", "logs"].map((kind) => `${kind}-dir = ${folder}/certbot`)
      await mkdir(join(folder, ".config/letsencrypt"), { recursive: true })
      await writeFile(join(folder, ".config/letsencrypt/cli.ini"), [...ini, ...folders, ""].join("\n"))
      const { stdout } = await type(await onlyBlock("certbot", "sh"))
      expect(stdout).toMatch(/Successfully received certificate[^]*all renewals succeeded/)
      const bundle = await readFile(join(folder, "certbot/live/certbot.example.com/fullchain.pem"), "utf8")
      expect(namesInChain(bundle, fixture.root)).toEqual(["DNS:certbot.example.com"])
    },
  )

  test(
    "the commands for lego obtain, and renew nothing too early",
    { concurrent: true, skip: programs.lego === undefined },
    async () => {
      const host = "127.0.2.2"
      const { folder, type } = await machine(host, "lego.example.com")
      const lines = await onlyBlock("lego", "sh")
      const { stderr } = await type(
        lines.replaceAll("--http", `--http --http.port ${host}:${fixture.responder.httpPort}`),
      )
      expect(stderr).toContain("no renewal")
      const bundle = await readFile(join(folder, ".lego/certificates/lego.example.com.crt"), "utf8")
      expect(namesInChain(bundle, fixture.root)).toEqual(["DNS:lego.example.com"])
    },
  )

  test(
    "the commands for dehydrated obtain, with a web server's folder",
    { concurrent: true, skip: programs.dehydrated === undefined },
    async () => {
      const host = "127.0.2.3"
      const { folder, adapted, type } = await machine(host, "dehydrated.example.com")
      const settings = adapted(await onlyBlock("dehydrated", "ini")).replace("/var/www/dehydrated", `${folder}/known`)
      await mkdir(join(folder, "known"))
      const config = join(folder, "config")
      await writeFile(config, `BASEDIR="${folder}"\n${settings}`)
      const server = createServer((request, response) => {
        const [, token = ""] = /^\/\.well-known\/acme-challenge\/([\w-]+)$/.exec(request.url ?? "") ?? []
        readFile(join(folder, "known", token), "utf8").then(
          (text) => response.end(text),
          () => response.writeHead(404).end(),
        )
      })
      await once(server.listen(fixture.responder.httpPort, host), "listening")
      try {
        await type((await onlyBlock("dehydrated", "sh")).replaceAll(/^dehydrated/gm, `dehydrated --config ${config}`))
      } finally {
        server.close()
      }
      const bundle = await readFile(join(folder, "certs/dehydrated.example.com/fullchain.pem"), "utf8")
      expect(namesInChain(bundle, fixture.root)).toEqual(["DNS:dehydrated.example.com"])
    },
  )

  test(
    "the configuration of Caddy serves with a certificate that Caddy obtained",
    { concurrent: true, skip: programs.caddy === undefined },
    async () => {
      const host = "127.0.2.4"
      const { folder, env, adapted } = await machine(host, "caddy.example.com")
      const { httpPort, tlsPort } = fixture.responder
      const own = `http_port ${httpPort}\nhttps_port ${tlsPort}\ndefault_bind ${host}\nadmin off\nstorage file_system ${folder}`
      const file = join(folder, "Caddyfile")
      await writeFile(file, adapted(await onlyBlock("Caddy", "caddyfile")).replace("{\n", `{\n${own}\n`))
      const child = spawn(programs.caddy ?? "", ["run", "--config", file], { env, cwd: folder, stdio: "ignore" })
      try {
        const shown = () => certificateShown({ host, port: tlsPort, servername: "caddy.example.com", ca: fixture.root })
        await expect.poll(shown).toBe("caddy.example.com")
      } finally {
        await end(child)
      }
    },
  )

  test(
    "the configuration of Apache serves with a certificate that Apache obtained, after a reload",
    { concurrent: true, skip: programs.apache === undefined },
    async ({ expect }) => {
      const [host, name] = ["127.0.2.5", "apache.example.com"]
      const { env, adapted } = await machine(host, name)
      const { httpPort, tlsPort } = fixture.responder
      // Apache drops to an unprivileged user if root starts it, and only the owner of the fixture's folder can read that folder.
      const folder = await mkdtemp(join(tmpdir(), "chancery-apache-"))
      const identity = process.getuid?.() === 0 ? { uid: nobodyId, gid: nobodyId } : {}
      const rootFile = join(folder, "root.pem")
      await writeFile(rootFile, fixture.root)
      const binding = await fixture.newBinding()
      const configuration = adapted(await onlyBlock("Apache", "apache"))
        .replaceAll(fixture.rootFile, rootFile)
        .replace("KID KEY", `${binding.id} ${binding.key}`)
      const modules = ["mpm_event", "authz_core", "ssl", "md"].map(
        (module) => `LoadModule ${module}_module ${apacheModules(programs.apache ?? "")}/mod_${module}.so`,
      )
      const own = [
        ...[`ServerRoot ${folder}`, `ServerName ${name}`, `PidFile ${folder}/pid`, `ErrorLog ${folder}/errors`],
        ...[`DefaultRuntimeDir ${folder}`, `MDStoreDir ${folder}/md`, `MDPortMap http:${httpPort} https:${tlsPort}`],
        ...[`Listen ${host}:${httpPort}`, `Listen ${host}:${tlsPort}`],
      ]
      const site = [`<VirtualHost ${host}:${tlsPort}>`, `ServerName ${name}`, "SSLEngine on", "</VirtualHost>", ""]
      const file = join(folder, "apache.conf")
      await writeFile(file, [...modules, ...own, configuration, ...site].join("\n"))
      if (process.getuid?.() === 0) await chown(folder, nobodyId, nobodyId)
      const options = { env, cwd: folder, stdio: "ignore", ...identity } as const
      const child = spawn(programs.apache ?? "", ["-d", folder, "-f", file, "-DFOREGROUND"], options)
      try {
        const staged = () => readFile(join(folder, "md/staging", name, "pubcert.pem"), "utf8").catch(() => "")
        await expect.poll(staged, { timeout: timeoutMs }).toContain("BEGIN CERTIFICATE")
        child.kill("SIGUSR1")
        const shown = () => certificateShown({ host, port: tlsPort, servername: name, ca: fixture.root })
        await expect.poll(shown, { timeout: timeoutMs }).toBe(name)
      } finally {
        await end(child)
        await rm(folder, { recursive: true, force: true })
      }
    },
  )
})

const nobodyId = 65_534
/** mod_md waits for several seconds between its steps. */
const timeoutMs = 60_000

/** Returns the name in the certificate that the server presents, if its chain leads to the root. */
function certificateShown(options: {
  readonly host: string
  readonly port: number
  readonly servername: string
  readonly ca: string
}): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(options, () => {
      const { raw } = socket.getPeerCertificate()
      resolve(new X509Certificate(raw).subjectAltName?.replace("DNS:", "") ?? "no name")
      socket.destroy()
    })
    socket.once("error", (error) => resolve(error.message))
  })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill("SIGTERM")
  await once(child, "exit")
}

const clients: readonly AcmeClient[] = [
  certbotClient({ name: "certbot 2", program: "", ordersAddresses: false }),
  certbotClient({ name: "certbot 5", program: "", ordersAddresses: true }),
  legoClient(""),
  dehydratedClient(""),
  npmClient,
  goClient("", "caddy"),
  goClient("", "cert-manager"),
]

test("docs/acme.md lists the cases that each client runs, and a reason for each one that it does not", async () => {
  const cells = (values: readonly string[]) => `| ${values.join(" | ")} |`
  const titles = Object.keys(orderKinds) as OrderTitle[]
  const table = [
    cells(["Order", ...clients.map(({ name }) => name)]),
    ...titles.map((title) =>
      cells([title, ...clients.map(({ cannot }) => (cannot[title] === undefined ? "yes" : "no"))]),
    ),
  ]
  const reasons = clients.flatMap(({ name, cannot }) =>
    [...new Set(Object.values(cannot))].map((reason) => `- ${name}: ${reason}`),
  )
  const text = await readFile(new URL(`../../../${document}`, import.meta.url), "utf8")
  const lines = text.split("\n").map((line) => line.replaceAll(/ +/g, " "))
  expect(lines).toEqual(expect.arrayContaining([...table, ...reasons]))
})
