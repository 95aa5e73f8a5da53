import { readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { freePort } from "../free-port.ts"
import { run, serve, start, temporaryFolder } from "./chancery.ts"

interface KeyStatus {
  readonly keyId: string
  readonly use: string
  readonly secretCount: number
}

test("seal rotate seals every secret under a new key, and the old key can then be retired", async () => {
  await using folder = await temporaryFolder()
  const chancery = (...words: string[]) => run(words, { folder: folder.path })
  const status = async () => JSON.parse((await chancery("seal", "status", "--json")).out) as readonly KeyStatus[]
  expect((await chancery("organization", "create", "acme", "--email", "a@example.com")).code).toBe(0)
  const file = join(folder.path, ".chancery", "seal-key")
  const before = await readFile(file, "utf8")
  const [first] = await status()
  expect(first).toMatchObject({ use: "seals", secretCount: expect.any(Number) as number })
  const secretCount = first?.secretCount ?? 0
  expect(secretCount).toBeGreaterThan(0)

  const rotated = await chancery("seal", "rotate")
  expect(rotated).toMatchObject({ code: 0 })
  const [, keyId] = /^The key ([0-9a-f]{16}) is now first in /.exec(rotated.out) ?? []
  expect(rotated.out).toContain(`${secretCount} secrets were sealed again under the key ${keyId}.`)
  const after = await readFile(file, "utf8")
  expect(after.endsWith(before)).toBe(true)
  expect(await status()).toEqual([
    { keyId, use: "seals", secretCount },
    { keyId: first?.keyId, use: "opens", secretCount: 0 },
  ])

  // Without the old key, the database opens only after that key is retired; without the new key, it never opens.
  await writeFile(file, before)
  expect(await chancery("organization", "list")).toMatchObject({
    code: 78,
    stderr: expect.stringContaining("not among the given seal keys") as string,
  })
  await writeFile(file, after)
  expect(await chancery("seal", "retire", keyId ?? "")).toMatchObject({ code: 64 })
  expect(await chancery("seal", "retire", "0000000000000000")).toMatchObject({ code: 64 })
  expect(await chancery("seal", "retire", first?.keyId ?? "")).toMatchObject({ code: 0 })
  expect((await readFile(file, "utf8")).includes(before.split("\n").at(-2) ?? "")).toBe(false)
  expect(await status()).toEqual([{ keyId, use: "seals", secretCount }])
  expect((await chancery("organization", "list")).out).toContain("acme")
})

test("seal retire rejects a key that seals secrets", async () => {
  await using folder = await temporaryFolder()
  const keys = [7, 8].map((byte) => Buffer.alloc(32, byte).toString("base64"))
  const chancery = (sealKey: string, ...words: string[]) =>
    run(words, { folder: folder.path, environment: { CHANCERY_SEAL_KEY: sealKey } })
  expect((await chancery(keys[0] ?? "", "organization", "create", "acme", "--email", "a@example.com")).code).toBe(0)
  const both = `${keys[1]},${keys[0]}`
  const [current, old] = JSON.parse((await chancery(both, "seal", "status", "--json")).out) as readonly KeyStatus[]
  expect([current?.secretCount, old?.use]).toEqual([0, "opens"])
  const refused = await chancery(both, "seal", "retire", old?.keyId ?? "")
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("rotate --no-new-key") as string })
  // The operator must change keys that are in no file; the command only reseals the secrets with the first key.
  expect(await chancery(both, "seal", "rotate")).toMatchObject({
    code: 78,
    stderr: expect.stringContaining("CHANCERY_SEAL_KEY") as string,
  })
  expect(await chancery(both, "seal", "rotate", "--no-new-key")).toMatchObject({ code: 0 })
  expect(await chancery(both, "seal", "retire", old?.keyId ?? "")).toMatchObject({ code: 0 })
  expect((await chancery(keys[1] ?? "", "organization", "list")).code).toBe(0)
})

test("an invalid key file is not changed", async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, "broken")
  await writeFile(file, "no key\n")
  expect((await run(["seal", "rotate", "--seal-key-file", file], { folder: folder.path })).code).toBe(78)
  expect(await readFile(file, "utf8")).toBe("no key\n")
})

