// Meters a PostgreSQL server of a bench, independently of its clients.
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { Client } from "pg"
import { processorMs } from "./chancery.ts"

export interface DatabaseWork {
  /** Processor time of all processes of the server. */
  readonly processorMs: number
  readonly walBytes: number
  /** Full-page images in the WAL, which are written at the first change of a page after a checkpoint. */
  readonly pageImages: number
  readonly commits: number
}

export class MeteredDatabase implements AsyncDisposable {
  readonly #client: Client
  readonly #folder: string
  readonly #server: number

  private constructor(client: Client, folder: string) {
    this.#client = client
    this.#folder = folder
    this.#server = Number(readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n", 1)[0])
  }

  /** Opens a server on this machine, whose socket is next to its data and its log. */
  static async opened(url: string): Promise<MeteredDatabase> {
    const folder = new URL(url).searchParams.get("host")
    if (folder === null) throw new Error("the server is not one of this machine")
    const client = new Client({ connectionString: url })
    await client.connect()
    return new MeteredDatabase(client, folder)
  }

  async query<Row extends Record<string, unknown>>(text: string): Promise<Row[]> {
    return (await this.#client.query<Row>(text)).rows
  }

  async workOf(work: () => Promise<unknown>): Promise<DatabaseWork> {
    const before = await this.#now()
    await work()
    const after = await this.#now()
    const difference = (key: keyof DatabaseWork) => after[key] - before[key]
    return {
      processorMs: difference("processorMs"),
      walBytes: difference("walBytes"),
      pageImages: difference("pageImages"),
      commits: difference("commits"),
    }
  }

  /** Returns the number of statements during the work, without those that begin or end transactions. */
  async statementsOf(work: () => Promise<unknown>): Promise<number> {
    await this.#logStatements("all")
    const from = statSync(this.#log).size
    await work()
    const log = readFileSync(this.#log).subarray(from).toString("utf8")
    await this.#logStatements("none")
    const statements = [...log.matchAll(/LOG: {2}(?:statement|execute [^:]+): *([^\n]*)/g)].map(
      ([, text]) => text ?? "",
    )
    return statements.filter((text) => !/^(begin|commit|rollback|alter system|select pg_reload_conf)/i.test(text))
      .length
  }

  get #log(): string {
    return join(this.#folder, "log")
  }

  async #logStatements(which: "all" | "none"): Promise<void> {
    await this.#client.query(`alter system set log_statement = '${which}'`)
    await this.#client.query("select pg_reload_conf()")
    // Every process of the server reloads the configuration separately.
    await new Promise((resolve) => setTimeout(resolve, 300))
  }

  async #now(): Promise<DatabaseWork> {
    // A process publishes its counters when it is idle, about once a second.
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    const [row] = await this.query<{ wal: string; images: string; commits: string }>(
      `select wal_bytes::text as wal, wal_fpi::text as images,
         (select sum(xact_commit)::text from pg_stat_database) as commits from pg_stat_wal`,
    )
    return {
      processorMs: this.#processorMs(),
      walBytes: Number(row?.wal),
      pageImages: Number(row?.images),
      commits: Number(row?.commits),
    }
  }

  #processorMs(): number {
    const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && parentOf(name) === this.#server)
    // The time of ended processes counts as that of their parent.
    const ended = processorMs(this.#server, "ended children")
    return children.reduce((sum, pid) => sum + processorMsOrGone(Number(pid)), ended)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end()
  }
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
  } catch {
    return undefined
  }
}

function processorMsOrGone(pid: number): number {
  try {
    return processorMs(pid)
  } catch {
    return 0
  }
}
