import { Readable } from "node:stream"
import { signedAddresses } from "../contracts/tfe/open-address.ts"
import { runClaims } from "../contracts/tfe/run-claim.ts"
import { listQueryOf, runs } from "../contracts/tfe/run.ts"
import type { Runs } from "../workspaces/runs/run-api.ts"
import type { RunClaims } from "../workspaces/runs/run-claim.ts"
import type { RunView } from "../workspaces/runs/run.ts"
import { filled as filledPath, remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"
import { byWorkspaceId, workspaceId } from "./workspaces.ts"

export function remoteRuns(transport: Transport): Runs {
  const { planOfRun: _plan, applyOfRun: _apply, planJsonOfRun: _json, ...same } = remote(runs, transport)
  const { getPlan, getApply, ...rest } = same
  const get = async (id: string): Promise<RunView> => (await same.get(id, {})).data
  return {
    ...rest,
    create: async (ref, input) => same.create({ ...input, workspaceId: await workspaceId(transport, ref) }),
    get,
    getByPlan: async (planId) => get((await getPlan(planId)).runId),
    getByApply: async (applyId) => get((await getApply(applyId)).runId),
    planJson: async (planId) => filled(await same.planJson(planId)),
    redactedPlanJson: async (planId) => filled(await same.redactedPlanJson(planId)),
    list: byWorkspaceId(transport, (id, query, page) => same.list(id, listQueryOf(query), page)),
    listForOrganization: async (organization, query, page) =>
      same.listForOrganization(organization, listQueryOf(query), page),
    async capacity(organization) {
      const { pending, running } = await same.capacity(organization)
      return { pending, running }
    },
    events: (id) => same.events(id, {}),
    event: async (id) => (await same.event(id, {})).data,
    addComment: async (id, body) => same.addComment(id, { body }),
  }
}

/** An answer without content has no bytes. */
const filled = (json: Uint8Array | undefined): Uint8Array | undefined => (json?.length === 0 ? undefined : json)

/** Larger states are uploaded separately, because a document has them in base64. */
const maxInlineState = 512 * 1024

export function remoteRunClaims(transport: Transport): RunClaims {
  const { claimOfOrganization, claimOfWorkspace, claimOfAgentPool, claimOfOwnPool, ...same } = remote(
    runClaims,
    transport,
  )
  return {
    ...same,
    async claim(target, input) {
      switch (target.kind) {
        case "organization":
          return claimOfOrganization(target.name, input)
        case "workspace":
          return claimOfWorkspace(await workspaceId(transport, target.ref), input)
        case "agent-pool":
          return claimOfAgentPool(target.id, input)
        case "own-pool":
          return claimOfOwnPool(input)
        default:
          return target satisfies never
      }
    },
    appendLog: async (id, stage, offset, bytes) => (await same.appendLog(id, stage, { offset }, bytes)).size,
    async createState(id, input) {
      if (input.state === null || input.state.length <= maxInlineState) return same.createState(id, input)
      // A large state is a stream of its own. The URL is the credential.
      const created = await same.createState(id, { ...input, state: null })
      if (created.uploads === null) return created
      await transport.upload(
        filledPath(signedAddresses.uploadState.path, [created.id, "state"]),
        new URLSearchParams({ credential: created.uploads.state }),
        Readable.from([Buffer.from(input.state)]),
      )
      return created
    },
    async createToken(id) {
      const { secret, expiresAt } = await same.createToken(id)
      return { secret, expiresAt }
    },
    sshKey: async (id) => (await same.sshKey(id)).value,
    variables: async (id) =>
      (await same.variables(id)).map(({ key, value, category, hcl, sensitive }) => ({
        key,
        value,
        category,
        hcl,
        sensitive,
      })),
  }
}
