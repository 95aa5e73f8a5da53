// State versions, their outputs and the resources in them (docs/compatibility.md, "State versions").
import { z } from "zod"
import type { RunId, StateVersionId, WorkspaceId } from "../../core/ids.ts"
import { outputTypes, type ResourceCounts, type StateResource } from "../../workspaces/state/state-file.ts"
import {
  type StateDocument,
  type StateSummary,
  type StateVersionInput,
  type StateVersionOutput,
  stateVersionStatuses,
  type StateVersionView,
} from "../../workspaces/state/state-version.ts"
import { lineageFaults, md5Faults, serialFaults } from "../../workspaces/state/state-version-rules.ts"
import { base64Bytes } from "./json-api/base64.ts"
import { ruled, ruledNumber, toOne } from "./json-api/document.ts"
import { instant } from "../codec.ts"
import { author } from "./actor.ts"
import { credentialAddress } from "./credential-address.ts"
import {
  type Body,
  computed,
  document,
  many,
  mapped,
  one,
  oneOrNull,
  readOnly,
  secret,
  withDefault,
  writable,
} from "./document.ts"
import {
  among,
  contract,
  created,
  inclusionOfParts,
  list,
  nothing,
  page,
  requiredText,
  resource,
  resourceWithIncluded,
  stream,
} from "./endpoint.ts"

const path = (id: string) => `/api/v2/state-versions/${id}`
const aTime = "2026-11-26T12:00:00.000Z"

/** Optional bytes. Clients send an empty string for none. */
const optionalBytes: z.ZodType<Uint8Array | null> = base64Bytes
  .nullish()
  .transform((bytes) => (bytes === null || bytes === undefined || bytes.length === 0 ? null : bytes))
const bytesMember = (rule: string) => ({
  ...secret(optionalBytes, { rule, default: null }),
  required: true as const,
})
const address = (rule: string) => readOnly(credentialAddress.nullable(), { rule })
const counts = z.record(z.string(), z.record(z.string(), z.number())) as z.ZodType<ResourceCounts>

/** Document of a state version, in which members of the summary are attributes. */
const flat = document("state-versions", {
  id: z.custom<StateVersionId>(),
  self: path,
  nullableAttributes: true,
  attributes: {
    createdAt: readOnly(instant, { rule: "Time of creation.", example: aTime }),
    serial: writable(z.number(), {
      input: ruledNumber(serialFaults),
      required: true,
      rule: "Serial of the state, higher than that of the current one.",
      example: 7,
    }),
    md5: writable(z.string(), {
      // Clients send hex in upper or lower case.
      input: ruled((text) => md5Faults(text.toLowerCase())).transform((text) => text.toLowerCase()),
      required: true,
      rule: "MD5 of the state, in hex.",
      example: "d41d8cd98f00b204e9800998ecf8427e",
    }),
    lineage: withDefault(z.string().nullable(), null, {
      input: ruled(lineageFaults).transform((text) => text || null),
      rule: "Lineage of the state, the same in all versions of a workspace.",
      example: "9d57b57e-8f2e-4c2c-9a29-6f1c0b6c3f0a",
    }),
    status: readOnly(z.enum(stateVersionStatuses), {
      rule: "pending until the state is uploaded; finalized afterwards.",
      example: "finalized",
    }),
    intermediate: withDefault(z.boolean(), false, {
      rule: "Snapshot during an apply; it becomes current when the workspace is unlocked.",
      example: true,
    }),
    force: {
      ...withDefault(z.boolean(), false, { rule: "Accept any serial and lineage.", example: true }),
      writeOnly: true as const,
    },
    state: bytesMember("State, in base64. It is uploaded separately if it is left out."),
    jsonState: bytesMember("The same as the tool renders it for programs, in base64."),
    jsonStateOutputs: secret(
      base64Bytes.nullish().transform(() => undefined),
      { rule: "Ignored: outputs are read from the state.", default: null },
    ),
    size: readOnly(z.number().nullable(), { rule: "Size in bytes, once the state is uploaded.", example: 4096 }),
    formatVersion: readOnly(z.number().nullable(), {
      wireName: "state-version",
      rule: "Version of the state's format.",
      example: 4,
    }),
    terraformVersion: readOnly(z.string().nullable(), {
      rule: "Version of the tool that wrote it.",
      example: "1.10.2",
    }),
    engineVersion: computed(z.string().nullable(), (view: Summarized) => view.terraformVersion, {
      rule: "The same as terraform-version.",
      example: "1.10.2",
    }),
    resourcesProcessed: readOnly(z.boolean(), { rule: "Resources and outputs have been read.", example: true }),
    resourceCount: readOnly(z.number().nullable(), { rule: "Number of resources.", example: 12 }),
    resources: readOnly(
      z.array(
        z.object({ name: z.string(), type: z.string(), count: z.number(), module: z.string(), provider: z.string() }),
      ) as z.ZodType<readonly StateResource[]>,
      { rule: "Resources; of a large state the first ones only." },
    ),
    modules: readOnly(counts, { rule: "Numbers of resources by module and type." }),
    providers: readOnly(counts, { rule: "Numbers of resources by provider and type." }),
    vcsCommitSha: readOnly(z.string().nullable(), { rule: "Commit of the configuration." }),
    vcsCommitUrl: readOnly(z.string().nullable(), { rule: "Page of that commit." }),
    billableRumCount: computed(z.number().nullable(), (view: Summarized) => view.resourceCount, {
      rule: "The same as resource-count.",
      example: 12,
    }),
    hostedStateUploadUrl: address("Address to upload the state, which needs no token, while it is pending."),
    hostedJsonStateUploadUrl: address("The same for the tool's rendering."),
    hostedStateDownloadUrl: address("Address of the state, which needs no token for an hour."),
    hostedJsonStateDownloadUrl: address("The same for the tool's rendering."),
  },
  relationships: {
    workspaceId: readOnly(one<WorkspaceId>("workspaces"), { wireName: "workspace", rule: "Workspace." }),
    run: writable(oneOrNull<RunId>("runs"), {
      input: z.codec(z.object({ data: z.object({ id: z.string() }).nullish() }).nullish(), z.custom<RunId | null>(), {
        decode: (linkage) => (linkage?.data?.id ?? null) as RunId | null,
        encode: (id) => (id === null ? undefined : (toOne("runs", id) as { data: { id: string } })),
      }),
      required: true,
      default: null,
      rule: "Run that wrote the state.",
    }),
    createdBy: readOnly(author, { rule: "User, account of the team, or run that created the version." }),
    outputIds: readOnly(many<string>("state-version-outputs"), {
      wireName: "outputs",
      rule: "Outputs.",
      related: ({ id }: { readonly id: string }) => `${path(id)}/outputs`,
    }),
  },
})
type Flat = ReturnType<typeof flat.decode>
interface Summarized {
  readonly terraformVersion: string | null
  readonly resourceCount: number | null
}

