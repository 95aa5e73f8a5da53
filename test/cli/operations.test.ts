// What docs/operations.md says, typed as it is written, in the order of somebody who begins with nothing.
import { execFile } from "node:child_process"
import { chmod, copyFile, mkdir, readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { databaseKinds } from "../../engine/src/storage/temporary-database.ts"
import { codeBlocks } from "../readme/shell-blocks.ts"
import { sayLoudly } from "../toolchain/missing.ts"
import { main, serve, type Served, temporaryFolder } from "./chancery.ts"

const execute = promisify(execFile)
const fixture = (name: string) => fileURLToPath(new URL(`tls/${name}`, import.meta.url))
const blocksOf = (heading: string) => codeBlocks("docs/operations.md", heading, "sh")

const hasTools = await execute("sh", ["-c", "command -v curl && command -v jq"]).then(
  () => true,
  () => false,
)
if (!hasTools) sayLoudly("There is no curl or no jq, so what the guide does with them is not typed.")

interface Desk extends AsyncDisposable {
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  /** Of this block, everything but what serves; its output. */
  type(block: string | undefined, variables?: Readonly<Record<string, string>>): Promise<string>
  /** What the block serves with, after what it sets. */
  serve(block: string | undefined, variables?: Readonly<Record<string, string>>): Promise<Served>
}

/** Where the guide's folders are in one of the test's own, and its database is one that is there. */
async function sitDown(database = "postgres://nobody@127.0.0.1:1/none"): Promise<Desk> {
  await using opening = new AsyncDisposableStack()
  const folder = opening.use(await temporaryFolder()).path
  const bin = join(folder, "bin")
  await mkdir(bin)
  for (const [name, words] of [
    ["chancery", '"$@"'],
    ["npx", '"$@"'],
  ] as const) {
    const shift = name === "npx" ? "[ $1 = chancery ] && shift\n" : ""
    await writeFile(join(bin, name), `#!/bin/sh\n${shift}exec "${process.execPath}" "${main}" ${words}\n`)
    await chmod(join(bin, name), 0o755)
  }
  for (const place of ["etc/chancery", "backup", "lib"]) await mkdir(join(folder, place), { recursive: true })
  const environment = { CHANCERY_DATA: join(folder, "lib/chancery") }
  const placed = (block: string) =>
    block
      .replaceAll("/var/lib/", `${folder}/lib/`)
      .replaceAll("/etc/chancery", `${folder}/etc/chancery`)
      .replaceAll("/backup/", `${folder}/backup/`)
      .replaceAll("postgres://chancery:secret@db.example/chancery", `'${database}'`)
  const serving = /^npx chancery serve.*$/m
  const shell = async (script: string, variables: Readonly<Record<string, string>> = {}) => {
    const env = { PATH: `${bin}:${process.env["PATH"]}`, HOME: folder, ...environment, ...variables }
    return (await execute("sh", ["-e", "-c", script], { cwd: folder, env })).stdout
  }
  const closing = opening.move()
  return {
    folder,
    environment,
    type: (block = "", variables = {}) => shell(placed(block).replace(serving, ""), variables),
    async serve(block = "", variables = {}) {
      const text = placed(block)
      const [words = ""] = serving.exec(text) ?? []
      const exported = await shell(`${text.replace(serving, "")}\nenv`, variables)
      const settings = exported.split("\n").flatMap((line) => (line.startsWith("CHANCERY_") ? [line] : []))
      const given = words.split(" ").slice(2)
      const listen = given.indexOf("--listen")
      if (listen !== -1) given.splice(listen, 2)
      return serve(given, {
        folder,
        environment: {
          ...environment,
          ...Object.fromEntries(settings.map((line) => [line.split("=")[0] ?? "", line.slice(line.indexOf("=") + 1)])),
          CHANCERY_TLS_LISTEN: /--tls/.test(words) ? "127.0.0.1:0" : "off",
        },
      })
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

test(
  "from nothing to a server, its backup, a new seal key and a doctor's look, typed as it is written",
  { timeout: 900_000 },
  async () => {
    await using desk = await sitDown()
    const [start = ""] = await blocksOf("Start")
    const token = (await desk.type(start)).trim().split("\n").at(-1) ?? ""
    {
      await using served = await desk.serve(start.replace(/^npx chancery (organization|token).*\n/gm, ""))
      const about = await fetch(`${served.url}/api/v2/organizations/acme`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(about.status).toBe(200)

      const [backup] = await blocksOf("Backup and restore")
      await desk.type(backup)
      expect((await stat(join(desk.folder, "lib/chancery-restored/chancery.db"))).size).toBeGreaterThan(0)

      const [rotation = ""] = await blocksOf("A new seal key")
      const keyFile = join(desk.folder, "lib/chancery/seal-key")
      const before = await readFile(keyFile, "utf8")
      const status = await desk.type(rotation.replace(/^npx chancery seal retire.*\n/m, ""))
      expect(await readFile(keyFile, "utf8")).not.toBe(before)
      const [, old = ""] = /^([0-9a-f]{16}) +opens +0$/m.exec(status) ?? []
      await desk.type(rotation.replace(/^npx chancery seal (rotate|status)\n/gm, "").replace(/[0-9a-f]{16}/, old))
      expect(await desk.type("npx chancery seal status\n")).not.toContain(old)

      const [audit] = await blocksOf("Audit log")
      expect((await desk.type(audit, { TOKEN: token })).match(/hmac-sha256:[0-9a-f]+/g)).toHaveLength(2)

      const [doctor] = await blocksOf("Doctor")
      expect(await desk.type(doctor)).toContain("ok")
    }
  },
)

test.skipIf(!hasTools)(
  "authorities, policies, tidying and HTTPS, typed as it is written",
  { timeout: 900_000 },
  async () => {
    await using desk = await sitDown()
    const [start = ""] = await blocksOf("Start")
    const token = (await desk.type(start)).trim().split("\n").at(-1) ?? ""
    const [make = ""] = await blocksOf("Certificate authorities")
    {
      await using served = await desk.serve("npx chancery serve\n")
      const variables = { TOKEN: token, server: served.url }
      await desk.type(make, variables)
      const post = /^post\(\).*$/m.exec(make)?.[0] ?? ""
      const [tidy] = await blocksOf("Tidying")
      expect(await desk.type(`${post}\n${tidy}`, variables)).toContain('"state"')
      const role = '{"allowed_domains": "chancery.example", "allow_bare_domains": true, "allow_ip_sans": true}'
      await desk.type(`${post}\npost pki/roles/web '${role}'\n`, variables)

      await writeFile(join(desk.folder, "web.hcl"), 'path "pki/issue/web" { capabilities = ["update"] }\n')
      const team = { data: { type: "teams", attributes: { name: "web" } } }
      const made = await fetch(`${served.url}/api/v2/organizations/acme/teams`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/vnd.api+json" },
        body: JSON.stringify(team),
      })
      expect(made.status).toBe(201)
      const [policies] = await blocksOf("Who may use certificate authorities")
      const service = (await desk.type(policies)).trim().split("\n").at(-1) ?? ""
      const issued = await desk.type(`${post}\npost pki/issue/web '{"common_name": "chancery.example"}'\n`, {
        TOKEN: service,
        server: served.url,
      })
      expect(issued).toContain("BEGIN CERTIFICATE")
    }
    for (const name of ["chain", "key"])
      await copyFile(fixture(name === "chain" ? "certificate.pem" : "key.pem"), join(desk.folder, `${name}.pem`))
    const [files, managed] = await blocksOf("TLS")
    for (const block of [files, managed]) {
      await using served = await desk.serve(block)
      expect(served.said()).toContain('"httpsUrl":"https://')
    }
  },
)

const postgres = databaseKinds.find(({ name, available }) => name === "PostgreSQL" && available)

test.skipIf(postgres === undefined)(
  "a server on PostgreSQL, typed as it is written",
  { timeout: 900_000 },
  async () => {
    await using place = await postgres!.place()
    await using desk = await sitDown(place.url)
    const [block] = await blocksOf("PostgreSQL")
    await using served = await desk.serve(block)
    expect(served.said()).toContain('"storage":"postgres://')
    expect((await stat(join(desk.folder, "etc/chancery/seal-key"))).mode & 0o777).toBe(0o600)
  },
)