test("a running server loads the new key while it serves", async () => {
  await using folder = await temporaryFolder()
  const data = join(folder.path, "data")
  await using served = await serve(["serve", "--data", data, "--rate-limit", "off"])
  const token = (await run(["token", "create", "--user", "root", "--data", data])).out.trim()
  const send = (method: string, path: string, body?: object) =>
    fetch(`${served.url}/api/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/vnd.api+json" },
      ...(body === undefined ? {} : { body: JSON.stringify({ data: body }) }),
    })
  await send("POST", "/organizations", { type: "organizations", attributes: { name: "acme", email: "a@example.com" } })
  const made = await send("POST", "/organizations/acme/workspaces", { type: "workspaces", attributes: { name: "web" } })
  const { data: workspace } = (await made.json()) as { data: { id: string } }
  const statuses = new Set<number>()
  let sent = 0
  const stop = new AbortController()
  const sending = (async () => {
    while (!stop.signal.aborted) {
      const attributes = { key: `key-${sent}`, value: `value-${sent}`, category: "env" }
      statuses.add((await send("POST", `/workspaces/${workspace.id}/vars`, { type: "vars", attributes })).status)
      sent += 1
    }
  })()
  const rotated = await run(["seal", "rotate", "--data", data])
  stop.abort()
  await sending
  expect(rotated.code).toBe(0)
  expect([...statuses]).toEqual([201])
  const status = await run(["seal", "status", "--json", "--data", data])
  const [current, old] = JSON.parse(status.out) as readonly KeyStatus[]
  expect([current?.use, old?.secretCount]).toEqual(["seals", 0])
  expect(current?.secretCount).toBeGreaterThan(sent)
  const all = (await (await send("GET", `/workspaces/${workspace.id}/vars`)).json()) as { data: readonly unknown[] }
  expect(all.data).toHaveLength(sent)
})

test("a server without its seal key responds that it is sealed, and serves as soon as the key is present", async () => {
  await using folder = await temporaryFolder()
  const data = join(folder.path, "data")
  const key = join(data, "seal-key")
  expect((await run(["organization", "create", "acme", "--email", "a@example.com", "--data", data])).code).toBe(0)
  const token = (await run(["token", "create", "--user", "root", "--data", data])).out.trim()
  await rename(key, `${key}.away`)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  await using running = start(["serve", "--data", data, "--listen", `127.0.0.1:${port}`])
  const status = (path: string) =>
    fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } }).then(
      ({ status }) => status,
      () => 0,
    )
  await expect.poll(() => status("/healthz")).toBe(200)
  expect(await status("/readyz")).toBe(503)
  expect(await status("/v1/sys/health")).toBe(503)
  expect(await status("/v1/pki/issue/web")).toBe(503)
  expect(await status("/api/v2/organizations")).toBe(503)
  expect(running.stderr()).toContain("is missing")

  // Another key than the sealing one does not open the database.
  await writeFile(key, `${Buffer.alloc(32, 9).toString("base64")}\n`)
  await expect.poll(() => running.stderr()).toContain("not among the given seal keys")
  expect(await status("/readyz")).toBe(503)

  await rename(`${key}.away`, key)
  await expect.poll(() => status("/readyz")).toBe(200)
  expect(await status("/api/v2/organizations")).toBe(200)
  expect(await status("/v1/sys/health")).toBe(200)
  running.child.kill("SIGTERM")
  expect((await running.ended).code).toBe(0)
})

test("a sealed server stops on SIGTERM, and a server with a wrong key does not start", async () => {
  await using folder = await temporaryFolder()
  const data = join(folder.path, "data")
  const key = join(data, "seal-key")
  expect((await run(["organization", "create", "acme", "--email", "a@example.com", "--data", data])).code).toBe(0)
  await writeFile(key, `${Buffer.alloc(32, 9).toString("base64")}\n`)
  const refused = await run(["serve", "--data", data])
  expect([refused.code, refused.stderr]).toEqual([78, expect.stringContaining("not among the given seal keys")])
  await rm(key)
  await using sealed = start(["serve", "--data", data, "--listen", `127.0.0.1:${await freePort()}`])
  await expect.poll(() => sealed.stderr()).toContain('"sealed"')
  sealed.child.kill("SIGTERM")
  expect((await sealed.ended).code).toBe(0)
  // One-shot commands fail immediately instead of waiting for the key.
  expect(await run(["organization", "list", "--data", data])).toMatchObject({ code: 78 })
})