const noSummary = {
  size: null,
  formatVersion: null,
  terraformVersion: null,
  resourcesProcessed: false,
  resourceCount: null,
  resources: [],
  modules: {},
  providers: {},
}
const summaryOf = ({ size, formatVersion, resourceCount, ...rest }: Flat): StateSummary | null =>
  size === null || formatVersion === null || resourceCount === null
    ? null
    : {
        size,
        formatVersion,
        resourceCount,
        terraformVersion: rest.terraformVersion,
        resourcesProcessed: rest.resourcesProcessed,
        resources: rest.resources,
        modules: rest.modules,
        providers: rest.providers,
      }

export const stateVersion = mapped(flat, {
  from: ({ summary, runId, uploads, downloads, hasJsonState: _, ...version }: StateVersionView): Flat => ({
    ...version,
    ...(summary ?? noSummary),
    run: runId,
    hostedStateUploadUrl: uploads?.state ?? null,
    hostedJsonStateUploadUrl: uploads?.["json-state"] ?? null,
    hostedStateDownloadUrl: downloads?.state ?? null,
    hostedJsonStateDownloadUrl: downloads?.["json-state"] ?? null,
  }),
  to(view): StateVersionView {
    const [stateUpload, state, jsonState] = [
      view.hostedStateUploadUrl,
      view.hostedStateDownloadUrl || null,
      view.hostedJsonStateDownloadUrl,
    ]
    return {
      id: view.id,
      workspaceId: view.workspaceId,
      serial: view.serial,
      lineage: view.lineage,
      md5: view.md5,
      status: view.status,
      intermediate: view.intermediate,
      createdAt: view.createdAt,
      createdBy: view.createdBy,
      runId: view.run,
      summary: summaryOf(view),
      vcsCommitSha: view.vcsCommitSha,
      vcsCommitUrl: view.vcsCommitUrl,
      outputIds: view.outputIds,
      hasJsonState: jsonState !== null,
      uploads: stateUpload === null ? null : { state: stateUpload, "json-state": view.hostedJsonStateUploadUrl ?? "" },
      downloads: state === null ? null : { state, "json-state": jsonState || null },
    }
  },
})

const downloadPaths: Readonly<Record<StateDocument, string>> = { state: "download", "json-state": "json-download" }

/**
 * Replaces the credentials of a state version by the URLs that contain them. A download URL without a credential needs a token. `base` is
 * the URL of the server: clients use these URLs unchanged.
 */
