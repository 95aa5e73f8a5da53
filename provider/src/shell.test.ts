import * as pulumi from "@pulumi/pulumi"
import { beforeAll, expect, test } from "vitest"
import { Workspace } from "./workspace.ts"

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
    queueAllRuns: undefined,
    adopted: false,
  })
})

test("a program has classes of their kinds' names", () => {
  expect(Workspace.name).toBe("Workspace")
  expect(new Workspace("web")).toBeInstanceOf(Workspace)
})
