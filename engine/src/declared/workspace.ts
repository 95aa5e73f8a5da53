import { type EngineError, type Fault, forbidden, invalid, isEngineError } from "../core/errors.ts"
import { formatInstant, parseInstant } from "../core/time.ts"
import type { Writer } from "../core/owner.ts"
import type { Engine } from "../engine.ts"
import { topPlan } from "../organizations/organization.ts"
import { bindingFaults, hasValue } from "../tags/tag-binding.ts"
import { isEngineVersion } from "../workspaces/engine-version.ts"
import { settingFaults } from "../workspaces/settings.ts"
import type { VcsRepoInput, WorkspaceInput } from "../workspaces/workspace-input.ts"
import type { WorkspaceRef } from "../workspaces/workspace.ts"
import type { WorkspaceView } from "../workspaces/workspace-view.ts"
import type { ShownWorkspace, WorkspaceShowing } from "../workspaces/workspaces.ts"
import { concerning, foldedKeys, replacementOn, valuesOf } from "./held-tags.ts"
import {
  type Changes,
  type Created,
  type Declarant,
  type DeclaredResource,
  type Origin,
  PartlyCreated,
  type Removal,
  type Values,
} from "./declared-resource.ts"
import { differing, sameDuration, sameInstant, sameJson, sameText, type SameValue } from "./same-value.ts"
import * as shapes from "./spec-shape.ts"

const shape = shapes.members({
  organization: shapes.text().filled(),
  name: shapes.text(),
  projectId: shapes.text().filled().optional(),
  description: shapes.text().nullable().optional(),
  executionMode: shapes.oneOf(["remote", "local", "agent"]).optional(),
  agentPoolId: shapes.text().nullable().optional(),
  settingOverwrites: shapes
    .members({ executionMode: shapes.flag().optional(), agentPool: shapes.flag().optional() })
    .optional(),
  allowDestroyPlan: shapes.flag().optional(),
  assessmentsEnabled: shapes.flag().optional(),
  autoApply: shapes.flag().optional(),
  autoApplyRunTrigger: shapes.flag().optional(),
  autoDestroyAt: shapes.text().nullable().optional(),
  autoDestroyActivityDuration: shapes.text().nullable().optional(),
  inheritsProjectAutoDestroy: shapes.flag().optional(),
  fileTriggersEnabled: shapes.flag().optional(),
  globalRemoteState: shapes.flag().optional(),
  projectRemoteState: shapes.flag().optional(),
  queueAllRuns: shapes.flag().optional(),
  speculativeEnabled: shapes.flag().optional(),
  structuredRunOutputEnabled: shapes.flag().optional(),
  engineVersion: shapes.text().optional(),
  triggerPatterns: shapes.list(shapes.text()).optional(),
  triggerPrefixes: shapes.list(shapes.text()).optional(),
  vcsRepo: shapes
    .members({
      identifier: shapes.text(),
      oauthTokenId: shapes.text().optional(),
      githubAppInstallationId: shapes.text().optional(),
      branch: shapes.text().optional(),
      ingressSubmodules: shapes.flag().optional(),
      tagsRegex: shapes.text().optional(),
    })
    .nullable()
    .optional(),
  workingDirectory: shapes.text().nullable().optional(),
  tagBindings: shapes.texts().optional(),
})

/** Workspace. Instants are ISO 8601, durations such as `14d` or `24h`. */
export type WorkspaceSpec = Readonly<shapes.Of<typeof shape>>

/** Every setting as it is in force, and what nobody sets. */
export interface ObservedWorkspace extends Readonly<{
  [Name in Exclude<keyof WorkspaceSpec, "tagBindings">]-?: Exclude<WorkspaceSpec[Name], undefined>
}> {
  /** Only where the spec has them: they take a request of their own. */
  readonly tagBindings?: Readonly<Record<string, string>>
  readonly createdAt: string
}

export const workspaceResource: DeclaredResource<WorkspaceSpec, ObservedWorkspace> = {
  memberNames: Object.keys(shape.members),
  validate: workspaceFaults,
  diff: changes,
  observe,
  create,
  update,
  delete: remove,
}

