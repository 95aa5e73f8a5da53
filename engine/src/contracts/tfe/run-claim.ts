// Run claims, and the documents that executors send and read. HCP Terraform's own agents use another protocol.
import { z } from "zod"
import { secondMs } from "../../core/time.ts"
import {
  type ClaimInput,
  defaultLeaseMs,
  maxDocument,
  documentTooLarge,
  maxLogChunk,
  logChunkTooLarge,
  type RunClaimView,
} from "../../workspaces/runs/run-claim.ts"
import type { RunDocument } from "../../workspaces/runs/run-repository.ts"
import { variableCategories } from "../../workspaces/variables/variable.ts"
import { decodeOne } from "./json-api/answer.ts"
import { instant } from "../codec.ts"
import { type Body, document, one, readOnly, withDefault } from "./document.ts"
import { type Answer, bytes, contract, created, list, nothing, resource, stream, wholeNumber } from "./endpoint.ts"
import { run, runStep } from "./run.ts"
import { stateVersion, stateVersionInput } from "./state-version.ts"

const aTime = "2026-11-26T12:00:00.000Z"
const seconds = (rule: string, value: number) => ({
  ...withDefault(z.number(), value, { rule, example: value }),
  writeOnly: true as const,
})

export const runClaim = document("run-claims", {
  id: z.custom<string>(),
  self: (id) => `/api/v2/run-claims/${id}`,
  sentTypes: { optional: true },
  attributes: {
    name: withDefault(z.string(), "executor", {
      rule: "Name of the executor, at most 255 characters.",
      example: "runner-1",
    }),
    leaseSeconds: seconds(
      "Seconds without a sign of life after which the claim ends, 10 to 600.",
      defaultLeaseMs / secondMs,
    ),
    waitSeconds: seconds("Seconds to wait for a run, at most 30.", 0),
    claimedAt: readOnly(instant, { rule: "Time of the claim.", example: aTime }),
    expiresAt: readOnly(instant, { rule: "End of the lease.", example: aTime }),
    workspaceName: readOnly(z.string(), { rule: "Workspace.", example: "network" }),
    organizationName: readOnly(z.string(), { rule: "Organization.", example: "acme" }),
    workingDirectory: readOnly(z.string().nullable(), {
      rule: "Folder of the configuration; null for its root.",
      example: "live",
    }),
    engineVersion: readOnly(z.string(), {
      wireName: "terraform-version",
      rule: "Version of the tool, or a constraint. The run may have its own.",
      example: "1.10.2",
    }),
    structuredRunOutputEnabled: readOnly(z.boolean(), {
      rule: "Write the JSON messages of the tool to the log (plan -json), which clients render.",
      example: true,
    }),
    hasSshKey: readOnly(z.boolean(), { rule: "The workspace has an SSH key for modules from Git.", example: false }),
  },
  relationships: {
    runId: readOnly(one<string>("runs"), { wireName: "run", rule: "Run, which is included." }),
    workspaceId: readOnly(one<string>("workspaces"), { wireName: "workspace", rule: "Workspace." }),
  },
})

