// Workspaces: their document, settings, filters, locks and actions.
import { z } from "zod"
import type { Fault } from "../../core/errors.ts"
import type { ConfigurationVersionId, ProjectId, RunId, StateVersionId, WorkspaceId } from "../../core/ids.ts"
import { textProblem } from "../../core/text.ts"
import { parseDuration, secondMs } from "../../core/time.ts"
import { executionModes } from "../../organizations/organization.ts"
import { decodeBody } from "./json-api/document.ts"
import { attributePointers } from "./json-api/errors.ts"
import { decodeCommaList, encodeCommaList, encodeEvery } from "./json-api/query.ts"
import { unsupported } from "./json-api/unsupported.ts"
import { workspaceParts } from "../../workspaces/workspace/include.ts"
import type { LockExtension, LockInput } from "../../workspaces/lock/lock.ts"
import { workspacePermissionNames } from "../../workspaces/access/workspace-permissions.ts"
import { type WorkspaceQuery, workspaceSortKeys } from "../../workspaces/workspace/workspace-query.ts"
import type {
  TagBindingInput,
  TagInput,
  VcsRepoInput,
  WorkspaceInput,
} from "../../workspaces/workspace/workspace-input.ts"
import type { VcsRepoView, WorkspaceView } from "../../workspaces/workspace/workspace-view.ts"
import { dashedObject, emptyAsNull, encode, flags, instant, instantInput, nullAsAbsent } from "../codec.ts"
import { actor } from "./actor.ts"
import {
  alias,
  type Body,
  computed,
  document,
  link,
  many,
  mappedBody,
  one,
  oneOrNull,
  optional,
  readOnly,
  secret,
  writable,
} from "./document.ts"
import { contract, created, inclusionOfParts, nothing, page, resource, resourceWithIncluded } from "./endpoint.ts"
import { retentionTypes } from "./retention-policy.ts"
import { type EncodedWorkspace, encodeWorkspace } from "./workspace-encoder.ts"

const pathOf = (id: string): string => `/api/v2/workspaces/${id}`
const time = { example: "2026-11-26T12:00:00.000Z" }

// Members of a wrong type are dropped and reported, so that rules still check the others. Many clients send null for "not set": unless null
// has a meaning of its own, it drops the member.
const written = z.string().superRefine((text, context) => {
  const problem = textProblem(text)
  if (problem !== undefined) context.addIssue({ code: "custom", message: problem })
})
const textOrNull = written.nullable()
const flag = nullAsAbsent(z.boolean())
const texts = z.array(z.string()) as z.ZodType<readonly string[]>
const textsInput = nullAsAbsent(z.array(written).max(1_000) as z.ZodType<readonly string[]>)
const maxRelated = 1_000

const setting = (rule: string, value: boolean) =>
  writable(z.boolean(), { input: flag, rule, default: value, example: !value })
const textSetting = (rule: string, example: string) =>
  writable(z.string().nullable(), { input: textOrNull, rule, default: null, example })
const paths = (rule: string, example: readonly string[]) =>
  writable(texts, { input: textsInput, rule, default: [], example })
const average = (of: string) =>
  readOnly(z.number().nullable(), { rule: `Average duration of ${of} in milliseconds; null without any.` })
const count = (rule: string) => readOnly(z.number().nullable(), { rule })
const current = (type: string, rule: string) => readOnly(oneOrNull<string>(type), { rule })

const overwrites = ["executionMode", "agentPool"] as const
const overwritesInput = dashedObject({ executionMode: flag.optional(), agentPool: flag.optional() }) as z.ZodType<
  NonNullable<WorkspaceInput["settingOverwrites"]>
>

