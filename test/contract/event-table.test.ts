// The events that each method makes. The table must have every writing method. Each is called and its events are read from the database, so
// that a new method without a row and a missing event both fail.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { keySealer, parseKeyRing } from "../../engine/src/storage/sealing/key-sealing.ts"
import { systemRuntime } from "../../engine/src/core/runtime.ts"
import { actingFor } from "../../engine/src/acting-for.ts"
import type { ServedEngine } from "../../engine/src/engine.ts"
import { beginning, type EventKind, type EventPosition, type StoredEvent } from "../../engine/src/events/feed/event.ts"
import { openEmbedded } from "../../engine/src/embedded.ts"
import { openDatabase } from "../../engine/src/storage/sql/database.ts"
import { repositoriesOver } from "../../engine/src/storage/repositories/repositories.ts"
import { databaseKinds } from "../../engine/testing/temporary-database.ts"
import type { BulkAction } from "../../engine/src/workspaces/bulk/bulk-action.ts"
import { inPieces } from "../../engine/src/workspaces/state/state-upload.ts"
import { type Users, newUsers } from "./users.ts"
import { type Call, calls, newSubject, type Subject } from "./method-cases.ts"
import { methodsOf } from "./methods.ts"
import { newArchive, newConfiguration } from "./new-records.ts"
import { newClaimInput } from "./run-cases.ts"
import { newRunInput, newStateInput } from "./state-cases.ts"

/** Reasons why a writing method makes no event. */
const reasons = {
  people: "who there is and what they may do is no change of a workspace",
  organization: "an organization's settings and what it lends to its workspaces are read with it",
  claim: "that an executor is alive, and what it writes beside the run, is no step of the run",
  certificates: "of certificates, keys and mounts tells the audit log",
} as const

type Row =
  | "reads"
  | keyof typeof reasons
  | { readonly makes: readonly EventKind[]; readonly prepare?: Call; readonly call?: Call }

const made = (...makes: readonly EventKind[]): Row => ({ makes })

const locked: Call = ({ workspaces }, { workspace }) => workspaces.lock(workspace, { reason: "" })

const oldConfiguration: readonly EventKind[] = [
  "configuration.created",
  "configuration.uploaded",
  "configuration.created",
  "configuration.uploaded",
]
/** Returns the id of a configuration version that is not current and that no run waits for. */
async function oldOne({ configurationVersions }: Parameters<Call>[0], { workspace }: Subject): Promise<string> {
  const ids: string[] = []
  for (const input of [1, 2].map(() => ({
    ...newConfiguration,
    autoQueueRuns: false,
    ingressAttributes: null,
    readme: null,
  }))) {
    const { id } = await configurationVersions.create(workspace, input)
    await configurationVersions.upload(id, newArchive)
    ids.push(id)
  }
  return ids[0] ?? ""
}