/** Returns an answer with a claim, in which the run is included. */
const claimAnswer = (status = 200): Answer<RunClaimView> => ({
  status,
  encode: ({ id, name, claimedAt, expiresAt, run: claimed, workspace }) => ({
    data: runClaim.encode({
      id,
      name,
      claimedAt,
      expiresAt,
      workspaceName: workspace.name,
      organizationName: workspace.organizationName,
      workingDirectory: workspace.workingDirectory,
      engineVersion: workspace.engineVersion,
      structuredRunOutputEnabled: workspace.structuredRunOutputEnabled,
      hasSshKey: workspace.hasSshKey,
      runId: claimed.id,
      workspaceId: claimed.workspaceId,
    }),
    included: [run.encode(claimed)],
  }),
  decode: (answer) => decodeOne(answer, decodeClaim),
  document: runClaim,
})
function decodeClaim(sent: unknown, included: ReadonlyMap<string, unknown>): RunClaimView {
  const { id, name, claimedAt, expiresAt, runId, ...workspace } = runClaim.decode(sent)
  return {
    id,
    name,
    claimedAt,
    expiresAt,
    run: run.decode(included.get(`runs/${runId}`)),
    workspace: {
      name: workspace.workspaceName,
      organizationName: workspace.organizationName,
      workingDirectory: workspace.workingDirectory,
      engineVersion: workspace.engineVersion,
      structuredRunOutputEnabled: workspace.structuredRunOutputEnabled,
      hasSshKey: workspace.hasSshKey,
    },
  }
}
/** Answer with a claim, or 204 if no run waits. */
const claimed: Answer<RunClaimView | undefined> = {
  ...claimAnswer(201),
  encode: (claim) => claim && claimAnswer().encode?.(claim, undefined as never),
  decode: (answer) => (answer === undefined ? undefined : decodeOne(answer, decodeClaim)),
  orNothing: true,
}

/** Body of a claim. All members are optional, and so is the document. */
export const claimInput: Body<ClaimInput> = {
  ...runClaim.input,
  decode(sent) {
    const { name, leaseSeconds, waitSeconds } = runClaim.input.decode(sent === undefined ? { data: {} } : sent)
    return { name, leaseMs: Math.round(leaseSeconds * secondMs), waitMs: Math.round(waitSeconds * secondMs) }
  },
  encode: ({ name, leaseMs, waitMs }) =>
    runClaim.input.encode({ name, leaseSeconds: leaseMs / secondMs, waitSeconds: waitMs / secondMs }),
}

export const executionVariable = document("execution-variables", {
  id: z.custom<string>(),
  attributes: {
    key: readOnly(z.string(), { rule: "Name.", example: "region" }),
    value: readOnly(z.string(), { rule: "Value, sensitive or not.", example: "eu-west-1" }),
    category: readOnly(z.enum(variableCategories), {
      rule: "Variable of the tool, or of the environment.",
      example: "env",
    }),
    hcl: readOnly(z.boolean(), { rule: "The value is an expression.", example: false }),
    sensitive: readOnly(z.boolean(), { rule: "The value is a secret.", example: true }),
  },
  relationships: {},
})

export const executionSshKey = document("execution-ssh-keys", {
  id: z.custom<string>(),
  attributes: { value: readOnly(z.string(), { rule: "Private key, as it was stored.", example: "-----BEGIN …" }) },
  relationships: {},
})

export const logSize = document("run-logs", {
  id: z.custom<string>(),
  attributes: { size: readOnly(z.number(), { rule: "Length of the log in bytes.", example: 4096 }) },
  relationships: {},
})

export const claimToken = document("run-claim-tokens", {
  id: z.custom<string>(),
  attributes: {
    secret: readOnly(z.string(), { wireName: "token", rule: "The token itself, this once.", example: "chy_claim-…" }),
    expiresAt: readOnly(instant, {
      wireName: "expired-at",
      rule: "Time from which the token is refused.",
      example: aTime,
    }),
  },
  relationships: {},
})

/** Required, so that a missing offset does not mean the beginning of the log. */
const offset = {
  parameter: "offset",
  required: true as const,
  schema: wholeNumber("offset", { required: true }),
  rule: "Length of the log before these bytes; bytes that are there already must be the same.",
  example: 4096,
}

const octets = "application/octet-stream"
const holder = "The executor that holds the claim."
const applies = "`can-queue-apply` on the workspace of the run, or `can-queue-run` for one that is plan-only."
const claims = "Claims the run that has waited longest, or answers 204."

