import { execFile } from "node:child_process"
import { copyFile, mkdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { request } from "undici"
import { describe, expect, test } from "vitest"
import { main, run, serve, temporaryFolder } from "./chancery.ts"

const status = async (url: string, token: string) =>
  (await request(`${url}/api/v2/organizations/default`, { headers: { authorization: `Bearer ${token}` } })).statusCode

describe("commands on the file of a running server", () => {
  test("tokens are created, listed and revoked, and the server applies it at once", async () => {
    await using folder = await temporaryFolder()
    await using served = await serve(["dev"], { folder: folder.path })
    const chancery = (...words: string[]) => run(words, { folder: folder.path })

    const created = await chancery("token", "create", "--user", "root", "--description", "laptop", "--expires", "90d")
    expect(created.code).toBe(0)
    expect(created.stderr).toMatch(/^Token at-\w{16} for the user root expires at .*Z. It is shown only this once:\n$/)
    const token = created.out.trim()
    expect(await status(served.url, token)).toBe(200)

    const listed = JSON.parse((await chancery("token", "list", "--user", "root", "--json")).out) as {
      id: string
      description: string
      createdAt: string
      expiresAt: string
    }[]
    const found = listed.find(({ description }) => description === "laptop")
    expect(Date.parse(found?.expiresAt ?? "") - Date.parse(found?.createdAt ?? "")).toBeCloseTo(90 * 24 * 3_600_000, -2)
    expect(JSON.stringify(listed)).not.toContain(token)

    expect((await chancery("token", "revoke", found?.id ?? "")).code).toBe(0)
    expect(await status(served.url, token)).toBe(401)
  })

  test("an organization, its token and its team's token are created", async () => {
    await using folder = await temporaryFolder()
    await using served = await serve(["dev"], { folder: folder.path })
    const chancery = (...words: string[]) => run(words, { folder: folder.path })

    const made = await chancery("organization", "create", "acme", "--email", "ops@example.com", "--json")
    expect(JSON.parse(made.out)).toMatchObject({ name: "acme", email: "ops@example.com" })
    for (const owner of [
      ["--organization", "acme"],
      ["--team", "acme/owners"],
    ]) {
      const { out } = await chancery("token", "create", ...owner, "--json")
      const { token } = JSON.parse(out) as { token: string }
      expect(await status(served.url.concat("/"), token)).toBe(404)
      const own = await request(`${served.url}/api/v2/organizations/acme`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(own.statusCode).toBe(200)
    }
  })

  test("a backup contains acknowledged writes, and a restored store serves them", async () => {
    await using folder = await temporaryFolder()
    const chancery = (...words: string[]) => run(words, { folder: folder.path })
    await using served = await serve(["dev"], { folder: folder.path })
    expect((await chancery("organization", "create", "before", "--email", "a@example.com")).code).toBe(0)

    const file = join(folder.path, "store.backup")
    const backup = await chancery("backup", file, "--with-seal-key")
    expect(backup).toMatchObject({ code: 0, stderr: expect.stringContaining("Copied 100 %") as string })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await chancery("organization", "create", "after", "--email", "a@example.com")).code).toBe(0)
    expect(await chancery("restore", file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("already") as string,
    })
    expect(await chancery("restore", file, "--overwrite")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("server") as string,
    })
    served.child.kill("SIGTERM")
    await served.ended

    const other = join(folder.path, "other")
    await mkdir(other)
    await copyFile(`${file}.seal-key`, join(other, "seal-key"))
    expect(await chancery("restore", file, "--data", other)).toMatchObject({ code: 0 })
    await using restored = await serve(["serve", "--data", other])
    const { body } = await request(`${restored.url}/api/v2/organizations`, {
      headers: {
        authorization: `Bearer ${(await readFile(join(folder.path, ".chancery", "root-token"), "utf8")).trim()}`,
      },
    })
    const { data } = (await body.json()) as { data: { id: string }[] }
    expect(data.map(({ id }) => id)).toEqual(["before", "default"])
  })
})

describe("the seal key", () => {
  test("is copied next to a backup from the data folder, for any location of the database", async () => {
    await using folder = await temporaryFolder()
    const environment = { CHANCERY_STORAGE: `sqlite:${join(folder.path, "elsewhere", "chancery.db")}` }
    const chancery = (...words: string[]) => run(words, { folder: folder.path, environment })
    expect((await chancery("organization", "create", "acme", "--email", "a@example.com")).code).toBe(0)
    const target = join(folder.path, "copy")
    expect(await chancery("backup", target, "--with-seal-key")).toMatchObject({ code: 0 })
    const key = await readFile(join(folder.path, ".chancery", "seal-key"), "utf8")
    expect(await readFile(`${target}.seal-key`, "utf8")).toBe(key)
  })
})

test("a backup that cannot be written or read ends with one sentence and a remedy", async () => {
  await using folder = await temporaryFolder()
  const chancery = (...words: string[]) => run(words, { folder: folder.path })
  expect((await chancery("organization", "create", "acme", "--email", "a@example.com")).code).toBe(0)
  const nowhere = join(folder.path, "none", "copy")
  const words = [
    ["backup", nowhere],
    // A folder is no backup.
    ["restore", folder.path, "--data", join(folder.path, "other")],
  ]
  for (const one of words) {
    const { code, stderr } = await chancery(...one)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^chancery: [^\n]*; check that the file and its folder exist/),
    ])
    expect(stderr.trim().split("\n")).toHaveLength(1)
  }
})

test("a command does not fail when the reader of its output stops", async () => {
  const words = `'${process.execPath}' '${main}' serve --help`
  const { stderr } = await promisify(execFile)("sh", ["-c", `${words} | true`])
  expect(stderr).toBe("")
})
