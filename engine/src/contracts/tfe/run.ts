// Runs, with their plans, applies and comments. Plans and applies have ids of their own, and take all other members from the run.
import { z } from "zod"
import type { ConfigurationVersionId, RunId, StateVersionId, WorkspaceId } from "../../core/ids.ts"
import { formatInstant, type Instant, parseInstant } from "../../core/time.ts"
import {
  type ResourceChanges,
  runActions,
  type RunOperation,
  runOperations,
  type RunStep,
  type RunView,
} from "../../workspaces/runs/run.ts"
import { forceCancelAvailableAt } from "../../workspaces/runs/run-claim.ts"
import { commentFaults, messageFaults } from "../../workspaces/runs/run-rules.ts"
import {
  applyStatus,
  isAtWork,
  isCancelable,
  isConfirmable,
  isDiscardable,
  isForceCancelable,
  planStatus,
  type RunStatus,
  runStatuses,
  stageStatuses,
} from "../../workspaces/runs/run-status.ts"
import type { OrganizationRunQuery, RunQuery } from "../../workspaces/runs/run-repository.ts"
import { decodeBody, encodeDocument, ruled, toOne } from "./json-api/document.ts"
import { attributePointers } from "./json-api/errors.ts"
import { withoutUndefined } from "./json-api/without-undefined.ts"
import { dashedMembers } from "./json-api/member-name.ts"
import { relatedId, toOneSchema } from "./json-api/relationship.ts"
import { unsupported } from "./json-api/unsupported.ts"
import { absentAsNull, dashedObject, flags, instant, nullAsAbsent } from "../codec.ts"
import { author } from "./actor.ts"
import {
  type Body,
  computed,
  document,
  many,
  one,
  oneOrNull,
  optional,
  plainBody,
  readOnly,
  requiredOneInput,
  secret,
  withDefault,
  writable,
} from "./document.ts"
import {
  accepted,
  among,
  bytesOrNothing,
  commaList,
  contract,
  created,
  filledText,
  inclusionOfParts,
  listWithIncluded,
  page,
  resource,
  resourceWithIncluded,
} from "./endpoint.ts"

const path = (id: string) => `/api/v2/runs/${id}`
const aTime = "2026-11-26T12:00:00.000Z"
/** Maximum length of a Terraform version or a constraint. */
const maxVersion = 255

const strings: z.ZodType<readonly string[]> = z.array(z.string())
const variables: z.ZodType<RunView["variables"]> = z.array(z.object({ key: z.string(), value: z.string() }))
const changes = dashedObject<ResourceChanges>({
  additions: z.number(),
  changes: z.number(),
  destructions: z.number(),
  imports: z.number(),
}).nullable()

const memberOf = (status: string) => `${status.replaceAll("_", "-")}-at`
const timestamps = z.codec(z.record(z.string(), z.string()), z.custom<RunView["statusTimestamps"]>(), {
  decode(members, context) {
    const reached = runStatuses.flatMap((status) => {
      const text = members[memberOf(status)]
      return text === undefined ? [] : [[status, parseInstant(text)] as const]
    })
    if (reached.some(([, at]) => at === undefined))
      context.issues.push({ code: "custom", message: "an object of timestamps", input: members })
    return Object.fromEntries(reached)
  },
  // HCP Terraform has the time from which a run may begin: here a run is queued as soon as it is pending.
  encode: (reached) => formatTimes({ ...reached, plan_queueable: reached.pending }),
})
const formatTimes = (times: Readonly<Record<string, Instant | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(times).flatMap(([name, at]) => (at === undefined ? [] : [[memberOf(name), formatInstant(at)]])),
  )

/** Returns whether an executor works on the run. It must be asked to stop before the run can be force-cancelled. */
const isExecuted = ({ status, executor }: RunView): boolean => isAtWork(status) && executor !== null

