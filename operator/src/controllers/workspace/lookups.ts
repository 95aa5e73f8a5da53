// Resolves names in a spec to ids of the engine. Results are cached for all objects, and used while an object is unchanged. After a change,
// names are resolved again.
import { LRUCache } from "lru-cache"
import { type Engine, isEngineError, maximumPageSize } from "@chancery/engine"
import type { WorkspaceObjectSpec } from "../../api/workspace.ts"
import { NotReadyError, stalled, waiting } from "../reconcile-result.ts"
import type { ResolvedIds } from "./desired.ts"

export interface LookupContext {
  readonly engine: Engine
  readonly organization: string
  /** Nothing has changed since the last reconciliation, so cached ids are used. */
  readonly quiet: boolean
  readonly now: number
  /** Returns another Workspace object of the namespace, and its workspace id if it has one yet. */
  readonly workspaceOf: (objectName: string) => ReferencedWorkspace | undefined
  /** Returns whether a Project object declares this project, so that it will exist. */
  readonly isProjectDeclared: (name: string) => boolean
}

export interface ReferencedWorkspace {
  readonly id: string | undefined
  /** It refers to this object in turn, so that each waits for the id of the other. */
  readonly isCircular: boolean
}

interface Found {
  readonly id: string
  readonly at: number
}

type Find = (engine: Engine, organization: string, name: string) => Promise<string | undefined>

const maxRemembered = 10_000
/** Objects that are applied together often reference the same names. */
const freshMs = 30_000
const maxPages = 100
/** The object is requeued when its project exists. */
const missingPollMs = 60_000

export class Lookups {
  readonly #found = new WeakMap<Engine, LRUCache<string, Found>>()

  async resolve(spec: WorkspaceObjectSpec, context: LookupContext): Promise<ResolvedIds> {
    const { project, agentPool, sshKey, remoteStateConsumers } = spec
    const projectId = await this.#project(project, context)
    const agentPoolId = await this.#id("agentPool", agentPool, findAgentPool, context)
    const sshKeyId = await this.#id("sshKey", sshKey, findSshKey, context)
    const consumerIds: string[] = []
    for (const [index, consumer] of (remoteStateConsumers ?? []).entries()) {
      const id = await this.#consumer(consumer, `remoteStateConsumers[${index}]`, context)
      if (!consumerIds.includes(id)) consumerIds.push(id)
    }
    return {
      ...(projectId === undefined ? {} : { projectId }),
      ...(agentPoolId === undefined ? {} : { agentPoolId }),
      ...(sshKeyId === undefined ? {} : { sshKeyId }),
      ...(remoteStateConsumers === undefined ? {} : { remoteStateConsumerIds: consumerIds.toSorted() }),
    }
  }

  async #project(project: WorkspaceObjectSpec["project"], context: LookupContext): Promise<string | undefined> {
    try {
      return await this.#id("project", project, findProject, context)
    } catch (error) {
      const name = project?.name
      if (!(error instanceof NotReadyError) || name === undefined || !context.isProjectDeclared(name)) throw error
      throw waiting("ProjectNotReady", `spec.project: the Project object of ${name} is not ready yet.`, missingPollMs)
    }
  }

  /** Returns the id of an agent pool that another kind refers to. */
  agentPool(
    field: string,
    ref: NonNullable<WorkspaceObjectSpec["agentPool"]>,
    context: Omit<LookupContext, "workspaceOf" | "isProjectDeclared">,
  ): Promise<string | undefined> {
    return this.#id(field, ref, findAgentPool, context)
  }

  async #consumer(
    { id, name, workspaceRef }: NonNullable<WorkspaceObjectSpec["remoteStateConsumers"]>[number],
    field: string,
    context: LookupContext,
  ): Promise<string> {
    if (workspaceRef !== undefined) {
      const found = context.workspaceOf(workspaceRef)
      if (found?.id !== undefined) return found.id
      if (found !== undefined && !found.isCircular)
        throw waiting("ReferenceMissing", `spec.${field}: the Workspace ${workspaceRef} has no id yet.`, missingPollMs)
      throw stalled(
        "ReferenceMissing",
        found === undefined
          ? `spec.${field}: the Workspace ${workspaceRef} does not exist.`
          : `spec.${field}: the Workspace ${workspaceRef} has no id yet, and refers to this object; name one of them by its name in the engine.`,
      )
    }
    const found = await this.#id(field, { id, name }, findWorkspace, context)
    if (found === undefined)
      throw stalled("ReferenceMissing", `spec.${field} requires exactly one of id, name, workspaceRef.`)
    return found
  }

  async #id(
    field: string,
    ref: { readonly id?: string | undefined; readonly name?: string | undefined } | undefined,
    find: Find,
    { engine, organization, quiet, now }: Omit<LookupContext, "workspaceOf" | "isProjectDeclared">,
  ): Promise<string | undefined> {
    if (ref?.name === undefined) return ref?.id
    const key = JSON.stringify([find.name, organization, ref.name])
    const remembered = this.#rememberedFor(engine)
    const found = remembered.get(key)
    if (found !== undefined && (quiet || now - found.at < freshMs)) return found.id
    const id = await find(engine, organization, ref.name)
    remembered.delete(key)
    if (id === undefined)
      throw stalled(
        "ReferenceMissing",
        `spec.${field}: ${ref.name} does not exist in the organization ${organization}, or the token cannot see it.`,
      )
    remembered.set(key, { id, at: now })
    return id
  }

  #rememberedFor(engine: Engine): LRUCache<string, Found> {
    const present = this.#found.get(engine)
    if (present !== undefined) return present
    const made = new LRUCache<string, Found>({ max: maxRemembered })
    this.#found.set(engine, made)
    return made
  }
}

const page = { number: 1, size: maximumPageSize }
const idOf = (items: readonly { readonly id: string; readonly name: string }[], name: string): string | undefined =>
  items.find((item) => item.name === name)?.id

const findProject: Find = async (engine, organization, name) =>
  idOf((await engine.projects.list(organization, { names: [name] }, page)).items, name)

const findAgentPool: Find = async (engine, organization, name) => {
  for (let number = 1; number <= maxPages; number += 1) {
    const { items, totalCount } = await engine.agentPools.list(organization, { search: name }, { ...page, number })
    const id = idOf(items, name)
    if (id !== undefined || items.length === 0 || number * maximumPageSize >= totalCount) return id
  }
  return undefined
}

const findSshKey: Find = async (engine, organization, name) => {
  for (let number = 1; number <= maxPages; number += 1) {
    const { items, totalCount } = await engine.sshKeys.list(organization, { ...page, number })
    const id = idOf(items, name)
    if (id !== undefined || items.length === 0 || number * maximumPageSize >= totalCount) return id
  }
  return undefined
}

const findWorkspace: Find = async (engine, organization, name) => {
  try {
    return (await engine.workspaces.get({ organization, name })).id
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}
