import { expect, test } from "vitest"
import type { WorkspaceId } from "../../core/ids.ts"
import { rejectUnsafeDelete } from "./workspace-deletion.ts"
import type { Lock } from "./workspace.ts"

const held: Lock = { held: true, by: { kind: "users", id: "user-1" }, reason: "", since: 0 }
const free: Lock = { held: false }

test.each([
  { lock: held, resourceCount: 0, processed: true, text: "locked" },
  { lock: free, resourceCount: 0, processed: false, text: "being processed" },
  { lock: free, resourceCount: 1, processed: true, text: "still managing resources" },
])("safe delete throws a conflict with the text $text", ({ lock, resourceCount, processed, text }) => {
  const workspace = { id: "ws-1" as WorkspaceId, lock, resourceCount }
  expect(() => rejectUnsafeDelete(workspace, processed)).toThrow(
    expect.objectContaining({ code: "conflict", message: expect.stringContaining(text) }),
  )
})

test("safe delete accepts an unlocked workspace whose processed state has no resources", () => {
  expect(() => rejectUnsafeDelete({ id: "ws-1" as WorkspaceId, lock: free, resourceCount: 0 }, true)).not.toThrow()
})