const emptyText = emptyAsNull(z.string())
interface RepositoryDocument extends VcsRepoView {
  readonly displayIdentifier: string
  readonly webhookUrl: string
}
const repository = dashedObject<RepositoryDocument>({
  branch: z.string(),
  displayIdentifier: z.string(),
  identifier: z.string(),
  ingressSubmodules: z.boolean(),
  oauthTokenId: emptyText,
  githubAppInstallationId: emptyText,
  repositoryHttpUrl: emptyText,
  serviceProvider: emptyText,
  tagsRegex: emptyText,
  webhookUrl: z.string(),
})
const repositoryInput = dashedObject({
  identifier: textOrNull.optional(),
  oauthTokenId: textOrNull.optional(),
  githubAppInstallationId: textOrNull.optional(),
  branch: textOrNull.optional(),
  ingressSubmodules: flag.optional(),
  tagsRegex: textOrNull.optional(),
  sourceDirectory: unsupported("source-directory", "", "registry modules"),
  tagPrefix: unsupported("tag-prefix", "", "registry modules"),
}) as z.ZodType<VcsRepoInput>

const projectInput = z.codec(
  z.object({ data: z.object({ id: textOrNull.optional() }).nullish() }).nullable(),
  z.custom<string | null | undefined>(),
  {
    decode: (linkage) => linkage?.data?.id,
    encode: (id) => ({ data: id === null || id === undefined ? null : { type: "projects", id } }),
  },
)
const bindingsInput = z.codec(
  z
    .object({
      data: z
        .array(
          z.object({
            type: z.enum(["tag-bindings", ""]).optional(),
            attributes: z.object({ key: z.string(), value: z.string().nullish() }),
          }),
        )
        .max(maxRelated),
    })
    .nullable(),
  z.custom<readonly TagBindingInput[] | undefined>(),
  {
    decode: (linkage) => linkage?.data.map(({ attributes: { key, value } }) => ({ key, value: value ?? "" })),
    encode: (bindings) => ({
      data: (bindings ?? []).map((attributes) => ({ type: "tag-bindings" as const, attributes })),
    }),
  },
)
const tagInput = z.codec(
  z.object({
    type: z.enum(["tags", ""]).optional(),
    id: textOrNull.optional(),
    attributes: z.object({ name: textOrNull.optional() }).nullish(),
  }),
  z.custom<TagInput>(),
  {
    decode({ id, attributes }, context): TagInput {
      if (id) return { id }
      const name = attributes?.name ?? undefined
      if (name === undefined)
        context.issues.push({ code: "custom", message: "must have an id or a name", input: attributes })
      return { name: name ?? "" }
    },
    encode: (tag) => ({ type: "tags" as const, ...("id" in tag ? tag : { attributes: tag }) }),
  },
)
const tagsInput = z.codec(
  z.object({ data: z.array(tagInput).max(maxRelated) }).nullable(),
  z.custom<readonly TagInput[] | undefined>(),
  { decode: (linkage) => linkage?.data, encode: (tags) => ({ data: [...(tags ?? [])] }) },
)

const policyTypes = Object.values(retentionTypes)
const policy = z.codec(
  z.object({ data: z.object({ type: z.enum(policyTypes), id: z.string() }).nullable() }),
  z.custom<WorkspaceView["retentionPolicy"]>(),
  {
    decode: ({ data }): WorkspaceView["retentionPolicy"] =>
      data && { id: data.id, kind: data.type === retentionTypes["dont-delete"] ? "dont-delete" : "delete-older" },
    encode: (own) => ({ data: own && { type: retentionTypes[own.kind], id: own.id } }),
  },
)

const version = {
  rule: "Version of Terraform or OpenTofu: a version, a constraint such as ~> 1.9, or latest. At creation the newest known release.",
  example: "1.12.2",
}

