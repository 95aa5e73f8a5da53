// State versions and their outputs, as in HCP Terraform (docs/compatibility.md, "State versions").
import { z } from "zod"
import { badRequest } from "../../core/errors.ts"
import type { RunId, StateVersionId, WorkspaceId } from "../../core/ids.ts"
import { formatInstant } from "../../core/time.ts"
import { outputTypes, type ResourceCounts, type StateResource } from "../../workspaces/state-file.ts"
import {
  type StateDocument,
  type StateSummary,
  type StateVersionInput,
  type StateVersionOutput,
  stateVersionStatuses,
  type StateVersionView,
} from "../../workspaces/state-version.ts"
import type { StateVersionQuery } from "../../workspaces/state-version-store.ts"
import { lineageFaults, md5Faults, serialFaults } from "../../workspaces/state-version-rules.ts"
import { base64Bytes } from "./base64.ts"
import { decodeActor } from "./actor.ts"
import { MembersReader, readResource } from "./answer.ts"
import { decodeDocument, encodeDocument, type RequestDocument, type Resource, toMany, toOne } from "./document.ts"
import { dashedMembers } from "./member-name.ts"
import { ruled, ruledNumber } from "./ruled.ts"
import { decodeCommaList, encodeCommaList } from "./query.ts"

const dataSchema = z.object({
  attributes: z.object({
    serial: ruledNumber(serialFaults),
    // Either case of hex is in use.
    md5: ruled((text) => md5Faults(text.toLowerCase())).transform((text) => text.toLowerCase()),
    lineage: ruled(lineageFaults).nullish(),
    force: z.boolean().nullish(),
    intermediate: z.boolean().nullish(),
    state: base64Bytes.nullish(),
    "json-state": base64Bytes.nullish(),
    // The outputs of the state itself are read; this copy is only checked.
    "json-state-outputs": base64Bytes.nullish(),
  }),
  relationships: z.object({ run: z.object({ data: z.object({ id: z.string() }).nullish() }).nullish() }).nullish(),
})

export function decodeStateVersion(body: unknown): StateVersionInput {
  const { attributes, relationships } = decodeDocument(body, dataSchema, { types: ["state-versions"] })
  return {
    serial: attributes.serial,
    md5: attributes.md5,
    lineage: attributes.lineage === "" ? null : (attributes.lineage ?? null),
    force: attributes.force ?? false,
    intermediate: attributes.intermediate ?? false,
    runId: relationships?.run?.data?.id ?? null,
    state: present(attributes.state),
    jsonState: present(attributes["json-state"]),
  }
}

/** Clients send empty text for "not given". */
const present = (bytes: Uint8Array | null | undefined): Uint8Array | null =>
  bytes === null || bytes === undefined || bytes.length === 0 ? null : bytes

const rollbackSchema = z.object({
  relationships: z.object({
    "rollback-state-version": z.object({ data: z.object({ type: z.literal("state-versions"), id: z.string() }) }),
  }),
})

/** The id of the version to go back to. */
export const decodeRollback = (body: unknown): string =>
  decodeDocument(body, rollbackSchema, { types: ["state-versions"] }).relationships["rollback-state-version"].data.id

/** The other direction. */
export const encodeRollback = (id: string): RequestDocument =>
  encodeDocument("state-versions", {}, { "rollback-state-version": toOne("state-versions", id) })

export function decodeStateVersionQuery(query: URLSearchParams): StateVersionQuery {
  const parameter = "filter[status]"
  const statuses = decodeCommaList(query.get(parameter))
  if (statuses === undefined) return {}
  const [first, ...rest] = stateVersionStatuses.filter((status) => statuses.includes(status))
  if (first === undefined || statuses.some((status) => !(stateVersionStatuses as readonly string[]).includes(status)))
    throw badRequest("The status filter is not valid.", [
      { detail: `${parameter} must be among ${stateVersionStatuses.join(", ")}`, parameter },
    ])
  return { statuses: [first, ...rest] }
}

/** `base` is the address of the server, without the API's prefix: clients follow these addresses as they are. */
export function encodeStateVersion(version: StateVersionView, base: string): Resource {
  const { summary, uploads, downloads } = version
  const path = `/api/v2/state-versions/${version.id}`
  const upload = (document: StateDocument) =>
    uploads === null ? null : uploadAddress(base, version.id, document, uploads)
  const download = (document: StateDocument) => {
    const credential = downloads?.[document]
    return `${base}${path}/${downloadPaths[document]}${credential ? `?${credentialQuery(credential)}` : ""}`
  }
  return {
    id: version.id,
    type: "state-versions",
    attributes: {
      "created-at": formatInstant(version.createdAt),
      serial: version.serial,
      lineage: version.lineage,
      md5: version.md5,
      status: version.status,
      intermediate: version.intermediate,
      size: summary?.size ?? null,
      "state-version": summary?.formatVersion ?? null,
      "terraform-version": summary?.terraformVersion ?? null,
      "engine-version": summary?.terraformVersion ?? null,
      "resources-processed": summary?.resourcesProcessed ?? false,
      "resource-count": summary?.resourceCount ?? null,
      resources: summary?.resources ?? [],
      modules: summary?.modules ?? {},
      providers: summary?.providers ?? {},
      "vcs-commit-sha": version.vcsCommitSha,
      "vcs-commit-url": version.vcsCommitUrl,
      "billable-rum-count": summary?.resourceCount ?? null,
      "hosted-state-upload-url": upload("state"),
      "hosted-json-state-upload-url": upload("json-state"),
      "hosted-state-download-url": version.status === "finalized" ? download("state") : null,
      "hosted-json-state-download-url":
        version.status === "finalized" && version.hasJsonState ? download("json-state") : null,
    },
    relationships: {
      workspace: toOne("workspaces", version.workspaceId),
      run: toOne("runs", version.runId),
      "created-by": version.createdBy === null ? { data: null } : toOne(version.createdBy.kind, version.createdBy.id),
      outputs: { ...toMany("state-version-outputs", version.outputIds), links: { related: `${path}/outputs` } },
    },
    links: { self: path },
  }
}

