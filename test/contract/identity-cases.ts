import { beforeAll, describe, expect, test } from "vitest"
import { firstPage } from "../../engine/src/core/page.ts"
import { type Users, newUsers } from "./users.ts"
import type { OpenedEngine } from "./engines.ts"
import { newTerraformVersion } from "./new-records.ts"
import { notFound, refused } from "./refusals.ts"

export function identityCases(engine: () => OpenedEngine): void {
  let testUsers: Users
  beforeAll(async () => {
    testUsers = await newUsers(engine())
  })

  test("the interface version is returned to every caller", async () => {
    expect(await testUsers.stranger.engine.discovery.apiVersion()).toMatch(/^2\.\d+$/)
  })

  describe("an organization", () => {
    test("is created by a user, who owns it, and read as created", async () => {
      const { engine: user } = await testUsers.newPerson()
      const name = testUsers.newName("made")
      const made = await user.organizations.create({
        name,
        email: "a@example.com",
        allowForceDeleteWorkspaces: true,
        defaultExecutionMode: "local",
      })
      expect(made).toMatchObject({
        name,
        email: "a@example.com",
        allowForceDeleteWorkspaces: true,
        defaultExecutionMode: "local",
        defaultAgentPoolId: null,
        permissions: { canUpdate: true, canDestroy: true, canCreateWorkspace: true },
      })
      expect(await user.organizations.get(name)).toEqual(made)
      expect((await user.organizations.list(name.slice(1), firstPage)).items).toEqual([made])
      const changed = await user.organizations.update(name, { email: "b@example.com", plan: "plus" })
      expect(changed).toEqual({ ...made, email: "b@example.com" })
      await user.organizations.delete(name)
      await expect(user.organizations.get(name)).rejects.toMatchObject(notFound)
    })

    test("is rejected with every fault of its input named", async () => {
      const { organizations } = testUsers.owner.engine
      await expect(organizations.create({ name: "no spaces", email: "nobody" })).rejects.toMatchObject(
        refused("invalid", ["name"], ["email"]),
      )
      await expect(
        organizations.create({ name: testUsers.organization.toUpperCase(), email: "a@example.com" }),
      ).rejects.toMatchObject(refused("invalid", ["name"]))
      await expect(
        organizations.update(testUsers.organization, { defaultAgentPoolId: "apool-none" }),
      ).rejects.toMatchObject(refused("invalid", ["defaultAgentPoolId", "id"]))
      await expect(organizations.update(testUsers.organization, { plan: "free" })).rejects.toMatchObject(
        refused("invalid", ["plan"]),
      )
    })

    test("is changed by its owners only", async () => {
      const { engine: member } = await testUsers.newMember()
      expect(await member.organizations.get(testUsers.organization)).toMatchObject({
        permissions: { canUpdate: false },
      })
      await expect(
        member.organizations.update(testUsers.organization, { email: "c@example.com" }),
      ).rejects.toMatchObject(notFound)
      await expect(member.organizations.delete(testUsers.organization)).rejects.toMatchObject(notFound)
    })

    test.each(["", ".", "..", "a/b", "%", "none"])("is not found by the name %j", async (name) => {
      await expect(testUsers.root.organizations.get(name)).rejects.toMatchObject(notFound)
    })
  })

  describe("a project", () => {
    test("is created, listed, changed and deleted", async () => {
      const { projects } = testUsers.owner.engine
      const made = await projects.create(testUsers.organization, { name: "Network of acme", description: "all of it" })
      expect(made).toMatchObject({
        name: "Network of acme",
        description: "all of it",
        organizationName: testUsers.organization,
        defaultExecutionMode: "remote",
        settingOverwrites: { defaultExecutionMode: false, defaultAgentPool: false },
        counts: { workspaces: 0, teams: 0 },
      })
      expect(await projects.get(made.id)).toEqual(made)
      expect((await projects.list(testUsers.organization, { names: ["network of ACME"] }, firstPage)).items).toEqual([
        made,
      ])
      expect((await projects.list(testUsers.organization, { names: [] }, firstPage)).totalCount).toBe(0)
      expect((await projects.list(testUsers.organization, { names: ["a,b", ""] }, firstPage)).totalCount).toBe(0)
      expect((await projects.list(testUsers.organization, { search: "work of" }, firstPage)).items).toEqual([made])
      const changed = await projects.update(made.id, {
        defaultExecutionMode: "local",
        autoDestroyActivityDuration: "3d",
      })
      expect(changed).toEqual({
        ...made,
        defaultExecutionMode: "local",
        autoDestroyActivityDuration: "3d",
        settingOverwrites: { ...made.settingOverwrites, defaultExecutionMode: true },
      })
      await projects.delete(made.id)
      await expect(projects.get(made.id)).rejects.toMatchObject(notFound)
    })

    test("is rejected with its faults named, and the default project cannot be deleted", async () => {
      const { projects, organizations } = testUsers.owner.engine
      const { defaultProjectId } = await organizations.get(testUsers.organization)
      await expect(projects.create(testUsers.organization, { name: " x" })).rejects.toMatchObject(
        refused("invalid", ["name"]),
      )
      await expect(projects.update(defaultProjectId, { autoDestroyActivityDuration: "forever" })).rejects.toMatchObject(
        refused("invalid", ["autoDestroyActivityDuration"]),
      )
      await expect(projects.delete(defaultProjectId)).rejects.toMatchObject(refused("conflict"))
    })
  })

  describe("a user", () => {
    test("is created, found, promoted and deleted by a site administrator", async () => {
      const { users } = testUsers.root
      const username = testUsers.newName("ada")
      const made = await users.create({ username, email: `${username}@example.com`, serviceAccount: true })
      expect(made).toMatchObject({ username, serviceAccount: true, siteAdmin: false })
      expect(await users.getAsAdministrator(made.id)).toEqual(made)
      expect(await users.get(made.id)).toEqual(made)
      expect(await users.findByUsername(username.toUpperCase())).toEqual(made)
      expect(await users.findByUsername(username.slice(0, -1))).toBeUndefined()
      expect((await users.list(username, firstPage)).items).toEqual([made])
      expect(await users.setSiteAdmin(made.id, true)).toEqual({ ...made, siteAdmin: true })
      await users.delete(made.id)
      await expect(users.getAsAdministrator(made.id)).rejects.toMatchObject(notFound)
      await expect(users.create({ username: testUsers.owner.username })).rejects.toMatchObject(
        refused("invalid", ["username"]),
      )
    })

    test("reads and changes its own account, and sees only public members of others", async () => {
      const { engine: person, id, username } = await testUsers.newMember()
      const account = await person.users.account()
      expect(account).toMatchObject({ id, username, email: `${username}@example.com`, siteAdmin: false })
      expect(await person.users.get(id)).toEqual(account)
      expect(await person.users.get(testUsers.owner.id)).toMatchObject({ email: null, siteAdmin: null })
      expect(await person.users.updateAccount({ email: "new@example.com" })).toEqual({
        ...account,
        email: "new@example.com",
      })
      await expect(person.users.updateAccount({ email: "no email", username: "" })).rejects.toMatchObject(
        refused("invalid", ["username"], ["email"]),
      )
      await expect(person.users.setSiteAdmin(id, true)).rejects.toMatchObject(notFound)
    })

    test("root stays a site administrator", async () => {
      const root = await testUsers.root.users.account()
      await expect(testUsers.root.users.setSiteAdmin(root.id, false)).rejects.toMatchObject(refused("unprocessable"))
      await expect(testUsers.root.users.delete(root.id)).rejects.toMatchObject(refused("unprocessable"))
    })
  })

  describe("a membership", () => {
    test("is created, listed and ended, with its user", async () => {
      const { organizationMemberships: memberships, teams } = testUsers.owner.engine
      const { username, id: userId, engine: person } = await testUsers.newPerson()
      const team = await teams.create(testUsers.organization, { name: testUsers.newName("team") })
      const made = await memberships.create(testUsers.organization, { username, teamIds: [team.id] })
      expect(made).toMatchObject({
        organizationName: testUsers.organization,
        status: "active",
        user: { id: userId, username },
        teamIds: [team.id],
      })
      expect(await memberships.get(made.id)).toEqual(made)
      expect((await memberships.list(testUsers.organization, { search: username }, firstPage)).items).toEqual([made])
      const emails = [`${username}@example.com`, "a,b@example.com"]
      expect((await memberships.list(testUsers.organization, { emails }, firstPage)).items).toEqual([made])
      expect((await memberships.list(testUsers.organization, { emails: [] }, firstPage)).totalCount).toBe(0)
      expect((await memberships.list(testUsers.organization, { status: "invited" }, firstPage)).totalCount).toBe(0)
      await memberships.delete(made.id)
      await expect(memberships.get(made.id)).rejects.toMatchObject(notFound)
      await expect(person.organizations.get(testUsers.organization)).rejects.toMatchObject(notFound)
    })

    test("is rejected with its invalid members named", async () => {
      const { organizationMemberships: memberships } = testUsers.owner.engine
      const { username } = await testUsers.newMember()
      await expect(memberships.create(testUsers.organization, { username })).rejects.toMatchObject(
        refused("invalid", ["username"]),
      )
      await expect(
        memberships.create(testUsers.organization, { username: testUsers.newName("new"), teamIds: ["team-none"] }),
      ).rejects.toMatchObject(refused("invalid", ["teamIds", 0, "id"]))
    })
  })

  describe("a team", () => {
    test("is created, listed, changed and deleted", async () => {
      const { teams } = testUsers.owner.engine
      const name = testUsers.newName("network")
      const made = await teams.create(testUsers.organization, { name, access: { manageWorkspaces: true } })
      expect(made).toMatchObject({
        name,
        organizationName: testUsers.organization,
        visibility: "secret",
        access: { manageWorkspaces: true, manageTeams: false },
        permissions: { canDestroy: true },
        userIds: [],
      })
      expect(await teams.get(made.id)).toEqual(made)
      expect((await teams.list(testUsers.organization, { names: [name] }, firstPage)).items).toEqual([made])
      expect((await teams.list(testUsers.organization, { names: [] }, firstPage)).totalCount).toBe(0)
      expect((await teams.list(testUsers.organization, { search: name.slice(2) }, firstPage)).items).toEqual([made])
      const changed = await teams.update(made.id, { visibility: "organization", access: { manageTeams: true } })
      expect(changed).toEqual({ ...made, visibility: "organization", access: { ...made.access, manageTeams: true } })
      await teams.delete(made.id)
      await expect(teams.get(made.id)).rejects.toMatchObject(notFound)
    })

    test("gains and loses members, by name and by membership", async () => {
      const { teams, organizationMemberships: memberships } = testUsers.owner.engine
      const [first, second] = [await testUsers.newMember(), await testUsers.newMember()]
      const { items } = await memberships.list(testUsers.organization, { search: second.username }, firstPage)
      const team = await teams.create(testUsers.organization, { name: testUsers.newName("team") })
      await teams.addMembers(team.id, { usernames: [first.username] })
      await teams.addMembers(team.id, { organizationMembershipIds: items.map(({ id }) => id) })
      expect((await teams.members(team.id)).map(({ user }) => user.username)).toEqual([first.username, second.username])
      expect((await teams.get(team.id)).userIds.toSorted()).toEqual([first.id, second.id].toSorted())
      await teams.addMembers(team.id, { usernames: [] })
      await teams.removeMembers(team.id, { usernames: [first.username, first.username] })
      expect((await teams.get(team.id)).userIds).toEqual([second.id])
      await expect(teams.addMembers(team.id, { usernames: [first.username, "none"] })).rejects.toMatchObject(
        refused("invalid", ["data", 1, "id"]),
      )
    })

    test("is rejected with its faults named, and the owners team keeps one owner", async () => {
      const { teams } = testUsers.owner.engine
      await expect(teams.create(testUsers.organization, { name: "" })).rejects.toMatchObject(
        refused("invalid", ["name"]),
      )
      const [owners] = (await teams.list(testUsers.organization, { names: ["owners"] }, firstPage)).items
      await expect(
        teams.update(owners?.id ?? "", { name: "others", access: { manageTeams: false } }),
      ).rejects.toMatchObject(refused("invalid", ["name"], ["access"]))
      await expect(
        teams.removeMembers(owners?.id ?? "", { usernames: [testUsers.owner.username] }),
      ).rejects.toMatchObject(refused("unprocessable"))
      await expect(teams.delete(owners?.id ?? "")).rejects.toMatchObject(refused("unprocessable"))
    })
  })

  describe("team access", () => {
    test("to a project is granted, changed and revoked", async () => {
      const { teamProjects, projects } = testUsers.owner.engine
      const { teamId } = await testUsers.newMember()
      const { id: projectId } = await projects.create(testUsers.organization, { name: testUsers.newName("project") })
      const made = await teamProjects.create({ teamId, projectId, access: "read" })
      expect(made).toMatchObject({ teamId, projectId, access: "read" })
      expect(await teamProjects.get(made.id)).toEqual(made)
      expect((await teamProjects.list(projectId, firstPage)).items).toEqual([made])
      expect(await teamProjects.update(made.id, { access: "maintain" })).toEqual({ ...made, access: "maintain" })
      await expect(teamProjects.create({ teamId, projectId, access: "read" })).rejects.toMatchObject(
        refused("invalid", ["teamId", "id"]),
      )
      await teamProjects.delete(made.id)
      await expect(teamProjects.get(made.id)).rejects.toMatchObject(notFound)
    })

    test("to a workspace is granted as a preset or in parts, changed and revoked", async () => {
      const { teamWorkspaces } = testUsers.owner.engine
      const { teamId } = await testUsers.newMember()
      const { id: workspaceId } = await testUsers.newWorkspace()
      const made = await teamWorkspaces.create({ teamId, workspaceId, access: "write" })
      expect(made).toEqual({ id: made.id, teamId, workspaceId, access: "write" })
      expect(await teamWorkspaces.get(made.id)).toEqual(made)
      const changed = await teamWorkspaces.update(made.id, {
        access: "custom",
        custom: { runs: "plan", stateVersions: "read-outputs", workspaceLocking: true },
      })
      expect(changed).toMatchObject({
        access: "custom",
        custom: { runs: "plan", stateVersions: "read-outputs", workspaceLocking: true, runTasks: false },
      })
      expect((await teamWorkspaces.list(workspaceId, firstPage)).items).toEqual([changed])
      await expect(teamWorkspaces.create({ teamId: "team-none", workspaceId, access: "read" })).rejects.toMatchObject(
        refused("invalid", ["teamId", "id"]),
      )
      await teamWorkspaces.delete(made.id)
      await expect(teamWorkspaces.get(made.id)).rejects.toMatchObject(notFound)
    })
  })

  describe("a token", () => {
    test("of a user is created, shown without its secret, and revoked", async () => {
      const { tokens } = testUsers.owner.engine
      const expiresAt = Date.UTC(2099, 0, 1)
      const { secret, ...made } = await tokens.createForUser(testUsers.owner.id, { description: "laptop", expiresAt })
      expect(made).toMatchObject({
        owner: { kind: "user", userId: testUsers.owner.id },
        description: "laptop",
        expiresAt,
        createdBy: testUsers.owner.id,
        lastUsedAt: null,
      })
      expect(await tokens.get(made.id)).toEqual(made)
      expect((await tokens.listForUser(testUsers.owner.id, firstPage)).items).toContainEqual(made)
      const laptop = await engine().as(secret)
      expect(await laptop.users.account()).toMatchObject({ id: testUsers.owner.id })
      await tokens.delete(made.id)
      await expect(laptop.users.account()).rejects.toMatchObject(refused("unauthenticated"))
      await expect(
        tokens.createForUser(testUsers.owner.id, { description: "x".repeat(256), expiresAt: 1 }),
      ).rejects.toMatchObject(refused("invalid", ["description"], ["expiresAt"]))
    })

    test("of an organization acts for the organization", async () => {
      const { tokens } = testUsers.owner.engine
      const { secret, ...made } = await tokens.createForOrganization(testUsers.organization, {})
      expect(made).toMatchObject({
        owner: { kind: "organization", organizationName: testUsers.organization },
        description: "",
      })
      expect(await tokens.getForOrganization(testUsers.organization)).toEqual(made)
      const tokenEngine = await engine().as(secret)
      expect(await tokenEngine.users.account()).toMatchObject({ serviceAccount: true })
      expect((await tokenEngine.organizations.list(undefined, firstPage)).items.map(({ name }) => name)).toEqual([
        testUsers.organization,
      ])
      await tokens.deleteForOrganization(testUsers.organization)
      await expect(tokens.getForOrganization(testUsers.organization)).rejects.toMatchObject(notFound)
    })

    test("of a team is one without a description, or several with descriptions", async () => {
      const { tokens } = testUsers.owner.engine
      const { teamId } = await testUsers.newMember()
      const { secret: _one, ...one } = await tokens.createForTeam(teamId, {})
      const { secret: _more, ...more } = await tokens.addForTeam(teamId, { description: "pipeline" })
      expect(await tokens.getForTeam(teamId)).toEqual(one)
      expect((await tokens.listForTeam(teamId, firstPage)).items.map(({ id }) => id).toSorted()).toEqual(
        [one.id, more.id].toSorted(),
      )
      const query = { sort: { key: "created-by", descending: true } } as const
      const ofTeams = (await tokens.listForTeams(testUsers.organization, query, firstPage)).items
      expect(ofTeams).toEqual(expect.arrayContaining([one, more]))
      await tokens.deleteForTeam(teamId)
      await expect(tokens.getForTeam(teamId)).rejects.toMatchObject(notFound)
    })
  })

  test("the settings of the site are managed by site administrators", async () => {
    const { siteSettings } = testUsers.root
    const before = await siteSettings.get()
    const changed = await siteSettings.update({ defaultGlobalRemoteState: true, engineReleases: ["99.0.1"] })
    expect(changed).toEqual({ defaultGlobalRemoteState: true, engineReleases: ["99.0.1"] })
    expect(await siteSettings.get()).toEqual(changed)
    await expect(siteSettings.update({ engineReleases: ["1.2.3", "newest"] })).rejects.toMatchObject(
      refused("invalid", ["engineReleases", 1]),
    )
    await siteSettings.update(before)
    await expect(testUsers.owner.engine.siteSettings.get()).rejects.toMatchObject(notFound)
  })

  test("[F-W15] a Terraform version is created, listed, updated and deleted by site administrators", async () => {
    const { terraformVersions } = testUsers.root
    const binary = { ...newTerraformVersion, os: "linux", arch: "amd64" }
    const version = `1.99.0-${testUsers.newName("contract")}`
    const created = await terraformVersions.create({ ...newTerraformVersion, version })
    expect(created).toEqual({
      id: created.id,
      version,
      archs: [binary],
      official: false,
      deprecated: false,
      deprecatedReason: null,
      enabled: true,
      beta: false,
      usage: 0,
      createdAt: created.createdAt,
    })
    expect(await terraformVersions.get(created.id)).toEqual(created)
    expect((await terraformVersions.list({ version }, firstPage)).items).toEqual([created])
    expect((await terraformVersions.list({ search: version.slice(3) }, firstPage)).items).toEqual([created])
    expect((await terraformVersions.list({ version: `${version}-missing` }, firstPage)).items).toEqual([])
    const patch = { archs: [{ ...binary, arch: "arm64" }], deprecated: true, deprecatedReason: "old", official: true }
    const updated = await terraformVersions.update(created.id, patch)
    expect(updated).toEqual({ ...created, ...patch })
    await expect(terraformVersions.delete(created.id)).rejects.toMatchObject(refused("unprocessable"))
    await terraformVersions.update(created.id, { official: false })
    await expect(terraformVersions.create({ ...newTerraformVersion, version })).rejects.toMatchObject(
      refused("invalid", ["version"]),
    )
    await expect(
      terraformVersions.create({ version: "newest", archs: [{ ...binary, sha: "" }], deprecatedReason: "old" }),
    ).rejects.toMatchObject(refused("invalid", ["version"], ["archs", 0, "sha"], ["deprecatedReason"]))
    await expect(testUsers.owner.engine.terraformVersions.get(created.id)).rejects.toMatchObject(notFound)
    await terraformVersions.delete(created.id)
    await expect(terraformVersions.get(created.id)).rejects.toMatchObject(notFound)
  })
}
