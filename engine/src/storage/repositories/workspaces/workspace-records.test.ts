// Records of a workspace (states, runs, configurations, variables, assessments, connections) on every kind of database.
import { announceExecutor } from "../../../../testing/announced-executor.ts"
import { describe, expect, test, vi } from "vitest"
import { systemRuntime } from "../../../core/runtime.ts"
import { seededRandom } from "../../../../testing/seeded-random.ts"
import { bytesOf, stateFile, type StateOptions } from "../../../../testing/state-file.ts"
import { openTestEngine } from "../../../../testing/test-engine.ts"
import { openDatabase } from "../../sql/database.ts"
import { databaseKinds, type DatabaseKind } from "../../../../testing/temporary-database.ts"
import { inPieces } from "../../../workspaces/state/state-upload.ts"
import type { StateVersionQuery } from "../../../workspaces/state/state-version-repository.ts"

async function recordsOn(kind: DatabaseKind) {
  const place = await kind.place()
  const testEngine = await openTestEngine({ url: place.url, runtime: systemRuntime() })
  const { engine } = testEngine
  await engine.organizations.create({ name: "acme", email: "acme@example.com" })
  await announceExecutor(engine, { kind: "organization", name: "acme" })
  const { id } = await engine.workspaces.create("acme", { name: "web" })
  const ref = { id }
  const announced = { force: false, intermediate: false, runId: null, jsonState: null }
  return {
    engine,
    url: place.url,
    ref,
    /** Creates a state version together with its content. */
    put(options: StateOptions, jsonState: Uint8Array | null = null) {
      const { text, ...state } = stateFile(options)
      return engine.stateVersions.create(ref, { ...announced, ...state, state: Buffer.from(text), jsonState })
    },
    announce({ text: _text, ...state }: ReturnType<typeof stateFile>) {
      return engine.stateVersions.create(ref, { ...announced, ...state, state: null })
    },
    async [Symbol.asyncDispose]() {
      await testEngine[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  }
}

const page = { number: 1, size: 20 }
const emptyRun = {
  message: null,
  isDestroy: false,
  autoApply: null,
  planOnly: false,
  refreshOnly: false,
  configurationVersionId: null,
}
const noConfiguration = {
  speculative: false,
  provisional: false,
  autoQueueRuns: true,
  ingressAttributes: null,
  readme: null,
}

describe.each(databaseKinds.filter(({ available }) => available))("$name", (kind) => {
  test("a state of many chunks is read as written", async () => {
    await using records = await recordsOn(kind)
    const { engine, ref, put } = records
    await engine.workspaces.lock(ref, { reason: "" })
    // Random text does not compress, so it needs several chunks.
    const noise = Buffer.from(seededRandom(7).bytes(2 * 1024 * 1024)).toString("base64")
    const outputs = { noise: { value: noise, type: "string", sensitive: true } }
    const json = Buffer.from(JSON.stringify({ noise }))
    const version = await put({ outputs, instances: 3 }, json)
    expect(version).toMatchObject({ status: "finalized", hasJsonState: true })
    await vi.waitFor(
      async () => expect((await engine.stateVersions.get(version.id)).summary?.resourcesProcessed).toBe(true),
      { timeout: 20_000 },
    )
    expect(await engine.stateVersions.get(version.id)).toMatchObject({ summary: { resourceCount: 3 } })
    const state = await bytesOf(await engine.stateVersions.download(version.id, "state"))
    expect(state.toString()).toBe(stateFile({ outputs, instances: 3 }).text)
    expect((await bytesOf(await engine.stateVersions.download(version.id, "json-state"))).equals(json)).toBe(true)
    expect((await engine.stateVersions.outputs(version.id, page)).items).toMatchObject([{ value: noise }])
    expect(await engine.stateVersions.currentOutputs(ref)).toMatchObject([{ name: "noise", value: null }])
  })

  test("pending, finalized and discarded versions are listed by status, newest first", async () => {
    await using records = await recordsOn(kind)
    const { engine, ref, put, announce } = records
    await engine.workspaces.lock(ref, { reason: "" })
    await put({ serial: 1 })
    await announce(stateFile({ serial: 2 }))
    const state = stateFile({ serial: 3, instances: 2 })
    const { id, uploads } = await announce(state)
    const listed = async (statuses?: StateVersionQuery["statuses"]) =>
      (await engine.stateVersions.list(ref, statuses === undefined ? {} : { statuses }, page)).items.map(
        ({ serial, status }) => `${serial} ${status}`,
      )
    expect(await listed()).toEqual(["3 pending", "2 discarded", "1 finalized"])
    expect(await listed(["finalized", "discarded"])).toEqual(["2 discarded", "1 finalized"])
    await expect(engine.workspaces.unlock(ref)).rejects.toMatchObject({ code: "pending" })
    const credential = uploads?.state ?? ""
    await engine.stateTransfers.upload({ id, document: "state", credential }, inPieces(Buffer.from(state.text)))
    expect(await engine.workspaces.unlock(ref)).toMatchObject({ currentStateVersionId: id, resourceCount: 2 })
    expect(await listed()).toEqual(["3 finalized", "2 discarded", "1 finalized"])
  })

  test("one of 32 concurrent locks succeeds", async () => {
    await using records = await recordsOn(kind)
    const { engine, ref } = records
    const locks = Array.from({ length: 32 }, (_, index) => engine.workspaces.lock(ref, { reason: `lock ${index}` }))
    const outcomes = await Promise.allSettled(locks)
    const refusals = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.code] : []))
    expect(refusals).toEqual(Array.from({ length: 31 }, () => "conflict"))
    const winner = outcomes.findIndex(({ status }) => status === "fulfilled")
    expect((await engine.workspaces.get(ref)).lock).toMatchObject({ held: true, reason: `lock ${winner}` })
  })

  test.each(["own", "project"])(
    "callers that may run in a consumer can read the state: by $0 access",
    async (through) => {
      await using records = await recordsOn(kind)
      const { engine, ref, put } = records
      await engine.workspaces.lock(ref, { reason: "" })
      const { id } = await put({})
      const consumer = await engine.workspaces.create("acme", { name: "consumer" })
      const team = await engine.teams.create("acme", { name: "runners" })
      const read = async () => {
        const { secret } = await engine.tokens.createForTeam(team.id, {})
        return engine.as(await engine.authenticate(secret)).stateVersions.current(ref)
      }
      await engine.remoteStateConsumers.add(ref.id, [consumer.id])
      await expect(read()).rejects.toMatchObject({ code: "not-found" })
      if (through === "own")
        await engine.teamWorkspaces.create({ teamId: team.id, workspaceId: consumer.id, access: "plan" })
      else {
        const project = await engine.projects.create("acme", { name: "elsewhere" })
        await engine.workspaces.update({ id: consumer.id }, { projectId: project.id })
        await engine.teamProjects.create({ teamId: team.id, projectId: project.id, access: "write" })
      }
      expect((await read()).id).toBe(id)
      await engine.remoteStateConsumers.remove(ref.id, [consumer.id])
      await expect(read()).rejects.toMatchObject({ code: "not-found" })
      await engine.workspaces.update(ref, { globalRemoteState: true })
      expect((await read()).id).toBe(id)
    },
  )

  test("one of several concurrent uploads is finalized, and all return it", async () => {
    await using records = await recordsOn(kind)
    const { engine, ref, announce } = records
    await engine.workspaces.lock(ref, { reason: "" })
    const state = stateFile({ outputs: { a: { value: 1, type: "number" } } })
    const { id, uploads } = await announce(state)
    const target = { id, document: "state" as const, credential: uploads?.state ?? "" }
    await Promise.all(
      Array.from({ length: 8 }, () => engine.stateTransfers.upload(target, inPieces(Buffer.from(state.text)))),
    )
    expect((await engine.stateVersions.outputs(id, page)).totalCount).toBe(1)
  })

  test("a run stores its steps, its workspace the status, and the metrics its end", async () => {
    await using records = await recordsOn(kind)
    const { engine, ref } = records
    const run = await engine.runs.create(ref, emptyRun)
    for (const status of ["planning", "planned", "confirmed", "applying", "applied"] as const)
      await engine.runs.advance(run.id, { status, hasChanges: null })
    const ended = await engine.runs.get(run.id)
    expect(ended).toMatchObject({ status: "applied", hasChanges: true })
    expect(await engine.runs.getByPlan(run.planId)).toEqual(ended)
    expect(await engine.runs.getByApply(run.applyId)).toEqual(ended)
    const workspace = await engine.workspaces.get(ref)
    expect(workspace).toMatchObject({ currentRunId: run.id, lock: { held: false }, metrics: { runsCount: 1 } })
    const applied = await engine.workspaces.list("acme", { currentRunStatus: ["applied"] }, page)
    expect(applied.items.map(({ id }) => id)).toEqual([ref.id])
    expect((await engine.runs.list(ref, { statuses: ["applied"] }, page)).totalCount).toBe(1)
    expect((await engine.runs.list(ref, { statuses: ["errored"] }, page)).totalCount).toBe(0)
  })

  test("a deleted configuration version is removed from its runs and its workspace", async () => {
    await using records = await recordsOn(kind)
    const { engine, ref } = records
    const version = await engine.configurationVersions.create(ref, { ...noConfiguration, readme: "# Web" })
    const run = await engine.runs.create(ref, emptyRun)
    expect(run.configurationVersionId).toBe(version.id)
    expect(await engine.configurationVersions.readme(ref)).toMatchObject({ markdown: "# Web" })
    await engine.runs.discard(run.id)
    await engine.configurationVersions.delete(version.id)
    expect((await engine.runs.get(run.id)).configurationVersionId).toBeNull()
    expect((await engine.workspaces.get(ref)).currentConfigurationVersionId).toBeNull()
  })

  test("a variable has a unique key", async () => {
    await using records = await recordsOn(kind)
    const { engine, ref } = records
    const input = { key: "region", value: "eu", description: "", category: "env", hcl: false, sensitive: true } as const
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => engine.variables.create(ref, input)))
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    const [variable] = await engine.variables.list(ref)
    expect(variable).toMatchObject({ key: "region", value: null })
    await engine.variables.update(ref, variable?.id ?? "", { description: "where" })
    expect(await engine.variables.get(ref, variable?.id ?? "")).toMatchObject({ description: "where" })
  })

  test("deleting a VCS connection removes the repository from its workspaces", async () => {
    await using records = await recordsOn(kind)
    const { engine, ref } = records
    const client = await engine.vcsConnections.createClient("acme", {
      name: null,
      serviceProvider: "github",
      httpUrl: "https://github.com",
      apiUrl: "https://api.github.com",
      token: "secret",
    })
    const [oauthTokenId = ""] = client.tokenIds
    await engine.workspaces.update(ref, { vcsRepo: { identifier: "acme/web", oauthTokenId } })
    await engine.vcsConnections.deleteClient(client.id)
    expect((await engine.workspaces.get(ref)).vcsRepo).toBeNull()
    expect((await engine.vcsConnections.listTokens("acme", page)).totalCount).toBe(0)
  })

  test("an assessment is stored until it is deleted", async () => {
    await using records = await recordsOn(kind)
    const { engine, ref } = records
    const { id, createdAt } = await engine.assessments.create(ref, {
      drifted: true,
      succeeded: true,
      errorMessage: null,
    })
    expect(await engine.workspaces.get(ref)).toMatchObject({
      currentAssessmentResultId: id,
      lastAssessmentResultAt: createdAt,
    })
    await engine.assessments.delete(id)
    expect((await engine.assessments.list(ref, page)).totalCount).toBe(0)
    expect((await engine.workspaces.get(ref)).currentAssessmentResultId).toBeNull()
  })
})

