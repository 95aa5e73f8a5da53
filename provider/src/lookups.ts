// Lookups of workspaces and tags that the program does not declare, with the engine of the stack's configuration.
import * as pulumi from "@pulumi/pulumi"
import type { Engine, Page, PageRequest, TagView, WorkspaceView } from "@chancery/engine"
import { withEngine, stackConfiguration } from "./lifecycle/invoke.ts"
import { isRejection } from "./lifecycle/rejection.ts"
import type { WorkspaceState } from "./resources/workspace.ts"

/** A workspace and its settings. */
export interface WorkspaceLookup extends Omit<WorkspaceState, "adopted"> {
  /** Id: `ws-…`. */
  readonly id: string
}

/** A flat tag of an organization. */
export interface TagLookup {
  /** Id: `tag-…`. */
  readonly id: string
  /** Name of the tag. */
  readonly name: string
  /** Number of workspaces that have the tag. */
  readonly instanceCount: number
}

/** Loaded on demand, because few programs use lookups. */
const workspaceKinds = () => import("@chancery/engine/declared/workspaces")

/** An output of a state. */
export interface OutputLookup {
  /** Value; a secret if the output is sensitive. */
  readonly value: pulumi.Output<unknown>
  /** The configuration declares the output as sensitive. */
  readonly isSensitive: boolean
}

interface InOrganization {
  /** Organization. Default: `chancery:organization`. */
  readonly organization?: string
}

/** Conditions that the workspaces must all meet. */
export interface WorkspaceFilter {
  /** Part of the name, in any letter case. */
  readonly name?: string
  /** Flat tags that the workspaces have. */
  readonly tags?: readonly string[]
  /** Flat tags that the workspaces do not have. */
  readonly excludeTags?: readonly string[]
  /** Project of the workspaces. */
  readonly projectId?: string
  /** Key-value tags that the workspaces have or inherit; a missing key or value matches any. */
  readonly tagged?: readonly { readonly key?: string; readonly value?: string }[]
}

/** Reads a workspace with its key-value tags. Rejects if there is none that the token may read. */
export async function getWorkspace(which: InOrganization & { readonly name: string }): Promise<WorkspaceLookup> {
  return inOrganization(which, "workspace", async (engine, organization) => {
    const { observedWorkspace } = await workspaceKinds()
    const view = await engine.workspaces.get({ organization, name: which.name })
    const bindings = (await engine.tags.bindings(view.id)).filter(({ value }) => value !== "")
    const tagBindings = Object.fromEntries(bindings.map(({ key, value }) => [key, value]))
    return { id: view.id, ...observedWorkspace(view, tagBindings) }
  })
}

/** Lists workspaces that meet every condition, without their key-value tags. */
export async function listWorkspaces(
  which: InOrganization & WorkspaceFilter = {},
): Promise<readonly WorkspaceLookup[]> {
  const { organization: _organization, ...query } = which
  return inOrganization(which, "workspaces", async (engine, organization) => {
    const { observedWorkspace } = await workspaceKinds()
    const views = await allOf((page) => engine.workspaces.list(organization, query, page))
    return views.map((view) => ({ id: view.id, ...observedWorkspace(view) }))
  })
}

/** Lists the flat tags of an organization. */
export async function listTags(
  which: InOrganization & { readonly search?: string } = {},
): Promise<readonly TagLookup[]> {
  const filter = which.search === undefined ? {} : { search: which.search }
  return inOrganization(which, "tags", async (engine, organization) => {
    const tags: TagView[] = await allOf((page) => engine.tags.list(organization, filter, page))
    return tags.map(({ id, name, instanceCount }) => ({ id, name, instanceCount }))
  })
}

/** Reads the outputs of the current state of a workspace, by name. Empty if it has no state. */
export async function getWorkspaceOutputs(
  which: InOrganization & { readonly name: string },
): Promise<Readonly<Record<string, OutputLookup>>> {
  return inOrganization(which, "outputs", async (engine, organization) => {
    const workspace = await engine.workspaces.get({ organization, name: which.name })
    const found: [name: string, output: OutputLookup][] = []
    for (const { id, name, sensitive, value } of await outputsOf(engine, workspace)) {
      // Lists omit sensitive values; a read of the single output has them.
      const shown = sensitive ? pulumi.secret((await engine.stateVersions.output(id)).value) : pulumi.output(value)
      found.push([name, { value: shown, isSensitive: sensitive }])
    }
    return Object.fromEntries(found)
  })
}

async function outputsOf({ stateVersions }: Engine, { id, permissions }: WorkspaceView) {
  try {
    return await stateVersions.currentOutputs({ id })
  } catch (error) {
    // A missing state and a missing permission give the same error.
    if (isRejection(error) && error.code === "not-found" && permissions.canReadStateOutputs) return []
    throw error
  }
}

async function inOrganization<T>(
  { organization }: InOrganization,
  what: string,
  ask: (engine: Engine, organization: string) => Promise<T>,
): Promise<T> {
  const configuration = stackConfiguration()
  const place = organization ?? configuration.defaults.organization
  if (place === undefined)
    throw new Error(`organization is required; pass it, or set chancery:organization or CHANCERY_ORGANIZATION`)
  return withEngine(configuration, `${what} of ${place}`, (engine) => ask(engine, place))
}

const pageSize = 100
/** A hundred thousand items. */
const maxPages = 1_000

async function allOf<T>(list: (page: PageRequest) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = []
  for (let number = 1; number <= maxPages; number += 1) {
    const { items, totalCount } = await list({ number, size: pageSize })
    found.push(...items)
    if (items.length === 0 || found.length >= totalCount) break
  }
  return found
}
