// OpenAPI 3.1 from contracts. What it cannot say: LIST is GET with the required query `list=true`, and a path parameter of several
// segments has `x-allow-slashes`. Auth methods of two types share a form of address, which the name of its parameter tells apart, as in
// Vault's own document.
import { z } from "zod"
import type { Documentation } from "./codec.ts"
import type { AcmeContract, AcmeEndpoint } from "./acme/endpoint.ts"
import { pathParameters } from "./path.ts"
import { type Definition, wireNameOf } from "./tfe/document.ts"
import type * as tfe from "./tfe/endpoint.ts"
import type * as vault from "./vault/endpoint.ts"
import type { Table } from "./vault/record.ts"
import type { FieldType } from "./vault/types.ts"

export type Json = Readonly<Record<string, unknown>>
/** Operations by path, and then by method. */
export type Paths = Record<string, Record<string, Json>>

/** @public The server has no address for it yet. */
export const openApi = (title: string, server: string, paths: Paths): Json => ({
  openapi: "3.1.1",
  info: { title, version: "1" },
  servers: [{ url: server }],
  paths,
})

const object = (properties: Json, required: readonly string[] = []): Json => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
})
const listOf = (items: Json): Json => ({ type: "array", items })
const content = (mediaType: string, schema: Json) => ({ content: { [mediaType]: { schema } } })
const templateOf = (path: string): string => path.replaceAll(/[:*](\w+)/g, "{$1}")

const described = (schema: Json, { rule, example, ...rest }: Documentation): Json => ({
  ...schema,
  description: rule,
  ...("default" in rest && { default: rest.default }),
  ...(example !== undefined && { examples: [example] }),
})
const inPath = (path: string) =>
  pathParameters(path).map((name) => ({
    name,
    in: "path",
    required: true,
    ...(path.includes(`*${name}`) && { "x-allow-slashes": true }),
    schema: { type: "string" },
  }))
const inQuery = (name: string, schema: Json, documentation: Documentation) => ({
  name,
  in: "query",
  description: documentation.rule,
  schema: described(schema, documentation),
})

function jsonSchema(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })
  return rest
}

/**
 * Returns the operations of contracts under `/api/v2`.
 * @public
 */
export function tfePaths(contracts: Readonly<Record<string, tfe.Contract>>): Paths {
  const paths: Paths = {}
  for (const [resource, contract] of Object.entries(contracts))
    for (const [name, endpoint] of Object.entries(contract))
      (paths[templateOf(endpoint.path)] ??= {})[endpoint.method.toLowerCase()] = {
        operationId: `${resource}.${name}`,
        tags: [resource],
        summary: endpoint.summary,
        description: `Needs: ${endpoint.rights}`,
        parameters: [
          ...inPath(endpoint.path),
          ...Object.values(endpoint.query ?? {}).map(queryParameter),
          ...Object.entries(endpoint.headers ?? {}).map(([header, one]) => ({
            ...inQuery(header, { type: "string" }, one),
            in: "header",
          })),
          ...(endpoint.answers.paged !== undefined ? pageParameters : []),
        ],
        ...(endpoint.body && {
          requestBody: { required: endpoint.body.optional !== true, ...content(jsonApi, requestSchema(endpoint.body)) },
        }),
        ...(endpoint.bytes && { requestBody: { required: true, ...content("application/octet-stream", binary) } }),
        responses: {
          [endpoint.answers.status]: { description: "Success", ...answerContent(endpoint.answers) },
          default: { description: "Refused", ...content(jsonApi, errorsSchema) },
        },
      }
  return paths
}

const queryParameter = ({ parameter, required, ...documentation }: tfe.QueryParameter): Json => ({
  ...inQuery(parameter, { type: "string" }, documentation),
  ...(required === true && { required }),
})
const binary = { type: "string", format: "binary" }
const jsonApi = "application/vnd.api+json"
const pageParameters = [
  inQuery("page[number]", { type: "integer", minimum: 1 }, { rule: "Number of the page.", default: 1 }),
  inQuery("page[size]", { type: "integer", minimum: 1 }, { rule: "Resources on a page, at most 100.", default: 20 }),
]
const errorsSchema = object({
  errors: listOf(object({ status: { type: "string" }, title: { type: "string" }, detail: { type: "string" } })),
})

const answerContent = ({ document, list: isList, bytes }: tfe.Endpoint["answers"]) => {
  if (bytes !== undefined) return content(bytes.mediaType, binary)
  if (document === undefined) return {}
  const schema = resourceSchema(document)
  return content(jsonApi, object({ data: isList === true ? listOf(schema) : schema }, ["data"]))
}

