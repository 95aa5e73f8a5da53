import type { Caller } from "../core/caller.ts"
import { notFound, rejectFaults } from "../core/errors.ts"
import { newId } from "../core/ids.ts"
import { mapPage, type Page, type PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../core/storage.ts"
import { authorizeOrganization } from "./authorization.ts"
import { type OrganizationPermissionName, type OrganizationRepository, permissionsIn } from "./organization.ts"
import {
  type SshKey,
  sshKeyFaults,
  type SshKeyInput,
  type SshKeys,
  type SshKeyStore,
  type SshKeyView,
} from "./ssh-key.ts"

interface UsedRepositories {
  readonly organizations: OrganizationRepository
  readonly sshKeys: SshKeyStore
}

/** Members of the organization can list the names of keys, so that they can assign one. Managing keys needs a separate permission. */
export class SshKeyService implements SshKeys {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller) {
    // Repeatable read suffices: each transaction writes one key, whose name is unique by constraint, and decides by nothing else.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#caller = caller
  }

  create(organizationName: string, { name, value }: SshKeyInput): Promise<SshKeyView> {
    const id = newId("sshkey", this.#runtime.random)
    const createdAt = this.#runtime.clock.now()
    return this.#storage.transact(async (repositories) => {
      const { organization } = await authorizeOrganization(
        repositories,
        this.#caller,
        organizationName,
        "canUpdateSshKeys",
      )
      rejectFaults(sshKeyFaults({ name, value }))
      await repositories.sshKeys.insert({ id, organizationId: organization.id, name, createdAt }, value)
      return { id, name }
    })
  }

  list(organizationName: string, page: PageRequest): Promise<Page<SshKeyView>> {
    return this.#storage.read(async (repositories) => {
      const { organization } = await authorizeOrganization(repositories, this.#caller, organizationName)
      return mapPage(await repositories.sshKeys.list(organization.id, page), viewOf)
    })
  }

  get(id: string): Promise<SshKeyView> {
    return this.#storage.read(async (repositories) => viewOf(await this.#authorized(repositories, id, "canTraverse")))
  }

  update(id: string, patch: Partial<SshKeyInput>): Promise<SshKeyView> {
    return this.#storage.transact(async (repositories) => {
      const key = await this.#authorized(repositories, id, "canUpdateSshKeys")
      rejectFaults(sshKeyFaults(patch))
      const after = { ...key, name: patch.name ?? key.name }
      await repositories.sshKeys.save(after, patch.value)
      return viewOf(after)
    })
  }

  delete(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      await this.#authorized(repositories, id, "canUpdateSshKeys")
      await repositories.sshKeys.remove(id)
    })
  }

  async #authorized(
    { sshKeys }: UsedRepositories,
    id: string,
    permission: OrganizationPermissionName,
  ): Promise<SshKey> {
    const key = await sshKeys.find(id)
    if (key === undefined || !permissionsIn(this.#caller, key.organizationId)?.[permission]) throw notFound(id)
    return key
  }
}

const viewOf = ({ id, name }: SshKey): SshKeyView => ({ id, name })
