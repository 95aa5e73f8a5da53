// Runs with their plans and applies, as in HCP Terraform. Plan and apply have their own ids; their attributes come from the run
// (docs/compatibility.md, "Runs").
import { z } from "zod"
import { badRequest } from "../../core/errors.ts"
import { formatInstant, type Instant } from "../../core/time.ts"
import {
  type ResourceChanges,
  type RunCapacity,
  type RunComment,
  type RunInput,
  type RunOperation,
  runOperations,
  type RunStep,
  type RunView,
} from "../../workspaces/run.ts"
import {
  applyStatus,
  isAtWork,
  isCancelable,
  isConfirmable,
  isDiscardable,
  isForceCancelable,
  isRunStatus,
  planStatus,
  type RunStatus,
  runStatuses,
} from "../../workspaces/run-status.ts"
import { forceCancelAvailableAt } from "../../workspaces/run-claim-rules.ts"
import { commentFaults, messageFaults } from "../../workspaces/run-rules.ts"
import type { OrganizationRunQuery, RunQuery } from "../../workspaces/run-store.ts"
import { decodeActor } from "./actor.ts"
import type { ConfigurationVersionId, RunId, StateVersionId, WorkspaceId } from "../../core/ids.ts"
import { MembersReader, readResource } from "./answer.ts"
import {
  decodeBody,
  decodeDocument,
  encodeDocument,
  type RequestDocument,
  type Resource,
  toMany,
  toOne,
} from "./document.ts"
import { attributePointers, renamedPointers } from "./errors.ts"
import { given } from "./given.ts"
import { dashedMembers } from "./member-name.ts"
import { decodeCommaList, encodeCommaList } from "./query.ts"
import { ruled } from "./ruled.ts"
import { unsupported } from "./unsupported.ts"
import { relatedId, toOneSchema } from "./relationship.ts"

export const runNames = { engineVersion: "terraformVersion" }
export const runPointers = renamedPointers(attributePointers(["configurationVersion", "workspace"]), runNames)

/** Of a version, or of what chooses one. */
const versionMaximum = 255
const textList = z.array(z.string()).nullish()

const runSchema = z.object({
  attributes: z
    .object({
      message: ruled(messageFaults).nullish(),
      "is-destroy": z.boolean().nullish(),
      "auto-apply": z.boolean().nullish(),
      "plan-only": z.boolean().nullish(),
      "refresh-only": z.boolean().nullish(),
      refresh: z.boolean().nullish(),
      "save-plan": z.boolean().nullish(),
      "allow-empty-apply": z.boolean().nullish(),
      "allow-config-generation": z.boolean().nullish(),
      "debugging-mode": unsupported("debugging-mode", false, "logs of the tool's own steps"),
      "terraform-version": z.string().max(versionMaximum).nullish(),
      "target-addrs": textList,
      "replace-addrs": textList,
      variables: z.array(z.object({ key: z.string(), value: z.string() })).nullish(),
    })
    .nullish(),
  relationships: z.object({
    workspace: z.object({ data: z.object({ id: z.string() }) }),
    "configuration-version": toOneSchema.optional(),
  }),
})

export function decodeRun(body: unknown): { readonly workspaceId: string; readonly input: RunInput } {
  const { attributes, relationships } = decodeDocument(body, runSchema, { types: ["runs"] })
  return {
    workspaceId: relationships.workspace.data.id,
    input: {
      message: attributes?.message ?? null,
      isDestroy: attributes?.["is-destroy"] ?? false,
      autoApply: attributes?.["auto-apply"] ?? null,
      planOnly: attributes?.["plan-only"] ?? false,
      refreshOnly: attributes?.["refresh-only"] ?? false,
      configurationVersionId: relatedId(relationships["configuration-version"]) ?? null,
      ...given({
        refresh: attributes?.refresh ?? undefined,
        savePlan: attributes?.["save-plan"] ?? undefined,
        allowEmptyApply: attributes?.["allow-empty-apply"] ?? undefined,
        allowConfigGeneration: attributes?.["allow-config-generation"] ?? undefined,
        engineVersion: attributes?.["terraform-version"] ?? undefined,
        targetAddrs: attributes?.["target-addrs"] ?? undefined,
        replaceAddrs: attributes?.["replace-addrs"] ?? undefined,
        variables: attributes?.variables ?? undefined,
      }),
    },
  }
}

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

