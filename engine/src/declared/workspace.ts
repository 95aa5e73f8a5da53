import { type EngineError, type Fault, forbidden, invalid, isEngineError } from "../core/errors.ts"
import { formatInstant, parseInstant } from "../core/time.ts"
import type { Writer } from "../core/owner.ts"
import type { Engine } from "../engine.ts"
import { topPlan } from "../organizations/organization.ts"
import { bindingFaults, hasValue } from "../workspaces/tags/tag-binding.ts"
import { isEngineVersion } from "../workspaces/workspace/terraform-version.ts"
import { settingFaults } from "../workspaces/workspace/workspace-settings.ts"
import type { VcsRepoInput, WorkspaceInput } from "../workspaces/workspace/workspace-input.ts"
import type { WorkspaceRef } from "../workspaces/workspace/workspace.ts"
import type { WorkspaceView } from "../workspaces/workspace/workspace-view.ts"
import type { ShownWorkspace, WorkspaceShowing } from "../workspaces/workspace/workspace-api.ts"
import { concerning, foldedKeys, replacementOn, valuesOf } from "./owned-tags.ts"
import {
  type Changes,
  type Created,
  type Declarant,
  type DeclaredResource,
  type Definition,
  type Origin,
  PartlyCreated,
  type Removal,
  type Values,
} from "./declared-resource.ts"
import { sameDuration, sameJson, sameText, type SameValue } from "./same-value.ts"
import { diffMembers, type InForce, member, output, required, type SpecOf, validator, withDefaults } from "./members.ts"
import { filledText, flag, instant, listOf, objectOf, objectType, oneOf, orNull, text, textMap } from "./types.ts"
import { organizationMember } from "./organization-members.ts"

const vcsRepo = objectOf({
  identifier: text.schema.describe("Repository as `organization/name`, or as the VCS provider writes it."),
  oauthTokenId: text.schema
    .optional()
    .describe("Token of the OAuth connection. Exactly one of this and `githubAppInstallationId` is required."),
  githubAppInstallationId: text.schema.optional().describe("GitHub App installation that connects the repository."),
  branch: text.schema.optional().describe("Branch to read. Default: the default branch of the repository."),
  ingressSubmodules: flag.schema.optional().describe("Fetch submodules with the repository. Default: false."),
  tagsRegex: text.schema.optional().describe("Regular expression of Git tags that start runs, such as `^v\\d+`."),
}).meta({ title: "VcsRepo", description: "A connected repository." })

/** Returns a repository with defaults for the members that it leaves out. */
const wholeRepo = (repo: VcsRepoInput): Required<VcsRepoInput> => ({
  identifier: repo.identifier ?? null,
  oauthTokenId: repo.oauthTokenId ?? null,
  githubAppInstallationId: repo.githubAppInstallationId ?? null,
  branch: repo.branch ?? "",
  ingressSubmodules: repo.ingressSubmodules ?? false,
  tagsRegex: repo.tagsRegex || null,
})

const sameRepo: SameValue = (a, b) => (!a || !b ? !a === !b : sameJson(wholeRepo(a), wholeRepo(b)))

const paths = listOf(text.schema, { same: sameJson })