function workspaceFaults(spec: Values, open: ReadonlySet<string> = new Set()): readonly Fault[] {
  const { operations: isOperations, ...known } = spec
  const misshapen = [
    ...(isOperations === undefined
      ? []
      : [{ field: ["operations"], detail: `operations is not known; say executionMode "remote" or "local"` }]),
    ...shapes.faultsOf(shape, known, open),
  ]
  const wrong = new Set(misshapen.map(({ field }) => String(field?.[0])))
  // A member of the wrong type is refused already, and no rule can read it.
  const readable = Object.fromEntries(Object.entries(known).filter(([name]) => !wrong.has(name))) as WorkspaceSpec
  const { autoDestroyAt, engineVersion, tagBindings, ...rest } = readable
  const unsaid = (name: string) => open.has(name) || wrong.has(name)
  const ruled = settingFaults(inputOf(rest), surroundingsUnknown(rest)).filter(
    ({ field }) =>
      !unsaid(String(field?.[0])) &&
      // Whether there are assessments is for the engine to say.
      field?.[0] !== "assessmentsEnabled" &&
      // Whether the pool is the workspace's own or inherited is one of the overwrites.
      !(field?.[0] === "agentPoolId" && rest.agentPoolId === undefined && unsaid("settingOverwrites")),
  )
  return [
    ...misshapen,
    ...ruled,
    ...(typeof autoDestroyAt === "string" && parseInstant(autoDestroyAt) === undefined
      ? [{ field: ["autoDestroyAt"], detail: "autoDestroyAt must be an instant such as 2030-01-31T08:00:00Z" }]
      : []),
    ...(engineVersion !== undefined && !isEngineVersion(engineVersion)
      ? [
          {
            field: ["engineVersion"],
            detail: `engineVersion must be a version, a constraint such as "~> 1.9", or latest`,
          },
        ]
      : []),
    ...bindingsFaults(tagBindings ?? {}, "tagBindings"),
  ]
}

/** Each fault on the key it is about. */
export function bindingsFaults(bindings: Readonly<Record<string, string>>, member: string): readonly Fault[] {
  const list = Object.entries(bindings).map(([key, value]) => ({ key, value }))
  return [
    ...bindingFaults(list, [member]).map(({ field = [member], detail }) => {
      const [, index] = field
      const key = typeof index === "number" ? list[index]?.key : undefined
      return { field: key === undefined ? [member] : [member, key], detail }
    }),
    ...list
      .filter((binding) => !hasValue(binding))
      .map(({ key }) => ({ field: [member, key], detail: `"${key}" needs a value; a tag without one is a flat tag` })),
  ]
}

/** What only the engine can know is taken to be as the input needs it. */
const surroundingsUnknown = ({ executionMode }: WorkspaceSpec): Parameters<typeof settingFaults>[1] => ({
  edition: "self-hosted",
  plan: topPlan,
  execution: { executionMode: executionMode ?? "agent", agentPoolId: "inherited" },
  globalRemoteStateDefault: false,
  releases: ["0.0.0"],
  nameIsTaken: false,
  agentPoolExists: true,
  agentPoolAdmits: true,
  oauthTokenExists: true,
  oauthTokenAdmits: true,
  appInstallationExists: true,
})

function inputOf(spec: Partial<WorkspaceSpec>): WorkspaceInput {
  const { organization: _organization, autoDestroyAt, tagBindings, ...rest } = spec
  return {
    ...(rest as WorkspaceInput),
    ...(autoDestroyAt === undefined
      ? {}
      : { autoDestroyAt: autoDestroyAt === null ? null : (parseInstant(autoDestroyAt) ?? null) }),
    ...(tagBindings === undefined
      ? {}
      : { tagBindings: Object.entries(tagBindings).map(([key, value]) => ({ key, value })) }),
  }
}

/** An object of a repository is whole: what it leaves out has its default. */
const wholeRepo = (repo: VcsRepoInput): Required<VcsRepoInput> => ({
  identifier: repo.identifier ?? null,
  oauthTokenId: repo.oauthTokenId ?? null,
  githubAppInstallationId: repo.githubAppInstallationId ?? null,
  branch: repo.branch ?? "",
  ingressSubmodules: repo.ingressSubmodules ?? false,
  tagsRegex: repo.tagsRegex || null,
})

const sameRepo: SameValue = (a, b) => (!a || !b ? !a === !b : sameJson(wholeRepo(a), wholeRepo(b)))

const rules: Readonly<Partial<Record<keyof WorkspaceSpec, SameValue>>> = {
  description: sameText,
  agentPoolId: sameText,
  workingDirectory: sameText,
  autoDestroyAt: sameInstant,
  autoDestroyActivityDuration: sameDuration,
  vcsRepo: sameRepo,
}

