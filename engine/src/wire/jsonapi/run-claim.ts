// Claims of runs and what their executors hand in and need; beyond the public API, whose own executors speak another one.
import { z } from "zod"
import { notFound } from "../../core/errors.ts"
import { formatInstant, secondMs } from "../../core/time.ts"
import { defaultLeaseMs } from "../../workspaces/run-claim-rules.ts"
import type { ClaimInput, ExecutionVariable, RunClaimView } from "../../workspaces/run-claims.ts"
import { type RunDocument, runDocuments, type RunStage, runStages } from "../../workspaces/run-record-store.ts"
import { variableCategories } from "../../workspaces/variable.ts"
import { type Decode, readResource } from "./answer.ts"
import { decodeDocument, encodeDocument, type RequestDocument, type Resource, toOne } from "./document.ts"
import { run } from "../../contracts/tfe/run.ts"

const schema = z.object({
  attributes: z
    .object({
      name: z.string().nullish(),
      "lease-seconds": z.number().nullish(),
      "wait-seconds": z.number().nullish(),
    })
    .prefault({}),
})

const defaultName = "executor"

/** Everything may be left out, the document too. */
export function decodeClaimInput(body: unknown): ClaimInput {
  const { attributes } =
    body === undefined
      ? { attributes: {} }
      : decodeDocument(body, schema, { types: ["run-claims"], typeOptional: true })
  return {
    name: attributes.name ?? defaultName,
    leaseMs: Math.round((attributes["lease-seconds"] ?? defaultLeaseMs / secondMs) * secondMs),
    waitMs: Math.round((attributes["wait-seconds"] ?? 0) * secondMs),
  }
}

/** The other direction of `decodeClaimInput`. */
export const encodeClaimInput = ({ name, leaseMs, waitMs }: ClaimInput): RequestDocument =>
  encodeDocument("run-claims", {
    name,
    "lease-seconds": leaseMs / secondMs,
    "wait-seconds": waitMs / secondMs,
  })

/** With the run beside it. */
export const encodeClaim = (
  claim: RunClaimView,
): { readonly data: Resource; readonly included: readonly Resource[] } => ({
  data: {
    id: claim.id,
    type: "run-claims",
    attributes: {
      name: claim.name,
      "claimed-at": formatInstant(claim.claimedAt),
      "expires-at": formatInstant(claim.expiresAt),
      "workspace-name": claim.workspace.name,
      "organization-name": claim.workspace.organizationName,
      "working-directory": claim.workspace.workingDirectory,
      "terraform-version": claim.workspace.engineVersion,
    },
    relationships: { run: toOne("runs", claim.run.id), workspace: toOne("workspaces", claim.run.workspaceId) },
    links: { self: `/api/v2/run-claims/${claim.id}` },
  },
  included: [run.encode(claim.run)],
})

/** The other direction of `encodeClaim`. */
export const decodeClaim: Decode<RunClaimView> = (resource, included) => {
  const { id, attributes: own, ...related } = readResource(resource, "run-claims")
  return {
    id,
    name: own.text("name"),
    claimedAt: own.instant("claimedAt"),
    expiresAt: own.instant("expiresAt"),
    run: run.decode(included.get(`runs/${related.one("run")}`)),
    workspace: {
      name: own.text("workspaceName"),
      organizationName: own.text("organizationName"),
      workingDirectory: own.textOrNull("workingDirectory"),
      engineVersion: own.text("terraformVersion"),
    },
  }
}

export const encodeExecutionVariable = ({ key, value, category, hcl, sensitive }: ExecutionVariable): Resource => ({
  id: `${category}/${key}`,
  type: "execution-variables",
  attributes: { key, value, category, hcl, sensitive },
})

/** The other direction of `encodeExecutionVariable`. */
export function decodeExecutionVariable(resource: unknown): ExecutionVariable {
  const { attributes: own } = readResource(resource, "execution-variables")
  return {
    key: own.text("key"),
    value: own.text("value"),
    category: own.oneOf("category", variableCategories),
    hcl: own.flag("hcl"),
    sensitive: own.flag("sensitive"),
  }
}

/** How long a log is after what has been appended. */
export const encodeLogSize = (stage: RunStage, size: number) => ({
  data: { id: stage, type: "run-logs", attributes: { size } },
})

/** The other direction of `encodeLogSize`. */
export const decodeLogSize = (resource: unknown): number => readResource(resource, "run-logs").attributes.number("size")

export function decodeStage(text: string): RunStage {
  const stage = runStages.find((name) => name === text)
  if (stage === undefined) throw notFound(text)
  return stage
}

export function decodeRunDocument(text: string): RunDocument {
  const document = runDocuments.find((name) => name === text)
  if (document === undefined) throw notFound(text)
  return document
}
