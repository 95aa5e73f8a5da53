// One organization and its users.
import { announceExecutor } from "../../engine/testing/announced-executor.ts"
import type { Engine } from "../../engine/src/engine.ts"
import type { OrganizationAccess } from "../../engine/src/core/caller.ts"
import type { TeamWorkspacePatch } from "../../engine/src/workspaces/access/team-workspace-access.ts"
import type { WorkspaceAccessLevel } from "../../engine/src/workspaces/access/workspace-permissions.ts"
import type { WorkspaceInput } from "../../engine/src/workspaces/workspace/workspace-input.ts"
import type { WorkspaceView } from "../../engine/src/workspaces/workspace/workspace-view.ts"
import type { OpenedEngine } from "./engines.ts"

export interface Person {
  readonly id: string
  readonly username: string
  readonly token: string
  readonly engine: Engine
}

export interface Users {
  readonly root: Engine
  readonly organization: string
  readonly owner: Person
  /** Owns another organization. */
  readonly stranger: Person
  newPerson(): Promise<Person>
  /** Makes a member of the organization through a team with these permissions. */
  newMember(access?: Partial<OrganizationAccess>): Promise<Person & { readonly teamId: string }>
  /** Makes a member whose team also has this access to the workspace. */
  newMemberOn(
    workspaceId: string,
    access: TeamWorkspacePatch & { readonly access: WorkspaceAccessLevel },
  ): Promise<Person & { readonly teamId: string }>
  newWorkspace(input?: WorkspaceInput): Promise<WorkspaceView>
  /** Returns a name that is unique in the run. */
  newName(prefix: string): string
}

let count = 0

export async function newUsers({ root, as }: Pick<OpenedEngine, "root" | "as">): Promise<Users> {
  const newName = (prefix: string) => `${prefix}-${(count += 1)}`
  async function newPerson(): Promise<Person> {
    const username = newName("person")
    const { id } = await root.users.create({ username, email: `${username}@example.com` })
    const { secret: token } = await root.tokens.createForUser(id, { description: "contract" })
    return { id, username, token, engine: await as(token) }
  }
  async function newOwner(): Promise<Person & { readonly organization: string }> {
    const owner = await newPerson()
    const organization = newName("organization")
    await owner.engine.organizations.create({ name: organization, email: `${organization}@example.com` })
    await announceExecutor(owner.engine, { kind: "organization", name: organization })
    return { ...owner, organization }
  }
  const owner = await newOwner()
  const { organization } = owner
  async function newMember(access: Partial<OrganizationAccess> = {}) {
    const person = await newPerson()
    const team = await owner.engine.teams.create(organization, { name: newName("team"), access })
    await owner.engine.organizationMemberships.create(organization, { username: person.username, teamIds: [team.id] })
    return { ...person, teamId: team.id }
  }
  return {
    root,
    organization,
    owner,
    stranger: await newOwner(),
    newPerson,
    newMember,
    async newMemberOn(workspaceId, access) {
      const member = await newMember()
      await owner.engine.teamWorkspaces.create({ ...access, teamId: member.teamId, workspaceId })
      return member
    },
    newWorkspace: (input = {}) =>
      owner.engine.workspaces.create(organization, { name: newName("workspace"), ...input }),
    newName,
  }
}
