// Finds or starts one real PostgreSQL for a test run: a server that CHANCERY_TEST_POSTGRES names, else local binaries
// on a throw-away folder, else a container where a Docker engine answers.
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { chown, mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { cacheFolder } from "./cache.ts"

export interface PostgresServer {
  /** Of a database whose user may create others. */
  readonly url: string
  stop(): Promise<void>
}

export const postgresVariable = "CHANCERY_TEST_POSTGRES"

export const postgresInstallation =
  "No PostgreSQL was found, so the suites that need one do not run. `npm run toolchain` installs one where it can; else " +
  `install its binaries, start a Docker engine, or name a server's URL in ${postgresVariable}.`

/** Undefined where there is none. */
export async function startPostgres(): Promise<PostgresServer | undefined> {
  const given = process.env[postgresVariable]
  if (given !== undefined && given !== "") return { url: given, async stop() {} }
  const binaries = await findPostgresBinaries()
  return binaries === undefined ? startContainer() : startLocally(binaries)
}

const run = promisify(execFile)

/** The folder that holds initdb and pg_ctl. */
export async function findPostgresBinaries(): Promise<string | undefined> {
  const versions = "/usr/lib/postgresql"
  const installed = existsSync(versions) ? await readdir(versions) : []
  const newestFirst = installed
    .map(Number)
    .filter(Number.isInteger)
    .toSorted((a, b) => b - a)
  const folders = [
    ...newestFirst.map((version) => join(versions, String(version), "bin")),
    ...(process.env["PATH"] ?? "").split(delimiter),
    join(cacheFolder("postgresql"), "bin"),
  ]
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "pg_ctl")))
}

async function startLocally(binaries: string): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-postgres-"))
  const identity = await unprivileged()
  if (identity !== undefined) await chown(folder, identity.uid, identity.gid)
  const options = { ...identity, cwd: folder }
  const data = join(folder, "data")
  const user = "chancery"
  await run(
    join(binaries, "initdb"),
    ["--pgdata", data, "--username", user, "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync"],
    options,
  )
  // Only a socket in a private folder: no port to choose, nobody else can connect. The data is thrown away, so nothing is synced.
  const settings = { listen_addresses: "", unix_socket_directories: folder, fsync: "off", max_connections: "200" }
  const flags = Object.entries(settings).map(([name, value]) => `-c ${name}='${value}'`)
  const control = (...args: string[]) => run(join(binaries, "pg_ctl"), ["--pgdata", data, "--wait", ...args], options)
  await control("start", "--log", join(folder, "log"), "--options", flags.join(" "))
  return {
    url: `postgres://${user}@localhost/postgres?host=${encodeURIComponent(folder)}`,
    async stop() {
      await control("stop", "--mode", "immediate")
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** PostgreSQL refuses to run as root; any other user will do. */
async function unprivileged(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])])
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
    } catch {
      continue
    }
  }
  throw new Error("PostgreSQL does not run as root, and neither the user postgres nor nobody exists")
}

const image = "postgres:18-alpine"
const port = 5432

async function startContainer(): Promise<PostgresServer | undefined> {
  if (!(await dockerAnswers())) return undefined
  const { GenericContainer, Wait } = await import("testcontainers")
  const container = await new GenericContainer(image)
    .withEnvironment({ POSTGRES_USER: "chancery", POSTGRES_PASSWORD: "chancery" })
    .withCommand(["postgres", "-c", "fsync=off", "-c", "max_connections=200"])
    .withExposedPorts(port)
    // The image starts the server once to set it up, and a second time to serve.
    .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
    .start()
  return {
    url: `postgres://chancery:chancery@${container.getHost()}:${container.getMappedPort(port)}/postgres`,
    async stop() {
      await container.stop()
    },
  }
}

export async function dockerAnswers(): Promise<boolean> {
  const { getContainerRuntimeClient } = await import("testcontainers")
  return getContainerRuntimeClient().then(
    () => true,
    () => false,
  )
}
