// The commands of docs/operations.md and docs/authorities.md, run as written, in the order of an operator who starts with nothing.
import { execFile } from "node:child_process"
import { chmod, copyFile, mkdir, readFile, stat, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { type Block, typedPage } from "../documents/typed-page.ts"
import { printNotice, warnMissing } from "../toolchain/missing.ts"
import { findPostgresBinaries, postgresInstallation, startOwnPostgres } from "../toolchain/postgres.ts"
import { main, serve, type Served, temporaryFolder } from "./chancery.ts"

const execute = promisify(execFile)
const fixture = (name: string) => fileURLToPath(new URL(`tls/${name}`, import.meta.url))
const guide = typedPage(import.meta.url, "docs/operations.md")
const authorities = typedPage(import.meta.url, "docs/authorities.md")

const hasTools = await execute("sh", ["-c", "command -v curl && command -v jq"]).then(
  () => true,
  () => false,
)
if (!hasTools) printNotice("There is no curl or no jq, so what the guide does with them is not typed.")

type Variables = Readonly<Record<string, string>>

interface Session extends AsyncDisposable {
  readonly folder: string
  /** Runs the block and returns its output. */
  type(block: Block, variables?: Variables, before?: string): Promise<string>
  /** Runs a script that is not part of the guide. */
  look(script: string, variables?: Variables): Promise<string>
  /** Starts the server as the block does, with the variables that the block sets. */
  serve(block: Block, variables?: Variables): Promise<Served>
}

/** Replacements for the database addresses of the guide. */
type Databases = Readonly<Record<"db.example/chancery" | "db.example/restored" | "db-2.example/chancery", string>>

const nowhere = "postgres://nobody@127.0.0.1:1/none"

/** Makes an environment in which the guide's folders are inside a temporary folder, and its databases are existing ones. */
async function openSession(databases: Partial<Databases> = {}): Promise<Session> {
  await using opening = new AsyncDisposableStack()
  const folder = opening.use(await temporaryFolder()).path
  const bin = join(folder, "bin")
  await mkdir(bin)
  await writeFile(join(bin, "chancery"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`)
  await chmod(join(bin, "chancery"), 0o755)
  for (const place of ["etc/chancery", "backup", "lib"]) await mkdir(join(folder, place), { recursive: true })
  const own = { CHANCERY_DATA: join(folder, "lib/chancery") }
  const tools = await findPostgresBinaries()
  const PATH = [bin, ...(tools === undefined ? [] : [tools]), process.env["PATH"]].join(delimiter)
  const placed = (script: string) =>
    script
      .replaceAll("/var/lib/", `${folder}/lib/`)
      .replaceAll("/etc/chancery", `${folder}/etc/chancery`)
      .replaceAll("/backup/", `${folder}/backup/`)
      .replaceAll(
        /postgres:\/\/chancery:secret@([\w.-]+\/\w+)/g,
        (_, address: keyof Databases) => `'${databases[address] ?? nowhere}'`,
      )
  const shell = (variables: Variables) => ({
    folder,
    environment: { PATH, HOME: folder, ...own, ...variables },
    placed,
  })
  const closing = opening.move()
  return {
    folder,
    type: (block, variables = {}, before = "") => block.type({ ...shell(variables), before }),
    async look(script, variables = {}) {
      const { environment } = shell(variables)
      return (await execute("sh", ["-e", "-c", script], { cwd: folder, env: environment })).stdout
    },
    async serve(block, variables = {}) {
      const words = block.only(/^chancery serve/).words()
      const sets = block.commands.some((command) => command.startsWith("export "))
      const set = sets ? await block.without(/^chancery serve/).type({ ...shell({}), after: "env" }) : ""
      const args = words.slice(1)
      const listen = args.indexOf("--listen")
      if (listen !== -1) args.splice(listen, 2)
      const exported = set.split("\n").flatMap((line) => (line.startsWith("CHANCERY_") ? [line] : []))
      return serve(args, {
        folder,
        environment: {
          ...own,
          ...variables,
          ...Object.fromEntries(exported.map((line) => [line.split("=")[0] ?? "", line.slice(line.indexOf("=") + 1)])),
          CHANCERY_TLS_LISTEN: words.some((word) => word.startsWith("--tls")) ? "127.0.0.1:0" : "off",
        },
      })
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

const serving = /^chancery serve/

/** Runs the guide's first steps, and returns the token that they print. */
async function begin(session: Session): Promise<string> {
  const start = guide.block("First start")
  return (await session.type(start.without(serving))).trim().split("\n").at(-1) ?? ""
}

test(
  "a server is installed, backed up, given a new seal key and checked by doctor, typed as written",
  { timeout: 900_000 },
  async () => {
    await using session = await openSession()
    expect(await session.type(guide.block("Configure"))).toContain("ok")
    const token = await begin(session)
    await using served = await session.serve(guide.block("First start").only(/^(export|chancery serve) /))
    const about = await fetch(`${served.url}/api/v2/organizations/acme`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(about.status).toBe(200)

    await session.type(guide.block("Backup and restore"))
    expect((await stat(join(session.folder, "lib/chancery-restored/chancery.db"))).size).toBeGreaterThan(0)

    const rotation = guide.block("Rotate the seal key")
    const keyFile = join(session.folder, "lib/chancery/seal-key")
    const before = await readFile(keyFile, "utf8")
    const retiring = /^chancery seal retire /
    const status = await session.type(rotation.without(retiring))
    expect(await readFile(keyFile, "utf8")).not.toBe(before)
    const [, old = ""] = /^([0-9a-f]{16}) +opens +0$/m.exec(status) ?? []
    const words = rotation.only(retiring).words()
    expect(words.at(-1)).toMatch(/^[0-9a-f]{16}$/)
    await session.look([...words.slice(0, -1), old].join(" "))
    expect(await session.look("chancery seal status")).not.toContain(old)

    expect(
      (await session.type(guide.block("Audit log"), { TOKEN: token })).match(/hmac-sha256:[0-9a-f]+/g),
    ).toHaveLength(2)
    const found = await session.type(guide.block("Doctor"))
    expect(found.split("The schema matches this release")).toHaveLength(3)
  },
)

test.skipIf(!hasTools)("authorities, policies, tidying and HTTPS, typed as written", { timeout: 900_000 }, async () => {
  await using session = await openSession()
  const token = await begin(session)
  const make = authorities.block("Create authorities")
  const post = make.commands.find((command) => command.startsWith("post()")) ?? ""
  {
    await using served = await session.serve(guide.block("First start").only(/^(export|chancery serve) /))
    const variables = { TOKEN: token, server: served.url }
    await session.type(make, variables)
    expect(await session.type(authorities.block("Tidy expired records"), variables, post)).toContain('"state"')
    const csv = await session.type(authorities.block("Search certificates"), variables)
    expect(csv).toContain("mount,serial_number,common_name")
    expect(await readFile(join(session.folder, "certificates.csv"), "utf8")).toMatch(/^mount,serial_number,/)
    const role = '{"allowed_domains": "chancery.example", "allow_bare_domains": true, "allow_ip_sans": true}'
    await session.look(`${post}\npost pki/roles/web '${role}'\n`, variables)

    await authorities.block("Access").write(join(session.folder, "web.hcl"))
    const team = { data: { type: "teams", attributes: { name: "web" } } }
    const made = await fetch(`${served.url}/api/v2/organizations/acme/teams`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/vnd.api+json" },
      body: JSON.stringify(team),
    })
    expect(made.status).toBe(201)
    const service = (await session.type(authorities.block("Access", 1))).trim().split("\n").at(-1) ?? ""
    const issued = await session.look(`${post}\npost pki/issue/web '{"common_name": "chancery.example"}'\n`, {
      TOKEN: service,
      server: served.url,
    })
    expect(issued).toContain("BEGIN CERTIFICATE")
  }
  for (const name of ["chain", "key"])
    await copyFile(fixture(name === "chain" ? "certificate.pem" : "key.pem"), join(session.folder, `${name}.pem`))
  for (const index of [0, 1]) {
    await using served = await session.serve(guide.block("TLS", index))
    expect(served.stderr()).toContain('"httpsUrl":"https://')
  }
})

const binaries = (await findPostgresBinaries()) ?? warnMissing(postgresInstallation)

test.skipIf(binaries === undefined)(
  "a server on PostgreSQL is installed, backed up and restored, typed as written",
  { timeout: 900_000 },
  async () => {
    // `chancery doctor` checks a setting that other tests disable for speed.
    const postgres = await startOwnPostgres(binaries!, { settings: { fsync: "on" } })
    await using closing = new AsyncDisposableStack()
    closing.defer(() => postgres.stop())
    await postgres.query("create database restored")
    const restored = postgres.url.replace("/postgres?", "/restored?")
    const standby = await startOwnPostgres(binaries!, { copyOf: postgres })
    closing.defer(() => standby.stop())
    await using session = await openSession({
      "db.example/chancery": postgres.url,
      "db.example/restored": restored,
      "db-2.example/chancery": standby.url,
    })
    const keyFile = join(session.folder, "etc/chancery/seal-key")
    const environment = { CHANCERY_STORAGE: postgres.url, CHANCERY_SEAL_KEY_FILE: keyFile }
    {
      await using served = await session.serve(guide.block("PostgreSQL"))
      expect(served.stderr()).toContain('"storage":"postgres://')
      expect((await stat(keyFile)).mode & 0o777).toBe(0o600)
      await session.look("chancery organization create acme --email ops@example.com", environment)
    }
    {
      // The other standby is unreachable, which does not affect the server.
      await using served = await session.serve(guide.block("Read replicas"), environment)
      const metrics = async () => (await fetch(`${served.url}/metrics`)).text()
      await expect.poll(metrics).toMatch(/^chancery_storage_read_replica_up\{.*\} 1$/m)
      expect(await metrics()).toMatch(/^chancery_storage_read_replica_up\{.*\} 0$/m)
    }
    const found = await session.type(guide.block("Backup and restore", 1), { CHANCERY_SEAL_KEY_FILE: keyFile })
    expect(found).toContain("The schema matches this release")
    const organizations = await session.look("chancery organization list", {
      ...environment,
      CHANCERY_STORAGE: restored,
    })
    expect(organizations).toContain("acme")
  },
)