const uploadAddress = (
  base: string,
  id: string,
  document: StateDocument,
  credentials: Readonly<Record<StateDocument, string>>,
): string => `${base}/uploads/state-versions/${id}/${document}?${credentialQuery(credentials[document])}`

const credentialQuery = (credential: string): string => `credential=${encodeURIComponent(credential)}`

/** Below a state version. With a credential the address asks for no token, and with a token for no credential. */
export const downloadPaths: Readonly<Record<StateDocument, string>> = {
  state: "download",
  "json-state": "json-download",
}

export const encodeStateVersionOutput = (output: StateVersionOutput): Resource => ({
  id: output.id,
  type: "state-version-outputs",
  attributes: {
    name: output.name,
    sensitive: output.sensitive,
    type: output.type,
    value: output.value,
    "detailed-type": output.detailedType,
  },
  links: { self: `/api/v2/state-version-outputs/${output.id}` },
})

/** The same output as a workspace's `include=outputs` shows it; secrets stay unsaid. */
export const encodeWorkspaceOutput = (output: StateVersionOutput): Resource => ({
  id: output.id,
  type: "workspace-outputs",
  attributes: {
    name: output.name,
    sensitive: output.sensitive,
    "output-type": output.type,
    value: output.sensitive ? null : output.value,
    "detailed-type": output.detailedType,
  },
})

/** The other direction of `encodeStateVersion`. */
export function decodeStateVersionView(resource: unknown): StateVersionView {
  const { id, attributes: own, ...related } = readResource(resource, "state-versions")
  return {
    id: id as StateVersionId,
    workspaceId: related.one("workspace") as WorkspaceId,
    serial: own.number("serial"),
    lineage: own.textOrNull("lineage"),
    md5: own.text("md5"),
    status: own.oneOf("status", stateVersionStatuses),
    intermediate: own.flag("intermediate"),
    createdAt: own.instant("createdAt"),
    createdBy: decodeActor(related.identifierOrNull("createdBy")),
    runId: related.oneOrNull("run") as RunId | null,
    summary: own.isNull("size") ? null : decodeSummary(own),
    vcsCommitSha: own.textOrNull("vcsCommitSha"),
    vcsCommitUrl: own.textOrNull("vcsCommitUrl"),
    outputIds: related.many("outputs"),
    hasJsonState: !own.isNull("hostedJsonStateDownloadUrl"),
    uploads: own.isNull("hostedStateUploadUrl")
      ? null
      : {
          state: credentialIn(own.text("hostedStateUploadUrl")),
          "json-state": credentialIn(own.text("hostedJsonStateUploadUrl")),
        },
    downloads: decodeDownloads(own),
  }
}

const credentialIn = (address: string): string => URL.parse(address)?.searchParams.get("credential") ?? ""

function decodeDownloads(own: MembersReader): StateVersionView["downloads"] {
  const credentialOf = (name: string) => (own.isNull(name) ? null : credentialIn(own.text(name)) || null)
  const state = credentialOf("hostedStateDownloadUrl")
  return state === null ? null : { state, "json-state": credentialOf("hostedJsonStateDownloadUrl") }
}

const decodeSummary = (own: MembersReader): StateSummary => ({
  size: own.number("size"),
  formatVersion: own.number("stateVersion"),
  terraformVersion: own.textOrNull("terraformVersion"),
  resourcesProcessed: own.flag("resourcesProcessed"),
  resourceCount: own.number("resourceCount"),
  resources: own.list("resources").map(decodeStateResource),
  modules: own.value("modules") as ResourceCounts,
  providers: own.value("providers") as ResourceCounts,
})

function decodeStateResource(item: unknown): StateResource {
  const own = new MembersReader(item, "resources")
  return {
    name: own.text("name"),
    type: own.text("type"),
    count: own.number("count"),
    module: own.text("module"),
    provider: own.text("provider"),
  }
}

/** The other direction of `encodeStateVersionOutput`. */
export function decodeStateVersionOutput(resource: unknown): StateVersionOutput {
  const { id, attributes: own } = readResource(resource, "state-version-outputs")
  return {
    id,
    name: own.text("name"),
    sensitive: own.flag("sensitive"),
    type: own.oneOf("type", outputTypes),
    value: own.value("value"),
    detailedType: own.value("detailedType"),
  }
}

/** The other direction of `decodeStateVersion`. */
export function encodeStateVersionInput({ runId, state, jsonState, ...input }: StateVersionInput): RequestDocument {
  const attributes = dashedMembers({ ...input, state: base64Of(state), jsonState: base64Of(jsonState) })
  return encodeDocument("state-versions", attributes, runId === null ? {} : { run: toOne("runs", runId) })
}

const base64Of = (bytes: Uint8Array | null): string | undefined =>
  bytes === null ? undefined : Buffer.from(bytes).toString("base64")

/** The other direction of `decodeStateVersionQuery`. */
export const encodeStateVersionQuery = ({
  statuses,
}: StateVersionQuery): readonly (readonly [string, string | undefined])[] => [
  ["filter[status]", statuses && encodeCommaList(statuses)],
]