const flag = (rule: string) => withDefault(z.boolean(), false, { rule, example: true })
const option = (rule: string) =>
  writable(z.boolean(), { input: nullAsAbsent(z.boolean()), rule, default: false, example: true })
const addresses = (rule: string) =>
  writable(strings, {
    input: nullAsAbsent(strings),
    rule,
    default: [],
    example: ["aws_instance.web"],
  })

export const run = document("runs", {
  id: z.custom<RunId>(),
  self: path,
  nullableAttributes: true,
  attributes: {
    status: readOnly(z.enum(runStatuses), { rule: "Status.", example: "planned" }),
    message: withDefault(z.string(), null, {
      input: ruled(messageFaults),
      rule: "Message. If it is left out, the server writes one.",
      example: "Add a subnet",
    }),
    source: readOnly(z.string(), { rule: "Client that created the run.", example: "tfe-api" }),
    createdAt: readOnly(instant, { rule: "Time of creation.", example: aTime }),
    isDestroy: flag("Destroy all resources of the workspace."),
    autoApply: withDefault(z.boolean(), null, {
      input: z.boolean(),
      rule: "Apply the plan without confirmation. null is the workspace's setting.",
      example: true,
    }),
    planOnly: flag("Plan only: it is never applied, does not lock the workspace and never is its current run."),
    refreshOnly: flag("Update the state only, without changes of resources."),
    hasChanges: readOnly(z.boolean(), { rule: "The plan has changes.", example: true }),
    statusTimestamps: readOnly(timestamps, {
      rule: "Time at which each status was reached.",
      example: { "planned-at": aTime },
    }),
    refresh: writable(z.boolean(), {
      input: nullAsAbsent(z.boolean()),
      rule: "Read the resources before the plan.",
      default: true,
      example: false,
    }),
    savePlan: option("Plan without the lock of the workspace; the run becomes current once it is confirmed."),
    allowEmptyApply: option("Wait for confirmation even if the plan has no changes."),
    allowConfigGeneration: option("Write configuration for resources that are imported."),
    debuggingMode: secret(unsupported("debugging-mode", false, "logs of the tool's own steps"), {
      rule: "Not supported: must be false.",
      default: false,
    }),
    engineVersion: writable(z.string().nullable(), {
      wireName: "terraform-version",
      input: z.string().max(maxVersion).nullable(),
      rule: "Version of the tool for this run, only if it is plan-only. null is the workspace's.",
      default: null,
      example: "1.10.2",
    }),
    targetAddrs: addresses("Plan these resources only."),
    replaceAddrs: addresses("Replace these resources."),
    variables: writable(variables, {
      input: nullAsAbsent(variables),
      rule: "Variables that take precedence over the workspace's; values are written as in the configuration language.",
      default: [],
      example: [{ key: "region", value: '"eu-west-1"' }],
    }),
    planCounts: readOnly(changes, { wireName: "plan-changes", rule: "Numbers of changes in the plan, if reported." }),
    applyCounts: readOnly(changes, { wireName: "apply-changes", rule: "Numbers of applied changes, if reported." }),
    positionInQueue: optional(z.number(), { rule: "Number of runs before it, in the queue of the organization only." }),
    cancelRequestedAt: readOnly(absentAsNull(instant), {
      wireName: "canceled-at",
      rule: "Time at which the executor was asked to stop; absent before.",
    }),
    forceCancelAvailableAt: computed(
      instant,
      ({ cancelRequestedAt }: RunView) =>
        cancelRequestedAt === null ? undefined : forceCancelAvailableAt(cancelRequestedAt),
      { rule: "Time from which force-cancel is allowed; absent before canceled-at." },
    ),
    executor: readOnly(
      dashedObject<NonNullable<RunView["executor"]>>({ name: z.string(), expiresAt: instant }).nullable(),
      {
        rule: "Executor at work on the run, and the end of its lease.",
      },
    ),
    waitingReason: readOnly(z.string().nullable(), {
      rule: "Why the run waits, if no agent was seen for five minutes; otherwise null.",
      example:
        "No agent of the agent pool office was seen since 2026-11-26T12:00:00.000Z. The run waits for one: chancery agent --token-file FILE (docs/agents.md)",
    }),
    actions: computed(
      flags(["isCancelable", "isConfirmable", "isDiscardable", "isForceCancelable"]),
      (view: RunView) => ({
        isCancelable: isCancelable(view.status) && view.cancelRequestedAt === null,
        isConfirmable: isConfirmable(view.status) && !view.planOnly,
        isDiscardable: isDiscardable(view.status),
        isForceCancelable: isForceCancelable(view.status) && (view.cancelRequestedAt !== null || !isExecuted(view)),
      }),
      { rule: "Actions that the status allows." },
    ),
    permissions: readOnly(flags(["canApply", "canCancel", "canDiscard", "canForceCancel", "canForceExecute"]), {
      rule: "What the caller may do with the run.",
    }),
  },
  relationships: {
    workspaceId: writable(one<WorkspaceId>("workspaces"), {
      wireName: "workspace",
      input: requiredOneInput<string>("workspaces"),
      required: true,
      rule: "Workspace.",
    }),
    configurationVersionId: writable(oneOrNull<ConfigurationVersionId>("configuration-versions"), {
      wireName: "configuration-version",
      input: z.codec(toOneSchema.optional(), z.custom<string | null>(), {
        decode: (linkage) => relatedId(linkage) ?? null,
        encode: (id) => toOne("configuration-versions", id),
      }),
      required: true,
      default: null,
      rule: "Configuration. A request without one means the workspace's current one.",
    }),
    createdBy: readOnly(author, { rule: "User, or account of the team, that created the run." }),
    confirmedBy: readOnly(author, { rule: "User, or account of the team, that confirmed it." }),
    planId: readOnly(one<string>("plans"), {
      wireName: "plan",
      rule: "Plan.",
      related: ({ id }: RunView) => `${path(id)}/plan`,
    }),
    applyId: readOnly(one<string>("applies"), {
      wireName: "apply",
      rule: "Apply.",
      related: ({ id }: RunView) => `${path(id)}/apply`,
    }),
    inputStateVersionId: readOnly(oneOrNull<StateVersionId>("state-versions"), {
      wireName: "input-state-version",
      rule: "State when the plan began.",
    }),
    commentIds: readOnly(many<string>("comments"), {
      wireName: "comments",
      rule: "Comments, the oldest first.",
      related: ({ id }: RunView) => `${path(id)}/comments`,
    }),
    eventIds: readOnly(many<string>("run-events"), {
      wireName: "run-events",
      rule: "Events, in their order.",
      related: ({ id }: RunView) => `${path(id)}/run-events`,
    }),
  },
})

