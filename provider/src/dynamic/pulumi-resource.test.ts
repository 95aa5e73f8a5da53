import * as pulumi from "@pulumi/pulumi"
import { beforeAll, expect, test } from "vitest"
import { Workspace } from "../resources/workspace.ts"

const mocks: pulumi.runtime.Mocks = {
  call: ({ inputs }) => inputs,
  newResource: ({ name, inputs }) => ({
    id: `ws-${name}`,
    state: { ...inputs, organization: "acme", projectId: "prj-1", adopted: false },
  }),
}
beforeAll(() => pulumi.runtime.setMocks(mocks, "stories", "test", false, "acme"))

const valueOf = (output: pulumi.Output<unknown>): Promise<unknown> =>
  new Promise((resolve) => void output.apply(resolve))

test("a program has every setting of a workspace, declared or not", async () => {
  const { name, organization, autoApply, projectId, queueAllRuns, adopted } = new Workspace("api", { autoApply: true })
  expect(await valueOf(pulumi.output({ name, organization, autoApply, projectId, queueAllRuns, adopted }))).toEqual({
    name: "api",
    organization: "acme",
    autoApply: true,
    projectId: "prj-1",
    queueAllRuns: false,
    adopted: false,
  })
})

test("[F-U5] an output that the state leaves out has the value of a new workspace, a preview of an existing one included", async () => {
  const isExisting = { createdAt: "2026-01-01T00:00:00.000Z" }
  const preview = async (state: object) => {
    const newResource: pulumi.runtime.Mocks["newResource"] = ({ inputs }) => ({
      id: "ws-1",
      state: { ...inputs, ...state },
    })
    await pulumi.runtime.setMocks({ ...mocks, newResource }, "stories", "test", true, "acme")
    const { executionMode } = new Workspace("api", { autoApply: true })
    return (executionMode as unknown as { readonly isKnown: Promise<boolean> }).isKnown
  }
  try {
    expect(await preview(isExisting)).toBe(true)
    expect(await preview({})).toBe(false)
  } finally {
    await pulumi.runtime.setMocks(mocks, "stories", "test", false, "acme")
  }
})

test("a program has classes of their kinds' names", () => {
  expect(Workspace.name).toBe("Workspace")
  expect(new Workspace("web")).toBeInstanceOf(Workspace)
})
