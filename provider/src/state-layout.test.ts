import * as pulumi from "@pulumi/pulumi"
import { assert, boolean, constantFrom, dictionary, property, record, uniqueArray } from "fast-check"
import { beforeAll, describe, expect, test } from "vitest"
import { lifecycles } from "./kinds.ts"
import { foundMember, stateIn, stateLayouts, writtenState } from "./state-layout.ts"
import { Workspace } from "./workspace.ts"

const usual = stateLayouts.workspace?.usual ?? {}
const told = stateLayouts.workspace?.told ?? []
const settings = Object.keys(usual).filter((name) => name !== "adopted")
const named = { organization: "acme", name: "api" }

describe("a state", () => {
  test("is read as it was, however much of it is usual or declared", () => {
    assert(
      property(
        uniqueArray(constantFrom(...settings, ...told)),
        dictionary(constantFrom(...settings), constantFrom<unknown>("other", null, true, false, [])),
        record({ adopted: boolean(), adopt: boolean() }),
        (declared, others, life) => {
          const managed = [...new Set([...declared, ...Object.keys(named)])].toSorted()
          const tells = Object.fromEntries(told.map((name) => [name, `its ${name}`]))
          const state = { ...usual, ...tells, ...others, ...named, ...life, __marker: "m", __managed: managed }
          expect(stateIn("workspace", writtenState("workspace", state))).toEqual(state)
        },
      ),
    )
  })

  test("leaves out what is usual and nobody declares", () => {
    const facts = { createdAt: "2026-01-01T00:00:00.000Z", engineVersion: "1.9.0" }
    const declared = { ...named, autoApply: false, projectId: "prj-1" }
    const state = { ...usual, ...facts, ...declared, queueAllRuns: true, __managed: Object.keys(declared).toSorted() }
    const written = { ...declared, [foundMember]: [...Object.values(facts), null, { queueAllRuns: true }] }
    expect(writtenState("workspace", state)).toEqual(written)
    expect(stateIn("workspace", written)).toEqual(state)
    const plain = writtenState("workspace", { ...state, queueAllRuns: false })
    expect(plain[foundMember]).toEqual([...Object.values(facts), null])
  })

  test("whose settings were written with all their names is read alike", () => {
    const found = { projectId: "prj-1", queueAllRuns: true }
    const state = { ...usual, ...found, ...named, __managed: Object.keys(named).toSorted() }
    expect(stateIn("workspace", { ...named, [foundMember]: found })).toEqual(state)
  })

  test("that was written member by member is read as it stands, and other kinds are written so", () => {
    const state = { ...usual, ...named, __managed: ["name"] }
    expect(stateIn("workspace", state)).toEqual(state)
    expect(writtenState("tag", { name: "web", __managed: ["name"] })).toEqual({ name: "web", __managed: ["name"] })
  })

  test("takes nothing for usual that a workspace does not have", () => {
    expect(settings.filter((name) => !lifecycles.workspace.members.includes(name))).toEqual([])
  })
})

describe("a program", () => {
  const mocks: pulumi.runtime.Mocks = {
    call: ({ inputs }) => inputs,
    newResource: ({ name, inputs }) => {
      const found = name === "gone" ? {} : { [foundMember]: ["2026-01-01", "1.9.0", "prj-1", { queueAllRuns: true }] }
      return { id: `ws-${name}`, state: { ...inputs, organization: "acme", ...found } }
    },
  }
  beforeAll(() => pulumi.runtime.setMocks(mocks, "stories", "test", false, "acme"))

  const valueOf = (output: pulumi.Output<unknown>): Promise<unknown> =>
    new Promise((resolve) => void output.apply(resolve))

  test("has every setting of a workspace, declared or not, usual or not", async () => {
    const workspace = new Workspace("api", { autoApply: true })
    const { name, organization, autoApply, projectId, queueAllRuns, speculativeEnabled, adopted } = workspace
    const outputs = { name, organization, autoApply, projectId, queueAllRuns, speculativeEnabled, adopted }
    expect(await valueOf(pulumi.output(outputs))).toEqual({
      name: "api",
      organization: "acme",
      autoApply: true,
      projectId: "prj-1",
      queueAllRuns: true,
      speculativeEnabled: true,
      adopted: false,
    })
  })

  test("has nothing of a workspace that is not there yet", async () => {
    expect(await valueOf(new Workspace("gone").autoApply)).toBeUndefined()
  })

  test("has classes of their kinds' names", () => {
    expect(Workspace.name).toBe("Workspace")
    expect(new Workspace("web")).toBeInstanceOf(Workspace)
  })
})