/** Plan or apply of a run. `logReadUrl` is the URL of its log, and null unless the answer is about this plan or apply. */
interface Stage {
  readonly id: string
  readonly runId: RunId
  readonly logReadUrl: string | null
  readonly run: RunView
}
const resourceCounts = ["additions", "changes", "destructions", "imports"] as const
const countMembers = (countsOf: (run: RunView) => ResourceChanges | null) => {
  // Clients expect numbers, so counts that were not reported are 0.
  const member = (name: (typeof resourceCounts)[number]) =>
    computed(z.int(), (view: Stage) => countsOf(view.run)?.[name] ?? 0, { rule: `Resources: ${name}.`, example: 1 })
  return {
    resourceAdditions: member("additions"),
    resourceChanges: member("changes"),
    resourceDestructions: member("destructions"),
    resourceImports: member("imports"),
  }
}
const logReadUrl = readOnly(z.string().nullable(), {
  rule: "Address of the log, which needs no token; null beside other documents.",
  example: "https://chancery.example/logs/plan-7kLmQ3pVJqvFzamy/...",
})
const stageTimes = (timesOf: (reached: RunView["statusTimestamps"]) => Readonly<Record<string, Instant | undefined>>) =>
  computed(z.record(z.string(), z.string()), (view: Stage) => formatTimes(timesOf(view.run.statusTimestamps)), {
    rule: "Times at which it was queued, started and finished.",
    example: { "started-at": aTime },
  })