const identifier = (type: string): Json => object({ type: { const: type }, id: { type: "string" } }, ["type", "id"])

export const resourceSchema = ({ type, attributes, relationships }: Definition): Json => {
  const answered = (members: Definition["attributes"]): Json =>
    object(
      Object.fromEntries(
        Object.entries(members).map(([name, one]) => [
          wireNameOf(name, one),
          {
            ...described(jsonSchema(one.schema), one),
            ...(one.input === undefined && { readOnly: true }),
            ...(one.writeOnly === true && { writeOnly: true }),
          },
        ]),
      ),
    )
  const members = { attributes: answered(attributes), relationships: answered(relationships) }
  return object({ id: { type: "string" }, type: { const: type }, ...members }, ["id", "type", "attributes"])
}

export function requestSchema({ describes }: NonNullable<tfe.Endpoint["body"]>): Json {
  if ("identifiers" in describes) return object({ data: listOf(identifier(describes.identifiers)) }, ["data"])
  if ("elements" in describes) {
    const element = { allOf: [object({ type: { const: describes.elements } }, ["type"]), jsonSchema(describes.schema)] }
    return object({ data: listOf(element) }, ["data"])
  }
  if ("schema" in describes) return jsonSchema(describes.schema)
  const { type, attributes, relationships } = describes.document
  const sent = (members: Definition["attributes"]): Json => {
    const own = Object.entries(members).flatMap(([name, one]) =>
      one.input === undefined || (!describes.creates && one.immutable === true)
        ? []
        : [{ name: wireNameOf(name, one), one, schema: jsonSchema(one.input) }],
    )
    return object(
      Object.fromEntries(own.map(({ name, one, schema }) => [name, described(schema, one)])),
      own
        .filter(({ one }) => describes.creates && one.required === true && !("default" in one))
        .map(({ name }) => name),
    )
  }
  const data = { type: { const: type }, attributes: sent(attributes), relationships: sent(relationships) }
  return object({ data: object(data, ["type"]) }, ["data"])
}

/**
 * Returns the operations of contracts under `/v1`, below a mount, or below an auth method.
 * @public
 */
export function vaultPaths(contracts: Readonly<Record<string, vault.Contract>>, below: keyof typeof above): Paths {
  const paths: Paths = {}
  for (const [resource, contract] of Object.entries(contracts))
    for (const [name, endpoint] of Object.entries(contract))
      for (const [at, path] of [endpoint.path, ...(endpoint.alsoAt ?? [])].entries()) {
        const { prefix, parameters } = above[below]
        const operations = (paths[`${prefix}${templateOf(path)}`] ??= {})
        const method = methods[endpoint.operation]
        const id = `${resource}.${name}${at === 0 ? "" : `.${at}`}`
        const operation = vaultOperation(id, { ...endpoint, path }, parameters)
        operations[method] = operations[method] === undefined ? operation : readOrList(operations[method], operation)
      }
  return paths
}

const vaultOperation = (operationId: string, endpoint: vault.Endpoint, above: readonly Json[]) => {
  const { operation, path, body, summary, rights, open } = endpoint
  const mediaType = operation === "patch" ? "application/merge-patch+json" : "application/json"
  return {
    operationId,
    tags: [operationId.split(".")[0]],
    summary,
    description: open === true ? "Needs no token." : `Needs the capability: ${rights}`,
    parameters: [
      ...above,
      ...inPath(path),
      ...(operation === "list" ? [list] : []),
      ...(body !== undefined && !hasBody(operation) ? queryOf(body.table) : []),
    ],
    ...(body !== undefined &&
      hasBody(operation) && { requestBody: content(mediaType, object(propertiesOf(body.table))) }),
    responses: responsesOf(endpoint),
  }
}

/** One address that has both: the query says which is meant. */
const readOrList = (one: Json, other: Json): Json => {
  const [read, listing] = JSON.stringify(one).includes(JSON.stringify(list)) ? [other, one] : [one, other]
  return {
    ...read,
    description: `${String(read["description"])}; with list=true: ${String(listing["summary"])}`,
    parameters: [...[read["parameters"]].flat(), { ...list, required: false }],
  }
}