/** `{ status }` bare or as a document, like the body of a lock. */
export function decodeRunStep(body: unknown): RunStep {
  const bare = typeof body === "object" && body !== null && "status" in body
  const step = bare ? decodeBody(body, stepSchema) : decodeBody(body, stepDocument).data.attributes
  return {
    status: step.status,
    hasChanges: step["has-changes"] ?? null,
    ...given({ counts: countsIn(step), checksFollow: step["checks-follow"] ?? undefined }),
  }
}

/** Those that are left out are none, if any is told. */
function countsIn(step: z.infer<typeof stepSchema>): ResourceChanges | undefined {
  const told = resourceCounts.map((name) => [name, step[`resource-${name}`] ?? undefined] as const)
  if (told.every(([, number]) => number === undefined)) return undefined
  return Object.fromEntries(told.map(([name, number]) => [name, number ?? 0])) as unknown as ResourceChanges
}

const resourceCounts = ["additions", "changes", "destructions", "imports"] as const

/** As plans and applies show it; what nobody has told is shown as none, because clients read numbers. */
const encodeCounts = (counts: ResourceChanges | null) =>
  Object.fromEntries(resourceCounts.map((name) => [`resource-${name}`, counts?.[name] ?? 0]))

const statusGroups: Readonly<Record<string, Pick<RunQuery, "statuses" | "unfinished">>> = {
  non_final: { unfinished: true },
  final: { unfinished: false },
  discardable: { statuses: runStatuses.filter(isDiscardable) as unknown as [RunStatus, ...RunStatus[]] },
}

export function decodeRunQuery(query: URLSearchParams): RunQuery {
  const statuses = chosen(query, "filter[status]", isRunStatus, runStatuses)
  const group = query.get("filter[status_group]") || undefined
  const ofGroup =
    group === undefined ? {} : (statusGroups[group] ?? refuse("filter[status_group]", Object.keys(statusGroups)))
  return {
    ...ofGroup,
    ...given({
      statuses,
      sources: decodeCommaList(query.get("filter[source]")),
      operations: chosen(query, "filter[operation]", isOperation, runOperations),
      user: query.get("search[user]") || undefined,
      commit: query.get("search[commit]") || undefined,
      text: query.get("search[basic]") || undefined,
    }),
  }
}

export const decodeOrganizationRunQuery = (query: URLSearchParams): OrganizationRunQuery => ({
  ...decodeRunQuery(query),
  ...given({
    workspaceNames: decodeCommaList(query.get("filter[workspace_names]")),
    agentPoolNames: decodeCommaList(query.get("filter[agent_pool_names]")),
  }),
})

/** Which bytes of a log are asked for: all that one answer holds, from the beginning, unless it is said. */
export function decodeLogSlice(query: URLSearchParams): { readonly offset: number; readonly limit: number } {
  const number = (parameter: string, absent: number): number => {
    const text = query.get(parameter) || String(absent)
    if (/^\d{1,15}$/.test(text)) return Number(text)
    throw badRequest("The part of the log is not valid.", [
      { detail: `${parameter} must be an integer from 0 on`, parameter },
    ])
  }
  return { offset: number("offset", 0), limit: number("limit", logSliceDefault) }
}
const logSliceDefault = 1024 * 1024

const isOperation = (text: string): text is RunOperation => (runOperations as readonly string[]).includes(text)

function chosen<T extends string>(
  query: URLSearchParams,
  parameter: string,
  is: (text: string) => text is T,
  all: readonly T[],
): [T, ...T[]] | undefined {
  const [first, ...rest] = (decodeCommaList(query.get(parameter)) ?? []).map((text) =>
    is(text) ? text : refuse(parameter, all),
  )
  return first === undefined ? undefined : [first, ...rest]
}

