// What docs/hardening.md says, typed as it is written, in the order in which it stands there.
import { execFile } from "node:child_process"
import { access, copyFile, readFile, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, test } from "vitest"
import { codeBlocks } from "../readme/shell-blocks.ts"
import { freePort, main, serve, temporaryFolder } from "./chancery.ts"

const execute = promisify(execFile)
const fixture = (name: string) => fileURLToPath(new URL(`tls/${name}`, import.meta.url))
const root = fileURLToPath(new URL("../..", import.meta.url))
const blocks = (heading: string) => codeBlocks("docs/hardening.md", heading, "sh")

test("a server is hardened by what the guide says, typed as it is written", async () => {
  await using folder = await temporaryFolder()
  const environment = {
    CHANCERY_DATA: join(folder.path, "data"),
    CHANCERY_SEAL_KEY_FILE: join(folder.path, "seal-key"),
  }
  const type = async (block = "") => {
    const command = `"${process.execPath}" "${main}"`
    const { stdout } = await execute("sh", ["-e", "-c", block.replaceAll("npx chancery", command)], {
      cwd: folder.path,
      env: { PATH: process.env["PATH"], HOME: folder.path, ...environment },
    })
    return stdout
  }
  for (const heading of ["The machine", "The seal key"]) await type((await blocks(heading)).join("\n"))
  expect((await stat(environment.CHANCERY_DATA)).mode & 0o777).toBe(0o700)
  expect((await stat(environment.CHANCERY_SEAL_KEY_FILE)).mode & 0o777).toBe(0o600)

  const [make, revoke] = await blocks("The first tokens")
  await type(make)
  const token = (await readFile(join(folder.path, "first-token"), "utf8")).trim()

  for (const name of ["ca.pem", "chain.pem"]) await copyFile(fixture("certificate.pem"), join(folder.path, name))
  await copyFile(fixture("key.pem"), join(folder.path, "key.pem"))
  const [start = "", ready = "", metrics = "", database = ""] = await blocks("TLS everywhere")
  const [, words = ""] = /^npx chancery (serve .*)\n$/.exec(start) ?? []
  const port = String(await freePort())
  // Beside HTTP, at which the test asks whether it is ready.
  const address = { CHANCERY_TLS_LISTEN: `127.0.0.1:${port}` }
  const flags = words.replace(/--listen \S+ /, "").split(" ")
  await using served = await serve(flags, { folder: folder.path, environment: { ...environment, ...address } })
  expect(await type(ready.replace("8420", port))).toBe("ok\n")
  expect(await type(metrics.replace("8420", port))).toContain("chancery_http_requests_in_flight")
  await expect(type(ready.replace("8420", port).replace("--cacert ca.pem", ""))).rejects.toThrow(/certificate/)
  expect(database).toContain("sslmode=verify-full")

  const asked = () => fetch(`${served.url}/api/v2/account/details`, { headers: { authorization: `Bearer ${token}` } })
  expect((await asked()).status).toBe(200)
  await type(revoke)
  expect((await asked()).status).toBe(401)
  expect(await type((await blocks("Afterwards")).join("\n"))).toContain("ok")
})

describe.each(["docs/threat-model.md", "docs/hardening.md"])("%s", (document) => {
  test("names files and documents that there are", async () => {
    const text = await readFile(join(root, document), "utf8")
    const paths = [...text.matchAll(/`((?:engine|operator|test)\/[\w./*-]+)`/g)].map(([, path = ""]) => path)
    const links = [...text.matchAll(/\]\(([\w.-]+\.md)/g)].map(([, path]) => join(dirname(document), path ?? ""))
    expect(links.length).toBeGreaterThan(0)
    const missing: string[] = []
    for (const path of [...paths, ...links]) {
      // A pattern's folder is enough.
      const place = path.includes("*") ? dirname(path) : path
      await access(join(root, place)).catch(() => missing.push(path))
    }
    expect(missing).toEqual([])
  })
})