export const runClaims = contract({
  claimOfOrganization: {
    method: "POST",
    path: "/organizations/:organization_name/run-claims",
    summary: claims,
    rights: applies,
    body: claimInput,
    answers: claimed,
  },
  claimOfWorkspace: {
    method: "POST",
    path: "/workspaces/:workspace_id/run-claims",
    summary: claims,
    rights: applies,
    body: claimInput,
    answers: claimed,
  },
  claimOfAgentPool: {
    method: "POST",
    path: "/agent-pools/:agent_pool_id/run-claims",
    summary: claims,
    rights: "Agents of the pool.",
    body: claimInput,
    answers: claimed,
  },
  claimOfOwnPool: {
    method: "POST",
    path: "/run-claims",
    summary: claims,
    rights: "Agents, for runs of their pool.",
    body: claimInput,
    answers: claimed,
  },
  get: {
    method: "GET",
    path: "/run-claims/:claim_id",
    summary: "Returns a claim and its run.",
    rights: holder,
    answers: claimAnswer(),
  },
  release: {
    method: "DELETE",
    path: "/run-claims/:claim_id",
    summary: "Returns a run to the queue, before its plan or apply begins or while it waits for confirmation.",
    rights: holder,
    answers: nothing,
  },
  heartbeat: {
    method: "POST",
    path: "/run-claims/:claim_id/actions/heartbeat",
    summary: "Renews the lease. Every other request of the claim does so too.",
    rights: holder,
    answers: claimAnswer(),
  },
  createToken: {
    method: "POST",
    path: "/run-claims/:claim_id/authentication-token",
    summary:
      "Creates a token that can continue this claim and do nothing else. It is refused when the claim has ended.",
    rights: "The agent that holds the claim.",
    answers: created(claimToken),
  },
  report: {
    method: "POST",
    path: "/run-claims/:claim_id/actions/report",
    summary: "Moves the run to its next status. The last report may be repeated.",
    rights: holder,
    body: runStep,
    answers: claimAnswer(),
  },
  appendLog: {
    method: "POST",
    path: "/run-claims/:claim_id/logs/:stage",
    summary: "Appends to the log of the plan or the apply (plan, apply), at most 512 KiB at a time.",
    rights: holder,
    query: { offset },
    bytes: { maximum: maxLogChunk, tooLarge: logChunkTooLarge },
    answers: resource(logSize),
  },
  saveDocument: {
    method: "PUT",
    path: "/run-claims/:claim_id/documents/:document",
    summary: "Stores a document of the run until its plan ends, at most 32 MiB.",
    rights: holder,
    bytes: { maximum: maxDocument, tooLarge: (_id = "", name = "") => documentTooLarge(name as RunDocument) },
    answers: nothing,
  },
  document: {
    method: "GET",
    path: "/run-claims/:claim_id/documents/:document",
    summary: "Returns a document of the run.",
    rights: holder,
    discloses: true,
    answers: bytes(octets),
  },
  configuration: {
    method: "GET",
    path: "/run-claims/:claim_id/configuration",
    summary: "Returns the archive of the run's configuration.",
    rights: holder,
    answers: bytes(octets),
  },
  sshKey: {
    method: "GET",
    path: "/run-claims/:claim_id/ssh-key",
    summary: "Returns the private SSH key of the workspace.",
    rights: holder,
    discloses: true,
    answers: { ...resource(executionSshKey), headers: () => ({ "cache-control": "no-store" }) },
  },
  state: {
    method: "GET",
    path: "/run-claims/:claim_id/state",
    summary: "Returns the current state of the workspace.",
    rights: holder,
    discloses: true,
    answers: stream(octets),
  },
  createState: {
    method: "POST",
    path: "/run-claims/:claim_id/state-versions",
    summary: "Creates a state version in the name of the run, while it is applying.",
    rights: holder,
    body: stateVersionInput,
    longStrings: true,
    answers: created(stateVersion),
  },
  variables: {
    method: "GET",
    path: "/run-claims/:claim_id/variables",
    summary: "Lists the variables of the workspace with their values, sensitive ones too.",
    rights: holder,
    discloses: true,
    answers: { ...list(executionVariable), headers: () => ({ "cache-control": "no-store" }) },
  },
})