export const flatWorkspace = document("workspaces", {
  id: z.custom<WorkspaceId>(),
  nullableAttributes: true,
  salvaged: true,
  attributes: {
    name: writable(z.string(), {
      input: written.optional(),
      required: true,
      rule: "Name, unique in the organization in any case of its letters: letters, digits, - and _, at most 90 characters.",
      example: "network",
    }),
    actions: readOnly(dashedObject({ isDestroyable: z.boolean() }), {
      rule: "Whether the caller may queue a run that destroys everything.",
    }),
    agentPoolId: secret(textOrNull, {
      rule: "Id of the agent pool of the runs, inherited by default; the execution mode must be agent.",
      example: "apool-9tVs3bYhfsB4mJ7q",
    }),
    allowDestroyPlan: setting("Allow runs that destroy everything.", true),
    assessmentsEnabled: {
      ...optional(z.boolean(), { rule: "Assess the health of the workspace. Hosted edition only.", default: false }),
      input: flag,
      example: true,
    },
    driftDetection: alias("assessmentsEnabled", z.boolean(), {
      input: flag,
      writeOnly: true,
      rule: "Older name of assessments-enabled, which comes first.",
      example: true,
    }),
    autoApply: setting("Apply successful plans without confirmation.", false),
    autoApplyRunTrigger: setting("Apply runs that a run trigger started without confirmation.", false),
    autoDestroyAt: writable(instant.nullable(), {
      input: instantInput.nullable(),
      rule: "Time of an automatic run that destroys everything.",
      default: null,
      ...time,
    }),
    autoDestroyStatus: readOnly(z.string().nullable(), { rule: "Status of that run." }),
    autoDestroyActivityDuration: textSetting(
      "Time without activity after which everything is destroyed, as days (14d) or hours (24h).",
      "14d",
    ),
    inheritsProjectAutoDestroy: setting("Inherit auto-destroy-activity-duration from the project.", true),
    createdAt: readOnly(instant, { rule: "Time of the creation.", ...time }),
    description: textSetting("Description, at most 10000 characters.", "Shared networks"),
    environment: readOnly(z.string(), { rule: "Always default.", example: "default" }),
    executionMode: writable(z.enum(executionModes), {
      input: nullAsAbsent(z.enum(executionModes)),
      rule: "Where runs execute. Without one of its own, the workspace has that of its project or organization.",
      example: "local",
    }),
    fileTriggersEnabled: setting(
      "Start runs only if files below the working directory or the trigger paths change.",
      true,
    ),
    globalRemoteState: writable(z.boolean(), {
      input: flag,
      rule: "Let every workspace of the organization read the state. The default is true in the hosted edition.",
      default: false,
      example: true,
    }),
    projectRemoteState: setting(
      "Let every workspace of the project read the state. Cannot be set together with global-remote-state.",
      false,
    ),
    latestChangeAt: readOnly(instant, { rule: "Time of the newest state, or of the creation.", ...time }),
    lastAssessmentResultAt: readOnly(instant.nullable(), { rule: "Time of the last assessment.", ...time }),
    locked: readOnly(z.boolean(), { rule: "Whether the workspace is locked.", example: true }),
    lockedReason: readOnly(z.string().nullable(), { rule: "Reason of the lock.", example: "Upgrade" }),
    lockedAt: readOnly(instant.nullable(), { rule: "Time at which the lock was taken.", ...time }),
    lockedUntil: optional(instant, { rule: "Time at which the lock expires, if it does.", ...time }),
    lockTtl: optional(z.number(), { rule: "Seconds from the last extension until then.", example: 900 }),
    oauthClientName: readOnly(z.string().nullable(), { rule: "Name of the VCS connection.", example: "GitHub" }),
    operations: {
      ...computed(z.boolean(), ({ executionMode }: WorkspaceView) => executionMode !== "local", {
        rule: "Older form of execution-mode: true is remote, false is local.",
      }),
      input: flag,
      example: false,
    },
    permissions: readOnly(flags(workspacePermissionNames), { rule: "What the caller may do with the workspace." }),
    applyDurationAverage: average("applies"),
    planDurationAverage: average("plans"),
    policyCheckFailures: count("Number of runs that a policy check failed."),
    runFailures: count("Number of failed runs."),
    workspaceKpisRunsCount: count("Number of runs."),
    workspaceKpisRunCount: computed(z.number().nullable(), ({ metrics }: WorkspaceView) => metrics.runsCount, {
      rule: "Number of runs, under an older name.",
    }),
    queueAllRuns: setting("Queue runs before the first configuration was uploaded.", false),
    resourceCount: readOnly(z.number(), { rule: "Number of resources in the current state." }),
    settingOverwrites: writable(flags(overwrites), {
      input: nullAsAbsent(overwritesInput),
      rule: "For execution-mode and agent-pool: true if the workspace has its own value, false if it inherits the project's. Setting a value makes it true.",
      default: {},
      example: { "execution-mode": true },
    }),
    source: readOnly(z.string(), { rule: "What created the workspace.", example: "tfe-api" }),
    sourceName: textSetting("Name of the program that manages the workspace.", "Self-service portal"),
    sourceUrl: textSetting("Address of that program, with http or https.", "https://portal.example.com"),
    speculativeEnabled: setting("Run speculative plans for pull requests.", true),
    structuredRunOutputEnabled: setting("Show structured output of runs.", true),
    tagNames: readOnly(texts, { rule: "Names of its flat tags.", example: ["production"] }),
    engineVersion: writable(z.string(), { input: nullAsAbsent(written), ...version }),
    terraformVersion: {
      ...computed(z.string(), ({ engineVersion }: WorkspaceView) => engineVersion, {
        rule: "The same under HCP Terraform's name. A request that has both must have the same value.",
        example: version.example,
      }),
      input: nullAsAbsent(written),
    },
    triggerPrefixes: paths("Folders whose changes start runs. Cannot be set together with trigger-patterns.", [
      "modules/",
    ]),
    triggerPatterns: paths(
      "Glob patterns of files whose changes start runs. Cannot be set together with trigger-prefixes.",
      ["modules/**/*.tf"],
    ),
    updatedAt: readOnly(instant, { rule: "Time of the last change of the settings.", ...time }),
    vcsRepo: writable(repository.nullable(), {
      input: repositoryInput.nullable(),
      rule: "Repository of the configuration, with oauth-token-id or github-app-installation-id. A change of it keeps members left out; null disconnects it.",
      default: null,
      example: { identifier: "acme/network", "oauth-token-id": "ot-hmAyP66qk2AMVdbJ" },
    }),
    vcsRepoIdentifier: computed(z.string().nullable(), ({ vcsRepo }: WorkspaceView) => vcsRepo?.identifier ?? null, {
      rule: "Its identifier.",
      example: "acme/network",
    }),
    workingDirectory: textSetting("Folder of the configuration, relative to the root of the repository.", "network"),
    migrationEnvironment: secret(unsupported("migration-environment", "", "migrations of legacy environments"), {
      rule: "Not supported: requests that set it are refused.",
    }),
    hyokEnabled: secret(unsupported("hyok-enabled", false, "customer-managed keys"), {
      rule: "Not supported: requests that set it to true are refused.",
    }),
  },
  relationships: {
    organization: readOnly(one<string>("organizations"), { rule: "Organization." }),
    project: writable(one<ProjectId>("projects"), {
      input: projectInput,
      rule: "Project; the default project of the organization at creation. A change moves the workspace.",
    }),
    agentPool: current("agent-pools", "Agent pool of its runs, its own or inherited."),
    currentConfigurationVersion: current("configuration-versions", "Configuration version of the current run."),
    currentRun: current("runs", "Current run."),
    latestRun: computed(oneOrNull<string>("runs"), ({ currentRunId }: WorkspaceView) => currentRunId, {
      rule: "The current run as well.",
    }),
    currentStateVersion: current("state-versions", "Current state version."),
    currentAssessmentResult: current("assessment-results", "Result of the last assessment."),
    effectiveTagBindings: computed(
      z.object({ links: z.object({ related: z.string() }), data: z.array(z.unknown()).optional() }),
      ({ id }: WorkspaceView) => ({ links: { related: `${pathOf(id)}/effective-tag-bindings` } }),
      { rule: "Its key-value tags and those of its project; with their ids if include names them." },
    ),
    tagBindings: {
      ...link((id) => `${pathOf(id)}/tag-bindings`, {
        rule: "Its own key-value tags, with attributes of their own. A request replaces all of them; with an owner, those of the owner.",
      }),
      input: bindingsInput,
    },
    tags: secret(tagsInput, { rule: "Flat tags to add, by id or with the attribute name." }),
    outputs: readOnly(many<string>("workspace-outputs"), { rule: "Outputs of the current state." }),
    readme: current("workspace-readme", "Readme of the configuration."),
    remoteStateConsumers: link((id) => `${pathOf(id)}/relationships/remote-state-consumers`, {
      rule: "Workspaces that may read the state.",
    }),
    sshKey: current("ssh-keys", "SSH key for modules."),
    lockedBy: readOnly(actor, { rule: "User, team, organization or run that holds the lock." }),
    vars: readOnly(many<string>("vars"), { rule: "Variables." }),
    dataRetentionPolicy: optional(policy, { rule: "Retention policy of its own, if it has one." }),
  },
})