const runOfStage = { runId: readOnly(one<RunId>("runs"), { wireName: "run", rule: "Run." }) }

export const plan = document("plans", {
  id: z.custom<string>(),
  self: (id) => `/api/v2/plans/${id}`,
  attributes: {
    logReadUrl,
    status: computed(z.enum(stageStatuses), ({ run: of }: Stage) => planStatus(of.status, of.statusTimestamps), {
      rule: "Status.",
      example: "finished",
    }),
    hasChanges: computed(z.boolean(), (view: Stage) => view.run.hasChanges, {
      rule: "The plan has changes.",
      example: true,
    }),
    ...countMembers((of) => of.planCounts),
    statusTimestamps: stageTimes((reached) => ({
      queued: reached.plan_queued,
      started: reached.planning,
      finished: reached.planned ?? reached.planned_and_finished ?? reached.planned_and_saved,
    })),
  },
  relationships: runOfStage,
})
export const apply = document("applies", {
  id: z.custom<string>(),
  self: (id) => `/api/v2/applies/${id}`,
  attributes: {
    logReadUrl,
    status: computed(z.enum(stageStatuses), ({ run: of }: Stage) => applyStatus(of.status, of.statusTimestamps), {
      rule: "Status.",
      example: "finished",
    }),
    ...countMembers((of) => of.applyCounts),
    statusTimestamps: stageTimes((reached) => ({
      queued: reached.apply_queued,
      started: reached.applying,
      finished: reached.applied,
    })),
  },
  relationships: runOfStage,
})
export const planOf = (of: RunView, url: string | null = null): Stage => ({
  id: of.planId,
  runId: of.id,
  logReadUrl: url,
  run: of,
})
export const applyOf = (of: RunView, url: string | null = null): Stage => ({ ...planOf(of, url), id: of.applyId })

export const comment = document("comments", {
  id: z.custom<string>(),
  self: (id) => `/api/v2/comments/${id}`,
  attributes: {
    body: writable(z.string(), { input: ruled(commentFaults), required: true, rule: "Text.", example: "Looks good." }),
    createdAt: readOnly(instant, { rule: "Time of creation.", example: aTime }),
  },
  relationships: {
    runId: readOnly(one<RunId>("runs"), { wireName: "run", rule: "Run." }),
    createdBy: readOnly(author, { rule: "Author." }),
  },
})

export const runEvent = document("run-events", {
  id: z.custom<string>(),
  self: (id) => `/api/v2/run-events/${id}`,
  attributes: {
    action: readOnly(z.enum(runActions), {
      rule: "What happened: queued at the creation, a status that the run reached, commented, cancel_requested, force_executed, executor_lost or executor_missing.",
      example: "confirmed",
    }),
    description: readOnly(z.string(), {
      rule: "Explanation; empty if there is none.",
      example: 'Reported by the executor "runner-1".',
    }),
    createdAt: readOnly(instant, { rule: "Time of the event.", example: aTime }),
  },
  relationships: {
    runId: readOnly(one<RunId>("runs"), { wireName: "run", rule: "Run." }),
    actor: readOnly(author, {
      rule: "User, or account of the team, that caused the event; null for the server and for agents.",
    }),
    commentId: readOnly(oneOrNull<string>("comments"), { wireName: "comment", rule: "Comment, if one was added." }),
  },
})

