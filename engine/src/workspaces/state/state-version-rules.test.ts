import { describe, expect, test } from "vitest"
import { type EngineErrorCode, isEngineError } from "../../core/errors.ts"
import type { OrganizationId, StateVersionId, WorkspaceId } from "../../core/ids.ts"
import type { StateFile } from "./state-file.ts"
import type { ReceivedState } from "./state-upload.ts"
import type { StateVersion } from "./state-version.ts"
import { admit, currentFacts, finalize, requireNotDiscarded, requirePending } from "./state-version-rules.ts"
import type { Actor, Lock, Workspace } from "../workspace/workspace.ts"

const me: Actor = { kind: "users", id: "user-1" }
const somebody: Actor = { kind: "teams", id: "team-2" }
const run: Actor = { kind: "runs", id: "run-3" }
const heldBy = (by: Actor): Lock => ({ held: true, by, reason: "", since: 1 })

const workspaceWith = (lock: Lock): Workspace =>
  ({ id: "ws-1" as WorkspaceId, organizationId: "org-1" as OrganizationId, lock, lockNumber: 4 }) as Workspace

const version = (members: Partial<StateVersion> = {}): StateVersion => ({
  id: "sv-1" as StateVersionId,
  workspaceId: "ws-1" as WorkspaceId,
  organizationId: "org-1" as OrganizationId,
  serial: 5,
  lineage: "one",
  md5: "a".repeat(32),
  status: "finalized",
  intermediate: false,
  lockNumber: 4,
  createdAt: 1_000,
  createdBy: me,
  runId: null,
  summary: null,
  vcsCommitSha: null,
  vcsCommitUrl: null,
  ...members,
})

const announced = { serial: 6, md5: "b".repeat(32), lineage: "one", force: false, intermediate: false, runId: null }
const context = { id: "sv-2" as StateVersionId, by: me, now: 2_000 }

function refusalOf(work: () => unknown): { readonly code: EngineErrorCode; readonly detail: string } | undefined {
  try {
    work()
  } catch (error) {
    if (isEngineError(error)) return { code: error.code, detail: error.message }
    throw error
  }
  return undefined
}

const containing = (text: string): unknown => expect.stringContaining(text)

describe("uploading a state", () => {
  test.each<{ who: string; lock: Lock; runId?: string; refusal?: string }>([
    { who: "is accepted from the holder of the lock", lock: heldBy(me) },
    {
      who: "is rejected while the workspace is unlocked",
      lock: { held: false },
      refusal: "will only accept state uploads when locked",
    },
    {
      who: "is rejected from callers who do not hold the lock",
      lock: heldBy(somebody),
      refusal: "is locked by Team team-2",
    },
    { who: "is accepted from any caller for the run that holds the lock", lock: heldBy(run), runId: "run-3" },
    {
      who: "is rejected for another run than the holder",
      lock: heldBy(run),
      runId: "run-4",
      refusal: "is locked by Run run-3",
    },
  ])("$who", ({ lock, runId = null, refusal }) => {
    const refused = refusalOf(() =>
      admit(workspaceWith(lock), { ...announced, runId }, { newest: undefined, newestFinalized: undefined }, context),
    )
    expect(refused).toEqual(refusal && { code: "conflict", detail: containing(refusal) })
  })
})

