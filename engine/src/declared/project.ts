import { type Fault, isEngineError } from "../core/errors.ts"
import type { Writer } from "../core/owner.ts"
import { firstPage } from "../core/page.ts"
import type { Engine } from "../engine.ts"
import {
  activityDurationFaults,
  projectDescriptionFaults,
  projectNameFaults,
  type ProjectPatch,
} from "../organizations/project.ts"
import type { ProjectView } from "../organizations/projects.ts"
import { concerning, foldedKeys, replacement, valuesOf } from "./held-tags.ts"
import type { Changes, Created, Declarant, DeclaredResource, Origin, Values } from "./declared-resource.ts"
import { differing, sameDuration, type SameValue, sameText } from "./same-value.ts"
import * as shapes from "./spec-shape.ts"
import { bindingsFaults } from "./workspace.ts"

const shape = shapes.members({
  organization: shapes.text().filled(),
  name: shapes.text(),
  description: shapes.text().optional(),
  autoDestroyActivityDuration: shapes.text().nullable().optional(),
  defaultExecutionMode: shapes.oneOf(["remote", "local", "agent"]).nullable().optional(),
  defaultAgentPoolId: shapes.text().nullable().optional(),
  tagBindings: shapes.texts().optional(),
})

/** A group of workspaces in an organization, and what they inherit. Null inherits from the organization. */
export type ProjectSpec = Readonly<shapes.Of<typeof shape>>

export interface ObservedProject {
  readonly organization: string
  readonly name: string
  readonly description: string
  readonly autoDestroyActivityDuration: string | null
  /** The project's own; null where it inherits. */
  readonly defaultExecutionMode: "remote" | "local" | "agent" | null
  readonly defaultAgentPoolId: string | null
  /** Only where the spec has them: they take a request of their own. */
  readonly tagBindings?: Readonly<Record<string, string>>
}

export const projectResource: DeclaredResource<ProjectSpec, ObservedProject> = {
  memberNames: Object.keys(shape.members),
  validate: faults,
  diff: changes,
  observe,
  create,
  update,
  delete: async (engine, id) => {
    try {
      await engine.projects.delete(id)
    } catch (error) {
      if (!isEngineError(error, "not-found") || (await found(engine, id)) !== undefined) throw error
    }
  },
}

function faults(spec: Values, open: ReadonlySet<string> = new Set()): readonly Fault[] {
  const misshapen = shapes.faultsOf(shape, spec, open)
  const wrong = new Set([...open, ...misshapen.map(({ field }) => String(field?.[0]))])
  const readable = Object.fromEntries(Object.entries(spec).filter(([name]) => !wrong.has(name))) as Partial<ProjectSpec>
  const { name, description = "", autoDestroyActivityDuration: duration, defaultExecutionMode: mode } = readable
  return [
    ...misshapen,
    ...(name === undefined ? [] : projectNameFaults(name)),
    ...projectDescriptionFaults(description),
    ...(typeof duration === "string" ? activityDurationFaults(duration) : []),
    ...(typeof readable.defaultAgentPoolId === "string" && typeof mode === "string" && mode !== "agent"
      ? [{ field: ["defaultAgentPoolId"], detail: `defaultAgentPoolId needs defaultExecutionMode "agent"` }]
      : []),
    ...bindingsFaults(readable.tagBindings ?? {}, "tagBindings"),
  ]
}

const rules: Readonly<Partial<Record<keyof ProjectSpec, SameValue>>> = {
  description: sameText,
  autoDestroyActivityDuration: sameDuration,
  defaultAgentPoolId: sameText,
}

/** What a new project has where the spec says nothing. */
const defaults: Partial<ProjectSpec> = {
  description: "",
  autoDestroyActivityDuration: null,
  defaultExecutionMode: null,
  defaultAgentPoolId: null,
  tagBindings: {},
}

const withDefaults = (spec: ProjectSpec, dropped: readonly string[]): ProjectSpec => ({
  ...Object.fromEntries(Object.entries(defaults).filter(([name]) => dropped.includes(name))),
  ...spec,
})

