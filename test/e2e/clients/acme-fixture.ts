// Fixture for public ACME clients: an engine behind a TLS socket, with a certificate that it issued itself. A responder answers DNS, HTTP
// and TLS for every name.
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { request } from "undici"
import { ReloadableIdentity, startServer } from "../../../engine/src/server/server.ts"
import { openssl } from "../../../engine/testing/openssl.ts"
import { openTestEngine, type TestEngine } from "../../../engine/testing/test-engine.ts"
import { freePort } from "../../free-port.ts"

/** A mount that serves ACME. */
export interface AcmeMount {
  directory(path?: string): string
  /** Changes the mount's ACME settings. */
  configure(settings: object): Promise<void>
  newBinding(path?: string): Promise<Binding>
  /** Returns the ids of the bindings that no account has used yet. */
  unusedBindings(): Promise<readonly string[]>
  /** Returns the revocation reason on the CRL; undefined if the certificate is not on it. */
  revocation(certificate: string): Promise<string | undefined>
  /** Revokes the certificate as an operator. */
  revoke(certificate: string): Promise<void>
}

export interface Binding {
  readonly id: string
  readonly key: string
}

/** The first mount registers any client. */
export interface AcmeFixture extends AcmeMount, AsyncDisposable {
  /** Removed on disposal. */
  readonly folder: string
  /** PEM of the root of the server's TLS certificate and of the certificates that the mount issues. */
  readonly root: string
  readonly rootFile: string
  /** PEM of another root, which has cross-signed the same intermediates. */
  readonly otherRoot: string
  /** Another mount, which requires external account binding. */
  readonly bound: AcmeMount
  readonly responder: Responder
  /** Runs a client program with the fixture's folder as its home and working directory. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<Outcome>
}

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>
}

export interface Outcome {
  readonly code: number
  /** Standard output and standard error. */
  readonly text: string
}

/** Returns the output; throws it if the exit code is not 0. */
export function printed({ code, text }: Outcome): string {
  if (code !== 0) throw new Error(`it ended with ${code}:\n${text}`)
  return text
}

/** Addresses of the responder. Clients that answer challenges themselves use other loopback addresses at the same ports. */
export interface Responder {
  readonly management: string
  readonly httpPort: number
  readonly tlsPort: number
  readonly dnsPort: number
  readonly tell: (command: string, body: object) => Promise<void>
}

export const responderHost = "127.0.0.1"