function viewOf({
  actions,
  locked: _locked,
  lockedReason,
  lockedAt,
  lockedUntil,
  lockTtl,
  lockedBy,
  applyDurationAverage,
  planDurationAverage,
  policyCheckFailures,
  runFailures,
  workspaceKpisRunsCount,
  vcsRepo,
  organization,
  project,
  agentPool,
  currentConfigurationVersion,
  currentRun,
  currentStateVersion,
  currentAssessmentResult,
  outputs,
  readme,
  sshKey,
  vars,
  dataRetentionPolicy,
  ...same
}: ReturnType<typeof flatWorkspace.decode>): WorkspaceView {
  return {
    ...same,
    organizationName: organization,
    projectId: project,
    isDestroyable: actions.isDestroyable,
    agentPoolId: agentPool,
    lock:
      lockedBy === null
        ? { held: false }
        : {
            held: true,
            by: lockedBy,
            reason: lockedReason ?? "",
            since: lockedAt ?? 0,
            ...(lockedUntil !== undefined && { end: { at: lockedUntil, ttlMs: (lockTtl ?? 0) * secondMs } }),
          },
    metrics: {
      applyDurationAverageMs: applyDurationAverage,
      planDurationAverageMs: planDurationAverage,
      policyCheckFailures,
      runFailures,
      runsCount: workspaceKpisRunsCount,
    },
    vcsRepo: vcsRepo && repositoryOf(vcsRepo),
    currentConfigurationVersionId: currentConfigurationVersion as ConfigurationVersionId | null,
    currentRunId: currentRun as RunId | null,
    currentStateVersionId: currentStateVersion as StateVersionId | null,
    currentAssessmentResultId: currentAssessmentResult,
    outputIds: outputs,
    readmeId: readme,
    sshKeyId: sshKey,
    variableIds: vars,
    retentionPolicy: dataRetentionPolicy ?? null,
  }
}