/** What a new workspace has where the spec says nothing; members that are not here stay as they are. */
const defaults: Partial<WorkspaceSpec> = {
  description: null,
  allowDestroyPlan: true,
  assessmentsEnabled: false,
  autoApply: false,
  autoApplyRunTrigger: false,
  autoDestroyAt: null,
  autoDestroyActivityDuration: null,
  inheritsProjectAutoDestroy: true,
  fileTriggersEnabled: true,
  projectRemoteState: false,
  queueAllRuns: false,
  speculativeEnabled: true,
  structuredRunOutputEnabled: true,
  triggerPatterns: [],
  triggerPrefixes: [],
  vcsRepo: null,
  workingDirectory: null,
  tagBindings: {},
}

function changes(spec: WorkspaceSpec, observed: ObservedWorkspace, dropped: readonly string[] = []): Changes {
  const wanted = withDefaults(spec, dropped)
  const changed = differing(wanted, observed, rules)
  // The same mode, but inherited, and so not the workspace's own any more.
  const inherits = observed.settingOverwrites.executionMode === false
  if (
    spec.executionMode !== undefined &&
    spec.settingOverwrites === undefined &&
    inherits &&
    !changed.includes("executionMode")
  )
    changed.push("executionMode")
  return { changed, mustReplace: changed.filter((name) => name === "organization") }
}

/** A mode that is declared no longer is inherited again. */
function withDefaults(spec: WorkspaceSpec, dropped: readonly string[]): WorkspaceSpec {
  if (dropped.length === 0) return spec
  const restored = Object.fromEntries(
    Object.entries(defaults).filter(([name]) => dropped.includes(name) && !(name in spec)),
  )
  const inheriting =
    dropped.includes("executionMode") && spec.executionMode === undefined && spec.settingOverwrites === undefined
  return {
    ...spec,
    ...restored,
    ...(inheriting ? { settingOverwrites: { executionMode: false, agentPool: false } } : {}),
  }
}

async function observe(
  engine: Engine,
  id: string,
  spec: Partial<WorkspaceSpec>,
  writer: Writer = {},
): Promise<ObservedWorkspace | undefined> {
  const { tagBindings } = spec
  if (tagBindings === undefined) return observedUnlessGone(await found(engine, { id }))
  const view = await found(engine, { id }, { bindings: { owners: true } })
  const named = foldedKeys(Object.keys(tagBindings))
  return observedUnlessGone(view, valuesOf(concerning(view?.bindings ?? [], named, writer)))
}

const observedUnlessGone = (
  view: WorkspaceView | undefined,
  tagBindings?: Readonly<Record<string, string>>,
): ObservedWorkspace | undefined => view && observedWorkspace(view, tagBindings)

async function create(engine: Engine, spec: WorkspaceSpec, origin: Origin): Promise<Created<ObservedWorkspace>> {
  const { organization, name } = spec
  const { owner } = origin
  try {
    const input = { ...inputOf(spec), sourceName: origin.marker }
    const view = await engine.workspaces.create(organization, input, { owner })
    const observed = observedWorkspace(view, spec.tagBindings)
    if (wasIgnored(spec, view)) throw new PartlyCreated(view.id, observed, assessmentsRefused())
    return { id: view.id, observed, adopted: false }
  } catch (error) {
    if (!mayExist(error)) throw error
    const view = await found(engine, { organization, name })
    const isOurs = view?.sourceName === origin.marker
    if (view === undefined || !(isOurs || origin.adopt)) throw error
    const observed = (await observe(engine, view.id, spec, { owner })) ?? observedWorkspace(view)
    return { id: view.id, observed: await update(engine, view.id, spec, observed, [], { owner }), adopted: !isOurs }
  }
}

/** The name is taken, or nobody knows what became of the request. */
const mayExist = (error: unknown): error is EngineError =>
  isEngineError(error) &&
  (error.code === "unavailable" ||
    (error.code === "invalid" &&
      error.faults.some(({ field, detail }) => field?.[0] === "name" && /taken/.test(detail))))

async function update(
  engine: Engine,
  id: string,
  spec: WorkspaceSpec,
  observed: ObservedWorkspace,
  dropped: readonly string[] = [],
  declarant: Declarant = {},
): Promise<ObservedWorkspace> {
  const wanted = withDefaults(spec, dropped)
  const { changed } = changes(spec, observed, dropped)
  const sent: Record<string, unknown> = {}
  for (const name of changed) sent[name] = wanted[name as keyof WorkspaceSpec]
  // A mode and its pool are one setting, and so are the members of a repository.
  if (changed.includes("executionMode") && spec.agentPoolId) sent["agentPoolId"] = spec.agentPoolId
  if (changed.includes("agentPoolId") && spec.executionMode !== undefined) sent["executionMode"] = spec.executionMode
  if (changed.includes("vcsRepo") && wanted.vcsRepo)
    sent["vcsRepo"] = changedRepo(wanted.vcsRepo as VcsRepoInput, observed.vcsRepo as VcsRepoInput | null)
  if (changed.includes("tagBindings"))
    sent["tagBindings"] = await replacementOn(
      engine,
      id,
      wanted.tagBindings ?? {},
      observed.tagBindings ?? {},
      declarant,
    )
  const view = await engine.workspaces.update({ id }, inputOf(sent), { owner: declarant.owner })
  if (wasIgnored(wanted, view)) throw assessmentsRefused()
  return observedWorkspace(view, spec.tagBindings)
}

