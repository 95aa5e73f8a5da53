// Runs with their plans and applies as clients of the public API read them (workspace-facts 1.10). Plan and apply have ids
// of their own, but everything they say is the run's.
import { z } from "zod"
import { badRequest } from "../../core/errors.ts"
import { formatInstant, type Instant } from "../../core/time.ts"
import type { RunInput, RunStep, RunView } from "../../workspaces/run.ts"
import {
  applyStatus,
  isCancelable,
  isConfirmable,
  isDiscardable,
  isRunStatus,
  planStatus,
  type RunStatus,
  runStatuses,
} from "../../workspaces/run-status.ts"
import { messageFaults } from "../../workspaces/run-rules.ts"
import type { RunQuery } from "../../workspaces/run-store.ts"
import { decodeActor } from "./actor.ts"
import type { ConfigurationVersionId, RunId, WorkspaceId } from "../../core/ids.ts"
import { type MembersReader, readResource } from "./answer.ts"
import { decodeBody, decodeDocument, encodeDocument, type RequestDocument, type Resource, toOne } from "./document.ts"
import { attributePointers } from "./errors.ts"
import { dashedMembers } from "./member-name.ts"
import { decodeCommaList, encodeCommaList } from "./query.ts"
import { ruled } from "./ruled.ts"
import { relatedId, toOneSchema } from "./relationship.ts"

export const runPointers = attributePointers(["configurationVersion", "workspace"])

const runSchema = z.object({
  attributes: z
    .object({
      message: ruled(messageFaults).nullish(),
      "is-destroy": z.boolean().nullish(),
      "auto-apply": z.boolean().nullish(),
      "plan-only": z.boolean().nullish(),
      "refresh-only": z.boolean().nullish(),
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
    },
  }
}

const stepSchema = z.object({ status: z.enum(runStatuses), "has-changes": z.boolean().nullish() })
const stepDocument = z.object({ data: z.object({ attributes: stepSchema }) })

/** `{ status }` bare or as a document, like the body of a lock. */
export function decodeRunStep(body: unknown): RunStep {
  const bare = typeof body === "object" && body !== null && "status" in body
  const step = bare ? decodeBody(body, stepSchema) : decodeBody(body, stepDocument).data.attributes
  return { status: step.status, hasChanges: step["has-changes"] ?? null }
}

export function decodeRunQuery(query: URLSearchParams): RunQuery {
  const parameter = "filter[status]"
  const statuses = decodeCommaList(query.get(parameter))
  if (statuses === undefined) return {}
  const known = statuses.filter(isRunStatus)
  if (known.length < statuses.length)
    throw badRequest("The status filter is not valid.", [
      { detail: `${parameter} must be among ${runStatuses.join(", ")}`, parameter },
    ])
  const [first, ...rest] = known
  return first === undefined ? {} : { statuses: [first, ...rest] }
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
      "status-timestamps": Object.fromEntries(
        Object.entries(run.statusTimestamps).map(([reached, at]) => [
          `${reached.replaceAll("_", "-")}-at`,
          formatInstant(at),
        ]),
      ),
      "target-addrs": null,
      actions: {
        "is-cancelable": isCancelable(status),
        "is-confirmable": isConfirmable(status) && !run.planOnly,
        "is-discardable": isDiscardable(status),
        "is-force-cancelable": isCancelable(status),
      },
      permissions: {
        "can-apply": permissions.canApply,
        "can-cancel": permissions.canCancel,
        "can-discard": permissions.canDiscard,
        "can-force-cancel": permissions.canForceCancel,
      },
    },
    relationships: {
      workspace: toOne("workspaces", run.workspaceId),
      "configuration-version": toOne("configuration-versions", run.configurationVersionId),
      "created-by": run.createdBy === null ? { data: null } : toOne(run.createdBy.kind, run.createdBy.id),
      plan: { ...toOne("plans", run.planId), links: { related: `${path}/plan` } },
      apply: { ...toOne("applies", run.applyId), links: { related: `${path}/apply` } },
    },
    links: { self: path },
  }
}

export const encodePlan = (run: RunView): Resource => {
  const { statusTimestamps: reached } = run
  return encodeStage(run, "plans", run.planId, {
    status: planStatus(run.status, reached),
    "has-changes": run.hasChanges,
    "status-timestamps": stageTimestamps({
      queued: reached.plan_queued,
      started: reached.planning,
      finished: reached.planned ?? reached.planned_and_finished ?? reached.planned_and_saved,
    }),
  })
}

export const encodeApply = (run: RunView): Resource => {
  const { statusTimestamps: reached } = run
  return encodeStage(run, "applies", run.applyId, {
    status: applyStatus(run.status, reached),
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
  attributes: { ...attributes, "log-read-url": null },
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
    hasChanges: own.flag("hasChanges"),
    createdAt: own.instant("createdAt"),
    createdBy: decodeActor(related.identifierOrNull("createdBy")),
    statusTimestamps: decodeTimestamps(own.members("statusTimestamps")),
    configurationVersionId: related.oneOrNull("configurationVersion") as ConfigurationVersionId | null,
    planId: related.one("plan"),
    applyId: related.one("apply"),
    permissions: own.members("permissions").flags(["canApply", "canCancel", "canDiscard", "canForceCancel"]),
  }
}

function decodeTimestamps(reached: MembersReader): RunView["statusTimestamps"] {
  const member = (status: RunStatus) => `${status.replaceAll("_", "-")}-at`
  return Object.fromEntries(
    runStatuses
      .filter((status) => reached.has(member(status)))
      .map((status) => [status, reached.instant(member(status))]),
  )
}

/** The other direction of `decodeRun`. */
export const encodeRunInput = (workspaceId: string, { configurationVersionId, ...input }: RunInput): RequestDocument =>
  encodeDocument("runs", dashedMembers(input), {
    workspace: toOne("workspaces", workspaceId),
    "configuration-version": toOne("configuration-versions", configurationVersionId),
  })

/** The other direction of `decodeRunStep`. */
export const encodeRunStep = (step: RunStep): RequestDocument => encodeDocument("runs", dashedMembers(step))

/** The other direction of `decodeRunQuery`. */
export const encodeRunQuery = ({ statuses }: RunQuery): readonly (readonly [string, string | undefined])[] => [
  ["filter[status]", statuses && encodeCommaList(statuses)],
]
