import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { defaultSharedKind } from "../../../testing/temporary-database.ts"
import { document, newUser } from "../../../testing/users.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { stateFile, stateVersionDocument } from "../../../testing/state-file.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"

async function auditedEngine() {
  const folder = await mkdtemp(join(tmpdir(), "chancery-audit-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, "audit.log")
  const testEngine = await populatedEngine({ auditFile: file })
  onTestFinished(() => testEngine[Symbol.asyncDispose]())
  const text = () => readFileSync(file, "utf8")
  return {
    ...testEngine,
    text,
    // oxlint-disable-next-line typescript/no-explicit-any
    entries: (): any[] =>
      text()
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
  }
}

/** Device on which every write fails with ENOSPC. */
const fullDisk = "/dev/full"

test("a change is recorded with caller, request and outcome, without body and token", async () => {
  const testEngine = await auditedEngine()
  const body = document("workspaces", { name: "network", description: "hunter2" })
  await testEngine.request("POST", "/organizations/acme/workspaces", { body })
  await testEngine.request("POST", "/organizations/acme/workspaces", { body })
  await expect.poll(() => testEngine.text().split("\n")).toHaveLength(5)
  const request = {
    type: "request",
    request_id: "test",
    method: "POST",
    path: "/api/v2/organizations/acme/workspaces",
    caller: { kind: "user", user_id: expect.stringMatching(/^user-/), token_id: expect.stringMatching(/^at-/) },
  }
  expect(testEngine.entries()).toMatchObject([
    request,
    { type: "response", request_id: "test", status: 201 },
    request,
    { type: "response", status: 422, errors: [expect.stringContaining("Name")] },
  ])
  expect(testEngine.text()).not.toContain("hunter2")
  expect(testEngine.text()).not.toContain(testEngine.rootToken)
})

test("a read is recorded after its response, without its query", async () => {
  const testEngine = await auditedEngine()
  await testEngine.request("GET", "/organizations/acme/workspaces?search%5Bname%5D=hunter2")
  await expect.poll(() => testEngine.text()).toContain("response")
  expect(testEngine.entries()).toMatchObject([
    { type: "request", method: "GET", path: "/api/v2/organizations/acme/workspaces" },
    { type: "response", status: 200 },
  ])
  expect(testEngine.text()).not.toContain("hunter2")
})

test("an unknown token is recorded as a hash that auditors can search for", async () => {
  const testEngine = await auditedEngine()
  await testEngine.request("DELETE", "/workspaces/ws-1", { token: "at-x.opensesame" })
  await testEngine.request("DELETE", "/workspaces/ws-1", { token: null })
  await expect.poll(() => testEngine.text().split("\n")).toHaveLength(5)
  const [unknown, refused, without] = testEngine.entries()
  expect(unknown).toMatchObject({
    caller: { kind: "anonymous" },
    token: testEngine.engine.audit.hash("at-x.opensesame"),
  })
  expect(refused).toMatchObject({ type: "response", status: 401 })
  expect(without).not.toHaveProperty("token")
  expect(testEngine.text()).not.toContain("opensesame")
})

test("an upload is recorded by its route pattern, because its URL contains the credential", async () => {
  const testEngine = await auditedEngine()
  const id = await testEngine.workspace("network")
  await testEngine.request("POST", `/workspaces/${id}/actions/lock`, { body: {} })
  const state = stateFile()
  const { body } = await testEngine.request("POST", `/workspaces/${id}/state-versions`, {
    body: stateVersionDocument(state),
  })
  const address = body.data.attributes["hosted-state-upload-url"] as string
  expect((await testEngine.request("PUT", address, { body: state.text, token: null })).status).toBe(204)
  await expect.poll(() => testEngine.entries().filter(({ method }) => method === "PUT")).toHaveLength(1)
  const [upload] = testEngine.entries().filter(({ method }) => method === "PUT")
  expect(upload.caller).toEqual({ kind: "anonymous" })
  expect(upload.path).toMatch(/\/:[a-z]/)
  expect(testEngine.text()).not.toContain(new URL(address).pathname)
})

test("changes are rejected and reads continue while the log cannot be written", async () => {
  await using place = await defaultSharedKind.place()
  const { url } = place
  await using testEngine = await populatedEngine({ url })
  const someone = await newUser(testEngine, "someone")
  await using unrecorded = await openTestEngine({ url, auditFile: fullDisk })
  const refused = await unrecorded.request("POST", "/organizations/acme/workspaces", {
    body: document("workspaces", { name: "network" }),
  })
  expect(refused).toMatchObject({ status: 503, body: { errors: [{ detail: expect.stringContaining("audit log") }] } })
  expect((await unrecorded.request("DELETE", `/admin/users/${someone.id}`)).status).toBe(503)
  const workspaces = await unrecorded.request("GET", "/organizations/acme/workspaces")
  expect([workspaces.status, workspaces.body.data]).toEqual([200, []])
})

test("[F-S3] responses with state, outputs or plans are rejected, and others sent, while the log cannot be written", async () => {
  await using place = await defaultSharedKind.place()
  const { url } = place
  await using testEngine = await populatedEngine({ url })
  const workspace = await testEngine.request("POST", "/organizations/acme/workspaces", {
    body: document("workspaces", { name: "network" }),
  })
  const { id } = workspace.body.data
  await testEngine.request("POST", `/workspaces/${id}/actions/lock`, { body: {} })
  const outputs = { secret: { value: "hunter2", type: "string", sensitive: true } }
  const body = stateVersionDocument(stateFile({ outputs }), { inline: true })
  const made = await testEngine.request("POST", `/workspaces/${id}/state-versions`, { body })
  expect(made.status).toBe(201)
  const { "hosted-state-download-url": address } = made.body.data.attributes
  const version = made.body.data.id
  const [output] = (await testEngine.request("GET", `/state-versions/${version}/outputs`)).body.data
  const disclosing = [
    `/state-versions/${version}/download`,
    `/state-versions/${version}/json-download`,
    `/state-versions/${version}/outputs`,
    `/state-version-outputs/${output.id}`,
    `/workspaces/${id}/current-state-version-outputs`,
    `/workspaces/${id}/current-state-version?include=outputs`,
    `/workspaces/${id}?include=current_state_version.outputs`,
    "/plans/plan-1/json-output",
    "/runs/run-1/plan/json-output",
    "/run-claims/claim-1/state",
    "/run-claims/claim-1/variables",
    "/run-claims/claim-1/documents/plan-file",
  ]
  await using unrecorded = await openTestEngine({ url, auditFile: fullDisk })
  const statuses: Record<string, number> = {}
  for (const path of disclosing) statuses[path] = (await unrecorded.request("GET", path)).status
  expect(statuses).toEqual(Object.fromEntries(disclosing.map((path) => [path, 503])))
  const addressed = await unrecorded.request("GET", address, { token: null })
  expect([addressed.status, JSON.stringify(addressed.body)]).toEqual([503, expect.not.stringContaining("hunter2")])
  expect((await testEngine.request("GET", address, { token: null })).status).toBe(200)
  expect((await unrecorded.request("GET", `/workspaces/${id}/current-state-version`)).status).toBe(200)
  expect((await unrecorded.request("GET", `/workspaces/${id}/state-versions`)).status).toBe(200)
})
