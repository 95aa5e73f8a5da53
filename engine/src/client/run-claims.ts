import { decodeOne } from "../wire/jsonapi/answer.ts"
import { runStep } from "../contracts/tfe/run.ts"
import { decodeClaim, decodeExecutionVariable, decodeLogSize, encodeClaimInput } from "../wire/jsonapi/run-claim.ts"
import { stateVersion, stateVersionInput } from "../contracts/tfe/state-version.ts"
import type { ClaimTarget, RunClaims } from "../workspaces/run-claims.ts"
import { type Calls, queryOf } from "./calls.ts"
import { path, type Transport } from "./transport.ts"
import { workspaceId } from "./workspaces.ts"

const mediaType = "application/octet-stream"

export function remoteRunClaims(calls: Calls, { send, download, downloadStream }: Transport): RunClaims {
  const { one, all, done } = calls

  async function whereOf(target: ClaimTarget): Promise<string> {
    switch (target.kind) {
      case "organization":
        return path`/organizations/${target.name}/run-claims`
      case "workspace":
        return path`/workspaces/${await workspaceId(calls, target.ref)}/run-claims`
      case "agent-pool":
        return path`/agent-pools/${target.id}/run-claims`
      default:
        return target satisfies never
    }
  }

  return {
    async claim(target, input) {
      const request = { method: "POST", path: await whereOf(target), document: encodeClaimInput(input) } as const
      const answer = await send(request)
      return answer === undefined ? undefined : decodeOne(answer, decodeClaim)
    },
    get: async (id) => one(decodeClaim, { method: "GET", path: path`/run-claims/${id}` }),
    heartbeat: async (id) => one(decodeClaim, { method: "POST", path: path`/run-claims/${id}/actions/heartbeat` }),
    report: async (id, step) =>
      one(decodeClaim, {
        method: "POST",
        path: path`/run-claims/${id}/actions/report`,
        document: runStep.encode(step),
      }),
    release: async (id) => done({ method: "DELETE", path: path`/run-claims/${id}` }),
    appendLog: async (id, stage, offset, bytes) =>
      one(decodeLogSize, {
        method: "POST",
        path: path`/run-claims/${id}/logs/${stage}`,
        query: queryOf([["offset", String(offset)]]),
        octets: { mediaType, body: bytes },
      }),
    saveDocument: async (id, document, bytes) =>
      done({
        method: "PUT",
        path: path`/run-claims/${id}/documents/${document}`,
        octets: { mediaType, body: bytes },
      }),
    document: async (id, document) => download(path`/run-claims/${id}/documents/${document}`),
    configuration: async (id) => download(path`/run-claims/${id}/configuration`),
    state: async (id) => downloadStream(path`/run-claims/${id}/state`),
    createState: async (id, input) =>
      one(stateVersion.decode, {
        method: "POST",
        path: path`/run-claims/${id}/state-versions`,
        document: stateVersionInput.encode(input),
      }),
    variables: async (id) => all(decodeExecutionVariable, { method: "GET", path: path`/run-claims/${id}/variables` }),
  }
}
