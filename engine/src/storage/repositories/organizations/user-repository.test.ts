// Organizations and their users and teams, on every kind of database.
import { describe, expect, test } from "vitest"
import { noOrganizationAccess } from "../../../core/caller.ts"
import { isEngineError } from "../../../core/errors.ts"
import type { OrganizationId, ProjectId, TeamId, UserId } from "../../../core/ids.ts"
import { firstPage } from "../../../core/page.ts"
import { type Organization, recordedDefaults } from "../../../organizations/organization.ts"
import { defaultProject } from "../../../organizations/project.ts"
import { initialSiteSettings } from "../../../organizations/site-settings.ts"
import { ownersTeam, type Team } from "../../../organizations/team.ts"
import type { Token, TokenOwner } from "../../../organizations/token.ts"
import type { User } from "../../../organizations/user.ts"
import { manualClock } from "../../../../testing/manual-clock.ts"
import { seededRandom } from "../../../../testing/seeded-random.ts"
import { keySealer, newKeyText, parseKeyRing } from "../../sealing/key-sealing.ts"
import { repositoriesOver } from "../repositories.ts"
import { databaseKinds, temporaryDatabase } from "../../../../testing/temporary-database.ts"

const random = seededRandom(1)

const organization = (name: string): Organization => ({
  id: `org-${name}` as OrganizationId,
  name,
  email: `${name}@example.com`,
  createdAt: 1,
  defaultExecutionMode: "remote",
  defaultAgentPoolId: null,
  remoteOperations: "on",
  allowForceDeleteWorkspaces: false,
  assessmentsEnforced: true,
  plan: "plus",
  costEstimationEnabled: false,
  collaboratorAuthPolicy: "password",
  ...recordedDefaults,
  defaultProjectId: `prj-${name}` as ProjectId,
})
const user = (username: string, email = ""): User => ({
  id: `user-${username}` as UserId,
  username,
  email,
  siteAdmin: false,
  serviceAccount: false,
  invited: false,
  createdAt: 2,
})
const team = (name: string, of: Organization, changes: Partial<Team> = {}): Team => ({
  id: `team-${name}` as TeamId,
  organizationId: of.id,
  name,
  visibility: "secret",
  access: noOrganizationAccess,
  ssoTeamId: null,
  allowMemberTokenManagement: true,
  createdAt: 3,
  ...changes,
})
const token = (id: string, owner: TokenOwner, description = ""): Token => ({
  id,
  owner,
  description,
  createdBy: null,
  createdAt: 4,
  lastUsedAt: null,
  expiresAt: null,
})

