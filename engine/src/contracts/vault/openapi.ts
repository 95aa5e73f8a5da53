// OpenAPI document of `/v1`, including ACME. Mounts and auth methods are path parameters, as in Vault with `generic_mount_paths`
// (https://developer.hashicorp.com/vault/api-docs/system/internal-specs-openapi).
import { Problem } from "./format/parameters.ts"
import { acmePaths, acmeSchemas } from "../acme/openapi.ts"
import {
  binary,
  Components,
  content,
  described,
  inPath,
  inQuery,
  type Json,
  listOf,
  object,
  openApi,
  operationId,
  pascalCased,
  type Paths,
  referenceTo,
  templateOf,
} from "../openapi.ts"
import type { AnswerRecord, Endpoint } from "./endpoint.ts"
import { type Above, vaultResources } from "./index.ts"
import type { Table } from "./record.ts"
import { type FieldType, fieldSchemas } from "./types.ts"

/** Returns the document of these resources. Default: all. */
export function vaultOpenApi(resources = vaultResources): Json {
  const components = new Components()
  Object.assign(components.schemas, sharedSchemas, acmeSchemas)
  const paths: Paths = {}
  for (const { below, contracts } of Object.values(resources))
    for (const [resource, contract] of Object.entries(contracts))
      for (const [name, endpoint] of Object.entries(contract)) addTo(paths, below, resource, name, endpoint, components)
  return openApi(
    {
      title: "Chancery certificates",
      description:
        "Certificate authorities, policies and logins: the API of Vault with its PKI secrets engine, and ACME (RFC 8555) below each mount.",
      version: "1",
      server: "/v1",
      securitySchemes: {
        vaultToken: { type: "apiKey", in: "header", name: "X-Vault-Token", description: "Answers as Vault has them." },
        serviceToken: {
          type: "apiKey",
          in: "header",
          name: "X-Service-Token",
          description: "Answers in the native dialect, with durations as text.",
        },
        bearer: { type: "http", scheme: "bearer", description: "The same as X-Vault-Token." },
      },
      tags: {
        ...Object.fromEntries(
          Object.values(resources).flatMap(({ title, contracts }) =>
            Object.keys(contracts).map((name) => [name, title]),
          ),
        ),
        acme: "ACME",
      },
    },
    { ...paths, ...acmePaths(above.mount.prefix, above.mount.parameters) },
    components.schemas,
  )
}

function addTo(
  paths: Paths,
  below: Above,
  tag: string,
  name: string,
  endpoint: Endpoint,
  components: Components,
): void {
  const { prefix, parameters } = above[below]
  const id = operationId(tag, name)
  for (const path of [endpoint.path, ...(endpoint.alsoAt ?? [])]) {
    const operations = (paths[`${prefix}${templateOf(path)}`] ??= {})
    const method = methods[endpoint.operation]
    const added = {
      ...operationOf(path === endpoint.path ? id : `${id}At${pascalCased(path)}`, { ...endpoint, path }, components),
      tags: [tag],
    }
    const whole = { ...added, parameters: [...parameters, ...added.parameters] }
    const other = operations[method]
    operations[method] =
      other === undefined ? whole : isMethod(below) ? ofEitherMethod(other, whole) : readOrList(other, whole)
  }
}

function operationOf(id: string, endpoint: Endpoint, components: Components) {
  const { operation, path, body, summary, rights, open, tokenCounts, rawMediaType } = endpoint
  const mediaType = operation === "patch" ? "application/merge-patch+json" : "application/json"
  const request = body?.table
  return {
    operationId: id,
    tags: [] as readonly string[],
    summary,
    description: open === true ? "Needs no token." : `Needs the capability: ${rights}`,
    ...(open === true && { security: tokenCounts === true ? [...security, {}] : [] }),
    parameters: [
      ...inPath(path),
      ...(operation === "list" ? [list] : []),
      ...(request !== undefined && !hasBody(operation) ? queryOf(request) : []),
    ],
    ...(request !== undefined &&
      hasBody(operation) && {
        requestBody: content(
          mediaType,
          components.reference(request, [`${pascalCased(id)}Request`], () => object(propertiesOf(request))),
        ),
      }),
    ...(rawMediaType !== undefined &&
      operation === "write" && {
        requestBody: { required: true, ...content(rawMediaType, binary) },
      }),
    responses: responsesOf(id, endpoint, components),
  }
}

