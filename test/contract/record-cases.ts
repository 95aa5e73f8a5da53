import { beforeAll, describe, expect, test } from "vitest"
import { firstPage } from "../../engine/src/core/page.ts"
import { type Users, newUsers } from "./users.ts"
import type { AppInstallationQuery } from "../../engine/src/organizations/vcs-connection.ts"
import type { OpenedEngine } from "./engines.ts"
import { addDeadLetter } from "../../engine/testing/dead-letter.ts"
import { newAssessment, newOauthClient, newSshKey, newVariable, newWebhook } from "./new-records.ts"
import { notFound, refused } from "./refusals.ts"

export function recordCases(engine: () => OpenedEngine): void {
  let testUsers: Users
  beforeAll(async () => {
    testUsers = await newUsers(engine())
  })

  describe("a variable", () => {
    test("is created, listed, changed and deleted, and hides its sensitive value", async () => {
      const { variables, workspaces } = testUsers.owner.engine
      const { id, name } = await testUsers.newWorkspace()
      const ref = { organization: testUsers.organization, name }
      const plain = await variables.create(ref, newVariable)
      expect(plain).toMatchObject({ ...newVariable, workspaceId: id })
      const secret = await variables.create(ref, { ...newVariable, key: "password", sensitive: true })
      expect(secret).toMatchObject({ key: "password", sensitive: true, value: null })
      expect(await variables.get({ id }, plain.id)).toEqual(plain)
      expect(await variables.findById(secret.id)).toEqual(secret)
      await expect(variables.findById("var-none")).rejects.toMatchObject(notFound)
      expect(await variables.list({ id })).toEqual(expect.arrayContaining([plain, secret]))
      expect((await workspaces.get({ id })).variableIds.toSorted()).toEqual([plain.id, secret.id].toSorted())
      expect(await variables.update({ id }, plain.id, { value: "us", hcl: true })).toMatchObject({
        id: plain.id,
        key: newVariable.key,
        value: "us",
        hcl: true,
      })
      await variables.delete({ id }, plain.id)
      await expect(variables.get({ id }, plain.id)).rejects.toMatchObject(notFound)
    })

    test("is rejected with every fault named, and cannot be made readable again", async () => {
      const { variables } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      await expect(
        variables.create({ id }, { ...newVariable, key: " ", description: "x".repeat(513) }),
      ).rejects.toMatchObject(refused("invalid", ["key"], ["description"]))
      const secret = await variables.create({ id }, { ...newVariable, sensitive: true })
      await expect(variables.update({ id }, secret.id, { sensitive: false })).rejects.toMatchObject(
        refused("invalid", ["sensitive"]),
      )
      await expect(variables.create({ id }, newVariable)).rejects.toMatchObject(refused("invalid", ["key"]))
    })

    test("are all listed, in any number", async () => {
      const { variables } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      const keys = Array.from({ length: 25 }, (_, index) => `key_${String(index).padStart(2, "0")}`)
      for (const key of keys) await variables.create({ id }, { ...newVariable, key })
      expect((await variables.list({ id })).map(({ key }) => key).toSorted()).toEqual(keys)
    })
  })

  test("an assessment is created, listed, shown by its workspace and deleted", async () => {
    const { assessments, workspaces } = testUsers.owner.engine
    const { id } = await testUsers.newWorkspace()
    const made = await assessments.create({ id }, { ...newAssessment, errorMessage: "no credentials" })
    expect(made).toMatchObject({ workspaceId: id, drifted: true, succeeded: true, errorMessage: "no credentials" })
    expect(await assessments.get(made.id)).toEqual(made)
    expect((await assessments.list({ id }, firstPage)).items).toEqual([made])
    expect(await workspaces.get({ id })).toMatchObject({
      currentAssessmentResultId: made.id,
      lastAssessmentResultAt: made.createdAt,
    })
    const tooLong = { ...newAssessment, errorMessage: "x".repeat(65_537) }
    await expect(assessments.create({ id }, tooLong)).rejects.toMatchObject(refused("invalid", ["errorMessage"]))
    await assessments.delete(made.id)
    await expect(assessments.get(made.id)).rejects.toMatchObject(notFound)
  })

  test("a VCS connection is created with its token, listed and deleted", async () => {
    const { vcsConnections: vcs } = testUsers.owner.engine
    const client = await vcs.createClient(testUsers.organization, newOauthClient)
    const { token: _token, ...shown } = newOauthClient
    expect(client).toMatchObject({ ...shown, organizationName: testUsers.organization, tokenIds: [expect.any(String)] })
    expect(await vcs.getClient(client.id)).toEqual(client)
    expect((await vcs.listClients(testUsers.organization, firstPage)).items).toEqual([client])
    const token = await vcs.getToken(client.tokenIds[0] ?? "")
    expect(token).toMatchObject({ oauthClientId: client.id })
    expect((await vcs.listTokens(testUsers.organization, firstPage)).items).toEqual([token])
    const renamed = await vcs.updateClient(client.id, { name: "other forge", token: "written again" })
    expect(renamed).toEqual({ ...client, name: "other forge" })
    expect(await vcs.updateClient(client.id, {})).toEqual(renamed)
    expect(await vcs.updateClient(client.id, { name: null })).toEqual({ ...client, name: null })
    await expect(vcs.updateClient(client.id, { name: "x".repeat(256), token: "" })).rejects.toMatchObject(
      refused("invalid", ["name"], ["token"]),
    )
    expect(token.hasSshKey).toBe(false)
    const { value: sshKey } = newSshKey
    expect(await vcs.updateToken(token.id, { sshKey })).toEqual({ ...token, hasSshKey: true })
    expect(await vcs.updateToken(token.id, {})).toEqual({ ...token, hasSshKey: true })
    await expect(vcs.updateToken(token.id, { sshKey: " " })).rejects.toMatchObject(refused("invalid", ["sshKey"]))
    expect(await vcs.getToken(token.id)).toEqual({ ...token, hasSshKey: true })
    expect(await vcs.updateToken(token.id, { sshKey: null })).toEqual(token)
    await vcs.deleteToken(token.id)
    await vcs.deleteClient(client.id)
    await expect(vcs.getClient(client.id)).rejects.toMatchObject(notFound)
    await expect(
      vcs.createClient(testUsers.organization, { ...newOauthClient, httpUrl: "ftp://x", apiUrl: "nothing" }),
    ).rejects.toMatchObject(refused("invalid", ["httpUrl"], ["apiUrl"]))
  })

  test("[F-W15] a VCS connection is limited to chosen projects and an agent pool", async () => {
    const { vcsConnections: vcs, projects, agentPools } = testUsers.owner.engine
    const first = await projects.create(testUsers.organization, { name: "chosen" })
    const second = await projects.create(testUsers.organization, { name: "chosen-too" })
    const pool = await agentPools.create(testUsers.organization, { name: "forge-agents" })
    const scope = { organizationScoped: false, projectIds: [first.id], agentPoolId: pool.id }
    const client = await vcs.createClient(testUsers.organization, { ...newOauthClient, ...scope })
    expect(client).toMatchObject(scope)
    await vcs.addProjects(client.id, [first.id, second.id])
    expect(await vcs.getClient(client.id)).toEqual({ ...client, projectIds: [first.id, second.id] })
    await vcs.removeProjects(client.id, [first.id])
    expect(await vcs.getClient(client.id)).toEqual({ ...client, projectIds: [second.id] })
    await expect(vcs.addProjects(client.id, ["prj-none"])).rejects.toMatchObject(notFound)
    await expect(vcs.removeProjects("oc-none", [first.id])).rejects.toMatchObject(notFound)
    const usual = { organizationScoped: true, projectIds: [], agentPoolId: null }
    expect(await vcs.updateClient(client.id, usual)).toEqual({ ...client, ...usual })
    await expect(
      vcs.updateClient(client.id, { projectIds: ["prj-none"], agentPoolId: "apool-none" }),
    ).rejects.toMatchObject(refused("invalid", ["projectIds", 0, "id"], ["agentPoolId"]))
    await vcs.deleteClient(client.id)
    for (const { id } of [first, second]) await projects.delete(id)
    await agentPools.delete(pool.id)
  })

  test("an installed app is created, listed and deleted", async () => {
    const { vcsConnections: vcs } = testUsers.owner.engine
    const made = await vcs.createInstallation(testUsers.organization, { name: "app", installationId: 42 })
    expect(made).toMatchObject({ name: "app", installationId: 42, organizationName: testUsers.organization })
    expect(await vcs.getInstallation(made.id)).toEqual(made)
    expect((await vcs.listInstallations(testUsers.organization, firstPage)).items).toEqual([made])
    const available = async (query: AppInstallationQuery) =>
      (await vcs.listAvailableInstallations(query, firstPage)).items.filter(({ id }) => id === made.id)
    expect(await available({ name: "APP", installationId: 42 })).toEqual([made])
    expect(await available({ name: "ap" })).toEqual([])
    expect(await available({ installationId: 43 })).toEqual([])
    const toStranger = await testUsers.stranger.engine.vcsConnections.listAvailableInstallations({}, firstPage)
    expect(toStranger.items).toEqual([])
    await vcs.deleteInstallation(made.id)
    await expect(vcs.getInstallation(made.id)).rejects.toMatchObject(notFound)
  })

  test("an SSH key is created, listed, renamed and deleted, and never read back", async () => {
    const { sshKeys } = testUsers.owner.engine
    const made = await sshKeys.create(testUsers.organization, newSshKey)
    expect(made).toEqual({ id: made.id, name: newSshKey.name })
    expect(await sshKeys.get(made.id)).toEqual(made)
    expect((await sshKeys.list(testUsers.organization, firstPage)).items).toEqual([made])
    expect(await sshKeys.update(made.id, { name: "renamed" })).toEqual({ ...made, name: "renamed" })
    await expect(sshKeys.create(testUsers.organization, { name: "", value: " " })).rejects.toMatchObject(
      refused("invalid", ["name"], ["value"]),
    )
    await sshKeys.delete(made.id)
    await expect(sshKeys.get(made.id)).rejects.toMatchObject(notFound)
  })

  test("a webhook is created with a secret that is shown once, listed, changed and deleted", async () => {
    const { webhooks } = testUsers.owner.engine
    const { secret, ...made } = await webhooks.create(testUsers.organization, { ...newWebhook, kinds: ["run.*"] })
    expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/)
    expect(made).toEqual({
      ...newWebhook,
      id: made.id,
      kinds: ["run.*"],
      workspaces: [],
      tags: [],
      disabledReason: null,
      lastDeliveredAt: null,
      lastError: null,
      failingSince: null,
      createdAt: expect.any(Number),
    })
    expect(await webhooks.get(testUsers.organization, made.id)).toEqual(made)
    expect((await webhooks.list(testUsers.organization, firstPage)).items).toEqual([made])
    const patch = {
      name: "renamed",
      url: "https://receiver.example",
      workspaces: ["network"],
      tags: ["prod"],
      kinds: [],
    }
    const changed = { ...made, ...patch }
    const own = "a secret of one's own"
    expect(await webhooks.update(testUsers.organization, made.id, { ...patch, secret: own })).toEqual(changed)
    const known = await webhooks.create(testUsers.organization, { ...newWebhook, secret: own })
    expect(known.secret).toBeNull()
    await expect(webhooks.update(testUsers.organization, known.id, { name: "renamed" })).rejects.toMatchObject(
      refused("invalid", ["name"]),
    )
    const faulty = { name: "", url: "https://user@receiver.example", kinds: ["none"], secret: "short" }
    await expect(webhooks.create(testUsers.organization, faulty)).rejects.toMatchObject(
      refused("invalid", ["name"], ["url"], ["kinds", 0], ["secret"]),
    )
    await webhooks.delete(testUsers.organization, made.id)
    await expect(webhooks.get(testUsers.organization, made.id)).rejects.toMatchObject(notFound)
    await webhooks.delete(testUsers.organization, known.id)
  })

  test("a dead letter of a webhook is listed, sent again and discarded", async () => {
    const { owner, organization } = testUsers
    const { webhooks } = owner.engine
    const { id } = await webhooks.create(organization, newWebhook)
    for (const letterId of ["whd-one", "whd-two"]) await addDeadLetter(engine().served, id, `${letterId}-${id}`)
    const [one, two] = (await webhooks.deadLetters(organization, id, firstPage)).items.toSorted((first, second) =>
      first.id < second.id ? -1 : 1,
    )
    expect(one).toEqual({
      id: `whd-one-${id}`,
      eventId: "c0-1",
      kind: "workspace.locked",
      document: '{"data":{"type":"events","id":"c0-1"}}',
      attempts: 8,
      lastError: "timeout",
      failedAt: expect.any(Number),
      redelivering: false,
    })
    expect(await webhooks.redeliver(organization, id, one?.id ?? "")).toEqual({ ...one, redelivering: true })
    await expect
      .poll(async () => (await webhooks.deadLetters(organization, id, firstPage)).items, { timeout: 10_000 })
      .toContainEqual(
        expect.objectContaining({ id: one?.id, redelivering: false, attempts: 9, lastError: "unreachable" }),
      )
    await webhooks.deleteDeadLetter(organization, id, two?.id ?? "")
    expect((await webhooks.deadLetters(organization, id, firstPage)).items.map((letter) => letter.id)).toEqual([
      one?.id,
    ])
    await expect(webhooks.redeliver(organization, id, two?.id ?? "")).rejects.toMatchObject(notFound)
    await expect(webhooks.deleteDeadLetter(organization, id, two?.id ?? "")).rejects.toMatchObject(notFound)
    await webhooks.delete(organization, id)
    await expect(webhooks.deadLetters(organization, id, firstPage)).rejects.toMatchObject(notFound)
  })

  test("an agent pool is created, found, used by a workspace, and deleted once unused", async () => {
    const { agentPools, workspaces } = testUsers.owner.engine
    const made = await agentPools.create(testUsers.organization, { name: "edge" })
    expect(made).toMatchObject({ name: "edge", organizationName: testUsers.organization, workspaceIds: [] })
    expect((await agentPools.list(testUsers.organization, { search: "DG" }, firstPage)).items).toEqual([made])
    const workspace = await testUsers.newWorkspace({ executionMode: "agent", agentPoolId: made.id })
    expect(workspace).toMatchObject({ executionMode: "agent", agentPoolId: made.id })
    expect(await agentPools.get(made.id)).toEqual({ ...made, workspaceIds: [workspace.id] })
    await expect(agentPools.delete(made.id)).rejects.toMatchObject(refused("conflict"))
    await workspaces.forceDelete(workspace)
    expect(await agentPools.update(made.id, { name: "core" })).toEqual({ ...made, name: "core" })
    await agentPools.delete(made.id)
    await expect(agentPools.get(made.id)).rejects.toMatchObject(notFound)
    await expect(agentPools.create(testUsers.organization, { name: "" })).rejects.toMatchObject(
      refused("invalid", ["name"]),
    )
  })

  describe("a retention policy", () => {
    test("of a workspace overrides that of its organization", async () => {
      const { retentionPolicies: policies, workspaces } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      const workspace = { kind: "workspace", id } as const
      const organization = { kind: "organization", name: testUsers.organization } as const
      await expect(policies.get(workspace)).rejects.toMatchObject(notFound)
      const general = await policies.set(organization, { kind: "dont-delete" })
      expect(general).toEqual({ id: general.id, rule: { kind: "dont-delete" }, target: organization })
      expect(await policies.get(workspace)).toEqual(general)
      const own = await policies.set(workspace, { kind: "delete-older", days: 30 })
      expect(await policies.get(workspace)).toEqual(own)
      expect(await policies.set(workspace, { kind: "delete-older", days: 7 })).toEqual({
        id: own.id,
        rule: { kind: "delete-older", days: 7 },
        target: workspace,
      })
      expect((await workspaces.get({ id })).retentionPolicy).toEqual({ id: own.id, kind: "delete-older" })
      await policies.delete(workspace)
      await expect(policies.delete(workspace)).rejects.toMatchObject(notFound)
      await expect(policies.set(workspace, { kind: "delete-older", days: 0 })).rejects.toMatchObject(
        refused("invalid", ["deleteOlderThanNDays"]),
      )
      await policies.delete(organization)
    })

    test("of the site is managed by site administrators, and deletes data", async () => {
      const { retentionPolicies: policies } = testUsers.root
      const site = { kind: "site" } as const
      await expect(policies.set(site, { kind: "dont-delete" })).rejects.toMatchObject(refused("invalid", ["type"]))
      const made = await policies.set(site, { kind: "delete-older", days: 365 })
      expect(await policies.get(site)).toEqual(made)
      await policies.delete(site)
      await expect(policies.get(site)).rejects.toMatchObject(notFound)
      await expect(testUsers.owner.engine.retentionPolicies.get(site)).rejects.toMatchObject(notFound)
    })
  })
}
