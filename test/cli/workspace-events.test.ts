import { expect, test } from "vitest"
import { openEngine } from "../../engine/src/index.ts"
import { start, temporaryFolder } from "./chancery.ts"

test("`workspace events --follow` prints changes of another process until it is interrupted", async () => {
  await using folder = await temporaryFolder()
  await using engine = await openEngine(`sqlite:${folder.path}/.chancery/chancery.db`)
  await engine.organizations.create({ name: "acme", email: "ops@example.com" })
  await engine.workspaces.create("acme", { name: "before" })
  await using following = start(
    ["workspace", "events", "--follow", "--kinds", "workspace.created", "--since", "2020-01-01T00:00:00Z"],
    {
      folder: folder.path,
    },
  )
  const { poll } = expect
  await poll(() => following.out()).toContain("before")
  await engine.workspaces.create("acme", { name: "after" })
  await poll(() => following.out()).toContain("after")
  following.child.kill("SIGINT")
  const { code, out, stderr } = await following.ended
  expect([code, stderr]).toEqual([0, ""])
  expect(
    out
      .trim()
      .split("\n")
      .map((line) => line.split("  ")[2]),
  ).toEqual(["before", "after"])
})
