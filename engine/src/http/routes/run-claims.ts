import { badRequest } from "../../core/errors.ts"
import { attributePointers } from "../../wire/jsonapi/errors.ts"
import { runStep } from "../../contracts/tfe/run.ts"
import {
  decodeClaimInput,
  decodeRunDocument,
  decodeStage,
  encodeClaim,
  encodeExecutionVariable,
  encodeLogSize,
} from "../../wire/jsonapi/run-claim.ts"
import { stateVersion, stateVersionInput, withDocumentAddresses } from "../../contracts/tfe/state-version.ts"
import { documentMaximum, documentTooLarge, logPieceMaximum, pieceTooLarge } from "../../workspaces/run-claim-rules.ts"
import type { ClaimTarget } from "../../workspaces/run-claims.ts"
import { gathered, once } from "../body.ts"
import { type ApiRequest, type ApiResponse, baseOf, created, noContent, ok, param, type Route } from "../route.ts"

const idOf = (request: ApiRequest) => param(request, "claim_id")
const pointers = attributePointers()

async function claim(request: ApiRequest, target: ClaimTarget): Promise<ApiResponse> {
  const input = decodeClaimInput(await request.body())
  const claimed = await request.engine.runClaims.claim(target, input)
  return claimed === undefined ? noContent : created(encodeClaim(claimed))
}

const octetsOf = (stream: AsyncIterable<Uint8Array>): ApiResponse => ({
  status: 200,
  stream,
  headers: { "content-type": "application/octet-stream", "cache-control": "no-store" },
})

/** Where a piece of a log begins; the beginning is never meant by silence. */
function offsetOf({ query }: ApiRequest): number {
  const text = query.get("offset") ?? ""
  if (!/^\d{1,15}$/.test(text))
    throw badRequest("The offset is not valid.", [
      { detail: "offset must be an integer from 0 on", parameter: "offset" },
    ])
  return Number(text)
}

export const runClaimRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/organizations/:organization_name/run-claims",
    pointers,
    handle: (request) => claim(request, { kind: "organization", name: param(request, "organization_name") }),
  },
  {
    method: "POST",
    path: "/workspaces/:workspace_id/run-claims",
    pointers,
    handle: (request) => claim(request, { kind: "workspace", ref: { id: param(request, "workspace_id") } }),
  },
  {
    method: "POST",
    path: "/agent-pools/:agent_pool_id/run-claims",
    pointers,
    handle: (request) => claim(request, { kind: "agent-pool", id: param(request, "agent_pool_id") }),
  },
  {
    method: "GET",
    path: "/run-claims/:claim_id",
    handle: async (request) => ok(encodeClaim(await request.engine.runClaims.get(idOf(request)))),
  },
  {
    method: "DELETE",
    path: "/run-claims/:claim_id",
    handle: async (request) => {
      await request.engine.runClaims.release(idOf(request))
      return noContent
    },
  },
  {
    method: "POST",
    path: "/run-claims/:claim_id/actions/heartbeat",
    handle: async (request) => ok(encodeClaim(await request.engine.runClaims.heartbeat(idOf(request)))),
  },
  {
    method: "POST",
    path: "/run-claims/:claim_id/actions/report",
    pointers,
    handle: async (request) => {
      const step = runStep.decode(await request.body())
      return ok(encodeClaim(await request.engine.runClaims.report(idOf(request), step)))
    },
  },
  {
    method: "POST",
    path: "/run-claims/:claim_id/logs/:stage",
    handle: async (request) => {
      const stage = decodeStage(param(request, "stage"))
      const offset = offsetOf(request)
      const size = await request.engine.runClaims.appendLog(
        idOf(request),
        stage,
        offset,
        await gathered(request.stream(), logPieceMaximum, pieceTooLarge),
      )
      return ok(encodeLogSize(stage, size))
    },
  },
  {
    method: "PUT",
    path: "/run-claims/:claim_id/documents/:document",
    pointers,
    handle: async (request) => {
      const document = decodeRunDocument(param(request, "document"))
      await request.engine.runClaims.saveDocument(
        idOf(request),
        document,
        await gathered(request.stream(), documentMaximum, () => documentTooLarge(document)),
      )
      return noContent
    },
  },
  {
    method: "GET",
    path: "/run-claims/:claim_id/documents/:document",
    discloses: true,
    handle: async (request) => {
      const document = decodeRunDocument(param(request, "document"))
      return octetsOf(once(await request.engine.runClaims.document(idOf(request), document)))
    },
  },
  {
    method: "GET",
    path: "/run-claims/:claim_id/configuration",
    handle: async (request) => octetsOf(once(await request.engine.runClaims.configuration(idOf(request)))),
  },
  {
    method: "GET",
    path: "/run-claims/:claim_id/state",
    discloses: true,
    handle: async (request) => octetsOf(await request.engine.runClaims.state(idOf(request))),
  },
  {
    method: "POST",
    path: "/run-claims/:claim_id/state-versions",
    longStrings: true,
    pointers: attributePointers(["run"]),
    handle: async (request) => {
      const input = stateVersionInput.decode(await request.body())
      const version = await request.engine.runClaims.createState(idOf(request), input)
      return created({ data: stateVersion.encode(withDocumentAddresses(version, baseOf(request))) })
    },
  },
  {
    method: "GET",
    path: "/run-claims/:claim_id/variables",
    discloses: true,
    handle: async (request) => {
      const variables = await request.engine.runClaims.variables(idOf(request))
      return { ...ok({ data: variables.map(encodeExecutionVariable) }), headers: { "cache-control": "no-store" } }
    },
  },
]