const repositoryOf = ({ displayIdentifier: _, webhookUrl: _url, ...repo }: RepositoryDocument): VcsRepoView => repo

const namePointer = "/data/attributes/name"
/** Replaces the pointer of the name by its field, by which the rules recognize that the name already has a fault. */
const named = ({ detail, ...fault }: Fault): Fault =>
  fault.pointer === namePointer ? { detail, field: ["name"] } : { detail, ...fault }

const versionsDiffer: Fault = {
  detail: "terraform-version must equal engine-version; both set the same attribute",
  pointer: "/data/attributes/terraform-version",
}

type FlatInput = NonNullable<ReturnType<typeof flatWorkspace.patch.decode>> & { readonly faults?: readonly Fault[] }

function inputOf({ project, engineVersion, terraformVersion, faults: found = [], ...same }: FlatInput): WorkspaceInput {
  const ours = engineVersion ?? terraformVersion
  const differ = engineVersion !== undefined && terraformVersion !== undefined && engineVersion !== terraformVersion
  const faults = [...found.map(named), ...(differ ? [versionsDiffer] : [])]
  return {
    ...same,
    ...(project !== undefined && { projectId: project }),
    ...(ours !== undefined && { engineVersion: ours }),
    ...(faults.length > 0 && { faults }),
  }
}

