import type { Caller } from "../../core/caller.ts"
import { notFound } from "../../core/errors.ts"
import { newId } from "../../core/ids.ts"
import { type Page, type PageRequest } from "../../core/page.ts"
import type { Runtime } from "../../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../../core/storage.ts"
import { requireSiteAdmin } from "../../organizations/authorization.ts"
import {
  assertDeletable,
  createTerraformVersion,
  type TerraformVersion,
  type TerraformVersionFilter,
  type TerraformVersionInput,
  type TerraformVersionRepository,
  type TerraformVersions,
  type TerraformVersionView,
  updateTerraformVersion,
} from "./terraform-version.ts"

interface UsedRepositories {
  readonly terraformVersions: TerraformVersionRepository
}

export class TerraformVersionService implements TerraformVersions {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller) {
    // Repeatable read suffices: each transaction writes one row, whose version is unique by constraint. Workspaces do not reference the
    // row. If one starts to use a version during its deletion, the workspace keeps the text.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#caller = caller
  }

  async create(input: TerraformVersionInput): Promise<TerraformVersionView> {
    requireSiteAdmin(this.#caller)
    const { clock, random } = this.#runtime
    const version = createTerraformVersion(input, { id: newId("tool", random), now: clock.now() })
    return this.#storage.transact(async (repositories) => {
      await repositories.terraformVersions.insert(version)
      return toView(repositories, version)
    })
  }

  async list(filter: TerraformVersionFilter, page: PageRequest): Promise<Page<TerraformVersionView>> {
    requireSiteAdmin(this.#caller)
    return this.#storage.read(async (repositories) => {
      const found = await repositories.terraformVersions.list(filter, page)
      return { ...found, items: await toViews(repositories, found.items) }
    })
  }

  async get(id: string): Promise<TerraformVersionView> {
    requireSiteAdmin(this.#caller)
    return this.#storage.read(async (repositories) => toView(repositories, await existing(repositories, id)))
  }

  async update(id: string, patch: Partial<TerraformVersionInput>): Promise<TerraformVersionView> {
    requireSiteAdmin(this.#caller)
    return this.#storage.transact(async (repositories) => {
      const after = updateTerraformVersion(await existing(repositories, id), patch)
      await repositories.terraformVersions.save(after)
      return toView(repositories, after)
    })
  }

  async delete(id: string): Promise<void> {
    requireSiteAdmin(this.#caller)
    return this.#storage.transact(async (repositories) => {
      const view = await toView(repositories, await existing(repositories, id))
      assertDeletable(view, view.usage)
      await repositories.terraformVersions.remove(id)
    })
  }
}

async function existing({ terraformVersions }: UsedRepositories, id: string): Promise<TerraformVersion> {
  const version = await terraformVersions.find(id)
  if (version === undefined) throw notFound(id)
  return version
}

async function toView(repositories: UsedRepositories, version: TerraformVersion): Promise<TerraformVersionView> {
  const [view] = await toViews(repositories, [version])
  return view as TerraformVersionView
}

async function toViews(
  { terraformVersions }: UsedRepositories,
  versions: readonly TerraformVersion[],
): Promise<readonly TerraformVersionView[]> {
  const usage = await terraformVersions.countWorkspaces(versions.map(({ version }) => version))
  return versions.map((version) => ({ ...version, usage: usage.get(version.version) ?? 0 }))
}