export const runCapacity = document("organization-capacity", {
  id: z.custom<string>(),
  attributes: {
    pending: readOnly(z.number(), { rule: "Runs that wait for an executor.", example: 3 }),
    running: readOnly(z.number(), { rule: "Runs with an executor at work.", example: 1 }),
  },
  relationships: {},
})

const count = z.number().nullish()
const stepSchema = z.object({
  status: z.enum(runStatuses),
  "has-changes": z.boolean().nullish(),
  "resource-additions": count,
  "resource-changes": count,
  "resource-destructions": count,
  "resource-imports": count,
  "checks-follow": z.boolean().nullish(),
})
const stepDocument = z.object({ data: z.object({ attributes: stepSchema }) })

/** Body with `{ status }`, bare or as a document, like the body of a lock. */
export const runStep: Body<RunStep> = {
  decode(body) {
    const isBare = typeof body === "object" && body !== null && "status" in body
    const step = isBare ? decodeBody(body, stepSchema) : decodeBody(body, stepDocument).data.attributes
    return {
      status: step.status,
      hasChanges: step["has-changes"] ?? null,
      ...withoutUndefined({ counts: countsIn(step), checksFollow: step["checks-follow"] ?? undefined }),
    }
  },
  encode: ({ counts, ...step }) =>
    encodeDocument("runs", {
      ...dashedMembers(step),
      ...(counts && Object.fromEntries(resourceCounts.map((name) => [`resource-${name}`, counts[name]]))),
    }),
  pointers: attributePointers(),
  names: {},
  describes: { schema: stepDocument },
}

/** Absent counts are 0 if at least one is present. */
function countsIn(step: z.infer<typeof stepSchema>): ResourceChanges | undefined {
  const sent = resourceCounts.map((name) => [name, step[`resource-${name}`] ?? undefined] as const)
  if (sent.every(([, number]) => number === undefined)) return undefined
  return Object.fromEntries(sent.map(([name, number]) => [name, number ?? 0])) as unknown as ResourceChanges
}

/** Body of an action, which is optional and contains only a comment. */
const actionComment = plainBody(
  z.codec(z.object({ comment: z.string().nullish() }).nullish(), z.custom<string | undefined>(), {
    decode: (body) => body?.comment ?? undefined,
    encode: (text) => ({ comment: text }),
  }),
  () => "/comment",
)

type Group = Pick<RunQuery, "statuses" | "unfinished">
const statusGroups: Readonly<Record<string, Group>> = {
  non_final: { unfinished: true },
  final: { unfinished: false },
  discardable: { statuses: runStatuses.filter(isDiscardable) as unknown as [RunStatus, ...RunStatus[]] },
}
const statusGroup = z.codec(z.string(), z.custom<Group | undefined>(), {
  decode(text, context) {
    if (text === "") return undefined
    const group = statusGroups[text]
    if (group !== undefined) return group
    const message = `filter[status_group] must be one of ${Object.keys(statusGroups).join(", ")}`
    context.issues.push({ code: "custom", message, input: text })
    return z.NEVER
  },
  encode: (group) => (group?.unfinished === true ? "non_final" : "final"),
})

/** HCP Terraform clients request estimates and tasks together with the rest; runs have none here. */
export const runParts = [
  "apply",
  "configuration_version",
  "configuration_version.ingress_attributes",
  "cost_estimate",
  "created_by",
  "plan",
  "run_events",
  "task_stages",
  "workspace",
] as const