function changes(spec: ProjectSpec, observed: ObservedProject, dropped: readonly string[] = []): Changes {
  const changed = differing(withDefaults(spec, dropped), observed, rules)
  return { changed, mustReplace: changed.filter((name) => name === "organization") }
}

async function observe(
  engine: Engine,
  id: string,
  spec: Partial<ProjectSpec>,
  writer: Writer,
): Promise<ObservedProject | undefined> {
  const view = await found(engine, id)
  if (view === undefined) return undefined
  if (spec.tagBindings === undefined) return observedOf(view)
  const bindings = await engine.tags.projectBindings(id, { owners: true })
  return observedOf(view, valuesOf(concerning(bindings, foldedKeys(Object.keys(spec.tagBindings)), writer)))
}

async function create(engine: Engine, spec: ProjectSpec, { adopt, owner }: Origin): Promise<Created<ObservedProject>> {
  const { organization, name } = spec
  try {
    const view = await engine.projects.create(organization, { ...patchOf(spec), name }, { owner })
    return { id: view.id, observed: observedOf(view, spec.tagBindings), adopted: false }
  } catch (error) {
    if (!isEngineError(error, "invalid") && !isEngineError(error, "unavailable")) throw error
    const view = await named(engine, organization, name)
    if (view === undefined) throw error
    const { id } = view
    const observed = (await observe(engine, id, { tagBindings: {} }, {})) ?? observedOf(view)
    // An empty project as declared is nobody's: it may be what a lost answer left behind.
    if (view.counts.workspaces === 0 && changes(spec, observed, Object.keys(defaults)).changed.length === 0)
      return { id, observed: observedOf(view, spec.tagBindings), adopted: false }
    if (!adopt) throw error
    return { id, observed: await update(engine, id, spec, observed, [], { owner }), adopted: true }
  }
}

async function update(
  engine: Engine,
  id: string,
  spec: ProjectSpec,
  observed: ObservedProject,
  dropped: readonly string[] = [],
  declarant: Declarant = {},
): Promise<ObservedProject> {
  const wanted = withDefaults(spec, dropped)
  const { changed } = changes(spec, observed, dropped)
  const sent = Object.fromEntries(Object.entries(wanted).filter(([name]) => changed.includes(name)))
  // A pool and its mode are one setting.
  if (changed.includes("defaultAgentPoolId") && wanted.defaultAgentPoolId && wanted.defaultExecutionMode)
    sent["defaultExecutionMode"] = wanted.defaultExecutionMode
  const { owner } = declarant
  if (owner !== undefined && changed.includes("tagBindings")) {
    const present = await engine.tags.projectBindings(id, { owners: true })
    const { taken, bindings } = replacement(present, wanted.tagBindings ?? {}, observed.tagBindings ?? {}, declarant)
    if (taken.length > 0) await engine.tags.bindProject(id, taken, { owner })
    sent["tagBindings"] = bindings
  }
  const view = await engine.projects.update(id, patchOf(sent), { owner })
  return observedOf(view, spec.tagBindings)
}

function patchOf(spec: Partial<ProjectSpec>): ProjectPatch {
  const { organization: _organization, tagBindings, ...settings } = spec
  return {
    ...(settings as ProjectPatch),
    ...(tagBindings === undefined
      ? {}
      : { tagBindings: Object.entries(tagBindings).map(([key, value]) => ({ key, value })) }),
  }
}

async function named(engine: Engine, organization: string, name: string): Promise<ProjectView | undefined> {
  const { items } = await engine.projects.list(organization, { names: [name] }, firstPage)
  return items[0]
}

async function found(engine: Engine, id: string): Promise<ProjectView | undefined> {
  try {
    return await engine.projects.get(id)
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

function observedOf(view: ProjectView, tagBindings?: Readonly<Record<string, string>>): ObservedProject {
  const { settingOverwrites: own } = view
  return {
    organization: view.organizationName,
    name: view.name,
    description: view.description,
    autoDestroyActivityDuration: view.autoDestroyActivityDuration,
    defaultExecutionMode: own.defaultExecutionMode ? view.defaultExecutionMode : null,
    defaultAgentPoolId: own.defaultAgentPool ? view.defaultAgentPoolId : null,
    ...(tagBindings === undefined ? {} : { tagBindings }),
  }
}
