import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../../core/runtime.ts"
import { openTestEngine } from "../../../../testing/test-engine.ts"
import { openDatabase } from "../../sql/database.ts"
import { databaseKinds } from "../../../../testing/temporary-database.ts"

const kinds = databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory")

describe.each(kinds)("a stored bulk action on $name", (kind) => {
  test("continues in its original parts, for any part size of the release", async () => {
    await using place = await kind.place()
    await using testEngine = await openTestEngine({ url: place.url, runtime: systemRuntime() })
    const { organizations, workspaces, bulkActions } = testEngine.engine
    await organizations.create({ name: "acme", email: "acme@example.com" })
    for (const name of ["a", "b", "c", "d", "e"]) await workspaces.create("acme", { name })
    const request = { action: { kind: "tag", tags: ["x"] }, all: true, idempotencyKey: "upgrade" } as const
    await bulkActions.run("acme", request)
    await using database = await openDatabase(place.url)
    await database.transact(async (session) => {
      const { db } = session
      const [whole] = await session.queryMany(db.selectFrom("bulk_action_parts").selectAll())
      const ids = JSON.parse(whole?.workspace_ids ?? "[]") as string[]
      await session.execute(db.deleteFrom("bulk_action_parts"))
      const parts = [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]
      await session.execute(
        db.insertInto("bulk_action_parts").values(
          parts.map((part, position) => ({
            bulk_action_id: whole?.bulk_action_id ?? "",
            position,
            workspace_ids: JSON.stringify(part),
            results: null,
          })),
        ),
      )
    })
    const outcomes: string[][] = []
    for await (const part of (await bulkActions.run("acme", request)).results)
      outcomes.push(part.map(({ outcome }) => outcome))
    expect(outcomes).toEqual([["done", "done"], ["done", "done"], ["done"]])
  })
})