const table: Readonly<Record<string, Row>> = {
  "discovery.apiVersion": "reads",
  "organizations.create": "organization",
  "organizations.list": "reads",
  "organizations.get": "reads",
  "organizations.update": "organization",
  "organizations.delete": "organization",
  "organizationMemberships.create": "people",
  "organizationMemberships.list": "reads",
  "organizationMemberships.get": "reads",
  "organizationMemberships.delete": "people",
  "projects.create": made("project.created"),
  "projects.list": "reads",
  "projects.get": "reads",
  "projects.update": {
    makes: ["project.updated"],
    call: ({ projects }, { projectId }) => projects.update(projectId, { description: "another" }),
  },
  "projects.delete": made("project.deleted"),
  "users.get": "reads",
  "users.account": "reads",
  "users.updateAccount": "people",
  "users.create": "people",
  "users.getAsAdministrator": "reads",
  "users.list": "reads",
  "users.findByUsername": "reads",
  "users.setSiteAdmin": "people",
  "users.delete": "people",
  "teams.create": "people",
  "teams.list": "reads",
  "teams.get": "reads",
  "teams.members": "reads",
  "teams.update": "people",
  "teams.delete": "people",
  "teams.addMembers": "people",
  "teams.removeMembers": "people",
  "teamProjects.create": {
    makes: ["project.updated"],
    call: async ({ projects, teamProjects }, { organization, teamId }) => {
      const { id } = (await projects.list(organization, { names: ["Default Project"] }, { number: 1, size: 1 }))
        .items[0] as { id: string }
      await teamProjects.create({ teamId, projectId: id, access: "read" })
    },
  },
  "teamProjects.list": "reads",
  "teamProjects.get": "reads",
  "teamProjects.update": made("project.updated"),
  "teamProjects.delete": made("project.updated"),
  "teamWorkspaces.create": {
    makes: ["team-access.updated"],
    prepare: ({ teamWorkspaces }, { teamWorkspaceId }) => teamWorkspaces.delete(teamWorkspaceId),
  },
  "teamWorkspaces.list": "reads",
  "teamWorkspaces.get": "reads",
  "teamWorkspaces.update": made("team-access.updated"),
  "teamWorkspaces.delete": made("team-access.updated"),
  "tokens.createForUser": "people",
  "tokens.listForUser": "reads",
  "tokens.createForOrganization": "people",
  "tokens.getForOrganization": "reads",
  "tokens.deleteForOrganization": "people",
  "tokens.createForTeam": "people",
  "tokens.getForTeam": "reads",
  "tokens.deleteForTeam": "people",
  "tokens.addForTeam": "people",
  "tokens.listForTeam": "reads",
  "tokens.listForTeams": "reads",
  "tokens.createForAgentPool": "people",
  "tokens.listForAgentPool": "reads",
  "tokens.get": "reads",
  "tokens.delete": "people",
  "siteSettings.get": "reads",
  "siteSettings.update": "organization",
  "terraformVersions.create": "organization",
  "terraformVersions.list": "reads",
  "terraformVersions.get": "reads",
  "terraformVersions.update": "organization",
  "terraformVersions.delete": "organization",
  "workspaces.create": made("workspace.created"),
  "workspaces.list": "reads",
  "workspaces.get": "reads",
  "workspaces.update": {
    makes: ["workspace.moved", "workspace.updated", "workspace.tagged", "tag-bindings.updated"],
    call: ({ workspaces }, { workspace, projectId }) =>
      workspaces.update(workspace, {
        projectId,
        description: "another",
        tags: [{ name: "new" }],
        tagBindings: [{ key: "env", value: "prod" }],
      }),
  },
  "bulkActions.run": {
    makes: [
      "workspace.created",
      "workspace.locked",
      "workspace.unlocked",
      "workspace.tagged",
      "workspace.untagged",
      "tag-bindings.updated",
      "workspace.moved",
      "workspace.deleted",
    ],
    call: async ({ bulkActions, workspaces }, { organization, projectId }) => {
      const { id } = await workspaces.create(organization, { name: "brief-one" })
      const actions: readonly BulkAction[] = [
        { kind: "lock", reason: "" },
        { kind: "unlock" },
        { kind: "tag", tags: ["many"] },
        { kind: "untag", tags: ["many"] },
        { kind: "bind", bindings: [{ key: "many", value: "yes" }] },
        { kind: "move", projectId },
        { kind: "safe-delete" },
      ]
      for (const action of actions) {
        const run = await bulkActions.run(organization, { action, query: { name: "brief-one" } })
        for await (const results of run.results)
          expect(results).toEqual([{ workspaceId: id, name: "brief-one", outcome: "done" }])
      }
    },
  },
  "workspaces.safeDelete": {
    makes: ["workspace.created", "workspace.deleted"],
    call: async ({ workspaces }, { organization }) =>
      workspaces.safeDelete({ id: (await workspaces.create(organization, { name: "brief" })).id }),
  },
  "workspaces.forceDelete": made("workspace.deleted"),
  "workspaces.assignSshKey": {
    makes: ["workspace.updated"],
    call: ({ workspaces }, { workspace, sshKeyId }) => workspaces.assignSshKey(workspace, sshKeyId),
  },
  "workspaces.lock": made("workspace.locked"),
  "workspaces.extendLock": {
    makes: ["workspace.locked", "workspace.lock-extended"],
    call: async ({ workspaces }, { workspace }) => {
      await workspaces.lock(workspace, { reason: "", ttlMs: 60_000 })
      await workspaces.extendLock(workspace)
    },
  },
  "workspaces.unlock": { makes: ["workspace.unlocked"], prepare: locked },
  "workspaces.forceUnlock": { makes: ["workspace.force-unlocked"], prepare: locked },
  "workspaces.moveToProject": made("workspace.moved"),
  "stateVersions.create": { makes: ["state.created", "state.finalized"], prepare: locked },
  "stateVersions.get": "reads",
  "stateVersions.current": "reads",
  "stateVersions.list": "reads",
  "stateVersions.upload": {
    makes: ["state.created", "state.finalized"],
    prepare: locked,
    call: async ({ stateVersions }, { workspace }) => {
      const { state, ...announced } = newStateInput(2)
      const { id } = await stateVersions.create(workspace, { ...announced, state: null })
      await stateVersions.upload(id, "state", inPieces(state ?? new Uint8Array()))
    },
  },
  "stateVersions.rollback": { makes: ["state.created", "state.finalized"], prepare: locked },
  "stateVersions.softDeleteBackingData": {
    makes: ["state.created", "state.finalized", "state.updated"],
    prepare: locked,
    call: async ({ stateVersions }, { workspace, stateVersionId }) => {
      await stateVersions.create(workspace, newStateInput(2))
      await stateVersions.softDeleteBackingData(stateVersionId)
    },
  },
  "stateVersions.restoreBackingData": {
    makes: ["state.created", "state.finalized", "state.updated", "state.updated"],
    prepare: locked,
    call: async ({ stateVersions }, { workspace, stateVersionId }) => {
      await stateVersions.create(workspace, newStateInput(2))
      await stateVersions.softDeleteBackingData(stateVersionId)
      await stateVersions.restoreBackingData(stateVersionId)
    },
  },
  "stateVersions.permanentlyDeleteBackingData": {
    makes: ["state.created", "state.finalized", "state.updated", "state.updated"],
    prepare: locked,
    call: async ({ stateVersions }, { workspace, stateVersionId }) => {
      await stateVersions.create(workspace, newStateInput(2))
      await stateVersions.softDeleteBackingData(stateVersionId)
      await stateVersions.permanentlyDeleteBackingData(stateVersionId)
    },
  },
  "stateVersions.resources": "reads",
  "stateVersions.download": "reads",
  "stateVersions.outputs": "reads",
  "stateVersions.currentOutputs": "reads",
  "stateVersions.output": "reads",
  "runs.create": made("run.created"),
  "runs.get": "reads",
  "runs.getByPlan": "reads",
  "runs.getByApply": "reads",
  "runs.list": "reads",
  "runs.planJson": "reads",
  "runs.queue": "reads",
  "runs.capacity": "reads",
  "runs.listForOrganization": "reads",
  "runs.apply": {
    makes: ["run.updated", "workspace.locked", "run.updated", "run.updated"],
    call: async ({ runs }, { runId }) => {
      await runs.advance(runId, { status: "planning", hasChanges: null })
      await runs.advance(runId, { status: "planned", hasChanges: true })
      await runs.apply(runId)
    },
  },
  "runs.discard": {
    makes: ["run.updated", "workspace.locked", "run.updated", "run.updated", "workspace.unlocked"],
    call: async ({ runs }, { runId }) => {
      await runs.advance(runId, { status: "planning", hasChanges: null })
      await runs.advance(runId, { status: "planned", hasChanges: true })
      await runs.discard(runId)
    },
  },
  "runs.cancel": {
    makes: ["run.updated", "workspace.locked", "run.updated", "workspace.unlocked"],
    call: async ({ runs }, { runId }) => {
      await runs.advance(runId, { status: "planning", hasChanges: null })
      await runs.cancel(runId)
    },
  },
  "runs.forceCancel": {
    makes: ["run.updated", "workspace.locked", "run.updated", "workspace.unlocked"],
    call: async ({ runs }, { runId }) => {
      await runs.advance(runId, { status: "planning", hasChanges: null })
      await runs.forceCancel(runId)
    },
  },
  "runs.forceExecute": {
    makes: ["run.created", "run.updated"],
    call: async ({ runs }, { workspace }) => {
      const { id } = await runs.create(workspace, newRunInput())
      await runs.forceExecute(id)
    },
  },
  "runs.addComment": made("run.updated"),
  "runs.comments": "reads",
  "runs.events": "reads",
  "runs.event": "reads",
  "runs.redactedPlanJson": "reads",
  "runs.comment": "reads",
  "runs.advance": made("run.updated", "workspace.locked"),
  "runClaims.claim": made("run.updated", "workspace.locked"),
  "runClaims.get": "reads",
  "runClaims.heartbeat": "claim",
  "runClaims.report": {
    makes: ["run.updated"],
    call: ({ runClaims }, { claimId }) => runClaims.report(claimId, { status: "errored", hasChanges: null }),
  },
  "runClaims.release": "claim",
  "runClaims.createToken": "reads",
  "runClaims.appendLog": "claim",
  "runClaims.saveDocument": "claim",
  "runClaims.document": "reads",
  "runClaims.variables": "reads",
  "runClaims.configuration": "reads",
  "runClaims.sshKey": "reads",
  "runClaims.state": "reads",
  "runClaims.createState": {
    makes: [
      "run.updated",
      "workspace.locked",
      "run.updated",
      "run.updated",
      "run.updated",
      "run.updated",
      "state.created",
      "state.finalized",
    ],
    // Uses a run that can be applied; the run that the subject has claimed cannot be.
    call: async ({ runClaims, runs }, { workspace, runId }) => {
      const { id } = (await runClaims.claim({ kind: "workspace", ref: workspace }, newClaimInput)) ?? { id: "" }
      await runClaims.report(id, { status: "planning", hasChanges: null })
      await runClaims.report(id, { status: "planned", hasChanges: true })
      await runs.apply(runId)
      await runClaims.report(id, { status: "applying", hasChanges: null })
      await runClaims.createState(id, newStateInput(2))
    },
  },
  "configurationVersions.create": made("configuration.created"),
  "configurationVersions.get": "reads",
  "configurationVersions.list": "reads",
  "configurationVersions.upload": made("configuration.uploaded", "run.created"),
  "configurationVersions.download": "reads",
  "configurationVersions.archive": {
    makes: [...oldConfiguration, "configuration.archived"],
    call: async (engine, subject) => engine.configurationVersions.archive(await oldOne(engine, subject)),
  },
  "configurationVersions.softDeleteBackingData": {
    makes: [...oldConfiguration, "configuration.updated"],
    call: async (engine, subject) => engine.configurationVersions.softDeleteBackingData(await oldOne(engine, subject)),
  },
  "configurationVersions.restoreBackingData": {
    makes: [...oldConfiguration, "configuration.updated", "configuration.updated"],
    call: async (engine, subject) => {
      const id = await oldOne(engine, subject)
      await engine.configurationVersions.softDeleteBackingData(id)
      await engine.configurationVersions.restoreBackingData(id)
    },
  },
  "configurationVersions.permanentlyDeleteBackingData": {
    makes: [...oldConfiguration, "configuration.updated", "configuration.updated"],
    call: async (engine, subject) => {
      const id = await oldOne(engine, subject)
      await engine.configurationVersions.softDeleteBackingData(id)
      await engine.configurationVersions.permanentlyDeleteBackingData(id)
    },
  },
  "configurationVersions.delete": made("configuration.deleted"),
  "configurationVersions.ingressAttributes": "reads",
  "configurationVersions.readme": "reads",
  "variables.create": made("variable.created"),
  "variables.get": "reads",
  "variables.findById": "reads",
  "variables.list": "reads",
  "variables.update": made("variable.updated"),
  "variables.delete": made("variable.deleted"),
  "events.list": "reads",
  "events.follow": "reads",
  "assessments.create": made("assessment.created"),
  "assessments.get": "reads",
  "assessments.list": "reads",
  "assessments.delete": made("assessment.deleted"),
  "vcsConnections.createClient": "organization",
  "vcsConnections.getClient": "reads",
  "vcsConnections.listClients": "reads",
  "vcsConnections.updateClient": "organization",
  "vcsConnections.deleteClient": "organization",
  "vcsConnections.addProjects": "organization",
  "vcsConnections.removeProjects": "organization",
  "vcsConnections.getToken": "reads",
  "vcsConnections.listTokens": "reads",
  "vcsConnections.updateToken": "organization",
  "vcsConnections.deleteToken": "organization",
  "vcsConnections.createInstallation": "organization",
  "vcsConnections.getInstallation": "reads",
  "vcsConnections.listInstallations": "reads",
  "vcsConnections.listAvailableInstallations": "reads",
  "vcsConnections.deleteInstallation": "organization",
  "tags.list": "reads",
  "tags.create": made("tag.created"),
  "tags.delete": made("tag.deleted"),
  "tags.apply": {
    makes: ["tag.created", "workspace.tagged"],
    call: async ({ tags }, { organization, workspaceId }) => {
      const [tag] = await tags.create(organization, ["shared"])
      await tags.apply(tag?.id ?? "", [workspaceId])
    },
  },
  "tags.ofWorkspace": "reads",
  "tags.add": made("workspace.tagged"),
  "tags.remove": {
    makes: ["workspace.untagged"],
    call: ({ tags }, { workspaceId }) => tags.remove(workspaceId, [{ name: "net" }]),
  },
  "tags.bindings": "reads",
  "tags.effectiveBindings": "reads",
  "tags.bind": {
    makes: ["tag-bindings.updated"],
    call: ({ tags }, { workspaceId }) => tags.bind(workspaceId, [{ key: "env", value: "prod" }]),
  },
  "tags.projectBindings": "reads",
  "tags.bindProject": {
    makes: ["project-tag-bindings.updated"],
    call: ({ tags }, { projectId }) => tags.bindProject(projectId, [{ key: "env", value: "prod" }]),
  },
  "remoteStateConsumers.list": "reads",
  "remoteStateConsumers.replace": made("remote-state-consumers.updated"),
  "remoteStateConsumers.add": made("remote-state-consumers.updated"),
  "remoteStateConsumers.remove": made("remote-state-consumers.updated"),
  "retentionPolicies.get": "reads",
  "retentionPolicies.set": made("retention-policy.updated"),
  "retentionPolicies.delete": {
    makes: ["retention-policy.updated", "retention-policy.updated"],
    call: async ({ retentionPolicies }, { workspaceId: id }) => {
      await retentionPolicies.set({ kind: "workspace", id }, { kind: "dont-delete" })
      await retentionPolicies.delete({ kind: "workspace", id })
    },
  },
  "webhooks.create": "organization",
  "webhooks.list": "reads",
  "webhooks.get": "reads",
  "webhooks.update": "organization",
  "webhooks.delete": "organization",
  "webhooks.deadLetters": "reads",
  "webhooks.redeliver": "organization",
  "webhooks.deleteDeadLetter": "organization",
  "sshKeys.create": "organization",
  "sshKeys.list": "reads",
  "sshKeys.get": "reads",
  "sshKeys.update": "organization",
  "sshKeys.delete": "organization",
  "agentPools.create": "organization",
  "agentPools.list": "reads",
  "agentPools.get": "reads",
  "agentPools.update": "organization",
  "agentPools.delete": "organization",
}

