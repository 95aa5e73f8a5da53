import { readResource } from "../wire/jsonapi/answer.ts"
import {
  decodeComment,
  decodeRunCapacity,
  decodeRunView,
  encodeCommentInput,
  encodeOrganizationRunQuery,
  encodeRunInput,
  encodeRunQuery,
  encodeRunStep,
  runNames as names,
} from "../wire/jsonapi/run.ts"
import type { RunView } from "../workspaces/run.ts"
import type { Runs } from "../workspaces/runs.ts"
import type { Calls } from "./calls.ts"
import { path, type Transport } from "./transport.ts"
import { workspaceId } from "./workspaces.ts"

export function remoteRuns(calls: Calls, { download }: Transport): Runs {
  const { one, page, done } = calls
  const get = async (id: string): Promise<RunView> => one(decodeRunView, { method: "GET", path: path`/runs/${id}` })
  const act = async (id: string, action: string, comment?: string): Promise<void> =>
    done({
      method: "POST",
      path: path`/runs/${id}/actions/${action}`,
      ...(comment === undefined ? {} : { document: { comment } }),
    })
  /** Plans and applies name their run. */
  const runOf = (type: string) => (resource: unknown) => readResource(resource, type).one("run")

  return {
    create: async (ref, input) =>
      one(decodeRunView, {
        method: "POST",
        path: "/runs",
        document: encodeRunInput(await workspaceId(calls, ref), input),
        names,
      }),
    get,
    getByPlan: async (planId) => get(await one(runOf("plans"), { method: "GET", path: path`/plans/${planId}` })),
    getByApply: async (applyId) => get(await one(runOf("applies"), { method: "GET", path: path`/applies/${applyId}` })),
    async planJson(planId) {
      const json = await download(path`/plans/${planId}/json-output`)
      return json.length === 0 ? undefined : json
    },
    list: async (ref, query, request) =>
      page(decodeRunView, path`/workspaces/${await workspaceId(calls, ref)}/runs`, request, encodeRunQuery(query)),
    listForOrganization: async (organization, query, request) =>
      page(decodeRunView, path`/organizations/${organization}/runs`, request, encodeOrganizationRunQuery(query)),
    queue: async (organization, request) =>
      page(decodeRunView, path`/organizations/${organization}/runs/queue`, request),
    capacity: async (organization) =>
      one(decodeRunCapacity, { method: "GET", path: path`/organizations/${organization}/capacity` }),
    apply: (id, comment) => act(id, "apply", comment),
    discard: (id, comment) => act(id, "discard", comment),
    cancel: (id, comment) => act(id, "cancel", comment),
    forceCancel: (id, comment) => act(id, "force-cancel", comment),
    forceExecute: (id) => act(id, "force-execute"),
    addComment: async (id, body) =>
      one(decodeComment, { method: "POST", path: path`/runs/${id}/comments`, document: encodeCommentInput(body) }),
    comments: async (id, request) => page(decodeComment, path`/runs/${id}/comments`, request),
    comment: async (id) => one(decodeComment, { method: "GET", path: path`/comments/${id}` }),
    advance: async (id, step) =>
      one(decodeRunView, {
        method: "POST",
        path: path`/runs/${id}/actions/transition`,
        document: encodeRunStep(step),
      }),
  }
}