export const runEventParts = ["actor", "comment"] as const
const eventInclude = {
  parameter: "include",
  schema: inclusionOfParts(...runEventParts),
  rule: `Resources beside the events, with commas between: ${runEventParts.join(", ")}.`,
  example: "actor,comment",
}
const include = {
  parameter: "include",
  schema: inclusionOfParts(...runParts),
  rule: `Resources beside the runs, with commas between: ${runParts.join(", ")}.`,
  example: "plan,workspace",
}
const query = {
  statuses: {
    parameter: "filter[status]",
    schema: among<RunStatus>("filter[status]", runStatuses),
    rule: "Statuses, with commas between.",
    example: "planned,applied",
  },
  sources: {
    parameter: "filter[source]",
    schema: commaList,
    rule: "Sources, with commas between.",
    example: "tfe-api",
  },
  operations: {
    parameter: "filter[operation]",
    schema: among<RunOperation>("filter[operation]", runOperations),
    rule: `Kinds of runs, with commas between: ${runOperations.join(", ")}.`,
    example: "plan_only",
  },
  statusGroup: {
    parameter: "filter[status_group]",
    schema: statusGroup,
    rule: `One of ${Object.keys(statusGroups).join(", ")}; filter[status] takes precedence.`,
    example: "non_final",
  },
  user: { parameter: "search[user]", schema: filledText, rule: "Author of the change in the VCS.", example: "ada" },
  commit: { parameter: "search[commit]", schema: filledText, rule: "Commit in the VCS.", example: "2f1a6d5" },
  text: {
    parameter: "search[basic]",
    schema: filledText,
    rule: "Part of the message, or all of an id, user or commit.",
    example: "subnet",
  },
  include,
}

interface ListQuery extends Omit<OrganizationRunQuery, "unfinished" | "statuses"> {
  readonly statuses?: readonly RunStatus[]
  readonly statusGroup?: Group
  readonly include?: readonly (typeof runParts)[number][]
}
/** Converts query parameters to the filter of the domain. */
export const runQueryOf = ({ statusGroup: group, include: _, ...rest }: ListQuery): OrganizationRunQuery => ({
  ...group,
  ...(rest as OrganizationRunQuery),
})
/** Converts a filter of the domain to query parameters. */
export const listQueryOf = ({ unfinished, ...rest }: OrganizationRunQuery): ListQuery => ({
  ...rest,
  ...(unfinished !== undefined && { statusGroup: { unfinished } }),
})

const reads = "`can-read-run` on the workspace."
const applies = "`can-queue-apply` on the workspace."
const queues = "`can-queue-run` on the workspace."
const readsPlan = "`can-update` and `can-queue-apply` on the workspace."
const members = "Members of the organization."
const json = "application/json"

