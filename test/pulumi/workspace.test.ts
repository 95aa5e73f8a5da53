// The shortest life of a workspace with its tags, by the real Pulumi engine; test/long has the whole stories.
import { secret } from "@pulumi/pulumi"
import { beforeAll, describe, expect, test } from "vitest"
import { pulumiProgram } from "../toolchain/pulumi.ts"
import { buildProvider, openStack } from "./stack.ts"
import { declare, type Declared } from "./workspace-story.ts"

const pulumi = await pulumiProgram()

beforeAll(buildProvider)

describe.skipIf(pulumi === undefined).each(["embedded", "remote"] as const)("with the %s engine", (mode) => {
  test("a workspace and its tags come, change and go", { timeout: 300_000 }, async () => {
    await using stack = await openStack(pulumi ?? "", mode)
    const { engine } = stack
    const found = () => engine.workspaces.get({ organization: "acme", name: "api" })
    const first: Declared = {
      workspace: { description: secret("s3cret") },
      tags: ["web"],
      bindings: { env: "prod" },
      carried: true,
    }
    expect((await stack.up(declare(first))).operations).toEqual({
      api: "create",
      flat: "create",
      valued: "create",
      shared: "create",
    })
    const { id, tagNames } = await found()
    expect(tagNames.toSorted()).toEqual(["shared", "web"])

    const second: Declared = { ...first, workspace: { ...first.workspace, autoApply: true } }
    const updated = { api: "update", flat: "same", valued: "same", shared: "same" }
    expect((await stack.up(declare(second))).operations).toEqual(updated)
    await engine.workspaces.update({ id }, { autoApply: false })
    await stack.refresh()
    expect((await stack.up(declare(second))).operations).toEqual(updated)
    expect(await found()).toMatchObject({ id, autoApply: true, description: "s3cret" })

    const state = await stack.state()
    expect(state).toContain("v1.workspaceTags;")
    expect(state).not.toContain("s3cret")
    expect(state).not.toContain(stack.token)
    await stack.destroy()
    expect((await engine.workspaces.list("acme", {}, { number: 1, size: 1 })).totalCount).toBe(0)
  })
})