function refuse(parameter: string, all: readonly string[]): never {
  throw badRequest("The filter is not valid.", [{ detail: `${parameter} must be among ${all.join(", ")}`, parameter }])
}

export function encodeRun(run: RunView): Resource {
  const path = `/api/v2/runs/${run.id}`
  const { status, permissions } = run
  return {
    id: run.id,
    type: "runs",
    attributes: {
      status,
      message: run.message,
      source: run.source,
      "created-at": formatInstant(run.createdAt),
      "is-destroy": run.isDestroy,
      "auto-apply": run.autoApply,
      "plan-only": run.planOnly,
      "refresh-only": run.refreshOnly,
      "has-changes": run.hasChanges,
      "status-timestamps": encodeTimestamps(run.statusTimestamps),
      refresh: run.refresh,
      "save-plan": run.savePlan,
      "allow-empty-apply": run.allowEmptyApply,
      "allow-config-generation": run.allowConfigGeneration,
      "terraform-version": run.engineVersion,
      "target-addrs": run.targetAddrs,
      "replace-addrs": run.replaceAddrs,
      variables: run.variables,
      "plan-changes": run.planCounts,
      "apply-changes": run.applyCounts,
      ...(run.positionInQueue === undefined ? {} : { "position-in-queue": run.positionInQueue }),
      ...(run.cancelRequestedAt === null
        ? {}
        : {
            "canceled-at": formatInstant(run.cancelRequestedAt),
            "force-cancel-available-at": formatInstant(forceCancelAvailableAt(run.cancelRequestedAt)),
          }),
      executor: run.executor && { name: run.executor.name, "expires-at": formatInstant(run.executor.expiresAt) },
      actions: {
        "is-cancelable": isCancelable(status) && run.cancelRequestedAt === null,
        "is-confirmable": isConfirmable(status) && !run.planOnly,
        "is-discardable": isDiscardable(status),
        "is-force-cancelable": isForceCancelable(status) && (run.cancelRequestedAt !== null || !isExecuted(run)),
      },
      permissions: {
        "can-apply": permissions.canApply,
        "can-cancel": permissions.canCancel,
        "can-discard": permissions.canDiscard,
        "can-force-cancel": permissions.canForceCancel,
        "can-force-execute": permissions.canForceExecute,
      },
    },
    relationships: {
      workspace: toOne("workspaces", run.workspaceId),
      "configuration-version": toOne("configuration-versions", run.configurationVersionId),
      "created-by": run.createdBy === null ? { data: null } : toOne(run.createdBy.kind, run.createdBy.id),
      "confirmed-by": run.confirmedBy === null ? { data: null } : toOne(run.confirmedBy.kind, run.confirmedBy.id),
      plan: { ...toOne("plans", run.planId), links: { related: `${path}/plan` } },
      apply: { ...toOne("applies", run.applyId), links: { related: `${path}/apply` } },
      "input-state-version": toOne("state-versions", run.inputStateVersionId),
      comments: { ...toMany("comments", run.commentIds), links: { related: `${path}/comments` } },
    },
    links: { self: path },
  }
}

/** HCP Terraform names the moment from which a run may begin: here a run is queued as soon as it is pending. */
const encodeTimestamps = (reached: RunView["statusTimestamps"]) =>
  Object.fromEntries(
    Object.entries({ ...reached, plan_queueable: reached.pending }).flatMap(([status, at]) =>
      at === undefined ? [] : [[`${status.replaceAll("_", "-")}-at`, formatInstant(at)]],
    ),
  )

/** Whoever executes it has to be asked to stop first. */
const isExecuted = ({ status, executor }: RunView): boolean => isAtWork(status) && executor !== null

/** As clients read it that tell people how many runs theirs waits for. */
export const encodeRunCapacity = (organization: string, { pending, running }: RunCapacity): Resource => ({
  id: organization,
  type: "organization-capacity",
  attributes: { pending, running },
})

/** The other direction of `encodeRunCapacity`. */
export function decodeRunCapacity(resource: unknown): RunCapacity {
  const { attributes: own } = readResource(resource, "organization-capacity")
  return { pending: own.number("pending"), running: own.number("running") }
}

