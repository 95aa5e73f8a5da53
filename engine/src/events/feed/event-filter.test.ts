import { describe, expect, test } from "vitest"
import { type EventFilter, type Filterable, fits, keysOf, wantedKeys } from "./event-filter.ts"

const event: Filterable = {
  kind: "workspace.untagged",
  workspace: { id: "ws-1", name: "net" },
  tags: [{ key: "Prod", value: "" }],
  formerTags: [{ key: "env", value: "eu" }],
}

describe("an event filter", () => {
  test.each<{ filter: EventFilter; expected: boolean; why: string }>([
    { filter: {}, expected: true, why: "is empty" },
    { filter: { kinds: ["workspace.untagged"] }, expected: true, why: "names the kind" },
    { filter: { kinds: ["run.*", "workspace.*"] }, expected: true, why: "names all kinds of the workspace" },
    { filter: { kinds: ["workspace.locked"] }, expected: false, why: "names another kind" },
    { filter: { workspaces: ["ws-1"] }, expected: true, why: "names the workspace by id" },
    { filter: { workspaces: ["other", "net"] }, expected: true, why: "names it by name" },
    { filter: { workspaces: ["other"] }, expected: false, why: "names another workspace" },
    { filter: { tags: ["prod"] }, expected: true, why: "names a tag in another case" },
    { filter: { tags: ["env"] }, expected: true, why: "names the removed tag" },
    { filter: { tags: ["dev"] }, expected: false, why: "names a tag that the workspace never had" },
    {
      filter: { tags: ["prod"], kinds: ["run.*"] },
      expected: false,
      why: "names two things, of which one does not match",
    },
    {
      filter: { tags: ["prod"], kinds: ["workspace.*"], workspaces: ["net"] },
      expected: true,
      why: "matches in all members",
    },
  ])("matches: $expected, when it $why", ({ filter, expected }) => {
    const keys = keysOf(event)
    expect(fits(filter, keys)).toBe(expected)
    // Every matching event has at least one of the filter's lookup keys.
    expect(wantedKeys(filter).some((key) => keys.has(key)) || !expected).toBe(true)
  })

  test("on tags or workspaces excludes events without workspace", () => {
    const keys = keysOf({ kind: "project.created", workspace: null, tags: [], formerTags: [] })
    expect(fits({ tags: ["prod"] }, keys)).toBe(false)
    expect(fits({ workspaces: ["net"] }, keys)).toBe(false)
    expect(fits({ kinds: ["project.*"] }, keys)).toBe(true)
  })
})