const methods = { read: "get", list: "get", write: "post", patch: "patch", delete: "delete" } as const
const hasBody = (operation: vault.Endpoint["operation"]): boolean => operation === "write" || operation === "patch"
const pathOfSegments = (name: string, description: string, example: string) => ({
  name,
  in: "path",
  required: true,
  "x-allow-slashes": true,
  description,
  schema: { type: "string", examples: [example] },
})
const above = {
  root: { prefix: "", parameters: [] },
  mount: {
    prefix: "/{mount}",
    parameters: [pathOfSegments("mount", "Path of the mount, which may have several segments.", "pki")],
  },
  method: {
    prefix: "/auth/{method}",
    parameters: [pathOfSegments("method", "Path of the auth method, which may have several segments.", "approle")],
  },
  kubernetes: {
    prefix: "/auth/{kubernetes}",
    parameters: [pathOfSegments("kubernetes", "Path of an auth method of this type.", "kubernetes")],
  },
}
const list = { name: "list", in: "query", required: true, description: "LIST as GET.", schema: { const: "true" } }

export const fieldSchemas: Readonly<Record<FieldType, Json>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int: { type: "integer" },
  "duration (sec)": { type: "string", format: "duration" },
  slice: { type: "array", items: { type: "string" } },
  keypair: { type: "object", additionalProperties: { type: "string" } },
  map: { type: "object" },
}

const propertiesOf = ({ members }: Table): Json =>
  Object.fromEntries(
    members.map(({ wireName, kind, note }) => [
      wireName,
      note === undefined ? fieldSchemas[kind.type] : described(fieldSchemas[kind.type], note),
    ]),
  )
const queryOf = ({ members }: Table) =>
  members.map(({ wireName, kind, note = { rule: "" } }) => inQuery(wireName, fieldSchemas[kind.type], note))

function responsesOf({ answers }: vault.Endpoint): Json {
  const { kind, mediaTypes, conditional } = answers
  const refused = { default: { description: "Refused", ...content("application/json", vaultErrors) } }
  const empty = { 204: { description: "Success, and nothing to return" } }
  if (kind === "nothing") return { ...empty, ...refused }
  const binary = { schema: { type: "string", format: "binary" } }
  const bytes = Object.fromEntries((mediaTypes ?? []).map((mediaType) => [mediaType, binary]))
  const data = kind === "file" ? {} : content("application/json", object({ data: dataSchema(answers) })).content
  return {
    200: { description: "Success", content: { ...bytes, ...data } },
    ...(conditional !== undefined && { ...empty, 304: { description: "Not modified" } }),
    ...refused,
  }
}

function dataSchema({ kind, record }: vault.Endpoint["answers"]): Json {
  const properties = record === undefined ? {} : propertiesOf(record.table)
  const info = { type: "object", additionalProperties: object(properties) }
  if (kind === "keys") return object({ keys: listOf({ type: "string" }), ...(record && { key_info: info }) }, ["keys"])
  const constants = Object.entries(record?.constants ?? {}).map(([name, value]) => [name, { const: value }])
  return object({ ...properties, ...Object.fromEntries(constants) })
}
const vaultErrors = object({ errors: listOf({ type: "string" }) })

/**
 * Returns the operations of ACME below each directory of a mount. The body is described by the payload of its JWS.
 * @public
 */
export function acmePaths(contract: AcmeContract, directories: readonly string[]): Paths {
  const paths: Paths = {}
  for (const [at, directory] of directories.entries())
    for (const [name, endpoint] of Object.entries(contract)) {
      const path = `${directory}${endpoint.path}`
      ;(paths[`${above.mount.prefix}${templateOf(path)}`] ??= {})[endpoint.method.toLowerCase()] = {
        operationId: `acme.${name}${at === 0 ? "" : `.${at}`}`,
        tags: ["acme"],
        summary: endpoint.summary,
        description: endpoint.method === "GET" ? "Needs no token." : `Signed with the key of: ${endpoint.signer ?? ""}`,
        parameters: [...above.mount.parameters, ...inPath(path)],
        ...(endpoint.method === "POST" && {
          requestBody: { required: true, ...content("application/jose+json", payloadSchema(endpoint)) },
        }),
        responses: {
          200: { description: "Success" },
          default: { description: "Refused", ...content("application/problem+json", problemSchema) },
        },
      }
    }
  return paths
}

const problemSchema = object({ type: { type: "string" }, detail: { type: "string" } })

/** Inside the JWS. An empty string stands for no payload (RFC 8555, section 6.3). */
export function payloadSchema({ payload, payloadOptional }: AcmeEndpoint): Json {
  if (payload === undefined) return { const: "" }
  const members = Object.entries(payload.members)
  const schema = object(
    Object.fromEntries(members.map(([name, one]) => [name, described(one.schema, one)])),
    members.filter(([, one]) => one.required === true).map(([name]) => name),
  )
  return payloadOptional === true ? { anyOf: [schema, { const: "" }] } : schema
}