/** `logReadUrl`: only those who ask for the plan itself are given the address of its log. */
export const encodePlan = (run: RunView, logReadUrl: string | null = null): Resource => {
  const { statusTimestamps: reached } = run
  return encodeStage(run, "plans", run.planId, {
    "log-read-url": logReadUrl,
    status: planStatus(run.status, reached),
    "has-changes": run.hasChanges,
    ...encodeCounts(run.planCounts),
    "status-timestamps": stageTimestamps({
      queued: reached.plan_queued,
      started: reached.planning,
      finished: reached.planned ?? reached.planned_and_finished ?? reached.planned_and_saved,
    }),
  })
}

/** The same of an apply. */
export const encodeApply = (run: RunView, logReadUrl: string | null = null): Resource => {
  const { statusTimestamps: reached } = run
  return encodeStage(run, "applies", run.applyId, {
    "log-read-url": logReadUrl,
    status: applyStatus(run.status, reached),
    ...encodeCounts(run.applyCounts),
    "status-timestamps": stageTimestamps({
      queued: reached.apply_queued,
      started: reached.applying,
      finished: reached.applied,
    }),
  })
}

const encodeStage = (run: RunView, type: string, id: string, attributes: Record<string, unknown>): Resource => ({
  id,
  type,
  attributes,
  relationships: { run: toOne("runs", run.id) },
  links: { self: `/api/v2/${type}/${id}` },
})

const stageTimestamps = (reached: Readonly<Record<string, Instant | undefined>>) =>
  Object.fromEntries(
    Object.entries(reached).flatMap(([name, at]) => (at === undefined ? [] : [[`${name}-at`, formatInstant(at)]])),
  )

/** The other direction of `encodeRun`. */
export function decodeRunView(resource: unknown): RunView {
  const { id, attributes: own, ...related } = readResource(resource, "runs")
  return {
    id: id as RunId,
    workspaceId: related.one("workspace") as WorkspaceId,
    status: own.oneOf("status", runStatuses),
    message: own.text("message"),
    source: own.text("source"),
    isDestroy: own.flag("isDestroy"),
    autoApply: own.flag("autoApply"),
    planOnly: own.flag("planOnly"),
    refreshOnly: own.flag("refreshOnly"),
    refresh: own.flag("refresh"),
    savePlan: own.flag("savePlan"),
    allowEmptyApply: own.flag("allowEmptyApply"),
    allowConfigGeneration: own.flag("allowConfigGeneration"),
    engineVersion: own.textOrNull("terraformVersion"),
    targetAddrs: own.texts("targetAddrs"),
    replaceAddrs: own.texts("replaceAddrs"),
    variables: own.list("variables").map(decodeVariable),
    hasChanges: own.flag("hasChanges"),
    planCounts: decodeCounts(own.membersOrNull("planChanges")),
    applyCounts: decodeCounts(own.membersOrNull("applyChanges")),
    cancelRequestedAt: own.has("canceledAt") ? own.instant("canceledAt") : null,
    executor: decodeExecutor(own.membersOrNull("executor")),
    createdAt: own.instant("createdAt"),
    createdBy: decodeActor(related.identifierOrNull("createdBy")),
    confirmedBy: decodeActor(related.identifierOrNull("confirmedBy")),
    statusTimestamps: decodeTimestamps(own.members("statusTimestamps")),
    configurationVersionId: related.oneOrNull("configurationVersion") as ConfigurationVersionId | null,
    planId: related.one("plan"),
    applyId: related.one("apply"),
    permissions: own.members("permissions").flags(runPermissions),
    inputStateVersionId: related.oneOrNull("inputStateVersion") as StateVersionId | null,
    commentIds: related.many("comments"),
    ...(own.has("positionInQueue") ? { positionInQueue: own.number("positionInQueue") } : {}),
  }
}

const runPermissions = ["canApply", "canCancel", "canDiscard", "canForceCancel", "canForceExecute"] as const

