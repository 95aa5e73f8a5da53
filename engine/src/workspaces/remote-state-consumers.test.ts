import { expect, test } from "vitest"
import type { OrganizationId, WorkspaceId } from "../core/ids.ts"
import { mayConsumeState, refuseOwnState, refuseWhileGlobal } from "./remote-state-consumers.ts"

const producer = { id: "ws-1" as WorkspaceId, organizationId: "org-1" as OrganizationId }

test.each([
  { global: false, id: "ws-1", organization: "org-1", listed: false, may: true, why: "its own state" },
  { global: false, id: "ws-2", organization: "org-1", listed: false, may: false, why: "not on the list" },
  { global: false, id: "ws-2", organization: "org-1", listed: true, may: true, why: "on the list" },
  { global: true, id: "ws-2", organization: "org-1", listed: false, may: true, why: "shared with the organization" },
  { global: true, id: "ws-2", organization: "org-2", listed: false, may: false, why: "another organization" },
  { global: false, id: "ws-2", organization: "org-2", listed: true, may: false, why: "another organization" },
])("a workspace may read another's state: $may, $why", ({ global, id, organization, listed, may }) => {
  const consumer = { id: id as WorkspaceId, organizationId: organization as OrganizationId }
  expect(mayConsumeState({ ...producer, globalRemoteState: global }, consumer, listed)).toBe(may)
})

test("the list cannot be changed while the whole organization may read", () => {
  expect(() => refuseWhileGlobal({ globalRemoteState: true })).toThrow(/global-remote-state/)
  expect(() => refuseWhileGlobal({ globalRemoteState: false })).not.toThrow()
})

test("a workspace that would consume itself is named where it stands", () => {
  expect(() => refuseOwnState(producer, ["ws-2", "ws-1"])).toThrow(
    expect.objectContaining({ code: "unprocessable", faults: [expect.objectContaining({ field: ["data", 1, "id"] })] }),
  )
})