const bodyOf = (body: Body<FlatInput>): Body<WorkspaceInput> =>
  mappedBody(body, {
    from: ({ projectId, faults: _, ...same }) => ({ ...same, ...(projectId !== undefined && { project: projectId }) }),
    to: inputOf,
  })

export const workspace = {
  ...flatWorkspace,
  encode: (view: EncodedWorkspace) => encodeWorkspace(view),
  decode: (resource: unknown): WorkspaceView => viewOf(flatWorkspace.decode(resource)),
  input: bodyOf(flatWorkspace.input as Body<FlatInput>),
  patch: bodyOf(flatWorkspace.patch),
}

/** Each filter costs an index lookup; clients send fewer than this. */
const maxFilters = 50
const tooMany = (parameter: string): string => `${parameter} has too many values (maximum is ${maxFilters})`

const nonBlank = (text: string): string | undefined => text.trim() || undefined
const filled = z.codec(z.string(), z.custom<string | undefined>(), {
  decode: nonBlank,
  encode: (value) => value ?? "",
})
const words = (parameter: string, encodeWords: (values: readonly string[]) => string | undefined = encodeCommaList) =>
  z.codec(z.string(), z.custom<readonly string[] | undefined>(), {
    decode(text, context) {
      const values = decodeCommaList(text)
      if (values !== undefined && values.length > maxFilters)
        context.issues.push({ code: "custom", message: tooMany(parameter), input: text })
      return values
    },
    encode: (values) => encodeWords(values ?? []) as string,
  })
const sort = z.codec(z.string(), z.custom<WorkspaceQuery["sort"]>(), {
  decode(text, context) {
    const wanted = nonBlank(text)
    const descending = wanted?.startsWith("-") === true
    const name = descending ? wanted.slice(1) : wanted
    const key = workspaceSortKeys.find((known) => known === name)
    if (key !== undefined) return { key, descending }
    if (wanted !== undefined)
      context.issues.push({
        code: "custom",
        message: `sort must be one of ${workspaceSortKeys.join(", ")}`,
        input: text,
      })
    return undefined
  },
  encode: (order) => (order === undefined ? "" : `${order.descending ? "-" : ""}${order.key}`),
})

type Tagged = NonNullable<WorkspaceQuery["tagged"]>
/** Reads filters by key and value, which belong together by index. An absent or empty half matches any. */
function readTagged(query: URLSearchParams): Tagged | undefined {
  const byIndex = new Map<string, { key?: string; value?: string }>()
  for (const [name, text] of query) {
    const [, index, half] = /^filter\[tagged\]\[(\d{1,9})\]\[(key|value)\]$/.exec(name) ?? []
    if (index === undefined || half === undefined || text === "") continue
    const position = String(Number(index))
    byIndex.set(position, { ...byIndex.get(position), [half]: text })
  }
  return byIndex.size === 0 ? undefined : [...byIndex.values()]
}
const writeTagged = (tagged: Tagged) =>
  tagged.flatMap((halves, index) =>
    Object.entries(halves).map(([half, text]) => [`filter[tagged][${index}][${half}]`, text] as const),
  )

