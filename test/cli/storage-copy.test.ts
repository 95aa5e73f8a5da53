import { copyFile, mkdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { request } from "undici"
import { expect, test } from "vitest"
import { databaseKinds } from "../../engine/testing/temporary-database.ts"
import { type Block, typedPage } from "../documents/typed-page.ts"
import { run, serve, temporaryFolder } from "./chancery.ts"

const guide = typedPage(import.meta.url, "docs/operations.md")
const postgres = databaseKinds.find(({ name, available }) => name === "PostgreSQL" && available)

const organizations = async (url: string, folder: string): Promise<readonly string[]> => {
  const token = (await readFile(join(folder, ".chancery", "root-token"), "utf8")).trim()
  const { body } = await request(`${url}/api/v2/organizations`, { headers: { authorization: `Bearer ${token}` } })
  const { data } = (await body.json()) as { data: { id: string }[] }
  return data.map(({ id }) => id)
}

test.runIf(postgres !== undefined)("the documented move to PostgreSQL and back, typed as written", async () => {
  const move = guide.block("Move to another database")
  const there = move.only(/^chancery storage copy /)
  const back = guide.block("Move to another database", 1)
  await using place = await postgres!.place({ empty: true })
  await using folder = await temporaryFolder()
  const data = join(folder.path, ".chancery")
  const returned = join(folder.path, "returned")
  const typed = (command: Block) =>
    run(
      command
        .words()
        .slice(1)
        .map((word) => (word.startsWith("postgres://") ? place.url : word))
        .map((word) => (word === "/var/lib/chancery" ? data : word === "/var/lib/chancery-2" ? returned : word)),
      { folder: folder.path },
    )
  {
    await using served = await serve(["dev"], { folder: folder.path })
    const made = await run(["organization", "create", "acme", "--email", "a@example.com"], { folder: folder.path })
    expect(made.code).toBe(0)
    expect(await typed(there)).toMatchObject({
      code: 75,
      out: "",
      stderr: expect.stringContaining("A running server uses") as string,
    })
    served.child.kill("SIGTERM")
    await served.ended
  }

  const copied = await typed(there)
  expect(copied).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/Copied 100 %\n(.*\n)*Compared 100 %/) as string,
  })
  expect(copied.out).toMatch(/: \d+ rows, all tables verified\.\nThe copy uses the seal keys of the old store/)
  expect(copied.out).not.toContain(new URL(place.url).password || "no password")
  {
    const set = await move.only(/^export /).type({
      folder: folder.path,
      environment: { PATH: process.env["PATH"] },
      placed: (script) => script.replace(/postgres:\S+/, `'${place.url}'`).replace("/var/lib/chancery", data),
      after: "env",
    })
    const settings = set.split("\n").filter((line) => line.startsWith("CHANCERY_"))
    expect(settings).toHaveLength(2)
    await using served = await serve(
      move
        .only(/^chancery serve$/)
        .words()
        .slice(1),
      {
        folder: folder.path,
        environment: {
          CHANCERY_DATA: join(folder.path, "empty"),
          ...Object.fromEntries(settings.map((line) => [line.split("=")[0] ?? "", line.slice(line.indexOf("=") + 1)])),
        },
      },
    )
    expect(await organizations(served.url, folder.path)).toEqual(["acme", "default"])
    served.child.kill("SIGTERM")
    await served.ended
  }

  expect(await typed(back)).toMatchObject({ code: 0 })
  expect((await stat(join(returned, "chancery.db"))).mode & 0o777).toBe(0o600)
  await copyFile(join(data, "seal-key"), join(returned, "seal-key"))
  await using served = await serve(["serve", "--data", returned], { folder: folder.path })
  expect(await organizations(served.url, folder.path)).toEqual(["acme", "default"])
})

test("storage copy rejects with one sentence and creates nothing when it cannot copy", async () => {
  await using folder = await temporaryFolder()
  const copy = (...words: string[]) => run(["storage", "copy", ...words], { folder: folder.path })
  const refused = (code: number, sentence: string) => ({
    code,
    out: "",
    stderr: expect.stringMatching(new RegExp(`^chancery: [^\\n]*${sentence}[^\\n]*\\n$`)) as string,
  })
  expect(await copy("nothing", "target")).toEqual(refused(78, "The store to copy does not exist"))
  expect(await copy("https://chancery.example", "target")).toEqual(refused(64, '"https:…" cannot be copied'))
  expect(await copy("sqlite::memory:", "target")).toEqual(refused(64, "cannot be copied"))
  expect(await copy("nothing", "nothing")).toEqual(refused(78, "Both stores are the same"))
  const unreachable = "postgres://chancery:secret@127.0.0.1:1/chancery"
  const { stderr } = await copy(unreachable, "target")
  expect(await copy(unreachable, "target")).toEqual(
    refused(75, "postgres://chancery@127.0.0.1:1/chancery is not available"),
  )
  expect(stderr).not.toContain("secret")
  await expect(stat(join(folder.path, "target"))).rejects.toThrow("ENOENT")
})

test("storage copy prints JSON, and accepts a store file instead of its folder", async () => {
  await using folder = await temporaryFolder()
  const [from, to] = [join(folder.path, "from"), join(folder.path, "to")]
  await mkdir(from)
  expect((await run(["organization", "create", "acme", "--email", "a@example.com", "--data", from])).code).toBe(0)
  const { code, out } = await run(["storage", "copy", join(from, "chancery.db"), to, "--json"])
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({
    from: `sqlite:${from}/chancery.db`,
    to: `sqlite:${to}/chancery.db`,
    tables: {
      users: { rows: 1, digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
      certificates: { rows: 0 },
    },
    resumedRows: 0,
    sealKeyIds: [expect.stringMatching(/^[0-9a-f]{16}$/) as string],
  })
  await copyFile(join(from, "seal-key"), join(to, "seal-key"))
  expect((await run(["token", "list", "--user", "root", "--data", to])).code).toBe(0)
})
