import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { openWorld, type World, type WorldOptions } from "../testing/world.ts"

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-audit-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function auditedWorld(options: WorldOptions = {}) {
  const auditFile = join(await temporaryFolder(), "audit.log")
  const world = await openWorld({ ...options, auditFile })
  onTestFinished(() => world[Symbol.asyncDispose]())
  const text = () => readFileSync(auditFile, "utf8")
  // oxlint-disable-next-line typescript/no-explicit-any
  const entries = (): any[] =>
    text()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
  return { ...world, text, entries }
}

/** A store with an authority in it, made while its log could be written. */
async function preparedStore(): Promise<string> {
  const url = `sqlite:${join(await temporaryFolder(), "chancery.db")}`
  await using world = await openWorld({ url })
  await prepare(world)
  return url
}

async function prepare({ pki }: World): Promise<void> {
  expect((await pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })).status).toBe(204)
  expect((await pki("POST", "/pki/roles/web", { body: { allow_any_name: true, key_type: "ec" } })).status).toBe(200)
}

describe("a request of the certificate API", () => {
  test("is on disk with its data hashed before the answer leaves, and so is what came of it", async () => {
    const world = await auditedWorld()
    await prepare(world)
    const role = { allowed_domains: "secret.example.com", max_ttl: 3600, metadata: { owner: "carol" } }
    await world.pki("POST", "/pki/roles/api", { body: role })
    const [request, response] = world.entries().slice(-2)
    expect(request).toMatchObject({
      type: "request",
      method: "POST",
      path: "/v1/pki/roles/api",
      operation: "write",
      mount: "pki",
      caller: { kind: "user", policies: ["root"] },
      data: { allowed_domains: world.engine.audit.hash("secret.example.com"), max_ttl: 3600 },
    })
    expect(response).toMatchObject({ type: "response", request_id: request.request_id, status: 200 })
    for (const secret of ["secret.example.com", "carol", world.rootToken]) expect(world.text()).not.toContain(secret)
  })

  test("has in plain text what its mount exempts", async () => {
    const world = await auditedWorld()
    await prepare(world)
    const config = { audit_non_hmac_request_keys: ["allowed_domains"] }
    await world.pki("POST", "/sys/mounts/pki/tune", { body: config })
    await world.pki("POST", "/pki/roles/api", { body: { allowed_domains: "plain.example.com", issuer_ref: "hidden" } })
    expect(world.text()).toContain('"allowed_domains":"plain.example.com"')
    expect(world.text()).not.toContain('"hidden"')
  })

  test("that is refused is on record with the reason, and an unknown token as its hash", async () => {
    const world = await auditedWorld()
    await prepare(world)
    await world.pki("POST", "/pki/roles/web", { token: "s.sesame", body: {} })
    await expect.poll(() => world.entries().at(-1)).toMatchObject({ status: 403, errors: ["permission denied"] })
    expect(world.entries().at(-2)).toMatchObject({
      caller: { kind: "anonymous" },
      token: world.engine.audit.hash("s.sesame"),
    })
    expect(world.text()).not.toContain("sesame")
  })

  test("that anybody may make is not on record, unless that is asked for", async () => {
    const world = await auditedWorld()
    await prepare(world)
    const before = world.entries().length
    expect((await world.pki("GET", "/sys/seal-status", { token: null })).status).toBe(200)
    await world.pki("GET", "/pki/roles/web")
    expect(
      world
        .entries()
        .slice(before)
        .map(({ type, path }) => [type, path]),
    ).toEqual([
      ["request", "/v1/pki/roles/web"],
      ["response", undefined],
    ])
    const all = await auditedWorld({ auditOpenReads: true })
    await all.pki("GET", "/sys/seal-status", { token: null })
    await expect.poll(() => all.entries().length).toBe(2)
  })
})

describe("while the log cannot be written", () => {
  test("every request with a token gets 503, changes nothing; open reads go on", async () => {
    const url = await preparedStore()
    {
      await using world = await openWorld({ url, auditFile: "/dev/full" })
      const requests: readonly [method: string, path: string, body?: object][] = [
        ["POST", "/pki/roles/other", { allow_any_name: true }],
        ["DELETE", "/pki/roles/web"],
        ["GET", "/pki/roles/web"],
        ["LIST", "/pki/roles"],
        ["POST", "/auth/token/create", { policies: ["default"] }],
        ["DELETE", "/sys/mounts/pki"],
      ]
      for (const [method, path, body] of requests) {
        const answer = await world.pki(method, path, body === undefined ? {} : { body })
        expect([path, answer.status, answer.body]).toEqual([
          path,
          503,
          { errors: ["The audit log cannot be written, and nothing may be done that it does not show."] },
        ])
      }
      expect((await world.pki("GET", "/sys/seal-status", { token: null })).status).toBe(200)
    }
    await using after = await openWorld({ url })
    expect((await after.pki("LIST", "/pki/roles")).body.data.keys).toEqual(["web"])
  })
})