/** Parameters of the list of workspaces, and of bulk actions. Unknown parameters are ignored; blank ones filter nothing. */
export const workspaceFilters = {
  name: {
    parameter: "search[name]",
    schema: filled,
    rule: "Part of the name, in any case of its letters.",
    example: "net",
  },
  wildcardName: {
    parameter: "search[wildcard-name]",
    schema: filled,
    rule: "Name with * at its beginning, its end or both.",
    example: "*-production",
  },
  tags: {
    parameter: "search[tags]",
    schema: words("search[tags]", encodeEvery),
    rule: `Flat tags or keys that a workspace must have, at most ${maxFilters}, with commas between.`,
    example: "production,env",
  },
  excludeTags: {
    parameter: "search[exclude-tags]",
    schema: words("search[exclude-tags]"),
    rule: `Flat tags or keys that it must not have, at most ${maxFilters}, with commas between.`,
    example: "legacy",
  },
  sort: {
    parameter: "sort",
    schema: sort,
    rule: `Order: ${workspaceSortKeys.join(", ")}; with - before it, descending.`,
    example: "-latest-change-at",
  },
  projectId: {
    parameter: "filter[project][id]",
    schema: filled,
    rule: "Id of the project.",
    example: "prj-nLb7Ww2xTpPHUxSK",
  },
  currentRunStatus: {
    parameter: "filter[current-run][status]",
    schema: words("filter[current-run][status]"),
    rule: `Statuses of the current run, at most ${maxFilters}, with commas between.`,
    example: "planned,applied",
  },
  tagged: {
    parameter: "filter[tagged]",
    schema: z
      .array(z.object({ key: z.string().optional(), value: z.string().optional() }))
      .max(maxFilters, { error: tooMany("filter[tagged]") }) as z.ZodType as z.ZodType<Tagged>,
    several: { read: readTagged, write: writeTagged },
    rule: `Key-value tags, own or inherited, as filter[tagged][0][key] and filter[tagged][0][value], at most ${maxFilters}. A half left out matches any.`,
    example: "filter[tagged][0][key]=env&filter[tagged][0][value]=production",
  },
} as const

/**
 * Seconds, or a duration such as `15m`. Values that are not finite are sent as 0, which the server rejects: null would mean a lock that
 * does not expire.
 */
export const ttl = z.codec(z.union([z.number(), z.string()]), z.custom<number>(), {
  decode(sent, context) {
    const ttlMs = typeof sent === "number" ? sent * secondMs : parseDuration(sent)
    if (ttlMs !== undefined) return ttlMs
    context.issues.push({
      code: "custom",
      message: 'must be a number of seconds or a duration such as "90s" or "15m"',
      input: sent,
    })
    return z.NEVER
  },
  encode: (ttlMs) => (Number.isFinite(ttlMs) ? ttlMs / secondMs : 0),
})

export const lockMembers = {
  reason: {
    ...secret(z.string().nullable(), { rule: "Reason, at most 10000 characters.", default: "" }),
    example: "Upgrade",
  },
  ttlMs: secret(ttl.nullable(), {
    wireName: "ttl",
    rule: "Time until the lock expires: seconds, or a duration such as 15m; from 1 second to 30 days. Null, or none: it does not expire, or is extended by as much as before.",
    default: null,
    example: "15m",
  }),
}
export const lockShape = { reason: lockMembers.reason.input.optional(), ttl: lockMembers.ttlMs.input.optional() }
const lockSchema = z.object({ data: z.object({ attributes: z.object(lockShape).nullish() }).nullish(), ...lockShape })

export const ttlOf = (ttlMs: number | null | undefined): LockExtension =>
  ttlMs === null || ttlMs === undefined ? {} : { ttlMs }
export const encodeLock = ({ reason, ttlMs }: Partial<LockInput>) => ({
  ...(reason !== undefined && { reason }),
  ...(ttlMs !== undefined && { ttl: encode(ttl, ttlMs) }),
})

