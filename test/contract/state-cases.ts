import { createHash } from "node:crypto"
import { beforeAll, describe, expect, test, vi } from "vitest"
import { firstPage } from "../../engine/src/core/page.ts"
import type { Engine } from "../../engine/src/engine.ts"
import type { RunInput } from "../../engine/src/workspaces/runs/run.ts"
import type { RunStatus } from "../../engine/src/workspaces/runs/run-status.ts"
import type { StateVersionInput, StateVersionView } from "../../engine/src/workspaces/state/state-version.ts"
import { inPieces } from "../../engine/src/workspaces/state/state-upload.ts"
import { bytesOf } from "../../engine/testing/state-file.ts"
import { type Users, newUsers } from "./users.ts"
import type { OpenedEngine } from "./engines.ts"
import { tarball } from "../../engine/testing/tar-archive.ts"
import { newArchive, newConfiguration } from "./new-records.ts"
import { notFound, refused } from "./refusals.ts"

interface NewStateInput extends StateVersionInput {
  readonly state: Buffer
  readonly jsonState: Buffer
}

/** Returns a state with one resource and two outputs, one of them sensitive. `moreBytes` pads it with data that no test reads. */
export function newStateInput(serial: number, moreBytes = 0): NewStateInput {
  const text = JSON.stringify({
    version: 4,
    terraform_version: "1.9.0",
    serial,
    lineage: "contract",
    outputs: {
      address: { value: { host: "10.0.0.1", ports: [80, null] }, type: ["object", { host: "string" }] },
      password: { value: "secret", type: "string", sensitive: true },
    },
    resources: [
      {
        mode: "managed",
        type: "null_resource",
        name: "one",
        provider: 'provider["registry.example.com/x/null"]',
        instances: [{}, { attributes: { filling: "x".repeat(moreBytes) } }],
      },
    ],
  })
  return {
    serial,
    md5: createHash("md5").update(text).digest("hex"),
    lineage: "contract",
    force: false,
    intermediate: false,
    runId: null,
    state: Buffer.from(text),
    jsonState: Buffer.from('{"format_version":"1.0"}'),
  }
}

export const newRunInput = (): RunInput => ({
  message: "contract",
  isDestroy: false,
  autoApply: null,
  planOnly: false,
  refreshOnly: false,
  configurationVersionId: null,
})