export function withDocumentAddresses(version: StateVersionView, base: string): StateVersionView {
  const { id, status, uploads, downloads } = version
  const upload = (name: StateDocument) =>
    `${base}/uploads/state-versions/${id}/${name}?${credentialQuery(uploads?.[name] ?? "")}`
  const download = (name: StateDocument) => {
    const credential = downloads?.[name]
    return `${base}${path(id)}/${downloadPaths[name]}${credential ? `?${credentialQuery(credential)}` : ""}`
  }
  return {
    ...version,
    uploads: uploads && { state: upload("state"), "json-state": upload("json-state") },
    downloads:
      status === "finalized"
        ? { state: download("state"), "json-state": version.hasJsonState ? download("json-state") : null }
        : null,
  }
}
const credentialQuery = (credential: string): string => `credential=${encodeURIComponent(credential)}`

/**
 * Body of a new state version. Bytes are encoded here and not by a codec, because the check of a request's text encodes every decoded
 * value.
 */
export const stateVersionInput: Body<StateVersionInput> = {
  ...flat.input,
  decode(sent) {
    const { run, ...input } = flat.input.decode(sent)
    return { ...input, runId: run }
  },
  encode: ({ runId, state, jsonState, ...input }) => {
    const members = { ...input, run: runId as RunId | null, state: base64Of(state), jsonState: base64Of(jsonState) }
    return flat.input.encode(members as never)
  },
}
const base64Of = (bytes: Uint8Array | null): string | undefined =>
  bytes === null ? undefined : Buffer.from(bytes).toString("base64")

const rollback = document("state-versions", {
  id: z.custom<StateVersionId>(),
  nullableAttributes: true,
  attributes: {},
  relationships: {
    rollbackStateVersion: writable(one<string>("state-versions"), {
      required: true,
      rule: "Finalized version whose state is written again.",
    }),
  },
})

const outputMembers = {
  name: readOnly(z.string(), { rule: "Name.", example: "vpc_id" }),
  sensitive: readOnly(z.boolean(), { rule: "Marked as sensitive in the configuration.", example: false }),
}
const outputType = { rule: "Type of the value.", example: "string" }
const detailedType = readOnly(z.unknown(), { rule: "Type in the tool's notation.", example: "string" })

export const stateVersionOutput = document("state-version-outputs", {
  id: z.custom<string>(),
  self: (id) => `/api/v2/state-version-outputs/${id}`,
  attributes: {
    ...outputMembers,
    type: readOnly(z.enum(outputTypes), outputType),
    value: readOnly(z.unknown(), { rule: "Value, sensitive or not.", example: "vpc-0a1b2c" }),
    detailedType,
  },
  relationships: {},
})

/** Output as part of a workspace, without the values of sensitive outputs. */
export const workspaceOutput = document("workspace-outputs", {
  id: z.custom<string>(),
  attributes: {
    ...outputMembers,
    type: readOnly(z.enum(outputTypes), { wireName: "output-type", ...outputType }),
    value: computed(z.unknown(), ({ sensitive, value }: StateVersionOutput) => (sensitive ? null : value), {
      rule: "Value; null if it is sensitive.",
      example: "vpc-0a1b2c",
    }),
    detailedType,
  },
  relationships: {},
})

export const workspaceResource = document("resources", {
  id: z.custom<string>(),
  attributes: {
    address: readOnly(z.string(), { rule: "Address.", example: "module.network.aws_vpc.main" }),
    name: readOnly(z.string(), { rule: "Name.", example: "main" }),
    createdAt: readOnly(instant, { rule: "Time of the first state that had it.", example: aTime }),
    updatedAt: readOnly(instant, { rule: "Time of the last state that changed it.", example: aTime }),
    module: readOnly(z.string(), { rule: "Module; root for the outermost.", example: "network" }),
    provider: readOnly(z.string(), { rule: "Provider.", example: "hashicorp/aws" }),
    providerType: readOnly(z.string(), { rule: "Type.", example: "aws_vpc" }),
    stateVersionId: readOnly(z.string() as z.ZodType<string> as z.ZodType<StateVersionId>, {
      wireName: "modified-by-state-version-id",
      rule: "State version that changed it last.",
      example: "sv-ntv3HbhJqvFzamy7",
    }),
    nameIndex: readOnly(z.string().nullable(), { rule: "Index, of resources with count or for_each.", example: "a" }),
  },
  relationships: {},
})

export const stateVersionParts = [
  "created_by",
  "outputs",
  "run",
  "run.configuration_version",
  "run.created_by",
] as const
const include = {
  parameter: "include",
  schema: inclusionOfParts(...stateVersionParts),
  rule: `Resources beside the versions, with commas between: ${stateVersionParts.join(", ")}.`,
  example: "outputs",
}
const query = {
  statuses: {
    parameter: "filter[status]",
    schema: among("filter[status]", stateVersionStatuses),
    rule: "Statuses, with commas between.",
    example: "finalized",
  },
  include,
}