const members = {
  organization: organizationMember("Organization that owns the workspace."),
  name: required(text, "Name: letters, digits, `-` and `_`, at most 90 characters.", { providedBy: "name" }),
  projectId: member(filledText, "Project of the workspace. Changing it moves the workspace.", {
    defaultText: "the organization's default project",
  }),
  description: member(orNull(text), "Description for people.", { default: null, same: sameText }),
  executionMode: member(oneOf("remote", "local", "agent"), "Where runs execute: `remote`, `local` or `agent`.", {
    defaultText: "inherited from the project or organization",
  }),
  agentPoolId: member(orNull(text), 'Agent pool of the runs. Requires `executionMode: "agent"`.', { same: sameText }),
  settingOverwrites: member(
    objectType(objectOf({ executionMode: flag.schema.optional(), agentPool: flag.schema.optional() })),
    "Settings that the workspace overrides (`true`) or inherits (`false`).",
    { defaultText: "`true` for each setting that is declared" },
  ),
  allowDestroyPlan: member(flag, "Allow destroy plans to be queued.", { default: true }),
  assessmentsEnabled: member(flag, "Run health assessments.", { default: false, edition: "hosted" }),
  autoApply: member(flag, "Apply successful plans without confirmation.", { default: false }),
  autoApplyRunTrigger: member(flag, "Apply runs that a run trigger started without confirmation.", { default: false }),
  autoDestroyAt: member(orNull(instant), "Time of an automatic destroy run (ISO 8601).", { default: null }),
  autoDestroyActivityDuration: member(
    orNull(text),
    "Inactivity before an automatic destroy run: 1 to 9999 days or hours, such as `14d` or `24h`.",
    { default: null, same: sameDuration },
  ),
  inheritsProjectAutoDestroy: member(flag, "Inherit `autoDestroyActivityDuration` from the project.", {
    default: true,
  }),
  fileTriggersEnabled: member(
    flag,
    "Start runs only when files below the working directory or the trigger paths change.",
    { default: true },
  ),
  globalRemoteState: member(
    flag,
    "Let every workspace of the organization read the state. The default depends on the edition.",
  ),
  projectRemoteState: member(flag, "Let every workspace of the project read the state. Excludes `globalRemoteState`.", {
    default: false,
  }),
  queueAllRuns: member(flag, "Queue runs before the first configuration was uploaded.", { default: false }),
  speculativeEnabled: member(flag, "Run speculative plans for pull requests.", { default: true }),
  structuredRunOutputEnabled: member(flag, "Show structured output of runs.", { default: true }),
  engineVersion: member(
    text,
    "Version of Terraform or OpenTofu: a version, a constraint such as `~> 1.9`, or `latest`.",
  ),
  triggerPatterns: member(paths, "Glob patterns of files whose changes start runs. Excludes `triggerPrefixes`.", {
    default: [],
  }),
  triggerPrefixes: member(paths, "Folders whose changes start runs. Excludes `triggerPatterns`.", { default: [] }),
  vcsRepo: member(
    orNull(objectType(vcsRepo)),
    "Repository of the configuration. `null`, or removal from the program, disconnects it.",
    { default: null, same: sameRepo },
  ),
  workingDirectory: member(orNull(text), "Folder of the configuration, relative to the root of the repository.", {
    default: null,
    same: sameText,
  }),
  tagBindings: member(
    textMap,
    "Every key-value tag of the workspace, at most ten, together with `chancery:defaultTagBindings`. Tags of other owners stay (docs/tag-owners.md). Leave it out if `TagBindings` resources declare the tags of this workspace.",
    { default: {}, isOutputIfDeclared: true },
  ),
}

/** Declared members of a workspace. Instants are ISO 8601, durations `14d` or `24h`. */
export type WorkspaceSpec = SpecOf<typeof members>

/** Every setting in force, and members that the server assigns. */
export interface ObservedWorkspace extends Omit<InForce<typeof members>, "tagBindings"> {
  /** Present only if the spec has it: reading it takes a parameter of its own. */
  readonly tagBindings?: Readonly<Record<string, string>>
  readonly createdAt: string
}

export const workspaceResource: DeclaredResource<WorkspaceSpec, ObservedWorkspace> & Definition = {
  name: "workspace",
  description: "A workspace. Its id is `ws-…` and stays when the workspace is renamed or moved.",
  argsDescription:
    "Settings of a workspace. A setting that the program never declared is not managed and may be changed elsewhere. A setting removed from the program returns to its default, except `projectId`, `engineVersion` and `globalRemoteState`, which stay.",
  outputsDescription: "Outputs of a workspace: every setting in force.",
  members,
  outputs: { createdAt: output(text.schema, "Time of creation (ISO 8601).") },
  adoption: "an existing workspace of this name",
  memberNames: Object.keys(members),
  validate,
  diff: changes,
  observe,
  create,
  update,
  delete: remove,
}

