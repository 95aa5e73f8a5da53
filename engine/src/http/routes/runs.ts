import { decodeInclude } from "../../wire/jsonapi/include.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import {
  decodeActionComment,
  decodeCommentInput,
  decodeLogSlice,
  decodeOrganizationRunQuery,
  decodeRun,
  decodeRunQuery,
  decodeRunStep,
  encodeApply,
  encodeComment,
  encodePlan,
  encodeRun,
  encodeRunCapacity,
  runPointers as pointers,
} from "../../wire/jsonapi/run.ts"
import type { RunView } from "../../workspaces/run.ts"
import type { RunLogs } from "../../workspaces/run-logs.ts"
import type { Runs } from "../../workspaces/runs.ts"
import { besideRuns, runParts } from "../included.ts"
import { once } from "../body.ts"
import {
  type ApiRequest,
  type ApiResponse,
  baseOf,
  created,
  noContent,
  ok,
  type OpenRoute,
  param,
  type Route,
} from "../route.ts"

const idOf = (request: ApiRequest) => param(request, "run_id")

const accepted: ApiResponse = { status: 202 }

/** The body of an action is its comment and nothing else. */
const actionPointers = () => "/comment"

const action = (name: string, act: (runs: Runs, id: string, comment: string | undefined) => Promise<void>): Route => ({
  method: "POST",
  path: `/runs/:run_id/actions/${name}`,
  pointers: actionPointers,
  handle: async (request) => {
    await act(request.engine.runs, idOf(request), decodeActionComment(await request.body()))
    return accepted
  },
})

/** The credential stands in the path: clients put what they want to read into the query, and nothing else. */
const logAddress = (request: ApiRequest, id: string): string =>
  `${baseOf(request)}/logs/${id}/${request.engine.runLogs.grant(id)}`
const planOf = (request: ApiRequest, run: RunView) => encodePlan(run, logAddress(request, run.planId))
const applyOf = (request: ApiRequest, run: RunView) => encodeApply(run, logAddress(request, run.applyId))

/** The document itself, where the public API sends its clients to another address for it. */
async function planJson({ engine }: ApiRequest, planId: string): Promise<ApiResponse> {
  const json = await engine.runs.planJson(planId)
  if (json === undefined) return noContent
  const headers = { "content-type": "application/json", "cache-control": "no-store" }
  return { status: 200, stream: once(json), headers }
}

