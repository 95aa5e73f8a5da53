import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Engine, openEngine } from "@chancery/engine"
import { stateFile } from "@chancery/testing"
import { isSecret, runtime } from "@pulumi/pulumi"
import { afterEach, beforeEach, expect, test } from "vitest"
import { getWorkspace, getWorkspaceOutputs, listTags, listWorkspaces } from "./lookups.ts"

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
  await withState(engine, "api")
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

/** Stores a state with two outputs, one of which is sensitive. */
async function withState({ workspaces, stateVersions }: Engine, name: string): Promise<void> {
  const { id } = await workspaces.get({ organization: "acme", name })
  const outputs = {
    address: { value: { host: "10.0.0.1" }, type: ["object", { host: "string" }] },
    password: { value: "hidden", type: "string", sensitive: true },
  }
  const { text, ...announced } = stateFile({ outputs })
  await workspaces.lock({ id }, { reason: "" })
  const input = { ...announced, state: Buffer.from(text), jsonState: null, runId: null }
  await stateVersions.create({ id }, { ...input, force: false, intermediate: false })
  await workspaces.unlock({ id })
}

test("the outputs of its state are read by their names, sensitive ones as secrets", async () => {
  const { address, password, ...others } = await getWorkspaceOutputs({ name: "api" })
  expect(others).toEqual({})
  const shown = async (lookup: typeof address) => ({
    isSensitive: lookup?.isSensitive,
    isSecret: lookup && (await isSecret(lookup.value)),
    value: await new Promise((resolve) => void lookup?.value.apply(resolve)),
  })
  expect(await shown(address)).toEqual({ isSensitive: false, isSecret: false, value: { host: "10.0.0.1" } })
  expect(await shown(password)).toEqual({ isSensitive: true, isSecret: true, value: "hidden" })
})

test("a workspace without a state has no outputs", async () => {
  expect(await getWorkspaceOutputs({ name: "batch-0" })).toEqual({})
  await expect(getWorkspaceOutputs({ name: "none" })).rejects.toThrow(/^outputs of acme: .* \(404 not-found\)$/)
})

test("a missing workspace is an error that names the organization", async () => {
  await expect(getWorkspace({ name: "none" })).rejects.toThrow(/^workspace of acme: .* \(404 not-found\)$/)
})

test("workspaces and tags are listed completely", async () => {
  expect(await listWorkspaces({ name: "batch" })).toHaveLength(101)
  expect(await listWorkspaces({ tags: ["web"] })).toMatchObject([{ name: "api" }])
  expect(await listTags({ search: "we" })).toMatchObject([{ name: "web", instanceCount: 1 }])
})

test("lookups without an organization send no request", async () => {
  runtime.setAllConfig({ "chancery:engineUrl": "sqlite::memory:" })
  await expect(listTags()).rejects.toThrow("CHANCERY_ORGANIZATION")
})
