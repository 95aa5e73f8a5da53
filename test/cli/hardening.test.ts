// The commands of docs/hardening.md, run as written and in order.
import { access, copyFile, mkdir, readFile, stat, writeFile } from "node:fs/promises"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { type Block, type Shell, typedPage } from "../documents/typed-page.ts"
import { freePort } from "../free-port.ts"
import { main, serve, temporaryFolder } from "./chancery.ts"

const fixture = (name: string) => fileURLToPath(new URL(`tls/${name}`, import.meta.url))
const root = fileURLToPath(new URL("../..", import.meta.url))
const guide = typedPage(import.meta.url, "docs/hardening.md")

test("a server is hardened with the commands of the guide, typed as written", async () => {
  await using folder = await temporaryFolder()
  const environment = {
    CHANCERY_DATA: join(folder.path, "data"),
    CHANCERY_SEAL_KEY_FILE: join(folder.path, "seal-key"),
  }
  const bin = join(folder.path, "bin")
  await mkdir(bin)
  await writeFile(join(bin, "chancery"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, { mode: 0o755 })
  const type = (block: Block, { placed, after = "" }: Pick<Shell, "placed" | "after"> = {}) =>
    block.type({
      folder: folder.path,
      environment: { PATH: [bin, process.env["PATH"]].join(delimiter), HOME: folder.path, ...environment },
      ...(placed && { placed }),
      after,
    })
  for (const heading of ["Machine", "Seal key"]) await type(guide.block(heading))
  expect((await stat(environment.CHANCERY_DATA)).mode & 0o777).toBe(0o700)
  expect((await stat(environment.CHANCERY_SEAL_KEY_FILE)).mode & 0o777).toBe(0o600)

  await type(guide.block("First tokens"))
  const token = (await readFile(join(folder.path, "first-token"), "utf8")).trim()

  for (const name of ["ca.pem", "chain.pem"]) await copyFile(fixture("certificate.pem"), join(folder.path, name))
  await copyFile(fixture("key.pem"), join(folder.path, "key.pem"))
  const [start, ready, metrics, database] = [0, 1, 2, 3].map((index) => guide.block("TLS", index)) as [
    Block,
    Block,
    Block,
    Block,
  ]
  const port = String(await freePort())
  // HTTPS in addition to HTTP, because the test checks readiness over HTTP.
  const address = { CHANCERY_TLS_LISTEN: `127.0.0.1:${port}` }
  const words = start.words().slice(1)
  words.splice(words.indexOf("--listen"), 2)
  await using served = await serve(words, { folder: folder.path, environment: { ...environment, ...address } })
  const placed = (script: string) => script.replace("8420", port)
  expect(await type(ready, { placed })).toBe("ok\n")
  expect(await type(metrics, { placed })).toContain("chancery_http_requests_in_flight")
  const withoutCa = (script: string) => placed(script).replace("--cacert ca.pem", "")
  await expect(type(ready, { placed: withoutCa })).rejects.toThrow(/certificate/)
  const url = new URL((await type(database, { after: 'echo "$CHANCERY_STORAGE"' })).trim())
  expect(Object.fromEntries(url.searchParams)).toEqual({
    sslmode: "verify-full",
    sslrootcert: "/etc/chancery/database/ca.crt",
  })

  const accountDetails = () =>
    fetch(`${served.url}/api/v2/account/details`, { headers: { authorization: `Bearer ${token}` } })
  expect((await accountDetails()).status).toBe(200)
  await type(guide.block("First tokens", 1))
  expect((await accountDetails()).status).toBe(401)
  expect(await type(guide.block("Verify the configuration"))).toContain("ok")
})

describe.each(["docs/threat-model.md", "docs/hardening.md"])("%s", (document) => {
  test("names only files and documents that exist", async () => {
    const text = await readFile(join(root, document), "utf8")
    const paths = [...text.matchAll(/`((?:engine|operator|test)\/[\w./*-]+)`/g)].map(([, path = ""]) => path)
    const links = [...text.matchAll(/\]\(([\w.-]+\.md)/g)].map(([, path]) => join(dirname(document), path ?? ""))
    expect(links.length).toBeGreaterThan(0)
    const missing: string[] = []
    for (const path of [...paths, ...links]) {
      // For a pattern, its folder must exist.
      const place = path.includes("*") ? dirname(path) : path
      await access(join(root, place)).catch(() => missing.push(path))
    }
    expect(missing).toEqual([])
  })
})