export const lock = { type: "workspaces", attributes: lockMembers, relationships: {} }
const lockBody = <T extends LockInput | LockExtension>(
  from: (sent: { readonly reason: string } & LockExtension) => T,
): Body<T> => ({
  /** Decodes a bare `{ reason, ttl }`, or a document (docs/compatibility.md, "Locking"). */
  decode(body) {
    if (body === undefined) return from({ reason: "" })
    const { data, reason, ttl: ttlMs } = decodeBody(body, lockSchema)
    const own = data?.attributes
    return from({ reason: own?.reason ?? reason ?? "", ...ttlOf(own?.ttl ?? ttlMs) })
  },
  encode: encodeLock,
  pointers: attributePointers(),
  names: {},
  optional: true,
  describes: { document: lock, creates: false },
})

const include = {
  parameter: "include",
  schema: inclusionOfParts(...workspaceParts),
  rule: `Resources beside the workspaces, with commas between: ${workspaceParts.join(", ")}.`,
  example: "organization,current_run.plan",
}
const lockBytes = { bodyLimitBytes: 64 * 1024 }
const all = "/organizations/:organization_name/workspaces"

/** Returns the endpoints that both forms of the path have. */
const endpointsAt = <const Path extends string>(path: Path) =>
  ({
    get: {
      method: "GET",
      path,
      summary: "Returns a workspace.",
      rights: "Callers who see the workspace.",
      query: { include },
      answers: resourceWithIncluded(workspace),
    },
    update: {
      method: "PATCH",
      path,
      summary: "Changes a workspace. Members left out keep their values.",
      rights: "`can-update`; administrators of both projects to move it.",
      body: workspace.patch,
      owned: true,
      answers: resource(workspace),
    },
    delete: {
      method: "DELETE",
      path,
      summary: "Deletes a workspace, whatever it manages.",
      rights: "`can-force-delete`; 403 for callers who see the workspace.",
      answers: nothing,
    },
    safeDelete: {
      method: "POST",
      path: `${path}/actions/safe-delete`,
      summary: "Deletes a workspace that is unlocked and manages no resources.",
      rights: "`can-destroy`.",
      answers: nothing,
    },
  }) as const

export const namedWorkspaces = contract(endpointsAt(`${all}/:name`))

export const workspaces = contract({
  create: {
    method: "POST",
    path: all,
    summary: "Creates a workspace.",
    rights: "`can-create-workspace` on the project.",
    body: workspace.input,
    owned: true,
    answers: created(workspace),
  },
  list: {
    method: "GET",
    path: all,
    summary: "Lists the workspaces that the caller sees. Filters combine with AND.",
    rights: "Members of the organization.",
    query: { ...workspaceFilters, include },
    answers: page(workspace),
  },
  ...endpointsAt("/workspaces/:workspace_id"),
  lock: {
    method: "POST",
    path: "/workspaces/:workspace_id/actions/lock",
    summary: "Locks a workspace. The body may be a bare object as well: { reason, ttl }.",
    rights: "`can-lock`.",
    ...lockBytes,
    body: lockBody<LockInput>((sent) => sent),
    answers: resource(workspace),
  },
  extendLock: {
    method: "POST",
    path: "/workspaces/:workspace_id/actions/extend-lock",
    summary: "Sets the expiry of the lock to now and ttl. The body is that of lock.",
    rights: "The holder of the lock.",
    ...lockBytes,
    body: lockBody<LockExtension>(({ ttlMs }) => ttlOf(ttlMs)),
    answers: resource(workspace),
  },
  unlock: {
    method: "POST",
    path: "/workspaces/:workspace_id/actions/unlock",
    summary: "Releases the lock.",
    rights: "The holder of the lock.",
    answers: resource(workspace),
  },
  forceUnlock: {
    method: "POST",
    path: "/workspaces/:workspace_id/actions/force-unlock",
    summary: "Releases the lock of another holder, and discards a state that it is uploading.",
    rights: "`can-force-unlock`.",
    answers: resource(workspace),
  },
})
