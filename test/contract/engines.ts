// Every implementation of the engine, opened on a place of its own.
import { actingFor } from "../../engine/src/acting-for.ts"
import type { Edition } from "../../engine/src/core/edition.ts"
import { openEmbedded } from "../../engine/src/embedded.ts"
import type { Engine, ServedEngine } from "../../engine/src/engine.ts"
import { openEngine } from "../../engine/src/open.ts"
import { startServer } from "../../engine/src/server/server.ts"
import { databaseKinds, imageFor } from "../../engine/testing/temporary-database.ts"
import { watched } from "./watched.ts"

export interface OpenedEngine extends AsyncDisposable {
  /** Acts as the site administrator. */
  readonly root: Engine
  /** The same, acting for the owner of a token. */
  as(token: string): Promise<Engine>
  /** The one over the store, for whom there are other ways to than methods of an engine: clients of ACME. */
  readonly served: ServedEngine
  /** `workspaces.get` for every method that gave an answer so far. */
  readonly answered: ReadonlySet<string>
  /** For every method that was refused. */
  readonly refused: ReadonlySet<string>
}

export interface Implementation {
  readonly name: string
  /** False where its store was not found; the run has said so loudly, or failed where CI demands it. */
  readonly available: boolean
  open(): Promise<OpenedEngine>
}

export const implementations: readonly Implementation[] = [
  { name: "embedded on SQLite", available: true, open: () => openEmbeddedOn("SQLite file") },
  {
    name: "embedded on PostgreSQL",
    available: kindOf("PostgreSQL").available,
    open: () => openEmbeddedOn("PostgreSQL"),
  },
  { name: "remote", available: true, open: () => openRemotely() },
]

/** The editions differ in a member of a document and in a family; these two are enough to see it arrive. */
export const hosted: readonly Implementation[] = [
  { name: "embedded", available: true, open: () => openEmbeddedOn("SQLite file", "hosted") },
  { name: "remote", available: true, open: () => openRemotely("hosted") },
]

/** A policy service of the tests is beside the engine. */
const outgoing = { kinds: ["private", "loopback"], ranges: [] } as const
const sealKeys = { text: Buffer.alloc(32, "contract").toString("base64") }

async function openEmbeddedOn(name: string, edition?: Edition): Promise<OpenedEngine> {
  const closing = new AsyncDisposableStack()
  const served = await openOn(name, closing, edition)
  const record = newRecord()
  return {
    ...record,
    served,
    root: watched(served, record),
    as: async (token) => watched(actingFor(served, token), record),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** Over a real listener, and held against the engine behind it: both must say the same. */
async function openRemotely(edition?: Edition): Promise<OpenedEngine> {
  const closing = new AsyncDisposableStack()
  const served = await openOn("SQLite file", closing, edition)
  const server = await startServer({ engine: served })
  closing.defer(async () => void (await server.close()))
  const record = newRecord()
  const as = async (token: string): Promise<Engine> =>
    watched(
      closing.use(await openEngine(server.url, { token, pendingPatienceMs: 0 })),
      record,
      actingFor(served, token),
    )
  return {
    ...record,
    served,
    root: await as(await rootToken(served)),
    as,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

async function openOn(
  name: string,
  closing: AsyncDisposableStack,
  edition: Edition = "self-hosted",
): Promise<ServedEngine> {
  const place = closing.use(await kindOf(name).place())
  return closing.use(await openEmbedded(place.url, { image: imageFor(place.url), sealKeys, edition, outgoing }))
}

const newRecord = () => ({ answered: new Set<string>(), refused: new Set<string>() })

async function rootToken({ users, tokens }: Engine): Promise<string> {
  return (await tokens.createForUser((await users.account()).id, { description: "contract" })).secret
}

function kindOf(name: string) {
  const kind = databaseKinds.find((known) => known.name === name)
  if (kind === undefined) throw new Error(`no database is called ${name}`)
  return kind
}