const validateMembers = validator<WorkspaceSpec>(members, (known, unchecked) => {
  const { engineVersion, tagBindings, autoDestroyAt: _instant, ...rest } = known as WorkspaceSpec
  return [
    ...settingFaults(inputOf(rest), surroundingsUnknown(rest)).filter(
      ({ field }) =>
        // The engine decides whether its edition has assessments.
        field?.[0] !== "assessmentsEnabled" &&
        // The overwrites tell whether the pool is the workspace's own or inherited.
        !(field?.[0] === "agentPoolId" && rest.agentPoolId === undefined && unchecked.has("settingOverwrites")),
    ),
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
})

function validate({ operations, ...spec }: Values, open?: ReadonlySet<string>): readonly Fault[] {
  return [
    ...(operations === undefined
      ? []
      : [{ field: ["operations"], detail: `operations is not a known member; use executionMode "remote" or "local"` }]),
    ...validateMembers(spec, open),
  ]
}

/** Returns faults of bindings, each with its key as field. */
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
      .map(({ key }) => ({
        field: [member, key],
        detail: `"${key}" requires a value; a tag without a value is a flat tag`,
      })),
  ]
}

/** Returns facts that only the engine knows, assumed so that they cause no faults. */
const surroundingsUnknown = ({ executionMode }: WorkspaceSpec): Parameters<typeof settingFaults>[1] => ({
  edition: "self-hosted",
  plan: topPlan,
  execution: { executionMode: executionMode ?? "agent", agentPoolId: "inherited", remoteOperations: "on" },
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

function changes(spec: WorkspaceSpec, observed: ObservedWorkspace, dropped: readonly string[] = []): Changes {
  const wanted = restored(spec, dropped)
  const changed = [...diffMembers(members, wanted, observed).changed]
  // An inherited mode of the same value must still become the workspace's own.
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

/** Returns the spec with defaults for dropped members. A dropped mode is inherited again. */
function restored(spec: WorkspaceSpec, dropped: readonly string[]): WorkspaceSpec {
  if (dropped.length === 0) return spec
  const inheriting =
    dropped.includes("executionMode") && spec.executionMode === undefined && spec.settingOverwrites === undefined
  return {
    ...withDefaults(members, spec, dropped),
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

/** Returns whether the workspace may exist after this error: its name is taken, or the answer was lost. */
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
  const wanted = restored(spec, dropped)
  const { changed } = changes(spec, observed, dropped)
  const sent: Record<string, unknown> = {}
  for (const name of changed) sent[name] = wanted[name as keyof WorkspaceSpec]
  // The API changes a mode only together with its pool, and members of a repository as one setting.
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

/** Returns whether the server ignored the member: servers of the self-hosted edition accept it without effect and do not return it. */
const wasIgnored = (spec: WorkspaceSpec, view: WorkspaceView): boolean =>
  spec.assessmentsEnabled === true && view.assessmentsEnabled === undefined

const assessmentsRefused = (): EngineError =>
  invalid([{ field: ["assessmentsEnabled"], detail: "assessmentsEnabled requires the hosted edition; remove it" }])

/** Returns only members that change. Sending one kind of connection removes the other. */
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
    // The API answers 404 for missing and for forbidden resources alike.
    if ((await found(engine, { id })) !== undefined)
      throw forbidden(`the token has no permission to delete workspace ${id}; it requires admin access`)
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

/** Returns a workspace under declared member names. */
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

/** Returns a repository without members that have their defaults, as specs write it. */
const declaredRepo = (repo: NonNullable<WorkspaceView["vcsRepo"]>): NonNullable<WorkspaceSpec["vcsRepo"]> => ({
  identifier: repo.identifier,
  ...(repo.oauthTokenId === null ? {} : { oauthTokenId: repo.oauthTokenId }),
  ...(repo.githubAppInstallationId === null ? {} : { githubAppInstallationId: repo.githubAppInstallationId }),
  ...(repo.branch === "" ? {} : { branch: repo.branch }),
  ...(repo.ingressSubmodules ? { ingressSubmodules: true } : {}),
  ...(repo.tagsRegex === null ? {} : { tagsRegex: repo.tagsRegex }),
})
