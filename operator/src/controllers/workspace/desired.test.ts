import { workspaceResource } from "@chancery/engine/declared"
import { expect, test } from "vitest"
import { workspace, type WorkspaceObjectSpec } from "../../api/workspace.ts"
import { appliedOf, desiredSettings, droppedSettings, fieldOf } from "./desired.ts"
import { difference, fieldsOf } from "./drift.ts"
import { aspectOf, aspectOfEvent, intervalMs } from "./polling.ts"

const spec = (members: Record<string, unknown> = {}): WorkspaceObjectSpec =>
  workspace.spec.parse({ connectionRef: { name: "engine" }, ...members })
const place = { organization: "acme", name: "web", ids: {} }

test.each([
  { given: {}, wanted: {} },
  { given: { autoApply: false }, wanted: { autoApply: false } },
  { given: { description: "" }, wanted: { description: "" } },
  {
    given: { autoDestroy: { at: "2030-01-01T00:00:00Z", inherit: false } },
    wanted: { autoDestroyAt: "2030-01-01T00:00:00Z", inheritsProjectAutoDestroy: false },
  },
  {
    given: { vcsRepo: { identifier: "a/b", oauthTokenID: "ot-1", tagsRegex: "v.*" } },
    wanted: { vcsRepo: { identifier: "a/b", oauthTokenId: "ot-1", tagsRegex: "v.*" } },
  },
  {
    given: { settingOverwrites: { executionMode: false, agentPool: false } },
    wanted: { settingOverwrites: { executionMode: false, agentPool: false } },
  },
  // These are not settings of the workspace itself.
  { given: { tags: ["a"], sshKey: { id: "s" }, lock: {}, dataRetentionPolicy: { dontDelete: true } }, wanted: {} },
])("desiredSettings of a spec with $given is exactly $wanted", ({ given, wanted }) => {
  const settings = desiredSettings(spec(given), place)
  expect(settings).toEqual({ organization: "acme", name: "web", ...wanted })
  expect(workspaceResource.validate({ ...settings })).toEqual([])
})

test("names of a spec are replaced by ids", () => {
  const ids = { projectId: "prj-1", agentPoolId: "apool-1", sshKeyId: "sshkey-1" }
  const given = { executionMode: "agent", agentPool: { name: "p" }, project: { name: "x" } }
  expect(desiredSettings(spec(given), { ...place, ids })).toMatchObject({ projectId: "prj-1", agentPoolId: "apool-1" })
})

test("every setting of the engine has a field in the spec, or is set in another way", () => {
  const settings = new Set(Object.keys((workspace.spec as unknown as { shape: object }).shape))
  const fields = workspaceResource.memberNames.map((member) => fieldOf(member).split(".")[0] ?? "")
  expect(fields.filter((field) => !settings.has(field))).toEqual([])
})

test.each([
  { before: { vcsRepo: { identifier: "a/b", oauthTokenID: "ot-1" } }, after: {}, dropped: ["vcsRepo"] },
  {
    before: { autoDestroy: { inherit: true } },
    after: {},
    dropped: ["autoDestroyAt", "autoDestroyActivityDuration"],
  },
  { before: { description: "x", autoApply: true }, after: {}, dropped: [] },
  { before: { lock: {} }, after: { lock: {} }, dropped: [] },
])("a change from $before to $after resets the settings $dropped", ({ before, after, dropped }) => {
  expect(droppedSettings(spec(after), appliedOf(spec(before), {}))).toEqual(dropped)
})

test("the status lists the fields of the spec by name, and is empty for an empty spec", () => {
  expect(appliedOf(spec({ description: "x" }), {})).toEqual({})
  const given = { lock: {}, tags: ["a"], tagBindings: [{ key: "k", value: "v" }] }
  expect(appliedOf(spec(given), { remoteStateConsumerIds: ["ws-1"] })).toEqual({
    fields: ["lock"],
    tags: ["a"],
    tagBindings: ["k"],
    remoteStateConsumers: ["ws-1"],
  })
})

test.each([
  { members: {}, turns: ["workspace", "workspace", "workspace"] },
  { members: { tagBindings: [] }, turns: ["workspace", "tagBindings", "workspace"] },
  {
    members: {
      tagBindings: [],
      globalRemoteState: false,
      remoteStateConsumers: [],
      dataRetentionPolicy: { dontDelete: true },
    },
    turns: ["workspace", "tagBindings", "remoteStateConsumers", "dataRetentionPolicy", "workspace"],
  },
])("polls of a spec with $members read $turns", ({ members, turns }) => {
  expect(turns.map((_, poll) => aspectOf(spec(members), poll))).toEqual(turns)
})

test.each([
  { kind: "workspace.locked", aspect: "workspace" },
  { kind: "workspace.untagged", aspect: "workspace" },
  { kind: "workspace.moved", aspect: "workspace" },
  { kind: "state.finalized", aspect: "workspace" },
  { kind: "tag-bindings.updated", aspect: "tagBindings" },
  { kind: "remote-state-consumers.updated", aspect: "remoteStateConsumers" },
  { kind: "retention-policy.updated", aspect: "dataRetentionPolicy" },
  { kind: "variable.deleted", aspect: "variables" },
] as const)("after $kind it looks at $aspect", ({ kind, aspect }) => {
  expect(aspectOfEvent(kind)).toBe(aspect)
})

test.each([
  { reconcileInterval: "1h", annotation: undefined, ms: 3_600_000 },
  { reconcileInterval: "1h", annotation: "5m", ms: 300_000 },
  { reconcileInterval: "1h", annotation: "soon", ms: 3_600_000 },
  { reconcileInterval: "1h", annotation: "1s", ms: 30_000 },
])(
  "the interval $reconcileInterval with the annotation $annotation is $ms ms",
  ({ reconcileInterval, annotation, ms }) => {
    const annotations = annotation === undefined ? {} : { "chancery.dev/poll-interval": annotation }
    const object = { metadata: { name: "web", annotations } }
    expect(intervalMs(object, spec({ reconcileInterval }))).toBe(ms)
  },
)

test("a difference is shown as truncated JSON, and many of them as a few names", () => {
  expect(difference("vcsRepo", { identifier: "a/b" }, null)).toEqual({
    field: "vcsRepo",
    desired: '{"identifier":"a/b"}',
    observed: "null",
  })
  expect(difference("description", "x".repeat(5_000), "").desired.length).toBeLessThan(1_024)
  const many = Array.from({ length: 10 }, (_, index) => difference(`f${index}`, 1, 2))
  expect(fieldsOf(many)).toBe("f0, f1, f2, f3, f4, f5, f6, f7 and 2 more")
  expect(fieldsOf(many.slice(0, 2))).toBe("f0, f1")
})
