import * as pulumi from "@pulumi/pulumi"
import type { Values } from "@chancery/engine/managed"
import { assert, boolean, constantFrom, dictionary, option, property, record, string, uniqueArray } from "fast-check"
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
        option(string()),
        (declared, others, life, marker) => {
          const managed = [...new Set([...declared, ...Object.keys(named)])].toSorted()
          const tells = Object.fromEntries(told.map((name) => [name, `its ${name}`]))
          const facts = { ...usual, ...tells, ...others, ...named, ...life }
          const state = { ...facts, ...(marker === null ? {} : { __marker: marker }), __managed: managed }
          const written = writtenState("workspace", state)
          expect(stateIn("workspace", JSON.parse(JSON.stringify(written)) as Values)).toEqual(state)
          // A secret is one by the name of its input.
          expect(Object.keys(written)).toEqual(expect.arrayContaining(managed))
        },
      ),
    )
  })

  test("leaves out what is usual and nobody declares", () => {
    const facts = { createdAt: "2026-01-01T00:00:00.000Z", engineVersion: "1.9.0" }
    const declared = { ...named, autoApply: false, projectId: "prj-1" }
    const life = { __marker: "prod:api", deletionPolicy: "safe" }
    const managed = Object.keys(declared).toSorted()
    const state = { ...usual, ...facts, ...declared, ...life, queueAllRuns: true, __managed: managed }
    const found = `["2026-01-01T00:00:00.000Z","1.9.0",null,"prod:api",{"queueAllRuns":true}]`
    const written = { ...declared, deletionPolicy: "safe", [foundMember]: found }
    expect(writtenState("workspace", state)).toEqual(written)
    expect(stateIn("workspace", written)).toEqual(state)
    const plain = writtenState("workspace", { ...state, queueAllRuns: false })
    expect(plain[foundMember]).toBe(`["2026-01-01T00:00:00.000Z","1.9.0",null,"prod:api"]`)
  })

  // Such states are in the field, and nothing writes them anew before their resources change.
  test.each([
    { form: "a list", found: ["2026-01-01", "1.9.0", null, { queueAllRuns: true }] },
    { form: "an object", found: { createdAt: "2026-01-01", engineVersion: "1.9.0", queueAllRuns: true } },
  ])("whose settings stand in $form is read alike, and written in a text", ({ found }) => {
    const facts = { createdAt: "2026-01-01", engineVersion: "1.9.0", queueAllRuns: true }
    const declared = { ...named, projectId: "prj-1" }
    const state = { ...usual, ...facts, ...declared, __marker: "m", __managed: Object.keys(declared).toSorted() }
    const earlier = { ...declared, __marker: "m", [foundMember]: found }
    expect(stateIn("workspace", earlier)).toEqual(state)
    const text = `["2026-01-01","1.9.0",null,"m",{"queueAllRuns":true}]`
    expect(writtenState("workspace", stateIn("workspace", earlier))).toEqual({ ...declared, [foundMember]: text })
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
  const listed = ["2026-01-01", "1.9.0", "prj-1", { queueAllRuns: true }]
  const mocks: pulumi.runtime.Mocks = {
    call: ({ inputs }) => inputs,
    newResource: ({ name, inputs }) => {
      const found = name === "old" ? listed : JSON.stringify([...listed.slice(0, 3), "m", listed[3]])
      const state = { ...inputs, organization: "acme", ...(name === "gone" ? {} : { [foundMember]: found }) }
      return { id: `ws-${name}`, state }
    },
  }
  beforeAll(() => pulumi.runtime.setMocks(mocks, "stories", "test", false, "acme"))

  const valueOf = (output: pulumi.Output<unknown>): Promise<unknown> =>
    new Promise((resolve) => void output.apply(resolve))

  test.each(["api", "old"])("has every setting of a workspace, declared or not, usual or not: %s", async (given) => {
    const workspace = new Workspace(given, { autoApply: true })
    const { name, organization, autoApply, projectId, queueAllRuns, speculativeEnabled, adopted } = workspace
    const outputs = { name, organization, autoApply, projectId, queueAllRuns, speculativeEnabled, adopted }
    expect(await valueOf(pulumi.output(outputs))).toEqual({
      name: given,
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
