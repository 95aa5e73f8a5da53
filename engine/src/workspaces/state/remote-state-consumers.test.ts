import { expect, test } from "vitest"
import type { OrganizationId, WorkspaceId } from "../../core/ids.ts"
import { rejectOwnState, rejectWhileGlobal } from "./remote-state-consumers.ts"

const producer = { id: "ws-1" as WorkspaceId, organizationId: "org-1" as OrganizationId }

test("the list of consumers cannot be changed when the state is shared with the organization", () => {
  expect(() => rejectWhileGlobal({ globalRemoteState: true })).toThrow(/global-remote-state/)
  expect(() => rejectWhileGlobal({ globalRemoteState: false })).not.toThrow()
})

test("a workspace that is its own consumer is rejected with its pointer", () => {
  expect(() => rejectOwnState(producer, ["ws-2", "ws-1"])).toThrow(
    expect.objectContaining({ code: "unprocessable", faults: [expect.objectContaining({ field: ["data", 1, "id"] })] }),
  )
})
