// The server of the show bench: the real front and app. On the same front, a second handler sends the same SELECTs and returns a constant
// of the same size, and a third returns nothing.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemRuntime } from "../../engine/src/core/runtime.ts"
import { openEmbedded } from "../../engine/src/embedded.ts"
import { createApp } from "../../engine/src/server/app.ts"
import { respond } from "../../engine/src/server/http/message.ts"
import { openDatabase } from "../../engine/src/storage/sql/database.ts"
import type { Compilable } from "../../engine/src/storage/sql/query-runner.ts"
import { serveApp } from "../../engine/src/server/server.ts"
import { createMetrics } from "../../engine/src/telemetry/metrics.ts"
import { recordSelects } from "./recorded-selects.ts"

const folder = mkdtempSync(join(tmpdir(), "chancery-bench-"))
const file = join(folder, "chancery.db")
const runtime = systemRuntime()
const engine = await openEmbedded(`sqlite:${file}`, { runtime, metrics: createMetrics() })
if (engine.caller.kind !== "user") throw new Error("the engine acts as a user")
const { secret } = await engine.tokens.createForUser(engine.caller.userId, { description: "bench" })
await engine.organizations.create({ name: "bench", email: "bench@example.com" })
const workspace = await engine.workspaces.create("bench", {
  name: "shown",
  description: "The workspace that is shown.",
  tags: ["a", "b", "c", "d", "e"].map((name) => ({ name })),
  tagBindings: ["f", "g", "h"].map((key) => ({ key, value: "value" })),
})

const app = createApp({ engine, runtime })
const showPath = `/api/v2/workspaces/${workspace.id}`
const show = () =>
  Promise.resolve(
    app.fetch(new Request(`http://127.0.0.1${showPath}`, { headers: { authorization: `Bearer ${secret}` } }), {
      requestId: "bench",
      route: undefined,
    }),
  )
const answer = await show()
const constant = await answer.text()
if (answer.status !== 200) throw new Error(`show answers ${answer.status}: ${constant}`)
const selects = await recordSelects(show)
// Reads as any handler of this server does: the caller in one snapshot, the resource in another.
const database = await openDatabase(`sqlite:${file}`)
const [callerSelect, ...whatIsShown] = selects.map(({ text, values }) => {
  const query = { sql: text, parameters: values } as unknown as ReturnType<Compilable<unknown>["compile"]>
  return { compile: () => query }
})
if (callerSelect === undefined) throw new Error("a show asks the database nothing")
const headers = { "content-type": "application/vnd.api+json" }

const server = await serveApp(
  {
    async handle(request, exchange) {
      const { pathname } = new URL(request.url)
      if (pathname === "/empty") return respond(null, { status: 204 })
      if (pathname !== "/selects") return app.handle(request, exchange)
      await database.read((session) => session.queryMany(callerSelect))
      await database.read(async (session) => {
        for (const select of whatIsShown) await session.queryMany(select)
      })
      return respond(constant, { headers })
    },
  },
  { runtime, ready: () => engine.ready() },
)

process.on("disconnect", () => {
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
})
process.send?.({
  port: Number(new URL(server.url).port),
  token: secret,
  showPath,
  selects: selects.length,
  bytes: constant.length,
})