const security = [{ vaultToken: [] }, { serviceToken: [] }, { bearer: [] }]

/** Merges a read and a list at one path: the query `list` selects one of them. */
function readOrList(one: Json, other: Json): Json {
  const [read, listing] = isList(one) ? [other, one] : [one, other]
  return {
    ...read,
    description: `${String(read["description"])}; with list=true: ${String(listing["summary"])}`,
    parameters: [...parametersOf(read), { ...list, required: false }],
  }
}
const parametersOf = (operation: Json) => operation["parameters"] as readonly Json[]
const isList = (operation: Json): boolean => parametersOf(operation).some(({ name }) => name === "list")

/**
 * Merges operations that auth methods of both types have at one path. Auth methods may have any path, so the type of the method at the path
 * decides.
 */
function ofEitherMethod(one: Json, other: Json): Json {
  const id = String(one["operationId"])
  const summary = (operation: Json) => String(operation["summary"])
  return {
    ...one,
    operationId: id.replace(/^appRole/, "authRole"),
    tags: [...new Set([one, other].flatMap(({ tags }) => tags as readonly string[]))],
    ...(summary(one) !== summary(other) && { summary: `AppRole: ${summary(one)} Kubernetes: ${summary(other)}` }),
    ...("requestBody" in one && { requestBody: eitherContent(one["requestBody"], other["requestBody"]) }),
    responses: eitherResponses(one["responses"] as Responses, other["responses"] as Responses),
  }
}
type Responses = Readonly<Record<string, Json>>
const eitherResponses = (one: Responses, other: Responses): Json =>
  Object.fromEntries(
    Object.entries({ ...other, ...one }).map(([status, answer]) => [
      status,
      status in one && status in other && "content" in answer
        ? { ...answer, ...eitherContent(one[status], other[status]) }
        : answer,
    ]),
  )
function eitherContent(one: unknown, other: unknown): Json {
  const schemas = [one, other].map((part) => (part as { content?: Json } | undefined)?.content?.["application/json"])
  const [first, second] = schemas.map((media) => (media as { schema: Json } | undefined)?.schema)
  if (first === undefined || second === undefined || JSON.stringify(first) === JSON.stringify(second))
    return one as Json
  return content("application/json", { anyOf: [first, second] })
}

const methods = { read: "get", list: "get", write: "post", patch: "patch", delete: "delete" } as const
const hasBody = (operation: Endpoint["operation"]): boolean => operation === "write" || operation === "patch"
const isMethod = (below: Above): boolean => below !== "root" && below !== "mount"
const pathOfSegments = (name: string, description: string, example: string) => ({
  name,
  in: "path",
  required: true,
  "x-allow-slashes": true,
  description,
  schema: { type: "string", examples: [example] },
})
const methodPath = (example: string) => ({
  prefix: "/auth/{method}",
  parameters: [pathOfSegments("method", "Path of the auth method, which may have several segments.", example)],
})
const above: Readonly<Record<Above, { readonly prefix: string; readonly parameters: readonly Json[] }>> = {
  root: { prefix: "", parameters: [] },
  mount: {
    prefix: "/{mount}",
    parameters: [pathOfSegments("mount", "Path of the mount, which may have several segments.", "pki")],
  },
  approle: methodPath("approle"),
  cert: methodPath("cert"),
  kubernetes: methodPath("kubernetes"),
  userpass: methodPath("userpass"),
}
const list = { name: "list", in: "query", required: true, description: "LIST as GET.", schema: { const: "true" } }

const text = { type: "string" }
const texts = listOf(text)
const schemasByType: Readonly<Record<FieldType, Json>> = {
  ...fieldSchemas,
  // Whole seconds for Vault clients, a string such as 1h in the native dialect (docs/dialects.md).
  "duration (sec)": { type: ["integer", "string"] },
  keypair: { type: "object", additionalProperties: text },
  map: {},
}