export function stateCases(engine: () => OpenedEngine): void {
  let testUsers: Users
  beforeAll(async () => {
    testUsers = await newUsers(engine())
  })

  async function saved(id: string, input: StateVersionInput): Promise<StateVersionView> {
    const { workspaces, stateVersions } = testUsers.owner.engine
    await workspaces.lock({ id }, { reason: "" })
    const version = await stateVersions.create({ id }, input)
    await workspaces.unlock({ id })
    return version
  }

  describe("a state version", () => {
    const shown = ({ downloads, ...version }: StateVersionView) => {
      // Download URLs are signed anew at each read.
      expect(downloads).toEqual({ state: expect.stringMatching(/./), "json-state": expect.stringMatching(/./) })
      return version
    }

    test("is created under the lock, becomes current, and describes its state", async () => {
      const { stateVersions, workspaces } = testUsers.owner.engine
      const { id, name } = await testUsers.newWorkspace()
      await expect(stateVersions.current({ id })).rejects.toMatchObject(notFound)
      const made = await saved(id, newStateInput(1))
      expect(made).toMatchObject({
        workspaceId: id,
        serial: 1,
        lineage: "contract",
        md5: newStateInput(1).md5,
        status: "finalized",
        intermediate: false,
        createdBy: { kind: "users", id: testUsers.owner.id },
        hasJsonState: true,
        uploads: null,
        summary: {
          formatVersion: 4,
          terraformVersion: "1.9.0",
          resourceCount: 2,
          resources: [{ name: "one", type: "null_resource", count: 2, module: "root" }],
        },
      })
      expect(shown(await stateVersions.get(made.id))).toEqual(shown(made))
      expect(shown(await stateVersions.current({ organization: testUsers.organization, name }))).toEqual(shown(made))
      expect(await workspaces.get({ id })).toMatchObject({ currentStateVersionId: made.id, resourceCount: 2 })
      expect(await bytesOf(await stateVersions.download(made.id, "state"))).toEqual(newStateInput(1).state)
      expect((await bytesOf(await stateVersions.download(made.id, "json-state"))).toString()).toBe(
        '{"format_version":"1.0"}',
      )
    })

    test("is listed, newest first, by status and in pages", async () => {
      const { stateVersions } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      const one = await saved(id, newStateInput(1))
      const two = await saved(id, newStateInput(2))
      expect((await stateVersions.list({ id }, {}, firstPage)).items.map(shown)).toEqual([two, one].map(shown))
      const second = await stateVersions.list({ id }, { statuses: ["finalized"] }, { number: 2, size: 1 })
      expect({ ...second, items: second.items.map(shown) }).toEqual({
        items: [shown(one)],
        number: 2,
        size: 1,
        totalCount: 2,
      })
      expect((await stateVersions.list({ id }, { statuses: ["pending"] }, firstPage)).totalCount).toBe(0)
    })

    test("shows its outputs, and hides sensitive ones of the current state", async () => {
      const { stateVersions } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      const { id: versionId } = await saved(id, newStateInput(1))
      const { items } = await stateVersions.outputs(versionId, firstPage)
      const password = items.find(({ name }) => name === "password")
      expect(items).toContainEqual({
        id: expect.any(String),
        name: "address",
        sensitive: false,
        type: "map",
        value: { host: "10.0.0.1", ports: [80, null] },
        detailedType: ["object", { host: "string" }],
      })
      expect(password).toMatchObject({ sensitive: true, value: "secret" })
      expect(await stateVersions.output(password?.id ?? "")).toEqual(password)
      expect((await stateVersions.currentOutputs({ id })).find(({ name }) => name === "password")?.value).toBeNull()
    })

    test("is pending until its data is uploaded, when created without it", async () => {
      const { stateVersions, workspaces } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      await workspaces.lock({ id }, { reason: "" })
      const made = await stateVersions.create({ id }, { ...newStateInput(1), state: null, jsonState: null })
      expect(made).toMatchObject({
        status: "pending",
        summary: null,
        hasJsonState: false,
        uploads: { state: expect.stringMatching(/./), "json-state": expect.stringMatching(/./) },
      })
      await expect(stateVersions.download(made.id, "state")).rejects.toMatchObject(notFound)
      const { state, jsonState } = newStateInput(1)
      await expect(stateVersions.upload(made.id, "state", inPieces(Buffer.from("{")))).rejects.toMatchObject(
        refused("invalid", ["state"]),
      )
      await stateVersions.upload(made.id, "json-state", inPieces(jsonState))
      await stateVersions.upload(made.id, "state", inPieces(state))
      expect(await stateVersions.get(made.id)).toMatchObject({ status: "finalized", hasJsonState: true, uploads: null })
      expect(await bytesOf(await stateVersions.download(made.id, "state"))).toEqual(state)
    })

    test("is rolled back to, and its backing data is removed and restored", async () => {
      const { stateVersions, workspaces } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      const earlier = await saved(id, newStateInput(1))
      await saved(id, newStateInput(2))
      await expect(stateVersions.rollback({ id }, earlier.id)).rejects.toMatchObject(refused("conflict"))
      await workspaces.lock({ id }, { reason: "" })
      const back = await stateVersions.rollback({ id }, earlier.id)
      expect(back).toMatchObject({ serial: 3, status: "finalized", hasJsonState: true, summary: earlier.summary })
      expect(JSON.parse((await bytesOf(await stateVersions.download(back.id, "state"))).toString())).toMatchObject({
        serial: 3,
        lineage: "contract",
      })
      await expect(stateVersions.softDeleteBackingData(back.id)).rejects.toMatchObject(refused("conflict"))
      await stateVersions.softDeleteBackingData(earlier.id)
      await expect(stateVersions.download(earlier.id, "state")).rejects.toMatchObject(notFound)
      await stateVersions.restoreBackingData(earlier.id)
      await expect(stateVersions.restoreBackingData(earlier.id)).rejects.toMatchObject(refused("conflict"))
      await stateVersions.softDeleteBackingData(earlier.id)
      await stateVersions.permanentlyDeleteBackingData(earlier.id)
      expect((await stateVersions.get(earlier.id)).status).toBe("backing_data_permanently_deleted")
      const resources = await stateVersions.resources({ id }, firstPage)
      expect(resources).toMatchObject({
        totalCount: 1,
        items: [{ providerType: "null_resource", stateVersionId: back.id }],
      })
    })

    test("may exceed any in-memory buffer, and is then parsed after the upload", async () => {
      const { stateVersions, workspaces } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      await workspaces.lock({ id }, { reason: "" })
      const input = newStateInput(1, 600_000)
      const made = await stateVersions.create({ id }, { ...input, state: null, jsonState: null })
      await stateVersions.upload(made.id, "state", inPieces(input.state))
      expect(await bytesOf(await stateVersions.download(made.id, "state"))).toEqual(input.state)
      await vi.waitFor(async () => expect((await stateVersions.get(made.id)).summary?.resourcesProcessed).toBe(true), {
        timeout: 20_000,
      })
      expect((await stateVersions.get(made.id)).summary).toMatchObject({ resourceCount: 2, size: input.state.length })
      expect((await stateVersions.currentOutputs({ id })).map(({ name }) => name)).toContain("password")
      expect((await workspaces.get({ id })).resourceCount).toBe(2)
    })

    test("is rejected without the lock, with another checksum, and to readers", async () => {
      const { stateVersions, workspaces } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      await expect(stateVersions.create({ id }, newStateInput(1))).rejects.toMatchObject(refused("conflict"))
      await workspaces.lock({ id }, { reason: "" })
      await expect(stateVersions.create({ id }, { ...newStateInput(1), md5: "0".repeat(32) })).rejects.toMatchObject({
        name: "EngineError",
      })
      await expect(
        stateVersions.create({ id }, { ...newStateInput(1), serial: -1, md5: "none", lineage: "x".repeat(256) }),
      ).rejects.toMatchObject(refused("invalid", ["serial"], ["md5"], ["lineage"]))
      const { engine: reader } = await testUsers.newMemberOn(id, { access: "read" })
      await expect(reader.stateVersions.create({ id }, newStateInput(1))).rejects.toMatchObject(notFound)
    })
  })

  async function newRun(
    steps: readonly RunStatus[] = [],
  ): Promise<{ readonly runs: Engine["runs"]; readonly id: string }> {
    const { runs } = testUsers.owner.engine
    const { id } = await runs.create({ id: (await testUsers.newWorkspace()).id }, newRunInput())
    for (const status of steps) await runs.advance(id, { status, hasChanges: null })
    return { runs, id }
  }

  describe("a run", () => {
    test("[F-W12] keeps comments, also of its actions", async () => {
      const { runs } = testUsers.owner.engine
      const { id } = await runs.create({ id: (await testUsers.newWorkspace()).id }, newRunInput())
      const first = await runs.addComment(id, "one")
      expect(first).toMatchObject({ runId: id, body: "one", createdBy: { kind: "users", id: testUsers.owner.id } })
      expect(await runs.comment(first.id)).toEqual(first)
      await runs.cancel(id, "two")
      const { items } = await runs.comments(id, firstPage)
      expect(items.map(({ body }) => body)).toEqual(["one", "two"])
      expect((await runs.get(id)).commentIds).toEqual(items.map((comment) => comment.id))
      await expect(runs.addComment(id, " ")).rejects.toMatchObject(refused("invalid"))
      await expect(runs.comment("wsc-none")).rejects.toMatchObject(notFound)
    })

    test("[F-W12] has an event for each step, with its actor", async () => {
      const { runs } = testUsers.owner.engine
      const { id } = await runs.create({ id: (await testUsers.newWorkspace()).id }, newRunInput())
      const comment = await runs.addComment(id, "one")
      await runs.discard(id)
      const events = await runs.events(id)
      const actor = { kind: "users", id: testUsers.owner.id }
      expect(events).toMatchObject([
        { runId: id, action: "queued", actor, commentId: null, description: "" },
        { runId: id, action: "commented", actor, commentId: comment.id },
        { runId: id, action: "discarded", actor, commentId: null },
      ])
      expect((await runs.get(id)).eventIds).toEqual(events.map((event) => event.id))
      expect(await runs.event(events[1]?.id ?? "")).toEqual(events[1])
      await expect(runs.event("re-none")).rejects.toMatchObject(notFound)
    })

    test("[F-W12] of a team's token names the team as its creator, author and actor", async () => {
      const { id: workspaceId } = await testUsers.newWorkspace()
      const { teamId } = await testUsers.newMemberOn(workspaceId, { access: "write" })
      const { secret } = await testUsers.owner.engine.tokens.createForTeam(teamId, {})
      const { runs, users } = await engine().as(secret)
      const team = { kind: "teams", id: teamId }
      const { id, createdBy, waitingReason } = await runs.create({ id: workspaceId }, newRunInput())
      expect([createdBy, waitingReason]).toEqual([team, null])
      expect((await runs.addComment(id, "one")).createdBy).toEqual(team)
      expect((await runs.events(id)).map(({ actor }) => actor)).toEqual([team, team])
      expect(await users.get(teamId)).toMatchObject({ id: teamId, serviceAccount: true, email: null })
      await expect(testUsers.stranger.engine.users.get(teamId)).rejects.toMatchObject(notFound)
    })

    test("[F-W12] is forced to execute before the runs that block it", async () => {
      const { runs } = testUsers.owner.engine
      const { id: workspaceId } = await testUsers.newWorkspace()
      const first = await runs.create({ id: workspaceId }, newRunInput())
      const second = await runs.create({ id: workspaceId }, newRunInput())
      await runs.forceExecute(second.id)
      expect([(await runs.get(first.id)).status, (await runs.get(second.id)).status]).toEqual(["discarded", "pending"])
      await expect(runs.forceExecute(second.id)).rejects.toMatchObject(refused("forbidden"))
    })

    test("is created, found by its plan and apply, and moved through its statuses", async () => {
      const { runs, workspaces, configurationVersions } = testUsers.owner.engine
      const { id: workspaceId } = await testUsers.newWorkspace()
      const configuration = await configurationVersions.create({ id: workspaceId }, newConfiguration)
      const made = await runs.create({ id: workspaceId }, newRunInput())
      expect(made).toMatchObject({
        workspaceId,
        status: "pending",
        message: "contract",
        createdBy: { kind: "users", id: testUsers.owner.id },
        configurationVersionId: configuration.id,
        permissions: {
          canApply: true,
          canCancel: true,
          canDiscard: true,
          canForceCancel: true,
          canForceExecute: true,
        },
      })
      expect(await runs.get(made.id)).toEqual(made)
      expect(await runs.getByPlan(made.planId)).toEqual(made)
      expect(await runs.getByApply(made.applyId)).toEqual(made)
      expect((await runs.list({ id: workspaceId }, { statuses: ["pending"] }, firstPage)).items).toEqual([made])
      await runs.advance(made.id, { status: "planning", hasChanges: null })
      expect((await workspaces.get({ id: workspaceId })).lock).toMatchObject({ by: { kind: "runs", id: made.id } })
      const planned = await runs.advance(made.id, { status: "planned", hasChanges: true })
      expect(Object.keys(planned.statusTimestamps)).toEqual(expect.arrayContaining(["pending", "planning", "planned"]))
      await runs.apply(made.id)
      for (const status of ["applying", "applied"] as const)
        await runs.advance(made.id, { status, hasChanges: null }).catch((error: unknown) => {
          throw new Error(`the run could not become ${status}`, { cause: error })
        })
      expect(await workspaces.get({ id: workspaceId })).toMatchObject({
        currentRunId: made.id,
        lock: { held: false },
        metrics: { runsCount: 1 },
      })
    })

    test("keeps its options, and is found in its organization", async () => {
      const { runs } = testUsers.owner.engine
      const { id, name } = await testUsers.newWorkspace()
      const runOptions = {
        refresh: false,
        savePlan: true,
        allowConfigGeneration: true,
        targetAddrs: ["terraform_data.a"],
        replaceAddrs: ["terraform_data.b"],
        variables: [{ key: "region", value: '"eu"' }],
      }
      const made = await runs.create({ id }, { ...newRunInput(), ...runOptions })
      expect(made).toMatchObject({ ...runOptions, planCounts: null, executor: null })
      const query = { operations: ["save_plan"], workspaceNames: [name], unfinished: true } as const
      expect((await runs.listForOrganization(testUsers.organization, query, firstPage)).items).toEqual([made])
      await runs.advance(made.id, { status: "planning", hasChanges: null })
      const counts = { additions: 1, changes: 2, destructions: 3, imports: 4 }
      const saved = await runs.advance(made.id, { status: "planned", hasChanges: null, counts })
      expect(saved).toMatchObject({ status: "planned_and_saved", hasChanges: true, planCounts: counts })
      const impossible = { ...newRunInput(), ...runOptions, planOnly: true }
      await expect(runs.create({ id }, impossible)).rejects.toMatchObject(refused("invalid", ["savePlan"]))
    })

    test("is rejected when its message is too long", async () => {
      const { id } = await testUsers.newWorkspace()
      const input = { ...newRunInput(), message: "x".repeat(10_001) }
      await expect(testUsers.owner.engine.runs.create({ id }, input)).rejects.toMatchObject(
        refused("invalid", ["message"]),
      )
    })

    test("is discarded, canceled and stopped, each only once", async () => {
      const planned = await newRun(["planning", "planned"])
      await planned.runs.discard(planned.id)
      await expect(planned.runs.discard(planned.id)).rejects.toMatchObject(refused("conflict"))
      await expect(planned.runs.apply(planned.id)).rejects.toMatchObject(refused("conflict"))
      const planning = await newRun(["planning"])
      await planning.runs.cancel(planning.id)
      await expect(planning.runs.cancel(planning.id)).rejects.toMatchObject(refused("conflict"))
      const stuck = await newRun(["planning"])
      await stuck.runs.forceCancel(stuck.id)
      await expect(stuck.runs.advance(stuck.id, { status: "planned", hasChanges: null })).rejects.toMatchObject(
        refused("conflict"),
      )
    })
  })

  describe("a configuration version", () => {
    test("[F-W13] is current once created, accepts its archive until a run uses it, and serves it until it is archived", async () => {
      const { configurationVersions: versions, runs, workspaces } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      const plain = { ...newConfiguration, ingressAttributes: null, readme: null }
      const made = await versions.create({ id }, plain)
      expect((await workspaces.get({ id })).currentConfigurationVersionId).toBe(made.id)
      await expect(versions.download(made.id)).rejects.toMatchObject(notFound)
      await expect(versions.upload(made.id, Buffer.from("no archive"))).rejects.toMatchObject(refused("unprocessable"))
      await versions.upload(made.id, newArchive)
      await versions.upload(made.id, newArchive)
      await expect(versions.upload(made.id, tarball({ "other.tf": "" }))).rejects.toMatchObject(refused("conflict"))
      expect(await versions.get(made.id)).toEqual({ ...made, status: "uploaded", upload: null })
      expect((await workspaces.get({ id })).currentConfigurationVersionId).toBe(made.id)
      expect(await versions.readme({ id })).toMatchObject({ markdown: "# Archive" })
      expect(Buffer.compare(await versions.download(made.id), newArchive)).toBe(0)
      await versions.upload((await versions.create({ id }, plain)).id, newArchive)
      // The run that the upload queued still needs it.
      await expect(versions.softDeleteBackingData(made.id)).rejects.toMatchObject(refused("conflict"))
      await expect(versions.archive(made.id)).rejects.toMatchObject(refused("conflict"))
      await expect(versions.delete(made.id)).rejects.toMatchObject(refused("conflict"))
      expect(Buffer.compare(await versions.download(made.id), newArchive)).toBe(0)
      const old = await versions.create({ id }, { ...plain, speculative: true, autoQueueRuns: false })
      await versions.upload(old.id, newArchive)
      await versions.softDeleteBackingData(old.id)
      expect(await versions.get(old.id)).toMatchObject({ status: "backing_data_soft_deleted" })
      await versions.restoreBackingData(old.id)
      expect(Buffer.compare(await versions.download(old.id), newArchive)).toBe(0)
      await versions.softDeleteBackingData(old.id)
      await versions.permanentlyDeleteBackingData(old.id)
      await expect(versions.restoreBackingData(old.id)).rejects.toMatchObject(refused("conflict"))
      for (const run of (await runs.list({ id }, {}, firstPage)).items) await runs.discard(run.id)
      await versions.archive(made.id)
      await expect(versions.download(made.id)).rejects.toMatchObject(notFound)
    })

    test("is created, read with its origin and readme, archived and deleted", async () => {
      const { configurationVersions: versions, workspaces } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      await expect(versions.readme({ id })).rejects.toMatchObject(notFound)
      const made = await versions.create({ id }, newConfiguration)
      expect(made).toMatchObject({ workspaceId: id, speculative: false, autoQueueRuns: true, error: null })
      // Only the answer to the creation has the upload URL (F-W13).
      expect(await versions.get(made.id)).toEqual({ ...made, upload: null })
      expect(await versions.ingressAttributes(made.id)).toEqual({
        ...newConfiguration.ingressAttributes,
        id: made.ingressAttributesId,
      })
      expect(await versions.readme({ id })).toMatchObject({ markdown: "# Network" })
      expect((await workspaces.get({ id })).currentConfigurationVersionId).toBe(made.id)
      const { ingressAttributes } = newConfiguration
      await expect(
        versions.create(
          { id },
          {
            ...newConfiguration,
            ingressAttributes: { ...ingressAttributes, commitMessage: "x".repeat(4_097) },
            readme: "x".repeat(1024 * 1024 + 1),
          },
        ),
      ).rejects.toMatchObject(refused("invalid", ["ingressAttributes", "commitMessage"], ["readme"]))
      await expect(versions.archive(made.id)).rejects.toMatchObject(refused("conflict"))
      const newer = await versions.create({ id }, { ...newConfiguration, ingressAttributes: null })
      await versions.archive(made.id)
      expect((await versions.list({ id }, firstPage)).items).toEqual([
        { ...newer, upload: null },
        { ...made, status: "archived", upload: null },
      ])
      await versions.delete(newer.id)
      await expect(versions.get(newer.id)).rejects.toMatchObject(notFound)
    })
  })
}