/** Returns whether the server ignored the member: the self-hosted edition accepts it without effect, and does not show it. */
const wasIgnored = (spec: WorkspaceSpec, view: WorkspaceView): boolean =>
  spec.assessmentsEnabled === true && view.assessmentsEnabled === undefined

const assessmentsRefused = (): EngineError =>
  invalid([{ field: ["assessmentsEnabled"], detail: "only the hosted edition has assessments; leave it out here" }])

/** Only what changes: naming one kind of connection takes the other away. */
function changedRepo(wanted: VcsRepoInput, observed: VcsRepoInput | null): VcsRepoInput {
  const [after, before] = [wholeRepo(wanted), observed === null ? undefined : wholeRepo(observed)]
  return Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) => value !== before?.[name as keyof VcsRepoInput] && !(name.endsWith("Id") && value === null),
    ),
  )
}

async function remove(engine: Engine, id: string, _spec: Partial<WorkspaceSpec>, removal: Removal): Promise<void> {
  try {
    await (removal === "force" ? engine.workspaces.forceDelete({ id }) : engine.workspaces.safeDelete({ id }))
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
    // Missing and not permitted answer alike.
    if ((await found(engine, { id })) !== undefined)
      throw forbidden(`workspace ${id} exists, but its deletion takes administrator's rights on it`)
  }
}

async function found(
  engine: Engine,
  ref: WorkspaceRef,
  showing?: WorkspaceShowing,
): Promise<ShownWorkspace | undefined> {
  try {
    return await engine.workspaces.get(ref, showing)
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

/** In the words of a spec. */
export function observedWorkspace(
  view: WorkspaceView,
  tagBindings?: Readonly<Record<string, string>>,
): ObservedWorkspace {
  const { vcsRepo, autoDestroyAt } = view
  return {
    organization: view.organizationName,
    name: view.name,
    projectId: view.projectId,
    description: view.description,
    executionMode: view.executionMode,
    agentPoolId: view.agentPoolId,
    settingOverwrites: view.settingOverwrites,
    allowDestroyPlan: view.allowDestroyPlan,
    assessmentsEnabled: view.assessmentsEnabled ?? false,
    autoApply: view.autoApply,
    autoApplyRunTrigger: view.autoApplyRunTrigger,
    autoDestroyAt: autoDestroyAt === null ? null : formatInstant(autoDestroyAt),
    autoDestroyActivityDuration: view.autoDestroyActivityDuration,
    inheritsProjectAutoDestroy: view.inheritsProjectAutoDestroy,
    fileTriggersEnabled: view.fileTriggersEnabled,
    globalRemoteState: view.globalRemoteState,
    projectRemoteState: view.projectRemoteState,
    queueAllRuns: view.queueAllRuns,
    speculativeEnabled: view.speculativeEnabled,
    structuredRunOutputEnabled: view.structuredRunOutputEnabled,
    engineVersion: view.engineVersion,
    triggerPatterns: [...view.triggerPatterns],
    triggerPrefixes: [...view.triggerPrefixes],
    vcsRepo: vcsRepo === null ? null : declaredRepo(vcsRepo),
    workingDirectory: view.workingDirectory,
    createdAt: formatInstant(view.createdAt),
    ...(tagBindings === undefined ? {} : { tagBindings }),
  }
}

/** Without what says nothing, as a spec has it. */
const declaredRepo = (repo: NonNullable<WorkspaceView["vcsRepo"]>): NonNullable<WorkspaceSpec["vcsRepo"]> => ({
  identifier: repo.identifier,
  ...(repo.oauthTokenId === null ? {} : { oauthTokenId: repo.oauthTokenId }),
  ...(repo.githubAppInstallationId === null ? {} : { githubAppInstallationId: repo.githubAppInstallationId }),
  ...(repo.branch === "" ? {} : { branch: repo.branch }),
  ...(repo.ingressSubmodules ? { ingressSubmodules: true } : {}),
  ...(repo.tagsRegex === null ? {} : { tagsRegex: repo.tagsRegex }),
})
