import { runClaims } from "../../contracts/tfe/run-claim.ts"
import { withDocumentAddresses } from "../../contracts/tfe/state-version.ts"
import { notFound } from "../../core/errors.ts"
import { runDocuments, runStages } from "../../workspaces/runs/run-repository.ts"
import { implement } from "./implement.ts"
import { baseOf } from "./route.ts"

function named<T extends string>(all: readonly T[], text: string): T {
  const found = all.find((name) => name === text)
  if (found === undefined) throw notFound(text)
  return found
}

export const runClaimRoutes = implement(runClaims, {
  claimOfOrganization: ({ engine }, name, input) => engine.runClaims.claim({ kind: "organization", name }, input),
  claimOfWorkspace: ({ engine }, id, input) => engine.runClaims.claim({ kind: "workspace", ref: { id } }, input),
  claimOfAgentPool: ({ engine }, id, input) => engine.runClaims.claim({ kind: "agent-pool", id }, input),
  claimOfOwnPool: ({ engine }, input) => engine.runClaims.claim({ kind: "own-pool" }, input),
  get: ({ engine }, id) => engine.runClaims.get(id),
  release: ({ engine }, id) => engine.runClaims.release(id),
  heartbeat: ({ engine }, id) => engine.runClaims.heartbeat(id),
  createToken: async ({ engine }, id) => ({ id, ...(await engine.runClaims.createToken(id)) }),
  report: ({ engine }, id, step) => engine.runClaims.report(id, step),
  appendLog: async ({ engine }, id, stage, { offset }, bytes) => ({
    id: stage,
    size: await engine.runClaims.appendLog(id, named(runStages, stage), offset, bytes),
  }),
  saveDocument: async ({ engine }, id, document, bytes) =>
    engine.runClaims.saveDocument(id, named(runDocuments, document), bytes),
  document: async ({ engine }, id, document) => engine.runClaims.document(id, named(runDocuments, document)),
  configuration: ({ engine }, id) => engine.runClaims.configuration(id),
  sshKey: async ({ engine }, id) => ({ id, value: await engine.runClaims.sshKey(id) }),
  state: ({ engine }, id) => engine.runClaims.state(id),
  createState: async (request, id, input) =>
    withDocumentAddresses(await request.engine.runClaims.createState(id, input), baseOf(request)),
  variables: async ({ engine }, id) =>
    (await engine.runClaims.variables(id)).map((variable) => ({
      id: `${variable.category}/${variable.key}`,
      ...variable,
    })),
})
