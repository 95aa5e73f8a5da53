import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openEngine } from "@chancery/engine"
import { runtime } from "@pulumi/pulumi"
import { afterEach, beforeEach, expect, test } from "vitest"
import { getWorkspace, listTags, listWorkspaces } from "./lookups.ts"

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "chancery-lookups-"))
  const url = `sqlite:${join(folder, "engine.db")}`
  await using engine = await openEngine(url, { jobs: false })
  await engine.organizations.create({ name: "acme", email: "acme@example.com" })
  await engine.workspaces.create("acme", {
    name: "api",
    tags: [{ name: "web" }],
    tagBindings: [{ key: "env", value: "prod" }],
  })
  for (let index = 0; index < 101; index += 1) await engine.workspaces.create("acme", { name: `batch-${index}` })
  runtime.setAllConfig({ "chancery:engineUrl": url, "chancery:organization": "acme" })
})
afterEach(async () => {
  runtime.setAllConfig({})
  await rm(folder, { recursive: true })
})

test("a workspace is found by its name, with its tags", async () => {
  expect(await getWorkspace({ name: "api" })).toMatchObject({
    id: expect.stringMatching(/^ws-/),
    organization: "acme",
    executionMode: "remote",
    tagBindings: { env: "prod" },
  })
})

test("one that is not there is an error that says where", async () => {
  await expect(getWorkspace({ name: "none" })).rejects.toThrow(/^workspace of acme: .* \(404 not-found\)$/)
})

test("workspaces and tags are listed to the last", async () => {
  expect(await listWorkspaces({ name: "batch" })).toHaveLength(101)
  expect(await listWorkspaces({ tags: ["web"] })).toMatchObject([{ name: "api" }])
  expect(await listTags({ search: "we" })).toMatchObject([{ name: "web", instanceCount: 1 }])
})

test("nobody is asked without an organization", async () => {
  runtime.setAllConfig({ "chancery:engineUrl": "sqlite::memory:" })
  await expect(listTags()).rejects.toThrow("CHANCERY_ORGANIZATION")
})
