// Opens every implementation of `Engine`, each on a database of its own.
import { actingFor } from "../../engine/src/acting-for.ts"
import type { Edition } from "../../engine/src/core/edition.ts"
import { openEmbedded } from "../../engine/src/embedded.ts"
import type { Engine, ServedEngine } from "../../engine/src/engine.ts"
import { openEngine } from "../../engine/src/open.ts"
import { ReloadableIdentity, startServer } from "../../engine/src/server/server.ts"
import type { TestCertificate } from "../../engine/testing/client-certificates.ts"
import { testTlsPem } from "../../engine/testing/policy-server.ts"
import { databaseKinds, imageFor } from "../../engine/testing/temporary-database.ts"
import { watched } from "./call-coverage.ts"

export interface OpenedEngine extends AsyncDisposable {
  /** Acts as the site administrator. */
  readonly root: Engine
  /** Returns an engine that acts for the owner of `token`. */
  as(token: string): Promise<Engine>
  /** Returns the engine of a client that connects with this certificate and has no token. */
  device(client: TestCertificate): Promise<Engine>
  /** The engine over the database, for clients that do not call methods of `Engine`, such as ACME clients. */
  readonly served: ServedEngine
  /** Methods that returned a value so far, such as `workspaces.get`. */
  readonly answered: ReadonlySet<string>
  /** Methods that threw an `EngineError` so far. */
  readonly refused: ReadonlySet<string>
}

export interface Implementation {
  readonly name: string
  /** False if the database was not found. The run has then warned about it, or failed in CI. */
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

/** The editions differ in one member of a document and in one family of methods. One embedded and one remote engine cover that. */
export const hosted: readonly Implementation[] = [
  { name: "embedded", available: true, open: () => openEmbeddedOn("SQLite file", "hosted") },
  { name: "remote", available: true, open: () => openRemotely("hosted") },
]

/** The external policy service of the tests listens on the loopback interface. */
const outgoing = { kinds: ["private", "loopback"], ranges: [] } as const
const identity = { certificate: testTlsPem("server"), privateKey: testTlsPem("server-key") }
const free = { host: "127.0.0.1", port: 0 }
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
    device: async () => watched(served, record),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** Opens an engine over a real listener. Its answers are compared with those of the engine behind the server. */
async function openRemotely(edition?: Edition): Promise<OpenedEngine> {
  const closing = new AsyncDisposableStack()
  const served = await openOn("SQLite file", closing, edition)
  const server = await startServer({
    engine: served,
    tls: { source: new ReloadableIdentity(identity), listen: free },
    deviceListen: free,
  })
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
    device: async ({ certificate, key }) =>
      watched(
        closing.use(
          await openEngine(server.deviceUrl ?? "", {
            token: "none",
            skipTlsVerify: true,
            clientIdentity: { certificates: certificate, privateKey: key },
          }),
        ),
        record,
      ),
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