export const runs = contract({
  create: {
    method: "POST",
    path: "/runs",
    summary: "Creates a run.",
    rights: `${queues.slice(0, -1)}; \`can-queue-destroy\` to destroy.`,
    body: run.input,
    answers: created(run),
  },
  get: {
    method: "GET",
    path: "/runs/:run_id",
    summary: "Returns a run.",
    rights: reads,
    query: { include },
    answers: resourceWithIncluded(run),
  },
  list: {
    method: "GET",
    path: "/workspaces/:workspace_id/runs",
    summary: "Lists the runs of a workspace, the newest first.",
    rights: reads,
    query,
    answers: page(run),
  },
  listForOrganization: {
    method: "GET",
    path: "/organizations/:organization_name/runs",
    summary: "Lists the runs of all workspaces that the caller sees.",
    rights: members,
    query: {
      ...query,
      workspaceNames: {
        parameter: "filter[workspace_names]",
        schema: commaList,
        rule: "Names of workspaces, with commas between.",
        example: "network",
      },
      agentPoolNames: {
        parameter: "filter[agent_pool_names]",
        schema: commaList,
        rule: "Names of agent pools, with commas between.",
        example: "office",
      },
    },
    answers: page(run),
  },
  queue: {
    method: "GET",
    path: "/organizations/:organization_name/runs/queue",
    summary: "Lists the runs that wait for an executor or have one, in the order of the queue.",
    rights: members,
    answers: page(run),
  },
  capacity: {
    method: "GET",
    path: "/organizations/:organization_name/capacity",
    summary: "Counts the runs that wait and those at work.",
    rights: members,
    answers: resource(runCapacity),
  },
  apply: {
    method: "POST",
    path: "/runs/:run_id/actions/apply",
    summary: "Confirms a planned run.",
    rights: applies,
    body: actionComment,
    answers: accepted,
  },
  discard: {
    method: "POST",
    path: "/runs/:run_id/actions/discard",
    summary: "Discards a run that waits for confirmation.",
    rights: applies,
    body: actionComment,
    answers: accepted,
  },
  cancel: {
    method: "POST",
    path: "/runs/:run_id/actions/cancel",
    summary: "Cancels a run, or asks its executor to stop.",
    rights: applies,
    body: actionComment,
    answers: accepted,
  },
  forceCancel: {
    method: "POST",
    path: "/runs/:run_id/actions/force-cancel",
    summary: "Ends a run whose executor did not stop within a minute.",
    rights: applies,
    body: actionComment,
    answers: accepted,
  },
  forceExecute: {
    method: "POST",
    path: "/runs/:run_id/actions/force-execute",
    summary: "Discards the runs before a pending one, so that it begins.",
    rights: applies,
    answers: accepted,
  },
  addComment: {
    method: "POST",
    path: "/runs/:run_id/comments",
    summary: "Adds a comment.",
    rights: queues,
    body: comment.input,
    answers: created(comment),
  },
  comments: {
    method: "GET",
    path: "/runs/:run_id/comments",
    summary: "Lists the comments of a run, the oldest first.",
    rights: reads,
    answers: page(comment),
  },
  comment: {
    method: "GET",
    path: "/comments/:comment_id",
    summary: "Returns a comment.",
    rights: reads,
    answers: resource(comment),
  },
  events: {
    method: "GET",
    path: "/runs/:run_id/run-events",
    summary: "Lists all events of a run, in their order.",
    rights: reads,
    query: { include: eventInclude },
    answers: listWithIncluded(runEvent),
  },
  event: {
    method: "GET",
    path: "/run-events/:run_event_id",
    summary: "Returns an event of a run.",
    rights: reads,
    query: { include: eventInclude },
    answers: resourceWithIncluded(runEvent),
  },
  advance: {
    method: "POST",
    path: "/runs/:run_id/actions/transition",
    summary: "Moves a run to its next status. HCP Terraform does not have it; executors that claim no runs use it.",
    rights: `${applies.slice(0, -1)}; \`can-queue-run\` for one that is plan-only.`,
    body: runStep,
    answers: resource(run),
  },
  planOfRun: {
    method: "GET",
    path: "/runs/:run_id/plan",
    summary: "Returns the plan of a run.",
    rights: reads,
    answers: resource(plan),
  },
  applyOfRun: {
    method: "GET",
    path: "/runs/:run_id/apply",
    summary: "Returns the apply of a run.",
    rights: reads,
    answers: resource(apply),
  },
  getPlan: {
    method: "GET",
    path: "/plans/:plan_id",
    summary: "Returns a plan.",
    rights: reads,
    answers: resource(plan),
  },
  planJson: {
    method: "GET",
    path: "/plans/:plan_id/json-output",
    summary: "Returns the plan as JSON, or 204 if there is none.",
    rights: readsPlan,
    discloses: true,
    answers: bytesOrNothing(json),
  },
  planJsonOfRun: {
    method: "GET",
    path: "/runs/:run_id/plan/json-output",
    summary: "Returns the plan of a run as JSON, or 204 if there is none.",
    rights: readsPlan,
    discloses: true,
    answers: bytesOrNothing(json),
  },
  redactedPlanJson: {
    method: "GET",
    path: "/plans/:plan_id/json-output-redacted",
    summary: "Returns the plan as JSON without sensitive values, or 204 if there is none.",
    rights: reads,
    answers: bytesOrNothing(json),
  },
  getApply: {
    method: "GET",
    path: "/applies/:apply_id",
    summary: "Returns an apply.",
    rights: reads,
    answers: resource(apply),
  },
})
