import { describe, expect, test } from "vitest"
import type { OrganizationId, WorkspaceId } from "../../core/ids.ts"
import { changeVariable, type Variable, variableFaults, type VariablePatch, viewVariable } from "./variable.ts"

const input = {
  key: "region",
  value: "x",
  description: "",
  category: "terraform",
  hcl: false,
  sensitive: false,
} as const
const variable = (members: Partial<Variable> = {}): Variable => ({
  ...input,
  id: "var-1",
  workspaceId: "ws-1" as WorkspaceId,
  organizationId: "org-1" as OrganizationId,
  versionId: "1",
  createdAt: 1,
  ...members,
})

describe("a variable", () => {
  test.each<{ what: string; members: VariablePatch; faults: readonly string[] }>([
    { what: "the longest key", members: { key: "k".repeat(128) }, faults: [] },
    {
      what: "a key above the maximum",
      members: { key: "k".repeat(129) },
      faults: ["Key is too long (maximum is 128 characters)"],
    },
    { what: "a blank key", members: { key: " " }, faults: ["Key can't be blank"] },
    { what: "the longest value", members: { value: "v".repeat(262_144) }, faults: [] },
    {
      what: "a value above the maximum of bytes",
      members: { value: "ü".repeat(131_073) },
      faults: ["Value is too long (maximum is 262144 bytes)"],
    },
    { what: "the longest description", members: { description: "d".repeat(512) }, faults: [] },
    {
      what: "several faults at once",
      members: { key: "", description: "d".repeat(513) },
      faults: ["Key can't be blank", "Description is too long (maximum is 512 characters)"],
    },
  ])("accepts or rejects $what", ({ members, faults }) => {
    expect(variableFaults({ ...input, ...members }).map(({ detail }) => detail)).toEqual(faults)
  })

  test("keeps the members that a change omits", () => {
    const { changed, faults } = changeVariable(variable(), { value: "y" })
    expect([changed.key, changed.value, faults]).toEqual(["region", "y", []])
  })

  test("can become sensitive but cannot stop being sensitive", () => {
    expect(changeVariable(variable(), { sensitive: true }).faults).toEqual([])
    expect(changeVariable(variable({ sensitive: true }), { sensitive: false }).faults).toEqual([
      { field: ["sensitive"], detail: "sensitive cannot be changed to false; delete the variable instead" },
    ])
  })

  test("has no value in views when it is sensitive", () => {
    expect(viewVariable(variable()).value).toBe("x")
    expect(viewVariable(variable({ sensitive: true })).value).toBeNull()
  })
})