type Kind = Table["members"][number]["kind"]
function schemaOf(kind: Kind): Json {
  const schema = schemaOfValue(kind)
  return "type" in schema && readsNull(kind) ? { ...schema, type: [schema["type"], "null"].flat() } : schema
}
function schemaOfValue({ type, items, values, hasVaultForm }: Kind): Json {
  if (values !== undefined) return { enum: values }
  if (items !== undefined) return listOf({ type: items })
  if (hasVaultForm === true && type === "int") return { type: ["integer", "string"] }
  if (hasVaultForm === true && type === "slice") return listOf({ type: ["string", "object"] })
  return schemasByType[type]
}
function readsNull({ decode }: Kind): boolean {
  const value: unknown = decode(null)
  return value !== undefined && !(value instanceof Problem)
}

const propertiesOf = ({ members }: Table): Json =>
  Object.fromEntries(
    members.map(({ wireName, kind, note }) => [
      wireName,
      note === undefined ? schemaOf(kind) : described(schemaOf(kind), note),
    ]),
  )
const queryOf = ({ members }: Table) =>
  members.map(({ wireName, kind, note = { rule: "" } }) => ({
    ...inQuery(wireName, schemaOf(kind), note),
    // Lists are one comma-separated string.
    ...(kind.type === "slice" && { style: "form", explode: false }),
  }))

function responsesOf(id: string, endpoint: Endpoint, components: Components): Json {
  const { kind, mediaTypes = [], conditional, status = 200 } = endpoint.answers
  const refused = { default: { description: "Refused", ...content("application/json", referenceTo("Errors")) } }
  const empty = { 204: { description: "Success, and nothing to return" } }
  const warned = { [status]: { description: "Success, with warnings", ...envelope({}) } }
  if (kind === "nothing") return { ...empty, ...warned, ...refused }
  const bytes = Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema: binary }]))
  const json =
    kind === "data" || kind === "keys" || endpoint.answers.record !== undefined
      ? envelope(dataSchema(id, endpoint.answers, components)).content
      : "application/json" in bytes
        ? content("application/json", { type: "object" }).content
        : {}
  return {
    [status]: { description: "Success", content: { ...bytes, ...json } },
    ...(conditional !== undefined && { ...empty, 304: { description: "Not modified" } }),
    ...(endpoint.answers.orNothing === true && empty),
    ...refused,
  }
}

const envelope = (data: Json) => content("application/json", { allOf: [referenceTo("Envelope"), object({ data })] })

function dataSchema(id: string, { kind, record }: Endpoint["answers"], components: Components): Json {
  const data = record && components.reference(record, [`${pascalCased(id)}Result`], () => membersOf(record))
  if (kind !== "keys" && !(record !== undefined && kind === "response"))
    return data === undefined ? { type: ["object", "null"] } : data
  const info = { type: "object", ...(data && { additionalProperties: data }) }
  return object(
    // Searches have pages.
    { keys: texts, ...(data && { key_info: info }), ...(kind === "response" && { next: text }) },
    ["keys"],
  )
}
const membersOf = ({ table, constants = {} }: AnswerRecord): Json =>
  object({
    ...propertiesOf(table),
    ...Object.fromEntries(Object.entries(constants).map(([name, value]) => [name, { const: value }])),
  })

const truth = { type: "boolean" }
const count = { type: "integer" }
const sharedSchemas: Readonly<Record<string, Json>> = {
  Errors: object({ errors: { ...texts, description: "One sentence for each fault." } }, ["errors"]),
  Envelope: object({
    request_id: text,
    lease_id: text,
    renewable: truth,
    lease_duration: { ...count, description: "Seconds." },
    wrap_info: { type: "null" },
    warnings: {
      type: ["array", "string", "null"],
      items: text,
      description: "A list or null for Vault clients; in the native dialect lines of a text.",
    },
    auth: { anyOf: [referenceTo("Auth"), { type: "null" }] },
    mount_type: text,
  }),
  Auth: {
    ...object({
      client_token: text,
      accessor: text,
      policies: texts,
      token_policies: texts,
      metadata: { type: ["object", "null"], additionalProperties: text },
      lease_duration: { ...count, description: "Seconds." },
      renewable: truth,
      entity_id: text,
      token_type: text,
      orphan: truth,
      mfa_requirement: { type: "null" },
      num_uses: count,
    }),
    description: "A token that the request created or renewed.",
  },
}