const snapshots = {
  /** Returns the header that sets the interval of intermediate states during an apply. */
  headers: ({ snapshotIntervalSeconds: seconds }: { readonly snapshotIntervalSeconds: number }) =>
    seconds === 0 ? ({} as Record<string, string>) : { "x-terraform-snapshot-interval": String(seconds) },
}
const ofWorkspace = "/workspaces/:workspace_id/state-versions"
const reads = "`can-read-state-versions` on the workspace."
const readsOutputs = "`can-read-state-outputs` on the workspace."
const writes = "`can-create-state-versions` on the workspace."
const updates = "`can-update` on the workspace. Not in the hosted edition."

export const stateVersions = contract({
  create: {
    method: "POST",
    path: ofWorkspace,
    summary: "Creates a version. Without a state, it is pending until the state is uploaded.",
    rights: `${writes.slice(0, -1)}; the workspace must be locked by the caller.`,
    body: stateVersionInput,
    longStrings: true,
    answers: { ...created(stateVersion), ...snapshots },
  },
  rollback: {
    method: "PATCH",
    path: ofWorkspace,
    summary: "Creates a version with the state of an earlier one.",
    rights: `${writes.slice(0, -1)}; the workspace must be locked by the caller.`,
    body: rollback.input,
    answers: { ...created(stateVersion), ...snapshots },
  },
  resources: {
    method: "GET",
    path: "/workspaces/:workspace_id/resources",
    summary: "Lists the resources in the current state.",
    rights: reads,
    answers: page(workspaceResource),
  },
  softDeleteBackingData: {
    method: "POST",
    path: "/state-versions/:state_version_id/actions/soft_delete_backing_data",
    summary: "Hides the state until it is restored.",
    rights: updates,
    answers: nothing,
  },
  restoreBackingData: {
    method: "POST",
    path: "/state-versions/:state_version_id/actions/restore_backing_data",
    summary: "Restores a hidden state.",
    rights: updates,
    answers: nothing,
  },
  permanentlyDeleteBackingData: {
    method: "POST",
    path: "/state-versions/:state_version_id/actions/permanently_delete_backing_data",
    summary: "Deletes a hidden state.",
    rights: updates,
    answers: nothing,
  },
  list: {
    method: "GET",
    path: ofWorkspace,
    summary: "Lists the versions of a workspace, the newest first.",
    rights: reads,
    query,
    answers: page(stateVersion),
  },
  listOfNamed: {
    method: "GET",
    path: "/state-versions",
    summary: "Lists the versions of a workspace that is named.",
    rights: reads,
    query: {
      organization: {
        parameter: "filter[organization][name]",
        schema: requiredText("filter[organization][name]"),
        required: true,
        rule: "Organization.",
        example: "acme",
      },
      name: {
        parameter: "filter[workspace][name]",
        schema: requiredText("filter[workspace][name]"),
        required: true,
        rule: "Workspace.",
        example: "network",
      },
      ...query,
    },
    answers: page(stateVersion),
  },
  current: {
    method: "GET",
    path: "/workspaces/:workspace_id/current-state-version",
    summary: "Returns the current version.",
    rights: `${reads.slice(0, -1)}, or reading of its state from other workspaces.`,
    query: { include },
    answers: resourceWithIncluded(stateVersion),
  },
  currentOutputs: {
    method: "GET",
    path: "/workspaces/:workspace_id/current-state-version-outputs",
    summary: "Lists the outputs of the current version.",
    rights: `${readsOutputs.slice(0, -1)}, or reading of its state from other workspaces.`,
    discloses: true,
    answers: list(stateVersionOutput),
  },
  get: {
    method: "GET",
    path: "/state-versions/:state_version_id",
    summary: "Returns a version.",
    rights: reads,
    query: { include },
    answers: resourceWithIncluded(stateVersion),
  },
  downloadState: {
    method: "GET",
    path: "/state-versions/:state_version_id/download",
    summary: "Returns the state. With the credential of hosted-state-download-url no token is needed.",
    rights: reads,
    discloses: true,
    answers: stream("application/json"),
  },
  downloadJsonState: {
    method: "GET",
    path: "/state-versions/:state_version_id/json-download",
    summary: "Returns the tool's rendering of the state. With a credential no token is needed.",
    rights: reads,
    discloses: true,
    answers: stream("application/json"),
  },
  outputs: {
    method: "GET",
    path: "/state-versions/:state_version_id/outputs",
    summary: "Lists the outputs of a version.",
    rights: readsOutputs,
    discloses: true,
    answers: page(stateVersionOutput),
  },
  output: {
    method: "GET",
    path: "/state-version-outputs/:output_id",
    summary: "Returns an output.",
    rights: readsOutputs,
    discloses: true,
    answers: resource(stateVersionOutput),
  },
})
