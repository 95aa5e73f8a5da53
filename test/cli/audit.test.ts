import { readFile, rename, stat } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { run, serve, temporaryFolder } from "./chancery.ts"

const send = (url: string, token: string, method = "POST") =>
  fetch(`${url}/api/v2/organizations`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/vnd.api+json" },
    ...(method === "POST" ? { body: "{}" } : {}),
  })

const rootToken = async (data: string) => (await run(["token", "create", "--user", "root", "--data", data])).out.trim()

interface Entry {
  readonly type: string
  readonly request_id: string
  readonly method?: string
  readonly path?: string
  readonly caller?: { readonly kind: string }
  readonly data?: unknown
  readonly status?: number
}

test("a server records requests in its data folder with mode 600, and a value is found by its hash", async () => {
  await using folder = await temporaryFolder()
  await using served = await serve(["serve", "--data", folder.path])
  await send(served.url, "an-unknown-token")
  const file = join(folder.path, "audit.log")
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const { out } = await run(["audit", "hash", "an-unknown-token", "--data", folder.path])
  expect(out).toMatch(/^hmac-sha256:[0-9a-f]{64}\n$/)
  await expect.poll(() => readFile(file, "utf8")).toContain(out.trim())
  expect(await readFile(file, "utf8")).not.toContain("an-unknown-token")
})

test("[F-S2] a command on the store is recorded like a request, before it changes anything", async () => {
  await using folder = await temporaryFolder()
  const data = ["--data", folder.path]
  const token = (await run(["token", "create", "--user", "root", "--description", "for CI", ...data])).out.trim()
  await run(["organization", "create", "acme", "--email", "ops@acme.example", ...data])
  await run(["organization", "create", "acme", "--email", "ops@acme.example", ...data])
  await run(["mount", "create", "pki", ...data])
  await run(["mount", "list", ...data])
  const { out: listed } = await run(["token", "list", "--user", "root", "--json", ...data])
  const [{ id }] = JSON.parse(listed) as [{ id: string }]
  expect((await run(["token", "revoke", id, ...data])).code).toBe(0)
  const text = await readFile(join(folder.path, "audit.log"), "utf8")
  const entries = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Entry)
  const requests = entries.filter(({ type }) => type === "request")
  const statusOf = ({ request_id }: Entry) =>
    entries.find((entry) => entry.type === "response" && entry.request_id === request_id)?.status
  expect(requests.map((entry) => [entry.method, entry.path, entry.caller?.kind, statusOf(entry)])).toEqual([
    ["COMMAND", "token create", "user", 200],
    ["COMMAND", "organization create", "user", 200],
    ["COMMAND", "organization create", "user", 422],
    ["COMMAND", "mount create", "user", 200],
    ["COMMAND", "mount list", "user", 200],
    ["COMMAND", "token list", "user", 200],
    ["COMMAND", "token revoke", "user", 200],
  ])
  const { out: hash } = await run(["audit", "hash", "ops@acme.example", ...data])
  expect(requests[1]?.data).toEqual({ email: hash.trim(), arguments: [expect.stringMatching(/^hmac-sha256:/)] })
  for (const secret of [token, "for CI", "ops@acme.example", id]) expect(text).not.toContain(secret)
})

test("[F-S2] rotating the seal keys is recorded, and listing them creates no store", async () => {
  await using folder = await temporaryFolder()
  const data = ["--data", folder.path]
  for (const words of [["status"], ["rotate"], ["retire", "0000000000000000"]])
    expect((await run(["seal", ...words, "--data", join(folder.path, "none")])).code).toBe(78)
  await run(["organization", "create", "acme", "--email", "ops@acme.example", ...data])
  expect((await run(["seal", "rotate", ...data])).code).toBe(0)
  const { out } = await run(["seal", "status", "--json", ...data])
  const [, { keyId }] = JSON.parse(out) as [unknown, { readonly keyId: string }]
  expect((await run(["seal", "retire", keyId, ...data])).code).toBe(0)
  const lines = (await readFile(join(folder.path, "audit.log"), "utf8")).trimEnd().split("\n")
  const entries = lines.map((line) => JSON.parse(line) as Entry).filter(({ path }) => path?.startsWith("seal") === true)
  expect(entries.map(({ method, path }) => `${method} ${path}`)).toEqual(["COMMAND seal rotate", "COMMAND seal retire"])
})

