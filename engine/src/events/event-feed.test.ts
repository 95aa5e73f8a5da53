import { expect, test } from "vitest"
import { openWorld } from "../testing/world.ts"

const changesMaximum = 5_000

test("commits that come one upon the other put no event off", async () => {
  await using world = await openWorld()
  const { engine } = world
  await engine.organizations.create({ name: "acme", email: "ops@example.com" })
  const { id } = await engine.workspaces.create("acme", { name: "busy" })
  const ending = new AbortController()
  const told: string[] = []
  const following = (async () => {
    for await (const { kind } of await engine.events.follow("acme", {}, { signal: ending.signal })) told.push(kind)
  })()
  await expect.poll(() => engine.feedActivity.followerCount).toBe(1)
  let changes = 0
  for (; told.length === 0 && changes < changesMaximum; changes += 1)
    await engine.workspaces.update({ id }, { description: String(changes) })
  expect(changes).toBeLessThan(changesMaximum)
  ending.abort()
  await following
})
