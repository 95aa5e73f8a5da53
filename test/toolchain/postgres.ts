// Finds or starts one real PostgreSQL for a test run: a server that CHANCERY_TEST_POSTGRES names, else local binaries with a temporary
// folder, else a container if a Docker engine answers.
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { chown, mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { cacheFolder } from "./cache.ts"

export interface PostgresServer {
  /** URL of a database whose user may create others. */
  readonly url: string
  stop(): Promise<void>
}

export const postgresVariable = "CHANCERY_TEST_POSTGRES"

export const postgresInstallation =
  "No PostgreSQL was found, so the suites that need one do not run. `npm run toolchain` installs one where it can; else " +
  `install its binaries, start a Docker engine, or name a server's URL in ${postgresVariable}.`

/** Returns undefined if there is no PostgreSQL. */
export async function startPostgres(): Promise<PostgresServer | undefined> {
  const configured = process.env[postgresVariable]
  if (configured !== undefined && configured !== "") return { url: configured, async stop() {} }
  const binaries = await findPostgresBinaries()
  return binaries === undefined ? startContainer() : startLocally(binaries)
}

/** Starts local binaries that sync to disk as in production, for benches. */
export async function startDurablePostgres(): Promise<PostgresServer> {
  const binaries = await findPostgresBinaries()
  if (binaries === undefined) throw new Error(postgresInstallation)
  return startOwnPostgres(binaries, { settings: { fsync: "on" } })
}

const run = promisify(execFile)

/** Returns the folder that holds initdb and pg_ctl. */
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

/** A server of a single test, which may halt and kill it. */
export interface OwnPostgres extends PostgresServer {
  readonly dataFolder: string
  /** Stops the server. `fast` ends sessions in order; `immediate` is a crash, after which the server recovers from the log. */
  halt(mode: "fast" | "immediate"): Promise<void>
  start(): Promise<void>
  /** Signals every process of the server, the postmaster before its children. */
  signal(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void>
  /** Promotes a standby to primary. */
  promote(): Promise<void>
  /** Returns the rows of a query as text; no value may contain a tab or a line break. */
  query(text: string): Promise<readonly (readonly string[])[]>
}

async function startLocally(binaries: string): Promise<PostgresServer> {
  const { url, stop } = await startOwnPostgres(binaries)
  return { url, stop }
}

/** Starts a new server; with `copyOf`, a standby of that server. */
export async function startOwnPostgres(
  binaries: string,
  {
    copyOf,
    settings: own,
  }: { readonly copyOf?: OwnPostgres; readonly settings?: Readonly<Record<string, string>> } = {},
): Promise<OwnPostgres> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-postgres-"))
  const identity = await unprivileged()
  if (identity !== undefined) await chown(folder, identity.uid, identity.gid)
  const options = { ...identity, cwd: folder }
  const data = join(folder, "data")
  const user = "chancery"
  if (copyOf === undefined) {
    const locale = ["--encoding", "UTF8", "--locale", "C"]
    await run(
      join(binaries, "initdb"),
      ["--pgdata", data, "--username", user, "--auth", "trust", ...locale, "--no-sync"],
      options,
    )
  } else {
    await run(
      join(binaries, "pg_basebackup"),
      ["--pgdata", data, "--dbname", copyOf.url, "--write-recovery-conf", "--checkpoint", "fast", "--no-sync"],
      options,
    )
  }
  // Listens only on a socket in a private folder: no port is needed, and no other user can connect. The data is temporary, so nothing is
  // synced.
  const settings = {
    listen_addresses: "",
    unix_socket_directories: folder,
    fsync: "off",
    max_connections: "200",
    ...own,
  }
  const flags = Object.entries(settings).map(([name, value]) => `-c ${name}='${value}'`)
  const control = (...args: string[]) => run(join(binaries, "pg_ctl"), ["--pgdata", data, "--wait", ...args], options)
  const start = async () => {
    await control("start", "--log", join(folder, "log"), "--options", flags.join(" "))
  }
  await start()
  return {
    url: `postgres://${user}@localhost/postgres?host=${encodeURIComponent(folder)}`,
    dataFolder: data,
    async halt(mode) {
      await control("stop", "--mode", mode)
    },
    start,
    async signal(signal) {
      const [first = ""] = (await readFile(join(data, "postmaster.pid"), "utf8")).split("\n")
      // Reads the children before a SIGKILL makes them orphans.
      const before = await childrenOf(Number(first))
      send(Number(first), signal)
      for (const pid of new Set([...before, ...(await childrenOf(Number(first)))])) send(pid, signal)
    },
    async promote() {
      await control("promote")
    },
    async query(text) {
      const connection = ["--host", folder, "--username", user, "--dbname", "postgres"]
      const format = ["--no-psqlrc", "--tuples-only", "--no-align", "--field-separator", "\t", "--command", text]
      const { stdout } = await run(join(binaries, "psql"), [...connection, ...format], {
        ...options,
        maxBuffer: 2 ** 28,
      })
      const lines = stdout.split("\n").slice(0, -1)
      return lines.map((line) => line.split("\t"))
    },
    async stop() {
      await control("stop", "--mode", "immediate")
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false
    throw error
  }
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  const { stdout } = await run("ps", ["--ppid", String(pid), "-o", "pid="]).catch(() => ({ stdout: "" }))
  return stdout.split("\n").map(Number).filter(Boolean)
}

/** Returns an unprivileged user, because PostgreSQL refuses to run as root. */
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