const ofCertificates =
  /^(mounts|pki|acme|blockedKeys|certificateInventory|policies|serviceTokens|tokenRoles|authMethods|appRoles|certificateLogins|kubernetesLogins|userpass|lockedUsers|leases)\./

const { clock, random } = systemRuntime()
const keyText = Buffer.alloc(32, "events").toString("base64")

describe.each(databaseKinds.filter(({ name }) => name !== "SQLite memory"))("on $name,", ({ available, place }) => {
  if (!available) return
  const closing = new AsyncDisposableStack()
  let engine: ServedEngine
  let eventsAfter: (testUsers: Users, position: EventPosition) => Promise<readonly StoredEvent[]>
  let newFixture: () => Promise<{ readonly testUsers: Users; readonly subject: Subject }>
  let newestOf: (testUsers: Users) => Promise<EventPosition>

  beforeAll(async () => {
    const { url } = closing.use(await place())
    engine = closing.use(await openEmbedded(url, { sealKeys: { text: keyText }, jobs: false }))
    const database = closing.use(await openDatabase(url))
    const { read } = repositoriesOver(database, keySealer(parseKeyRing(keyText), random), clock)
    const as = (token: string) => Promise.resolve(actingFor(engine, token))
    newFixture = async () => {
      const testUsers = await newUsers({ root: engine, as })
      return { testUsers, subject: await newSubject(testUsers) }
    }
    eventsAfter = (testUsers, position) =>
      read(async ({ organizations, events }) => {
        const found = await organizations.findByName(testUsers.organization)
        return found === undefined ? [] : events.after(found.id, position, 1_000)
      })
    // Reads the newest event from the table: the end of the feed can lag behind it, held up by transactions of other tests on the same
    // PostgreSQL server.
    newestOf = async (testUsers) => {
      const organization = await read(({ organizations }) => organizations.findByName(testUsers.organization))
      const newest = await database.read((session) =>
        session.queryOne(
          session.db
            .selectFrom("events")
            .select(["transaction_id", "number"])
            .where("organization_id", "=", organization?.id ?? "")
            .orderBy("transaction_id", "desc")
            .orderBy("number", "desc")
            .limit(1),
        ),
      )
      return newest === undefined ? beginning : { transaction: newest.transaction_id, number: newest.number }
    }
  })
  afterAll(() => closing.disposeAsync())

  test("the table lists every method except those of certificates, and no others", () => {
    const others = methodsOf(engine).filter((method) => !ofCertificates.test(method))
    expect(Object.keys(table).toSorted()).toEqual(others)
  })

  test.each(Object.entries(table).flatMap(([name, row]) => (typeof row === "string" ? [] : [{ name, row }])))(
    "$name produces its events",
    async ({ name, row: { makes, prepare, call = calls[name] } }) => {
      const { testUsers, subject } = await newFixture()
      const own = testUsers.owner.engine
      await prepare?.(own, subject)
      const before = await newestOf(testUsers)
      await call?.(own, subject)
      // Transactions of other tests can hold up these events too.
      let events: readonly StoredEvent[] = []
      const look = async () => (events = await eventsAfter(testUsers, before)).map(({ kind }) => kind)
      await expect.poll(look).toEqual(makes)
      for (const { origin } of events)
        expect(origin.actor).toMatchObject({ type: "users", id: testUsers.owner.id, name: expect.any(String) })
    },
  )

  test("all other methods produce no events", async () => {
    const { testUsers, subject } = await newFixture()
    const before = await newestOf(testUsers)
    for (const [name, row] of Object.entries(table)) {
      if (typeof row !== "string" || name === "organizations.delete") continue
      // Some calls fail because earlier ones removed what they need.
      await calls[name]?.(testUsers.owner.engine, subject).catch(() => {})
    }
    expect((await eventsAfter(testUsers, before)).map(({ kind }) => kind)).toEqual([])
    // The table has no event either that the feed still holds back.
    expect(await newestOf(testUsers)).toEqual(before)
  })

  test("no event holds the value of a variable or a state", async () => {
    const { testUsers, subject } = await newFixture()
    const secret = "value-that-nobody-may-read"
    const { variables } = testUsers.owner.engine
    await variables.update(subject.workspace, subject.variableId, { value: secret, sensitive: true })
    let all = ""
    await expect
      .poll(async () => (all = JSON.stringify(await eventsAfter(testUsers, beginning))))
      .toContain("variable.updated")
    expect(all).not.toContain(secret)
  })
})