export async function openAcmeFixture(responderProgram: string): Promise<AcmeFixture> {
  await using opening = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), "chancery-acme-"))
  opening.defer(() => rm(folder, { recursive: true, force: true }))
  const responder = opening.use(await startResponder(responderProgram))
  const testEngine = opening.use(
    await openTestEngine({
      acme: {
        permitted: { kinds: ["loopback"], ranges: [] },
        httpPort: responder.httpPort,
        tlsPort: responder.tlsPort,
      },
    }),
  )
  const { root, otherRoot, identity } = await makeAuthorities(testEngine)
  const rootFile = join(folder, "root.pem")
  await writeFile(rootFile, root)
  const server = await startServer({ engine: testEngine.engine, tls: { source: new ReloadableIdentity(identity) } })
  opening.defer(() => server.close().then(() => undefined))
  const served = async (mount: string, settings: object) => {
    const path = `https://localhost:${new URL(server.url).port}/v1/${mount}`
    await sendPki(testEngine, "POST", `/${mount}/config/cluster`, { path })
    const found = acmeMount(testEngine, mount, path)
    await found.configure({ enabled: true, dns_resolver: `${responderHost}:${responder.dnsPort}`, ...settings })
    return found
  }
  const open = await served("pki", {})
  const bound = await served("bound", { eab_policy: "always-required" })
  const closing = opening.move()

  return {
    ...open,
    bound,
    folder,
    root,
    rootFile,
    otherRoot,
    responder,
    run: (program, args, { environment = {} } = {}) =>
      new Promise((resolve, reject) => {
        const env = { PATH: process.env["PATH"], HOME: folder, ...environment }
        execFile(program, args, { cwd: folder, env, timeout: timeoutMs }, (error, out, stderr) => {
          if (error !== null && typeof error.code !== "number")
            reject(new Error(`${program} was not run`, { cause: error }))
          else resolve({ code: typeof error?.code === "number" ? error.code : 0, text: out + stderr })
        })
      }),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

function acmeMount(testEngine: TestEngine, mount: string, base: string): AcmeMount {
  return {
    directory: (path = "acme") => `${base}/${path}/directory`,
    configure: async (settings) => void (await sendPki(testEngine, "POST", `/${mount}/config/acme`, settings)),
    newBinding: async (path = "acme") => sendPki(testEngine, "POST", `/${mount}/${path}/new-eab`, {}),
    async unusedBindings() {
      const { status, body } = await testEngine.pki("LIST", `/${mount}/eab`)
      return status === 404 ? [] : body.data.keys
    },
    async revocation(certificate) {
      await sendPki(testEngine, "GET", `/${mount}/crl/rotate`)
      const { body } = await testEngine.pki("GET", `/${mount}/crl/pem`)
      const list = openssl(["crl", "-noout", "-text", "-in", "crl.pem"], { "crl.pem": body })
      const [, entry] = list.split(`Serial Number: ${new X509Certificate(certificate).serialNumber}`)
      if (entry === undefined) return undefined
      const [own = ""] = entry.split("Serial Number:")
      return /Reason Code:\s*\n\s*(.+)/.exec(own)?.[1] ?? "Unspecified"
    },
    async revoke(certificate) {
      await sendPki(testEngine, "POST", `/${mount}/revoke`, {
        certificate: new X509Certificate(certificate).toString(),
      })
    },
  }
}

/** Below the timeout of a test. Shell clients start hundreds of processes, which is slow on a busy machine. */
const timeoutMs = 200_000

/** Makes a root, intermediates that it and another root sign, and a certificate for the server itself. */
async function makeAuthorities(testEngine: TestEngine) {
  const ec = { key_type: "ec", ttl: "8760h" }
  for (const path of ["pki", "bound", "top", "other"])
    await sendPki(testEngine, "POST", `/sys/mounts/${path}`, {
      type: "pki",
      config: { max_lease_ttl: "87600h", allowed_response_headers: ["Location", "Replay-Nonce", "Link"] },
    })
  const { certificate: root } = await sendPki(testEngine, "POST", "/top/root/generate/internal", {
    ...ec,
    common_name: "Root",
  })
  const other = { ...ec, common_name: "Other Root" }
  const { certificate: otherRoot } = await sendPki(testEngine, "POST", "/other/root/generate/internal", other)
  await makeIntermediate(testEngine, "bound", { root, otherRoot })
  const certificate = await makeIntermediate(testEngine, "pki", { root, otherRoot })
  await sendPki(testEngine, "POST", "/pki/roles/server", {
    allow_any_name: true,
    enforce_hostnames: false,
    key_type: "ec",
  })
  await sendPki(testEngine, "POST", "/pki/roles/brief", {
    allow_any_name: true,
    key_type: "any",
    ttl: "1h",
    max_ttl: "2h",
  })
  const own = await sendPki(testEngine, "POST", "/pki/issue/server", { common_name: "localhost", ip_sans: "127.0.0.1" })
  const identity = { certificate: `${own.certificate}\n${certificate}\n`, privateKey: own.private_key as string }
  return { root: root as string, otherRoot: otherRoot as string, identity }
}

async function makeIntermediate(
  testEngine: TestEngine,
  mount: string,
  { root, otherRoot }: { readonly root: string; readonly otherRoot: string },
): Promise<string> {
  const named = { key_type: "ec", common_name: "Issuing" }
  const { csr } = await sendPki(testEngine, "POST", `/${mount}/intermediate/generate/internal`, named)
  const sign = (by: string) =>
    sendPki(testEngine, "POST", `/${by}/root/sign-intermediate`, { csr, common_name: "Issuing", ttl: "4380h" })
  const { certificate } = await sign("top")
  const { imported_issuers: imported } = await sendPki(testEngine, "POST", `/${mount}/intermediate/set-signed`, {
    certificate: `${certificate}\n${root}`,
  })
  const crossed = await sign("other")
  await sendPki(testEngine, "POST", `/${mount}/issuers/import/cert`, {
    pem_bundle: `${crossed.certificate}\n${otherRoot}`,
  })
  await sendPki(testEngine, "POST", `/${mount}/config/issuers`, { default: imported[0] })
  return certificate
}

async function sendPki(testEngine: TestEngine, method: string, path: string, body?: object) {
  const answer = await testEngine.pki(method, path, body === undefined ? {} : { body })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body?.data
}

async function startResponder(program: string): Promise<Responder & AsyncDisposable> {
  const httpPort = await freePort()
  const tlsPort = await freePort()
  const dnsPort = await freePort()
  const managementPort = await freePort()
  const at = (port: number) => `${responderHost}:${port}`
  const args = ["-http01", at(httpPort), "-tlsalpn01", at(tlsPort), "-https01", "", "-dns01", at(dnsPort)]
  const child = spawn(program, [...args, "-management", at(managementPort), "-defaultIPv6", ""], { stdio: "ignore" })
  const management = `http://${at(managementPort)}`
  const stop = () => end(child)
  try {
    for (const port of [httpPort, tlsPort, dnsPort, managementPort]) await listening(port, child)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    management,
    httpPort,
    tlsPort,
    dnsPort,
    async tell(command, body) {
      const { statusCode, body: answer } = await request(`${management}/${command}`, {
        method: "POST",
        body: JSON.stringify(body),
      })
      if (statusCode !== 200) throw new Error(`${command}: ${statusCode} ${await answer.text()}`)
      await answer.dump()
    },
    [Symbol.asyncDispose]: stop,
  }
}

/** One attempt every 25 ms: a busy machine can stall for a while. */
const listeningAttempts = 2_400

export async function listening(port: number, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < listeningAttempts; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`the responder ended with ${child.exitCode}`)
    const answers = await new Promise<boolean>((resolve) => {
      const socket = connect(port, responderHost)
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
      socket.once("connect", () => socket.destroy())
    })
    if (answers) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error(`nothing listens on port ${port}`)
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once("exit", resolve))
  child.kill("SIGKILL")
  await ended
}