describe("the version after the newest one", () => {
  const last = version()
  test.each<{ what: string; next: Partial<typeof announced>; refusal?: string }>([
    { what: "a higher serial of the same lineage", next: {} },
    {
      what: "another lineage",
      next: { lineage: "two" },
      refusal: 'The lineage "two" does not match the lineage "one" of the existing state.',
    },
    { what: "another lineage by force", next: { lineage: "two", force: true } },
    { what: "the same serial with the same bytes, as a retry", next: { serial: 5, md5: last.md5 } },
    {
      what: "the same serial with other bytes",
      next: { serial: 5 },
      refusal: "A state with the serial 5 already exists with a different MD5 hash.",
    },
    { what: "the same serial with other bytes by force", next: { serial: 5, force: true } },
    { what: "a lower serial of the same lineage, as a forced push sends it", next: { serial: 3 } },
    {
      what: "a lower serial of unknown lineage",
      next: { serial: 3, lineage: null as unknown as string },
      refusal: "The serial 3 is not greater than the serial 5 of the existing state.",
    },
    {
      what: "a lower serial of unknown lineage by force",
      next: { serial: 3, lineage: null as unknown as string, force: true },
    },
    { what: "a higher serial of unknown lineage", next: { lineage: null as unknown as string } },
  ])("$what", ({ next, refusal }) => {
    const refused = refusalOf(() =>
      admit(workspaceWith(heldBy(me)), { ...announced, ...next }, { newest: last, newestFinalized: last }, context),
    )
    expect(refused).toEqual(refusal && { code: "conflict", detail: containing(refusal) })
  })

  test("is pending and records the current lock and the creator", () => {
    const admitted = admit(
      workspaceWith(heldBy(me)),
      { ...announced, intermediate: true, runId: "run-1" },
      { newest: undefined, newestFinalized: undefined },
      context,
    )
    expect(admitted).toEqual({
      ...version({ id: context.id, serial: 6, md5: announced.md5, status: "pending" }),
      intermediate: true,
      createdAt: 2_000,
      runId: "run-1",
    })
  })

  test("is later than all earlier versions when clocks differ", () => {
    const ahead = version({ createdAt: 9_000, status: "pending" })
    const admitted = admit(workspaceWith(heldBy(me)), announced, { newest: ahead, newestFinalized: undefined }, context)
    expect(admitted.createdAt).toBe(9_001)
  })
})

describe("finalizing a version", () => {
  const file: StateFile = {
    formatVersion: 4,
    terraformVersion: "1.11.4",
    serial: 6,
    lineage: "one",
    resourceCount: 2,
    resources: [],
    modules: {},
    providers: {},
    outputs: [],
  }
  const pending = version({ status: "pending", serial: file.serial, md5: "b".repeat(32) })
  const found: ReceivedState = { header: file, contents: file }
  const received = { found, md5: "b".repeat(32), size: 77 }

  test("keeps the header of the state", () => {
    const finalized = finalize(pending, received)
    expect(finalized).toMatchObject({
      status: "finalized",
      summary: { size: 77, resourceCount: 2, formatVersion: 4, resourcesProcessed: true },
    })
    expect(currentFacts(finalized)).toEqual({ currentStateVersionId: "sv-1", resourceCount: 2 })
  })

  test("counts no resources until the contents are parsed", () => {
    const finalized = finalize(pending, { ...received, found: { header: file, contents: undefined } })
    expect(finalized.summary).toMatchObject({ terraformVersion: "1.11.4", resourceCount: 0, resourcesProcessed: false })
    expect(currentFacts(finalized)).toEqual({ currentStateVersionId: "sv-1" })
  })

  test("takes the lineage from the state when none was announced", () => {
    expect(finalize({ ...pending, lineage: null }, received).lineage).toBe("one")
  })

  test("rejects bytes that differ from the announced MD5", () => {
    expect(refusalOf(() => finalize(pending, { ...received, md5: "c".repeat(32) }))).toEqual({
      code: "invalid",
      detail: "md5 does not match the uploaded state",
    })
  })

  test("[F-W4] keeps the announced serial and lineage when the file has others", () => {
    const found = { header: { ...file, lineage: "two", serial: 7 }, contents: file }
    const announced = { ...pending, serial: 3, lineage: "one" }
    expect(finalize(announced, { ...received, found })).toMatchObject({ serial: 3, lineage: "one" })
  })

  test.each<{ status: StateVersion["status"]; state?: string; json?: string }>([
    { status: "pending" },
    { status: "finalized", state: "The state of this state version has already been uploaded." },
    {
      status: "discarded",
      state: "This state version was discarded and does not accept an upload.",
      json: "This state version was discarded and does not accept an upload.",
    },
  ])("a $status version accepts an upload or explains why not", ({ status, state, json }) => {
    expect(refusalOf(() => requirePending(version({ status })))?.detail).toBe(state)
    expect(refusalOf(() => requireNotDiscarded(version({ status })))?.detail).toBe(json)
  })
})
