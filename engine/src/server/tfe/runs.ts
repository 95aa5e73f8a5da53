import { signedAddresses } from "../../contracts/tfe/open-address.ts"
import { applyOf, planOf, type runEventParts, runQueryOf, runs, type runParts } from "../../contracts/tfe/run.ts"
import type { Page } from "../../core/page.ts"
import type { RunEvent, RunView } from "../../workspaces/runs/run.ts"
import type { RunLogs } from "../../workspaces/runs/run-logs.ts"
import { besideRunEvents, besideRuns } from "./included.ts"
import { once } from "../http/body.ts"
import { decodeQuery, implement } from "./implement.ts"
import { addressOf, type ApiRequest, baseOf, type OpenRoute, param } from "./route.ts"

type Include = readonly (typeof runParts)[number][] | undefined

const includedIn = async ({ engine }: ApiRequest, found: readonly RunView[], include: Include) =>
  include === undefined ? {} : { included: await besideRuns(engine, found, new Set(include)) }

const withIncluded = async (request: ApiRequest, page: Page<RunView>, include: Include) => ({
  ...page,
  ...(await includedIn(request, page.items, include)),
})

const includedInEvents = async (
  { engine }: ApiRequest,
  events: readonly RunEvent[],
  include: readonly (typeof runEventParts)[number][] | undefined,
) => (include === undefined ? {} : { included: await besideRunEvents(engine, events, new Set(include)) })

/** Returns the URL of a log. The credential is in the path, because clients replace the query with the range that they read. */
const logAddress = (request: ApiRequest, id: string): string =>
  `${baseOf(request)}/logs/${id}/${request.engine.runLogs.grant(id)}`
const planWithLog = (request: ApiRequest, run: RunView) => planOf(run, logAddress(request, run.planId))
const applyWithLog = (request: ApiRequest, run: RunView) => applyOf(run, logAddress(request, run.applyId))

export const runRoutes = implement(runs, {
  create: ({ engine }, { workspaceId, ...input }) => engine.runs.create({ id: workspaceId }, input),
  async get(request, id, { include }) {
    const data = await request.engine.runs.get(id)
    return { data, ...(await includedIn(request, [data], include)) }
  },
  list: async (request, id, query, page) =>
    withIncluded(request, await request.engine.runs.list({ id }, runQueryOf(query), page), query.include),
  listForOrganization: async (request, organization, query, page) =>
    withIncluded(
      request,
      await request.engine.runs.listForOrganization(organization, runQueryOf(query), page),
      query.include,
    ),
  queue: ({ engine }, organization, page) => engine.runs.queue(organization, page),
  capacity: async ({ engine }, id) => ({ id, ...(await engine.runs.capacity(id)) }),
  apply: ({ engine }, id, comment) => engine.runs.apply(id, comment),
  discard: ({ engine }, id, comment) => engine.runs.discard(id, comment),
  cancel: ({ engine }, id, comment) => engine.runs.cancel(id, comment),
  forceCancel: ({ engine }, id, comment) => engine.runs.forceCancel(id, comment),
  forceExecute: ({ engine }, id) => engine.runs.forceExecute(id),
  addComment: ({ engine }, id, { body }) => engine.runs.addComment(id, body),
  comments: ({ engine }, id, page) => engine.runs.comments(id, page),
  comment: ({ engine }, id) => engine.runs.comment(id),
  async events(request, id, { include }) {
    const items = await request.engine.runs.events(id)
    return { items, ...(await includedInEvents(request, items, include)) }
  },
  async event(request, id, { include }) {
    const data = await request.engine.runs.event(id)
    return { data, ...(await includedInEvents(request, [data], include)) }
  },
  advance: ({ engine }, id, step) => engine.runs.advance(id, step),
  planOfRun: async (request, id) => planWithLog(request, await request.engine.runs.get(id)),
  applyOfRun: async (request, id) => applyWithLog(request, await request.engine.runs.get(id)),
  getPlan: async (request, id) => planWithLog(request, await request.engine.runs.getByPlan(id)),
  planJson: ({ engine }, id) => engine.runs.planJson(id),
  planJsonOfRun: async ({ engine }, id) => engine.runs.planJson((await engine.runs.get(id)).planId),
  redactedPlanJson: ({ engine }, id) => engine.runs.redactedPlanJson(id),
  getApply: async (request, id) => applyWithLog(request, await request.engine.runs.getByApply(id)),
})

const logSliceDefault = 1024 * 1024
const { readLog } = signedAddresses

/** Serves the log of a plan or an apply as far as it is written. The address is the credential. */
export const runLogRoutes = (logs: RunLogs): readonly OpenRoute[] => [
  {
    ...addressOf(readLog),
    handle: async (request) => {
      const { offset = 0, limit = logSliceDefault } = decodeQuery(readLog.query, request.query)
      const [id, credential] = [param(request, "id"), param(request, "credential")]
      const bytes = await logs.read({ id, credential, offset, limit })
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
