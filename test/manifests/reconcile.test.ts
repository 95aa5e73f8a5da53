// `chancery reconcile`, built and run as users do: it makes an engine match a folder of manifests.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { parse } from "yaml"
import { startServer } from "../../engine/src/server/server.ts"
import { openTestEngine } from "../../engine/testing/test-engine.ts"
import { putState } from "../e2e/operator/workspace-state.ts"
import { builtChancery, start as startCommand, temporaryFolder } from "../cli/chancery.ts"

async function setting() {
  const folder = await temporaryFolder()
  onTestFinished(() => folder[Symbol.asyncDispose]())
  const manifests = join(folder.path, "manifests")
  await mkdir(manifests)
  return {
    folder: folder.path,
    put: (file: string, text: string) => writeFile(join(manifests, file), text),
    drop: (file: string) => rm(join(manifests, file)),
    stateFolder: join(folder.path, "data/manifests"),
    start: (...args: string[]) => start(folder.path, ["reconcile", "manifests", "--data", "data", ...args]),
    async status(path: string): Promise<StoredObject["status"]> {
      return (parse(await readFile(join(folder.path, "data/manifests", `${path}.yaml`), "utf8")) as StoredObject).status
    },
  }
}

interface StoredObject {
  readonly status: { readonly observedGeneration: number; readonly conditions?: readonly { readonly reason: string }[] }
}

function start(folder: string, words: readonly string[]) {
  const running = startCommand(words, { folder, program: builtChancery })
  onTestFinished(() => running[Symbol.asyncDispose]())
  return { ...running, ended: running.ended.then(({ code }) => code) }
}

async function startEngine() {
  const testEngine = await openTestEngine({ jobs: false })
  await testEngine.engine.organizations.create({ name: "acme", email: "acme@example.com" })
  const server = await startServer({ engine: testEngine.engine })
  onTestFinished(async () => {
    await server.close()
    await testEngine[Symbol.asyncDispose]()
  })
  return { url: server.url, token: testEngine.rootToken, engine: testEngine.engine }
}

const secret = (token: string) =>
  `apiVersion: v1\nkind: Secret\nmetadata:\n  name: engine\nstringData:\n  token: ${token}\n`
const connection = (url: string, organization = "acme") =>
  `apiVersion: chancery.dev/v1alpha1
kind: Connection
metadata:
  name: acme
spec:
  baseURL: ${url}
  tokenSecretRef:
    name: engine
  organization: ${organization}
`

test("once: it reports the status of every object, and its exit code tells whether all are ready", async () => {
  const { put, start, stateFolder, status } = await setting()
  const engine = await startEngine()
  await put("secret.yaml", secret(engine.token))
  await put("connection.yaml", connection(engine.url))
  const good = start()
  expect([await good.ended, good.stderr()]).toEqual([0, expect.stringContaining("seal-key-created")])
  expect(good.out()).toMatch(/^Connection default\/acme: Connected\. /)
  expect(good.out().replaceAll(/ +/g, " ")).toContain(
    "KIND NAME STATE REASON MESSAGE\nConnection default/acme ready Connected The engine responds",
  )
  expect(await status("connections/default/acme")).toMatchObject({
    observedGeneration: 1,
    conditions: [{ reason: "Connected" }],
  })
  expect((await stat(join(stateFolder, "secrets/default/engine.yaml"))).mode & 0o777).toBe(0o600)

  // Nothing differs, so nothing is written. Errors are reported with their place in the manifest.
  await put("connection.yaml", connection(engine.url, "nobody"))
  await put("broken.yaml", `${connection(engine.url).replace("name: acme", "name: other")}  organisation: acme\n`)
  const bad = start("--json")
  expect([await bad.ended, bad.stderr()]).toEqual([
    1,
    expect.stringContaining("1 of 1 objects are not ready, and 1 manifests"),
  ])
  expect(JSON.parse(bad.out())).toMatchObject({
    objects: [{ kind: "Connection", key: "default/acme", is: "stalled", reason: "OrganizationNotFound" }],
    faults: [{ file: "broken.yaml", line: 10, message: "spec.organisation: is not a known field" }],
  })
})