test("[F-S2] a command changes nothing when it cannot be recorded", async () => {
  await using folder = await temporaryFolder()
  const data = ["--data", folder.path]
  await run(["organization", "create", "first", "--email", "a@acme.example", ...data])
  const full = [...data, "--audit-log", "/dev/full"]
  const { code, stderr } = await run(["organization", "create", "second", "--email", "a@acme.example", ...full])
  expect(code).not.toBe(0)
  expect(stderr).toContain("The audit log cannot be written")
  expect((await run(["organization", "list", ...full])).out).not.toContain("second")
  const off = await run(["organization", "create", "third", "--email", "a@acme.example", ...data, "--audit-log", "off"])
  expect(off.code).toBe(0)
})

test("SIGHUP opens a new audit log after the old one was moved, without losing entries", async () => {
  await using folder = await temporaryFolder()
  await using served = await serve(["serve", "--data", folder.path, "--rate-limit", "off"])
  const token = await rootToken(folder.path)
  const file = join(folder.path, "audit.log")
  let sent = 0
  const stop = new AbortController()
  const sending = (async () => {
    while (!stop.signal.aborted) {
      expect((await send(served.url, token)).status).toBe(400)
      sent += 1
    }
  })()
  await expect.poll(() => sent).toBeGreaterThan(5)
  await rename(file, `${file}.1`)
  served.child.kill("SIGHUP")
  await expect.poll(() => stat(file).catch(() => undefined)).toBeDefined()
  const before = sent
  await expect.poll(() => sent).toBeGreaterThan(before + 5)
  stop.abort()
  await sending
  served.child.kill("SIGTERM")
  expect((await served.ended).code).toBe(0)
  const lines = [`${file}.1`, file].map(async (each) => (await readFile(each, "utf8")).trimEnd().split("\n"))
  const [old = [], recent = []] = await Promise.all(lines)
  expect(old.length).toBeGreaterThan(5)
  const entries = [...old, ...recent].map((line) => JSON.parse(line) as Entry)
  // The additional one is the command that created the token.
  expect(entries.filter(({ type }) => type === "request")).toHaveLength(sent + 1)
  expect(entries.filter(({ type }) => type === "response")).toHaveLength(sent + 1)
})

test("a server does not start when it cannot open its audit log, and writes none when it is off", async () => {
  await using folder = await temporaryFolder()
  const nowhere = join(folder.path, "nowhere", "audit.log")
  const { code, stderr } = await run(["serve", "--data", folder.path, "--audit-log", nowhere])
  expect(code).toBe(78)
  expect(stderr).toContain(`The audit log ${nowhere} cannot be opened`)
  expect(stderr).toContain("CHANCERY_AUDIT_LOG")
  await using served = await serve(["serve", "--data", folder.path, "--audit-log", "off"])
  expect((await send(served.url, "unknown")).status).toBe(401)
  await expect(stat(join(folder.path, "audit.log"))).rejects.toThrow("ENOENT")
  const hash = await run(["audit", "hash", "x", "--data", folder.path, "--audit-log", "off"])
  expect([hash.code, hash.stderr]).toEqual([1, "chancery: There is no audit log.\n"])
})

test("changes get 503 and reads succeed when the disk is full; commands that read do not need the audit log", async () => {
  await using folder = await temporaryFolder()
  const token = await rootToken(folder.path)
  await using served = await serve(["serve", "--data", folder.path, "--audit-log", "/dev/full"])
  expect((await send(served.url, token)).status).toBe(503)
  expect((await send(served.url, token, "GET")).status).toBe(200)
  await expect.poll(() => served.stderr()).toContain("audit-log-failed")
  expect((await run(["token", "list", "--user", "root", "--data", folder.path, "--audit-log", "/dev/full"])).code).toBe(
    0,
  )
})