// A second connection to a database in memory opens another database.
const lasting = databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory")
test.each(lasting)("$name stores no secret in plain text", async (kind) => {
  await using records = await recordsOn(kind)
  const { engine, ref, put } = records
  await engine.workspaces.lock(ref, { reason: "" })
  await put({ outputs: { password: { value: "a-very-secret-word", type: "string", sensitive: true } } })
  await engine.variables.create(ref, {
    key: "password",
    value: "a-very-secret-word",
    description: "",
    category: "env",
    hcl: false,
    sensitive: true,
  })
  await using database = await openDatabase(records.url)
  const values = await database.read(async (session) => [
    ...(await session.queryMany(session.db.selectFrom("state_chunks").select("sealed"))),
    ...(await session.queryMany(session.db.selectFrom("state_version_outputs").selectAll())),
    ...(await session.queryMany(session.db.selectFrom("variables").selectAll())),
  ])
  const stored = values.flatMap((row) => Object.values(row)).map((value) => Buffer.from(String(value)).toString())
  const bytes = values.flatMap((row) => Object.values(row)).filter((value) => value instanceof Uint8Array)
  expect([values.length, bytes.length]).toEqual([3, 3])
  for (const text of [...stored, ...bytes.map((value) => Buffer.from(value).toString("latin1"))])
    expect(text).not.toContain("a-very-secret-word")
})
