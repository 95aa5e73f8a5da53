import { expect, test } from "vitest"
import type { OrganizationId, WorkspaceId } from "../../core/ids.ts"
import { rejectOwnState, rejectWhileGlobal } from "./remote-state-consumers.ts"

const producer = { id: "ws-1" as WorkspaceId, organizationId: "org-1" as OrganizationId }

test("the list cannot be changed while the whole organization may read", () => {
  expect(() => rejectWhileGlobal({ globalRemoteState: true })).toThrow(/global-remote-state/)
  expect(() => rejectWhileGlobal({ globalRemoteState: false })).not.toThrow()
})

test("a workspace that would consume itself is named where it stands", () => {
  expect(() => rejectOwnState(producer, ["ws-2", "ws-1"])).toThrow(
    expect.objectContaining({ code: "unprocessable", faults: [expect.objectContaining({ field: ["data", 1, "id"] })] }),
  )
})