export const runRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/runs",
    pointers,
    handle: async (request) => {
      const { workspaceId, input } = decodeRun(await request.body())
      return created({ data: encodeRun(await request.engine.runs.create({ id: workspaceId }, input)) })
    },
  },
  {
    method: "GET",
    path: "/runs/:run_id",
    handle: async (request) => {
      const parts = decodeInclude(request.query, runParts)
      const run = await request.engine.runs.get(idOf(request))
      const data = encodeRun(run)
      return ok(parts.size === 0 ? { data } : { data, included: await besideRuns(request.engine, [run], parts) })
    },
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id/runs",
    handle: async (request) => {
      const { engine, query, url } = request
      const workspace = { id: param(request, "workspace_id") }
      const parts = decodeInclude(query, runParts)
      const page = await engine.runs.list(workspace, decodeRunQuery(query), decodePage(query))
      const included = parts.size === 0 ? undefined : await besideRuns(engine, page.items, parts)
      return ok(encodePage(page, encodeRun, url, included))
    },
  },
  {
    method: "GET",
    path: "/organizations/:organization_name/runs",
    handle: async (request) => {
      const { engine, query, url } = request
      const parts = decodeInclude(query, runParts)
      const organization = param(request, "organization_name")
      const page = await engine.runs.listForOrganization(
        organization,
        decodeOrganizationRunQuery(query),
        decodePage(query),
      )
      const included = parts.size === 0 ? undefined : await besideRuns(engine, page.items, parts)
      return ok(encodePage(page, encodeRun, url, included))
    },
  },
  {
    method: "GET",
    path: "/organizations/:organization_name/runs/queue",
    handle: async (request) => {
      const { engine, query, url } = request
      const page = await engine.runs.queue(param(request, "organization_name"), decodePage(query))
      return ok(encodePage(page, encodeRun, url))
    },
  },
  {
    method: "GET",
    path: "/organizations/:organization_name/capacity",
    handle: async (request) => {
      const organization = param(request, "organization_name")
      return ok({ data: encodeRunCapacity(organization, await request.engine.runs.capacity(organization)) })
    },
  },
  action("apply", (runs, id, comment) => runs.apply(id, comment)),
  action("discard", (runs, id, comment) => runs.discard(id, comment)),
  action("cancel", (runs, id, comment) => runs.cancel(id, comment)),
  action("force-cancel", (runs, id, comment) => runs.forceCancel(id, comment)),
  {
    method: "POST",
    path: "/runs/:run_id/actions/force-execute",
    handle: async (request) => {
      await request.engine.runs.forceExecute(idOf(request))
      return accepted
    },
  },
  {
    method: "POST",
    path: "/runs/:run_id/comments",
    handle: async (request) => {
      const body = decodeCommentInput(await request.body())
      return created({ data: encodeComment(await request.engine.runs.addComment(idOf(request), body)) })
    },
  },
  {
    method: "GET",
    path: "/runs/:run_id/comments",
    handle: async (request) => {
      const page = await request.engine.runs.comments(idOf(request), decodePage(request.query))
      return ok(encodePage(page, encodeComment, request.url))
    },
  },
  {
    method: "GET",
    path: "/comments/:comment_id",
    handle: async (request) =>
      ok({ data: encodeComment(await request.engine.runs.comment(param(request, "comment_id"))) }),
  },
  {
    // Beyond the public API: whoever executes runs moves them along with it, one status at a time.
    method: "POST",
    path: "/runs/:run_id/actions/transition",
    handle: async (request) => {
      const step = decodeRunStep(await request.body())
      return ok({ data: encodeRun(await request.engine.runs.advance(idOf(request), step)) })
    },
  },
  {
    method: "GET",
    path: "/runs/:run_id/plan",
    handle: async (request) => ok({ data: planOf(request, await request.engine.runs.get(idOf(request))) }),
  },
  {
    method: "GET",
    path: "/runs/:run_id/apply",
    handle: async (request) => ok({ data: applyOf(request, await request.engine.runs.get(idOf(request))) }),
  },
  {
    method: "GET",
    path: "/plans/:plan_id",
    handle: async (request) =>
      ok({ data: planOf(request, await request.engine.runs.getByPlan(param(request, "plan_id"))) }),
  },
  {
    method: "GET",
    path: "/plans/:plan_id/json-output",
    discloses: true,
    handle: (request) => planJson(request, param(request, "plan_id")),
  },
  {
    method: "GET",
    path: "/runs/:run_id/plan/json-output",
    discloses: true,
    handle: async (request) => planJson(request, (await request.engine.runs.get(idOf(request))).planId),
  },
  {
    method: "GET",
    path: "/applies/:apply_id",
    handle: async (request) =>
      ok({ data: applyOf(request, await request.engine.runs.getByApply(param(request, "apply_id"))) }),
  },
]

/** What a plan or an apply says, as far as it has got: the address is the credential. */
export const runLogRoutes = (logs: RunLogs): readonly OpenRoute[] => [
  {
    method: "GET",
    path: "/logs/:id/:credential",
    handle: async (request) => {
      const slice = decodeLogSlice(request.query)
      const bytes = await logs.read({ id: param(request, "id"), credential: param(request, "credential"), ...slice })
      return {
        status: 200,
        stream: once(bytes),
        headers: {
          "content-type": "text/plain; charset=utf-8",
          "cache-control": "no-store",
          "x-content-type-options": "nosniff",
        },
      }
    },
  },
]
