import { allowsPath, authorizePath, holdsPolicy, permissionDenied } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { EngineError } from "../../core/errors.ts"
import { foldName, type OrganizationRepository } from "../../organizations/organization.ts"
import type { Storage } from "../../core/storage.ts"
import type { IdentityRepository } from "../../organizations/authentication.ts"
import type { TeamRepository } from "../../organizations/team.ts"
import type { TokenRepository } from "../../organizations/token.ts"
import type { UserRepository } from "../../organizations/user.ts"
import {
  createPolicy,
  type Policies,
  type PolicyHolder,
  policyNameOf,
  type PolicyRepository,
  type PolicySubject,
  type PolicyView,
  rejectAttachingRoot,
  rejectDeletingBuiltIn,
} from "./policy.ts"

interface UsedRepositories {
  readonly identity: IdentityRepository
  readonly organizations: OrganizationRepository
  readonly policies: PolicyRepository
  readonly teams: TeamRepository
  readonly tokens: TokenRepository
  readonly users: UserRepository
}

const listPath = "sys/policies/acl"
const policyPath = (name: string) => `${listPath}/${name}`
/** Path of a subject's attachments. It is in lower case, because users, teams and organizations are found case-insensitively. */
const attachmentsPath = (subject: PolicySubject) => `sys/policies/attachments/${addressOf(subject)}`

export class PolicyService implements Policies {
  readonly #storage: Storage<UsedRepositories>
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, caller: Caller) {
    this.#storage = storage
    this.#caller = caller
  }

  async list(): Promise<readonly string[]> {
    authorizePath(this.#caller, { path: listPath, capability: "list" })
    return this.#storage.read(({ policies }) => policies.names())
  }

  async get(name: string): Promise<PolicyView> {
    const known = policyNameOf(name)
    authorizePath(this.#caller, { path: policyPath(known), capability: "read" })
    return this.#storage.read(async (repositories) => {
      const { text } = await existing(repositories, known)
      return { name: known, text }
    })
  }

  async put(name: string, text: string): Promise<void> {
    const path = policyPath(policyNameOf(name))
    authorizePath(this.#caller, { path, capability: ["create", "update"] })
    const policy = createPolicy(name, text)
    await this.#storage.transact(async ({ policies, identity }) => {
      if ((await policies.find(policy.name)) !== undefined) authorizePath(this.#caller, { path, capability: "update" })
      await policies.save(policy)
      await identity.bumpCacheVersion()
    })
  }

  async delete(name: string): Promise<void> {
    const known = policyNameOf(name)
    authorizePath(this.#caller, { path: policyPath(known), capability: "delete" })
    rejectDeletingBuiltIn(known)
    await this.#storage.transact(async ({ policies, identity }) => {
      await policies.remove(known)
      await identity.bumpCacheVersion()
    })
  }

  async attached(subject: PolicySubject): Promise<readonly string[]> {
    authorizePath(this.#caller, { path: attachmentsPath(subject), capability: "list" })
    return this.#storage.read(async (repositories) =>
      repositories.policies.attachedTo(await holderOf(repositories, subject)),
    )
  }

  async attach(name: string, subject: PolicySubject): Promise<void> {
    const known = policyNameOf(name)
    const path = `${attachmentsPath(subject)}/${known}`
    authorizePath(this.#caller, { path, capability: ["create", "update"] })
    rejectAttachingRoot(known)
    // Callers attach only policies that they hold, unless they have `sudo`.
    if (!holdsPolicy(this.#caller, known) && !allowsPath(this.#caller, { path, capability: "sudo" }))
      throw permissionDenied()
    await this.#storage.transact(async (repositories) => {
      await existing(repositories, known)
      await repositories.policies.attach(known, await holderOf(repositories, subject))
      await repositories.identity.bumpCacheVersion()
    })
  }

  async detach(name: string, subject: PolicySubject): Promise<void> {
    const known = policyNameOf(name)
    authorizePath(this.#caller, { path: `${attachmentsPath(subject)}/${known}`, capability: "delete" })
    await this.#storage.transact(async (repositories) => {
      await repositories.policies.detach(known, await holderOf(repositories, subject))
      await repositories.identity.bumpCacheVersion()
    })
  }
}

function addressOf(subject: PolicySubject): string {
  switch (subject.kind) {
    case "user":
      return `user/${foldName(subject.username)}`
    case "team":
      return `team/${foldName(subject.organization)}/${foldName(subject.team)}`
    case "token":
      return `token/${subject.id}`
    default:
      return subject satisfies never
  }
}

async function existing({ policies }: UsedRepositories, name: string) {
  const policy = await policies.find(name)
  if (policy === undefined) throw new EngineError("not-found", `policy "${name}" does not exist`)
  return policy
}

async function holderOf(repositories: UsedRepositories, subject: PolicySubject): Promise<PolicyHolder> {
  const missing = (what: string) => new EngineError("not-found", `${what} does not exist`)
  switch (subject.kind) {
    case "user": {
      const user = await repositories.users.findByUsername(subject.username)
      if (user === undefined) throw missing(`user "${subject.username}"`)
      return { kind: "user", userId: user.id }
    }
    case "team": {
      const organization = await repositories.organizations.findByName(subject.organization)
      const team = organization && (await repositories.teams.findByName(organization.id, subject.team))
      if (team === undefined) throw missing(`team "${subject.organization}/${subject.team}"`)
      return { kind: "team", teamId: team.id }
    }
    case "token": {
      const token = await repositories.tokens.find(subject.id)
      if (token === undefined) throw missing(`token "${subject.id}"`)
      return { kind: "token", tokenId: token.id }
    }
    default:
      return subject satisfies never
  }
}