function decodeVariable(variable: unknown): RunView["variables"][number] {
  const reader = new MembersReader(variable, "variables")
  return { key: reader.text("key"), value: reader.text("value") }
}

const decodeCounts = (counts: MembersReader | null): ResourceChanges | null =>
  counts &&
  (Object.fromEntries(resourceCounts.map((name) => [name, counts.number(name)])) as unknown as ResourceChanges)

const decodeExecutor = (executor: MembersReader | null): RunView["executor"] =>
  executor && { name: executor.text("name"), expiresAt: executor.instant("expiresAt") }

function decodeTimestamps(reached: MembersReader): RunView["statusTimestamps"] {
  const member = (status: RunStatus) => `${status.replaceAll("_", "-")}-at`
  return Object.fromEntries(
    runStatuses
      .filter((status) => reached.has(member(status)))
      .map((status) => [status, reached.instant(member(status))]),
  )
}

/** The other direction of `decodeRun`. */
export const encodeRunInput = (
  workspaceId: string,
  { configurationVersionId, engineVersion, ...input }: RunInput,
): RequestDocument =>
  encodeDocument("runs", dashedMembers({ ...input, [runNames.engineVersion]: engineVersion }), {
    workspace: toOne("workspaces", workspaceId),
    "configuration-version": toOne("configuration-versions", configurationVersionId),
  })

/** The other direction of `decodeRunStep`. */
export const encodeRunStep = ({ counts, ...step }: RunStep): RequestDocument =>
  encodeDocument("runs", {
    ...dashedMembers(step),
    ...(counts === undefined || counts === null ? {} : encodeCounts(counts)),
  })

const commentSchema = z.object({ attributes: z.object({ body: ruled(commentFaults) }) })

export const decodeCommentInput = (body: unknown): string =>
  decodeDocument(body, commentSchema, { types: ["comments"] }).attributes.body

/** The other direction of `decodeCommentInput`. */
export const encodeCommentInput = (body: string): RequestDocument => encodeDocument("comments", { body })

export const encodeComment = ({ id, runId, body, createdAt, createdBy }: RunComment): Resource => ({
  id,
  type: "comments",
  attributes: { body, "created-at": formatInstant(createdAt) },
  relationships: {
    run: toOne("runs", runId),
    "created-by": createdBy === null ? { data: null } : toOne(createdBy.kind, createdBy.id),
  },
  links: { self: `/api/v2/comments/${id}` },
})

/** The other direction of `encodeComment`. */
export function decodeComment(resource: unknown): RunComment {
  const { id, attributes: own, ...related } = readResource(resource, "comments")
  return {
    id,
    runId: related.one("run") as RunId,
    body: own.text("body"),
    createdAt: own.instant("createdAt"),
    createdBy: decodeActor(related.identifierOrNull("createdBy")),
  }
}

const actionSchema = z.object({ comment: z.string().nullish() })

/** The comment of an action, whose body is no JSON:API document and may be absent. */
export const decodeActionComment = (body: unknown): string | undefined =>
  body === undefined || body === null ? undefined : (decodeBody(body, actionSchema).comment ?? undefined)

type Parameters = readonly (readonly [string, string | undefined])[]

/** The other direction of `decodeRunQuery`. */
export const encodeRunQuery = (query: RunQuery): Parameters => [
  ["filter[status]", query.statuses && encodeCommaList(query.statuses)],
  ["filter[source]", query.sources && encodeCommaList(query.sources)],
  ["filter[operation]", query.operations && encodeCommaList(query.operations)],
  ["filter[status_group]", query.unfinished === undefined ? undefined : query.unfinished ? "non_final" : "final"],
  ["search[user]", query.user],
  ["search[commit]", query.commit],
  ["search[basic]", query.text],
]

/** The other direction of `decodeOrganizationRunQuery`. */
export const encodeOrganizationRunQuery = (query: OrganizationRunQuery): Parameters => [
  ...encodeRunQuery(query),
  ["filter[workspace_names]", query.workspaceNames && encodeCommaList(query.workspaceNames)],
  ["filter[agent_pool_names]", query.agentPoolNames && encodeCommaList(query.agentPoolNames)],
]