test("with --watch: it applies created, changed and deleted files until it is interrupted", async () => {
  const { put, drop, start, stateFolder } = await setting()
  const engine = await startEngine()
  const watching = start("--watch")
  await put("secret.yaml", secret(engine.token))
  await put("connection.yaml", connection(engine.url))
  await expect.poll(watching.out).toContain("Connection default/acme: Connected.")
  await put("connection.yaml", connection(engine.url, "no one"))
  await expect.poll(watching.stderr).toMatch(/connection\.yaml:9: spec\.organization: /)
  await put("connection.yaml", connection(engine.url, "nobody"))
  await expect.poll(watching.out).toContain("Connection default/acme: OrganizationNotFound.")
  expect(watching.stderr()).toContain("All manifests are valid.")
  // A second process would do everything twice.
  const second = start("--watch")
  expect([await second.ended, second.stderr()]).toEqual([
    75,
    expect.stringMatching(/Another process uses the status folder/),
  ])
  await put("secret.yaml", secret("chy_of-nobody"))
  await expect.poll(watching.out).toContain("Connection default/acme: TokenRefused.")
  await drop("connection.yaml")
  await expect.poll(() => readdir(join(stateFolder, "connections/default"))).toEqual([])
  watching.child.kill("SIGTERM")
  expect(await watching.ended).toBe(0)
  expect(await readdir(stateFolder)).not.toContain("lock")
})

test("after a kill it continues where it was, and writes nothing when all objects are ready", async () => {
  const { put, start, stateFolder } = await setting()
  const engine = await startEngine()
  await put("secret.yaml", secret(engine.token))
  await put("connection.yaml", connection(engine.url))
  const first = start("--watch")
  await expect.poll(first.out).toContain("Connected.")
  const file = join(stateFolder, "connections/default/acme.yaml")
  await expect.poll(async () => await readFile(file, "utf8")).toContain("reason: Connected")
  first.child.kill("SIGKILL")
  await first.ended
  const before = await readFile(file, "utf8")
  const second = start()
  expect(await second.ended).toBe(0)
  expect(second.out()).not.toContain("Connected.\n")
  expect(await readFile(file, "utf8")).toBe(before)
})

