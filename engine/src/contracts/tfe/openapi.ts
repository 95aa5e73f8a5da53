// OpenAPI document of `/api/v2`.
import { z } from "zod"
import { apiVersion } from "../../core/discovery.ts"
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
import { type Definition, wireNameOf } from "./document.ts"
import type { Contract, Endpoint, QueryParameter } from "./endpoint.ts"
import { tfeResources } from "./index.ts"

const jsonApi = "application/vnd.api+json"

/** Returns the document of these resources. Default: all. */
export function tfeOpenApi(resources = tfeResources): Json {
  const components = new Components()
  components.schemas["Errors"] = errorsSchema
  components.schemas["Pagination"] = paginationSchema
  const contracts: Readonly<Record<string, Contract>> = Object.assign(
    {},
    ...Object.values(resources).map((resource) => resource.contracts),
  )
  return openApi(
    {
      title: "Chancery workspaces",
      description:
        "Organizations, teams, workspaces, states and runs: the API of HCP Terraform and Terraform Enterprise. Documents are JSON:API.",
      version: apiVersion,
      server: "/api/v2",
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "Token of a user, a team, an organization or an agent." },
      },
      tags: Object.fromEntries(
        Object.values(resources).flatMap(({ title, contracts: own }) => Object.keys(own).map((name) => [name, title])),
      ),
    },
    pathsOf(contracts, components),
    components.schemas,
  )
}

function pathsOf(contracts: Readonly<Record<string, Contract>>, components: Components): Paths {
  const paths: Paths = {}
  for (const [resource, contract] of Object.entries(contracts))
    for (const [name, endpoint] of Object.entries(contract))
      (paths[templateOf(endpoint.path)] ??= {})[endpoint.method.toLowerCase()] = operation(
        resource,
        operationId(resource, name),
        endpoint,
        components,
      )
  return paths
}

function operation(tag: string, id: string, endpoint: Endpoint, components: Components): Json {
  const { path, summary, rights, query = {}, headers = {}, body, bytes, owned, answers } = endpoint
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `Needs: ${rights}`,
    parameters: [
      ...inPath(path),
      ...Object.values(query).map(queryParameter),
      ...Object.entries(headers).map(([header, one]) => ({
        ...inQuery(header, { type: "string" }, one),
        in: "header",
      })),
      ...(answers.paged !== undefined ? pageParameters : []),
      ...(owned === true ? [ownerHeader] : []),
    ],
    ...(body && {
      requestBody: { required: body.optional !== true, ...content(jsonApi, requestSchema(body)) },
    }),
    ...(bytes && { requestBody: { required: true, ...content("application/octet-stream", binary) } }),
    responses: {
      [answers.status]: { description: "Success", ...answerContent(id, answers, components) },
      ...(answers.orNothing === true && { 204: { description: "Success, and nothing to return" } }),
      default: { description: "Refused", ...content(jsonApi, referenceTo("Errors")) },
    },
  }
}

const queryParameter = ({ parameter, required, ...documentation }: QueryParameter): Json => ({
  ...inQuery(parameter, { type: "string" }, documentation),
  ...(required === true && { required }),
})
const pageParameters = [
  inQuery("page[number]", { type: "integer", minimum: 1 }, { rule: "Number of the page.", default: 1 }),
  inQuery(
    "page[size]",
    { type: "integer", minimum: 1, maximum: 100 },
    { rule: "Resources on a page, at most 100.", default: 20 },
  ),
]
const ownerHeader = {
  name: "X-Chancery-Owner",
  in: "header",
  description: "Owner of the tags that the request writes.",
  schema: { type: "string" },
}
const text = { type: "string" }
const errorsSchema = object(
  {
    errors: listOf(
      object(
        {
          status: { ...text, description: "Status of the answer." },
          title: text,
          detail: { ...text, description: "One fault of the request." },
          source: {
            ...object({ pointer: text, parameter: text, header: text }),
            description: "The member of the document, the parameter or the header that has the fault.",
          },
          meta: { type: "object" },
        },
        ["status", "title"],
      ),
    ),
  },
  ["errors"],
)
const textOrNull = { type: ["string", "null"] }
const count = { type: "integer" }
const countOrNull = { type: ["integer", "null"] }
/** Members of a page next to `data`. */
const paginationSchema = object(
  {
    links: object({ self: text, first: text, prev: textOrNull, next: textOrNull, last: text }),
    meta: object({
      pagination: object({
        "current-page": count,
        "page-size": count,
        "prev-page": countOrNull,
        "next-page": countOrNull,
        "total-pages": count,
        "total-count": count,
      }),
    }),
  },
  ["links", "meta"],
)

function answerContent(id: string, answers: Endpoint["answers"], components: Components): Json {
  const { document, list: isList, orOne, bytes, json } = answers
  if (bytes !== undefined) return content(bytes.mediaType, bytes.mediaType === "application/json" ? {} : binary)
  if (json === true) return content("application/json", { type: "object" })
  if (document === undefined)
    return answers.encode === undefined ? {} : content(jsonApi, object({ data: { type: "object" } }, ["data"]))
  const resource = components.reference(
    document,
    [singular(document.type), `${pascalCased(id)}Resource`].map(pascalCased),
    () => resourceSchema(document),
  )
  const included = listOf({ type: "object" })
  const schema = object({ data: isList === true ? listIn(resource, orOne) : resource, included }, ["data"])
  if (answers.paged === undefined) return content(jsonApi, schema)
  return content(jsonApi, { allOf: [schema, referenceTo("Pagination")] })
}

const listIn = (element: Json, orOne: true | undefined): Json =>
  orOne === true ? { anyOf: [listOf(element), element] } : listOf(element)

/** Converts `policies` to `policy`, and `ssh-keys` to `ssh-key`. */
const singular = (type: string): string => type.replace(/ies$/, "ys").replace(/([^s])s$/, "$1")

const identifier = (type: string): Json => object({ type: { const: type }, id: { type: "string" } }, ["type", "id"])

function jsonSchema(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })
  return rest
}

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

export function requestSchema({ describes, orOne }: NonNullable<Endpoint["body"]>): Json {
  if ("identifiers" in describes) return object({ data: listOf(identifier(describes.identifiers)) }, ["data"])
  if ("elements" in describes) {
    const element = { allOf: [object({ type: { const: describes.elements } }, ["type"]), jsonSchema(describes.schema)] }
    return object({ data: listIn(element, orOne) }, ["data"])
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
  const groups = { attributes: sent(attributes), relationships: sent(relationships) }
  const required = Object.entries(groups).flatMap(([name, group]) => ("required" in group ? [name] : []))
  return object({ data: object({ type: { const: type }, ...groups }, ["type", ...required]) }, ["data"])
}