/**
 * Verifies the bundle (leaf first) with OpenSSL and returns the leaf's names and addresses, sorted. Throws unless the chain leads to the
 * root.
 */
export function namesInChain(bundle: string, root: string): readonly string[] {
  const [leaf = "", ...others] = bundle.match(/-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/g) ?? []
  const untrusted = others.length === 0 ? [] : ["-untrusted", "others.pem"]
  openssl(["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", "root.pem", ...untrusted, "leaf.pem"], {
    "root.pem": root,
    "leaf.pem": leaf,
    "others.pem": others.join("\n"),
  })
  const text = openssl(["x509", "-noout", "-ext", "subjectAltName", "-in", "leaf.pem"], { "leaf.pem": leaf })
  const [, names = ""] = /Alternative Name:.*\n\s*(.+)/.exec(text) ?? []
  return names.split(", ").toSorted()
}

/** Writes a shell script for a client to call. It configures the responder with `tell COMMAND JSON`. */
export async function writeHook({ folder, responder }: AcmeFixture, name: string, text: string): Promise<string> {
  await mkdir(join(folder, "hooks"), { recursive: true })
  const file = join(folder, "hooks", name)
  const tell = `tell() { curl -sSf -d "$2" "${responder.management}/$1" >&2; }`
  await writeFile(file, `#!/bin/sh\nset -eu\n${tell}\n${text}\n`, { mode: 0o755 })
  return file
}

export const readText = (...path: readonly string[]): Promise<string> => readFile(join(...path), "utf8")
