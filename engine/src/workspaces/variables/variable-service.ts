import type { Caller } from "../../core/caller.ts"
import { notFound, rejectFaults } from "../../core/errors.ts"
import { newId, type WorkspaceId } from "../../core/ids.ts"
import type { Runtime } from "../../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../../core/storage.ts"
import { attributeChanges } from "../../core/attribute-changes.ts"
import type { EventRepository } from "../../events/feed/event.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import { authorizeWorkspace } from "../access/workspace-authorization.ts"
import {
  changeVariable,
  type Variable,
  variableFaults,
  type VariableInput,
  type VariablePatch,
  type VariableRepository,
  type Variables,
  type VariableView,
  viewVariable,
} from "./variable.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"
import type { WorkspaceRef } from "../workspace/workspace.ts"

interface UsedRepositories {
  readonly workspaces: WorkspaceRepository
  readonly access: AccessRepository
  readonly events: EventRepository
  readonly variables: VariableRepository
}

export class VariableService implements Variables {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller) {
    // Repeatable read suffices. Each transaction changes one workspace. Of two concurrent ones on the same workspace, one is retried
    // (`WorkspaceRepository.guard`), so neither decides by rows of the workspace that the other changes.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#caller = caller
  }

  create(ref: WorkspaceRef, input: VariableInput): Promise<VariableView> {
    const id = newId("var", this.#runtime.random)
    const versionId = this.#versionId()
    const createdAt = this.#runtime.clock.now()
    return this.#storage.transact(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canUpdateVariable")
      rejectFaults(variableFaults(input))
      const variable: Variable = {
        ...input,
        id,
        workspaceId: workspace.id,
        organizationId: workspace.organizationId,
        versionId,
        createdAt,
      }
      await repositories.variables.insert(variable)
      await repositories.events.append({ kind: "variable.created", workspace, subject: { type: "vars", id } })
      return viewVariable(variable)
    })
  }

  get(ref: WorkspaceRef, id: string): Promise<VariableView> {
    return this.#storage.read(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canReadVariable")
      return viewVariable(await found(repositories, workspace.id, id))
    })
  }

  findById(id: string): Promise<VariableView> {
    return this.#storage.read(async (repositories) => {
      const variable = await repositories.variables.findById(id)
      if (variable === undefined) throw notFound(id)
      await authorizeWorkspace(repositories, this.#caller, { id: variable.workspaceId }, "canReadVariable")
      return viewVariable(variable)
    })
  }

  list(ref: WorkspaceRef): Promise<readonly VariableView[]> {
    return this.#storage.read(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canReadVariable")
      return (await repositories.variables.list(workspace.id)).map(viewVariable)
    })
  }

  update(ref: WorkspaceRef, id: string, patch: VariablePatch): Promise<VariableView> {
    const versionId = this.#versionId()
    return this.#storage.transact(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canUpdateVariable")
      const before = await found(repositories, workspace.id, id)
      const { changed, faults } = changeVariable(before, patch)
      rejectFaults(faults)
      const variable = { ...changed, versionId }
      await repositories.variables.save(variable)
      await repositories.events.append({
        kind: "variable.updated",
        workspace,
        subject: { type: "vars", id: variable.id },
        changed: attributeChanges(before, changed),
      })
      return viewVariable(variable)
    })
  }

  delete(ref: WorkspaceRef, id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canUpdateVariable")
      const variable = await found(repositories, workspace.id, id)
      await repositories.variables.remove(variable.id)
      await repositories.events.append({
        kind: "variable.deleted",
        workspace,
        subject: { type: "vars", id: variable.id },
      })
    })
  }

  #versionId(): string {
    return Buffer.from(this.#runtime.random.bytes(32)).toString("hex")
  }
}

async function found(
  { variables }: Pick<UsedRepositories, "variables">,
  workspaceId: WorkspaceId,
  id: string,
): Promise<Variable> {
  const variable = await variables.find(workspaceId, id)
  if (variable === undefined) throw notFound(id)
  return variable
}
