import { isEngineError } from "../core/errors.ts"
import type { Writer } from "../core/owner.ts"
import { firstPage } from "../core/page.ts"
import type { Engine } from "../engine.ts"
import {
  activityDurationFaults,
  projectDescriptionFaults,
  projectNameFaults,
  type ProjectPatch,
  type ProjectView,
} from "../organizations/project.ts"
import { concerning, foldedKeys, replacement, valuesOf } from "./owned-tags.ts"
import type { Changes, Created, Declarant, DeclaredResource, Definition, Origin } from "./declared-resource.ts"
import { sameDuration, sameText } from "./same-value.ts"
import { bindingsFaults } from "./workspace.ts"
import {
  defaultsOf,
  diffMembers,
  type InForce,
  member,
  required,
  type SpecOf,
  validator,
  withDefaults,
} from "./members.ts"
import { oneOf, orNull, text, textMap } from "./types.ts"
import { organizationMember } from "./organization-members.ts"

const members = {
  organization: organizationMember("Organization that owns the project."),
  name: required(text, "Name: letters, digits, spaces, `-` and `_`, at most 40 characters.", { providedBy: "name" }),
  description: member(text, "Description for people.", { default: "", same: sameText }),
  autoDestroyActivityDuration: member(
    orNull(text),
    "Inactivity before its workspaces are destroyed: 1 to 9999 days or hours, such as `14d` or `24h`.",
    { default: null, defaultText: "never", same: sameDuration },
  ),
  defaultExecutionMode: member(
    orNull(oneOf("remote", "local", "agent")),
    "Execution mode that its workspaces inherit.",
    {
      default: null,
      defaultText: "that of the organization",
    },
  ),
  defaultAgentPoolId: member(
    orNull(text),
    'Agent pool that its workspaces inherit. Requires `defaultExecutionMode: "agent"`.',
    { default: null, same: sameText },
  ),
  tagBindings: member(
    textMap,
    "Every key-value tag of the project, at most ten; its workspaces inherit them. Tags of other owners stay.",
    { default: {}, isOutputIfDeclared: true },
  ),
}

/** Group of workspaces of an organization, with settings that they inherit. Null inherits from the organization. */
export type ProjectSpec = SpecOf<typeof members>

export type ObservedProject = Omit<InForce<typeof members>, "tagBindings"> & {
  /** Present only if the spec has it: reading it takes a request of its own. */
  readonly tagBindings?: Readonly<Record<string, string>>
}

export const projectResource: DeclaredResource<ProjectSpec, ObservedProject> & Definition = {
  name: "project",
  description:
    "A group of workspaces and the settings they inherit. Its id is `prj-…`. A project with workspaces is not deleted.",
  outputsDescription: "Outputs of a project: every setting in force.",
  members,
  outputs: {},
  adoption: "an existing project of this name",
  memberNames: Object.keys(members),
  validate: validator<ProjectSpec>(members, (known) => {
    const { name, description = "", autoDestroyActivityDuration: duration, defaultExecutionMode: mode } = known
    return [
      ...(name === undefined ? [] : projectNameFaults(name)),
      ...projectDescriptionFaults(description),
      ...(typeof duration === "string" ? activityDurationFaults(duration) : []),
      ...(typeof known.defaultAgentPoolId === "string" && typeof mode === "string" && mode !== "agent"
        ? [{ field: ["defaultAgentPoolId"], detail: `defaultAgentPoolId requires defaultExecutionMode "agent"` }]
        : []),
      ...bindingsFaults(known.tagBindings ?? {}, "tagBindings"),
    ]
  }),
  diff,
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

function diff(spec: ProjectSpec, observed: ObservedProject, dropped: readonly string[] = []): Changes {
  return diffMembers(members, spec, observed, dropped)
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
    // An empty project as declared may come from a lost answer. It is taken over without `adopt`.
    if (view.counts.workspaces === 0 && diff(spec, observed, Object.keys(defaultsOf(members))).changed.length === 0)
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
  const wanted = withDefaults(members, spec, dropped)
  const { changed } = diff(spec, observed, dropped)
  const sent = Object.fromEntries(Object.entries(wanted).filter(([name]) => changed.includes(name)))
  // The API changes a pool only together with its mode.
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