test.each([
  { named: "a Connection", words: [] },
  { named: "the command itself", words: ["--engine-url"] },
])("engines in $named receive the trace of the environment", async ({ words }) => {
  const { folder, put } = await setting()
  const seen = new Set<string | undefined>()
  const server = createServer((request, response) => {
    seen.add(request.headers["traceparent"] as string | undefined)
    response.writeHead(401).end()
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await put("secret.yaml", secret("chy_x"))
  if (words.length === 0) await put("connection.yaml", connection(url))
  else
    await put(
      "workspace.yaml",
      "apiVersion: chancery.dev/v1alpha1\nkind: Workspace\nmetadata:\n  name: web\n" +
        "spec:\n  connectionRef:\n    kind: ClusterConnection\n    name: default\n  executionMode: local\n",
    )
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
  const environment = { CHANCERY_TOKEN: "chy_x", TRACEPARENT: traceparent }
  const commandArgs = words.length === 0 ? [] : [...words, url]
  await using _running = startCommand(["reconcile", "manifests", "--data", "data", ...commandArgs], {
    folder,
    program: builtChancery,
    environment,
  })
  await expect.poll(() => [...seen]).toEqual([traceparent])
})

test("a remote engine is accessed with the token of the environment, without the store", async () => {
  const { folder, start } = await setting()
  const without = start("--engine-url", "http://127.0.0.1:1")
  expect([await without.ended, without.stderr()]).toEqual([
    64,
    expect.stringContaining("The server needs a token; set CHANCERY_TOKEN"),
  ])
  expect(await readdir(join(folder, "data"))).not.toContain("chancery.db")
})

test.each([
  { words: ["reconcile", "nowhere"], code: 64, message: "There is no folder nowhere." },
  { words: ["reconcile", ".", "--timeout", "soon"], code: 64, message: '--timeout cannot be "soon"' },
  { words: ["reconcile"], code: 64, message: "missing required argument 'folder'" },
])("$words is rejected in one sentence", async ({ words, code, message }) => {
  const { folder } = await setting()
  const running = start(folder, words)
  expect([await running.ended, running.stderr()]).toEqual([code, expect.stringContaining(message)])
})

test("it is among the listed commands, and loads no Kubernetes client", async () => {
  const { folder } = await setting()
  const help = start(folder, ["--help"])
  expect(await help.ended).toBe(0)
  expect(help.out()).toMatch(/^ {2}reconcile /m)
  const program = `
    import { registerHooks } from "node:module"
    registerHooks({ resolve: (name, context, next) => (console.log(name), next(name, context)) })
    await import("@chancery/operator/cli")`
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  let loaded = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (loaded += text))
  expect((await once(child, "close"))[0]).toBe(0)
  expect(loaded).toContain("./local/reconcile-folder.js")
  expect(loaded).not.toContain("@kubernetes/client-node")
})

test("variables are read from Secrets and ConfigMaps of the folder, and outputs are written beside the objects", async () => {
  const { put, start, stateFolder } = await setting()
  const engine = await startEngine()
  const source = (kind: string, name: string, value: string) =>
    `apiVersion: v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n${kind === "Secret" ? "stringData" : "data"}:\n  a: ${value}\n`
  const workspace = (yaml: string) =>
    `apiVersion: chancery.dev/v1alpha1
kind: Workspace
metadata:
  name: web
  annotations: { chancery.dev/reconcile-requested-at: ${yaml} }
spec:
  connectionRef: { name: acme }
  variables:
    - { key: hidden, valueFrom: { secretKeyRef: { name: values, key: a } } }
    - { key: open, valueFrom: { configMapKeyRef: { name: values, key: a } } }
  outputs: {}
`
  const valueOf = async (key: string) => {
    const { id } = await engine.engine.workspaces.get({ organization: "acme", name: "web" })
    const found = (await engine.engine.variables.list({ id })).find((one) => one.key === key)
    return { id, value: found?.value, versionId: found?.versionId }
  }
  await put("secret.yaml", secret(engine.token))
  await put("connection.yaml", connection(engine.url))
  await put("web.yaml", workspace("first"))
  const watching = start("--watch")
  await expect.poll(watching.out).toContain("Workspace default/web: SecretMissing.")
  await put("values.yaml", `${source("Secret", "values", "s3cret")}---\n${source("ConfigMap", "values", "one")}`)
  await expect.poll(watching.out).toContain("Workspace default/web: Available.")
  const { id, versionId } = await valueOf("hidden")
  await put("values.yaml", `${source("Secret", "values", "0ther")}---\n${source("ConfigMap", "values", "two")}`)
  await expect.poll(async () => (await valueOf("open")).value).toBe("two")
  await expect.poll(async () => (await valueOf("hidden")).versionId).not.toBe(versionId)
  await putState(engine, id, 1, {
    plain: { value: "p", type: "string" },
    secret: { value: "q", type: "string", sensitive: true },
  })
  await put("web.yaml", workspace("second"))
  const dataOf = async (path: string) =>
    (parse(await readFile(join(stateFolder, path), "utf8").catch(() => "")) as { readonly data?: unknown } | null)?.data
  await expect.poll(() => dataOf("configmaps/default/web-outputs.yaml")).toEqual({ plain: "p" })
  await expect.poll(() => dataOf("secrets/default/web-outputs.yaml")).toEqual({ secret: "cQ==" })
  expect((await stat(join(stateFolder, "secrets/default/web-outputs.yaml"))).mode & 0o777).toBe(0o600)
  watching.child.kill("SIGTERM")
  expect(await watching.ended).toBe(0)
  expect(
    `${watching.out()}${watching.stderr()}${await readFile(join(stateFolder, "workspaces/default/web.yaml"), "utf8")}`,
  ).not.toMatch(/s3cret|0ther/)
  // A restarted process writes nothing again.
  const written = await valueOf("hidden")
  const again = start()
  expect(await again.ended).toBe(0)
  expect(await valueOf("hidden")).toEqual(written)
})