describe.each(databaseKinds.filter(({ available }) => available))("$name", (kind) => {
  async function open() {
    const temporary = await temporaryDatabase(kind)
    const storage = repositoriesOver(
      temporary.database,
      keySealer(parseKeyRing(newKeyText(random)), random),
      manualClock(),
    )
    /** Inserts an organization with its default project and its owners team. */
    const found = async (name: string, owners: readonly User[] = []) => {
      const made = organization(name)
      const owning = { ...ownersTeam({ id: `team-owners-${name}` as TeamId, organizationId: made.id, now: 3 }) }
      await storage.transact(async ({ organizations, projects, teams }) => {
        await organizations.insert(made)
        await projects.insert(defaultProject(made))
        await teams.insert(owning)
        await teams.addMembers(
          owning.id,
          owners.map(({ id }) => id),
        )
      })
      return made
    }
    return { storage, found, [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose]() }
  }

  const fault = (error: unknown) => (isEngineError(error, "invalid") ? error.faults : error)

  test("an organization is read as written, is found in any case, and has a unique name", async () => {
    await using at = await open()
    const acme = await at.found("Acme")
    await at.found("Beta")
    await at.storage.read(async ({ organizations }) => {
      expect(await organizations.findByName("aCME")).toEqual(acme)
      expect(await organizations.find(acme.id)).toEqual(acme)
      expect(await organizations.ownsAgentPool(acme.id, "apool-1")).toBe(false)
      const names = async (ids: readonly OrganizationId[] | "all", search?: string) =>
        (await organizations.list(ids, search, firstPage)).items.map(({ name }) => name)
      expect(await names("all")).toEqual(["Acme", "Beta"])
      expect(await names("all", "ET")).toEqual(["Beta"])
      expect(await names("all", "_")).toEqual([])
      expect(await names([acme.id])).toEqual(["Acme"])
      expect(await names([])).toEqual([])
      expect((await organizations.list("all", undefined, { number: 2, size: 1 })).totalCount).toBe(2)
    })
    const renamed = { ...acme, name: "BETA" }
    const taken = [{ field: ["name"], detail: "Name has already been taken" }]
    expect(await at.storage.transact(({ organizations }) => organizations.save(renamed)).catch(fault)).toEqual(taken)
    const twin = { ...organization("acme"), id: "org-twin" as OrganizationId }
    expect(await at.storage.transact(({ organizations }) => organizations.insert(twin)).catch(fault)).toEqual(taken)
    await at.storage.transact(({ organizations }) => organizations.save({ ...acme, plan: "free", name: "acme" }))
    expect(await at.storage.read(({ organizations }) => organizations.findByName("acme"))).toMatchObject({
      plan: "free",
    })
  })

  test("an organization is deleted with all its contents, and nothing else", async () => {
    await using at = await open()
    const ada = user("ada")
    await at.storage.transact(({ users }) => users.insert(ada))
    const [acme, beta] = [await at.found("acme", [ada]), await at.found("beta", [ada])]
    await at.storage.transact(async ({ memberships, tokens }) => {
      for (const { id } of [acme, beta]) {
        await memberships.insert({ id: `ou-${id}`, organizationId: id, userId: ada.id, status: "active", createdAt: 1 })
        await tokens.insert(token(`at-${id}`, { kind: "organization", organizationId: id }), `hash-${id}`)
      }
    })
    await at.storage.transact(({ organizations }) => organizations.remove(acme.id))
    await at.storage.read(async ({ organizations, projects, teams, memberships, tokens, identity, users }) => {
      expect(await organizations.find(acme.id)).toBeUndefined()
      expect(await projects.find(acme.defaultProjectId)).toBeUndefined()
      expect(await teams.find("team-owners-acme")).toBeUndefined()
      expect(await memberships.find(`ou-${acme.id}`)).toBeUndefined()
      expect(await identity.findToken(`hash-${acme.id}`)).toBeUndefined()
      expect([...(await identity.membershipsOfUser(ada.id)).keys()]).toEqual([beta.id])
      expect(await tokens.find(`at-${beta.id}`)).toBeDefined()
      expect(await users.find(ada.id)).toEqual(ada)
    })
  })

  test("users have unique names in any case, and unique addresses unless they have none", async () => {
    await using at = await open()
    const [ada, bob, eve] = [user("Ada", "Ada@example.com"), user("bob"), user("eve")]
    await at.storage.transact(async ({ users }) => {
      for (const one of [ada, bob, eve]) await users.insert(one)
    })
    await at.storage.read(async ({ users }) => {
      expect(await users.findByUsername("aDA")).toEqual(ada)
      expect(await users.findByEmail("aDA@EXAMPLE.com")).toEqual(ada)
      expect(await users.findByEmail("")).toBeUndefined()
      expect((await users.findMany([bob.id, ada.id])).map(({ username }) => username).toSorted()).toEqual([
        "Ada",
        "bob",
      ])
      expect((await users.list("EXAMPLE", firstPage)).items).toEqual([ada])
      expect((await users.list("b", firstPage)).items).toEqual([bob])
    })
    const attempts = [
      { ...eve, username: "ADA" },
      { ...eve, email: "ADA@example.com" },
    ]
    const refusals = []
    for (const attempt of attempts)
      refusals.push(await at.storage.transact(({ users }) => users.save(attempt)).catch(fault))
    expect(refusals).toEqual([
      [{ field: ["username"], detail: "Username has already been taken" }],
      [{ field: ["email"], detail: "Email has already been taken" }],
    ])
    await at.storage.transact(({ users }) => users.remove(eve.id))
    expect(await at.storage.read(({ users }) => users.find(eve.id))).toBeUndefined()
  })

  test("teams list visible teams, members, and organizations with a sole owner", async () => {
    await using at = await open()
    const [ada, bob] = [user("ada"), user("bob")]
    await at.storage.transact(async ({ users }) => {
      for (const one of [ada, bob]) await users.insert(one)
    })
    const acme = await at.found("acme", [ada])
    await at.found("beta", [ada, bob])
    const devs = team("devs", acme, { access: { ...noOrganizationAccess, manageTeams: true } })
    const open1 = team("open", acme, { visibility: "organization" })
    await at.storage.transact(async ({ teams }) => {
      for (const one of [devs, open1]) await teams.insert(one)
      await teams.addMembers(devs.id, [ada.id, bob.id, ada.id])
      await teams.addMembers(devs.id, [ada.id])
    })
    await at.storage.read(async ({ teams, identity }) => {
      expect(await teams.find(devs.id)).toEqual(devs)
      expect(await teams.findByName(acme.id, "DEVS")).toEqual(devs)
      const list = async (query: object) =>
        (await teams.list({ organizationId: acme.id, ...query }, firstPage)).items.map(({ name }) => name)
      expect(await list({})).toEqual(["devs", "open", "owners"])
      expect(await list({ visibleAnd: [] })).toEqual(["open", "owners"])
      expect(await list({ visibleAnd: [devs.id], search: "E" })).toEqual(["devs", "open", "owners"])
      expect(await list({ names: ["OPEN", "nothing"] })).toEqual(["open"])
      expect((await teams.membersOf([devs.id, open1.id])).get(devs.id)).toEqual([ada.id, bob.id])
      expect((await teams.membersOf([open1.id])).get(open1.id)).toEqual([])
      expect((await teams.teamsOf(acme.id, [bob.id])).get(bob.id)).toEqual([devs.id])
      expect(await teams.organizationsOwnedOnlyBy(ada.id)).toEqual(["acme"])
      expect(await teams.organizationsOwnedOnlyBy(bob.id)).toEqual([])
      expect((await identity.membershipsOfUser(bob.id)).get(acme.id)).toMatchObject({
        owner: false,
        access: { manageTeams: true, manageProjects: false },
      })
      expect((await identity.membershipsOfUser(ada.id)).get(acme.id)).toMatchObject({ owner: true })
    })
    await at.storage.transact(async ({ teams }) => {
      await teams.removeMembers(devs.id, [bob.id])
      await teams.leaveOrganization(acme.id, ada.id)
    })
    await at.storage.read(async ({ teams }) => {
      expect((await teams.membersOf([devs.id])).get(devs.id)).toEqual([])
      expect(await teams.organizationsOwnedOnlyBy(ada.id)).toEqual([])
      expect((await teams.membersOf(["team-owners-beta" as TeamId])).get("team-owners-beta" as TeamId)).toHaveLength(2)
    })
  })

  test("projects are found by exact and partial names, optionally only those of a team's members", async () => {
    await using at = await open()
    const acme = await at.found("acme")
    const devs = team("devs", acme)
    const web = { ...defaultProject(acme), id: "prj-web" as ProjectId, name: "Web Shop", isDefault: false }
    await at.storage.transact(async ({ projects, teams, teamProjects }) => {
      await projects.insert(web)
      await teams.insert(devs)
      await teamProjects.insert({ id: "tprj-1", teamId: devs.id, projectId: web.id, access: "write" })
    })
    await at.storage.read(async ({ projects, teamProjects }) => {
      const names = async (query: object) =>
        (await projects.list({ organizationId: acme.id, ...query }, firstPage)).items.map(({ name }) => name)
      expect(await names({})).toEqual(["Default Project", "Web Shop"])
      expect(await names({ names: ["WEB SHOP"] })).toEqual(["Web Shop"])
      expect(await names({ search: "b s" })).toEqual(["Web Shop"])
      expect(await names({ grantedTo: [devs.id] })).toEqual(["Web Shop"])
      expect(await names({ grantedTo: [] })).toEqual([])
      expect(await projects.defaultOf(acme.id)).toEqual(defaultProject(acme))
      expect(await projects.grantsOn([web.id], [devs.id])).toEqual(new Map([[web.id, [{ access: "write" }]]]))
      expect(await projects.countsOf([web.id])).toEqual(new Map([[web.id, { workspaces: 0, teams: 1 }]]))
      expect((await teamProjects.list(web.id, firstPage)).items).toHaveLength(1)
    })
    const twice = { id: "tprj-2", teamId: devs.id, projectId: web.id, access: "read" } as const
    expect(await at.storage.transact(({ teamProjects }) => teamProjects.insert(twice)).catch(fault)).toMatchObject([
      { detail: "Team has already been given access to the project" },
    ])
    await at.storage.transact(({ projects }) => projects.remove(web.id))
    expect(await at.storage.read(({ teamProjects }) => teamProjects.find("tprj-1"))).toBeUndefined()
  })

  test("tokens belong to their owner, and keep the later of two uses", async () => {
    await using at = await open()
    const ada = user("ada")
    await at.storage.transact(({ users }) => users.insert(ada))
    const owner: TokenOwner = { kind: "user", userId: ada.id }
    await at.storage.transact(async ({ tokens }) => {
      await tokens.insert(token("at-1", owner), "hash-1")
      await tokens.insert(token("at-2", owner, "ci"), "hash-2")
    })
    await at.storage.transact(async ({ tokens }) => {
      await tokens.recordUse("at-1", 2_000)
      await tokens.recordUse("at-1", 1_000)
    })
    await at.storage.read(async ({ tokens, identity }) => {
      expect(await tokens.find("at-1")).toEqual({ ...token("at-1", owner), lastUsedAt: 2_000 })
      expect((await tokens.list(owner, firstPage)).items.map(({ id }) => id)).toEqual(["at-1", "at-2"])
      expect((await tokens.described(owner, "ci")).map(({ id }) => id)).toEqual(["at-2"])
      expect(await identity.findToken("hash-2")).toEqual({
        id: "at-2",
        owner,
        expiresAt: null,
        lastUsedAt: null,
        parentId: null,
        limitedUses: false,
        boundCidrs: [],
      })
    })
    await at.storage.transact(({ tokens }) => tokens.remove("at-1"))
    expect(await at.storage.read(({ identity }) => identity.findToken("hash-1"))).toBeUndefined()
  })

  test("site settings are the last saved, or the defaults", async () => {
    await using at = await open()
    expect(await at.storage.read(({ settings }) => settings.get())).toEqual(initialSiteSettings)
    for (const defaultGlobalRemoteState of [true, false, true])
      await at.storage.transact(({ settings }) => settings.save({ ...initialSiteSettings, defaultGlobalRemoteState }))
    expect(await at.storage.read(({ settings }) => settings.get())).toEqual({
      ...initialSiteSettings,
      defaultGlobalRemoteState: true,
    })
  })
})
