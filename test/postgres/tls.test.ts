// PostgreSQL over TLS: the server connects only if the certificate is for the host that the URL names.
import { execFile } from "node:child_process"
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { exitCodes } from "../../engine/src/cli/exit-code.ts"
import { freePort } from "../free-port.ts"
import { run, temporaryFolder } from "../cli/chancery.ts"
import { findPostgresBinaries } from "../toolchain/postgres.ts"

const execute = promisify(execFile)
const fixture = (name: string) => fileURLToPath(new URL(`../cli/tls/${name}`, import.meta.url))

interface SecuredPostgres {
  readonly port: number
  stop(): Promise<void>
}

/**
 * Starts a server that accepts only TLS, with a certificate for `localhost` and 127.0.0.1. It also listens on 127.0.0.2, which the
 * certificate does not name.
 */
async function startSecured(binaries: string): Promise<SecuredPostgres> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-postgres-"))
  // PostgreSQL refuses to run as root.
  const [uid, gid] = process.getuid?.() === 0 ? await idsOf("nobody") : []
  const identity = uid === undefined || gid === undefined ? {} : { uid, gid }
  const keyFolder = join(folder, "tls")
  await mkdir(keyFolder)
  for (const name of ["server.pem", "server-key.pem"]) await copyFile(fixture(name), join(keyFolder, name))
  const access = join(folder, "access.conf")
  await writeFile(access, "hostssl all all 127.0.0.0/8 trust\n")
  await execute("chmod", ["-R", "go-rwx", folder])
  if (uid !== undefined && gid !== undefined) await execute("chown", ["-R", `${uid}:${gid}`, folder])
  const options = { ...identity, cwd: folder }
  const data = join(folder, "data")
  const port = await freePort()
  const settings = {
    listen_addresses: "127.0.0.1,127.0.0.2",
    port: String(port),
    unix_socket_directories: folder,
    fsync: "off",
    hba_file: access,
    ssl: "on",
    ssl_cert_file: join(keyFolder, "server.pem"),
    ssl_key_file: join(keyFolder, "server-key.pem"),
  }
  const flags = Object.entries(settings).map(([name, value]) => `-c ${name}='${value}'`)
  const control = (...args: string[]) =>
    execute(join(binaries, "pg_ctl"), ["--pgdata", data, "--wait", ...args], options)
  await execute(
    join(binaries, "initdb"),
    ["--pgdata", data, "--username", "chancery", "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync"],
    options,
  )
  await control("start", "--log", join(folder, "log"), "--options", flags.join(" "))
  return {
    port,
    async stop() {
      await control("stop", "--mode", "immediate")
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function idsOf(user: string): Promise<readonly number[]> {
  const ids = await Promise.all(["-u", "-g"].map((flag) => execute("id", [flag, user])))
  return ids.map(({ stdout }) => Number(stdout))
}

const binaries = await findPostgresBinaries()

describe.skipIf(binaries === undefined)("PostgreSQL by TLS", () => {
  let server: SecuredPostgres
  beforeAll(async () => {
    server = await startSecured(binaries ?? "")
  })
  afterAll(() => server.stop())

  const named = async (name: string, host: string, parameters: string) => {
    await using folder = await temporaryFolder()
    const key = join(folder.path, "seal-key")
    await writeFile(key, Buffer.alloc(32, 7).toString("base64"), { mode: 0o600 })
    const url = `postgres://chancery:not-to-be-logged@${host}:${server.port}/postgres?${parameters}`
    return await run(["organization", "create", name, "--email", "ops@example.com"], {
      environment: { CHANCERY_STORAGE: url, CHANCERY_SEAL_KEY_FILE: key, CHANCERY_DATA: folder.path },
    })
  }
  const authority = `sslrootcert=${encodeURIComponent(fixture("authority.pem"))}`
  const stranger = `sslrootcert=${encodeURIComponent(fixture("certificate.pem"))}`

  test("is used when its certificate matches the authority and the name", async () => {
    expect(await named("acme", "localhost", `sslmode=verify-full&${authority}`)).toMatchObject({ code: 0 })
  })

  test.each([
    {
      why: "the certificate is from another authority",
      host: "localhost",
      parameters: `sslmode=verify-full&${stranger}`,
    },
    { why: "the certificate is for another name", host: "127.0.0.2", parameters: `sslmode=verify-full&${authority}` },
    { why: "the authority is not configured", host: "localhost", parameters: "sslmode=verify-full" },
    { why: "TLS is off and the server requires it", host: "localhost", parameters: "sslmode=disable" },
  ])("is rejected in one sentence when $why, and nothing is created", async ({ host, parameters }) => {
    const { code, stderr, out } = await named("refused", host, parameters)
    expect([exitCodes.configuration, exitCodes.busy]).toContain(code)
    expect(stderr).toMatch(/^chancery: The (store|database) [^\n]+\.\n$/)
    expect(stderr + out).not.toContain("not-to-be-logged")
    expect(out).toBe("")
  })
})
