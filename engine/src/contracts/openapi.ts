// OpenAPI 3.1: the common part of the documents of both APIs. Endpoint paths follow four rules. LIST becomes GET with the required query
// `list=true`, which is optional if GET of the same path is an endpoint too. A path parameter of several segments has `x-allow-slashes`. An
// optional segment makes two paths. The body of an ACME request has the schema of the payload of its JWS.
import type { Documentation } from "./codec.ts"

export type Json = Readonly<Record<string, unknown>>
/** Operations by path and method. */
export type Paths = Record<string, Record<string, Json>>

interface Api {
  readonly title: string
  readonly description: string
  readonly version: string
  readonly server: string
  readonly securitySchemes: Json
  /** Titles by tag name. */
  readonly tags: Readonly<Record<string, string>>
}

export const openApi = (
  { title, description, version, server, securitySchemes, tags }: Api,
  paths: Paths,
  schemas: Json,
): Json => ({
  openapi: "3.1.1",
  info: { title, description, version, license: { name: "Apache License 2.0", identifier: "Apache-2.0" } },
  servers: [{ url: server }],
  security: Object.keys(securitySchemes).map((scheme) => ({ [scheme]: [] })),
  tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
  paths: sorted(paths),
  components: { securitySchemes, schemas: sorted(schemas) },
})

/** Sorts by code unit, so that a new resource moves nothing in the committed documents. */
const sorted = (members: Json): Json =>
  Object.fromEntries(Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))

/** Schemas that several operations share. */
export class Components {
  readonly schemas: Record<string, Json> = {}
  readonly #names = new Map<object, string>()

  /** Returns a reference to the schema of `subject`. Uses the first of `names` that no other schema has. Throws if all are taken. */
  reference(subject: object, names: readonly string[], make: () => Json): Json {
    const known = this.#names.get(subject)
    if (known !== undefined) return referenceTo(known)
    const schema = make()
    const text = JSON.stringify(schema)
    const name = names.find((one) => [undefined, text].includes(JSON.stringify(this.schemas[one])))
    if (name === undefined) throw new Error(`each of ${names.join(", ")} is the name of another schema`)
    this.schemas[name] = schema
    this.#names.set(subject, name)
    return referenceTo(name)
  }
}
export const referenceTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

export const object = (properties: Json, required: readonly string[] = []): Json => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
})
export const listOf = (items: Json): Json => ({ type: "array", items })
export const content = (mediaType: string, schema: Json) => ({ content: { [mediaType]: { schema } } })
export const binary: Json = { type: "string", format: "binary" }

export const described = (schema: Json, documentation: Documentation): Json =>
  withExample({ ...schema, description: documentation.rule }, documentation)

const withExample = (schema: Json, { example, ...rest }: Documentation): Json => ({
  ...schema,
  ...("default" in rest && rest.default !== undefined && { default: rest.default }),
  ...(example !== undefined && { examples: [example] }),
})

/** Converts `/teams/:team_id` to `/teams/{team_id}`. */
export const templateOf = (path: string): string => path.replaceAll(/[:*](\w+)/g, "{$1}")

export const inPath = (path: string): readonly Json[] =>
  [...path.matchAll(/([:*])(\w+)/g)].map(([, mark, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: `${descriptionOf(name)}${mark === "*" ? " It may have several segments." : ""}`,
    ...(mark === "*" && { "x-allow-slashes": true }),
    schema: { type: "string" },
  }))

function descriptionOf(name: string): string {
  if (name === "issuer_ref") return "Id or name of an issuer, or default."
  if (name === "key_ref") return "Id or name of a key, or default."
  const [, noun, kind] = /^(?:(\w+)_)?(id|name)$/.exec(name) ?? []
  if (kind !== undefined)
    return `${kind === "id" ? "Id" : "Name"}${noun === undefined ? "" : ` of the ${spaced(noun)}`}.`
  return `${name.charAt(0).toUpperCase()}${spaced(name.slice(1))}.`
}
const spaced = (name: string): string => name.replaceAll("_", " ")

export const inQuery = (name: string, schema: Json, documentation: Documentation): Json => ({
  name,
  in: "query",
  description: documentation.rule,
  schema: withExample(schema, documentation),
})

/** Converts `teams`, `addUsers` to `teamsAddUsers`. Path parameters in the name of an endpoint are left out. */
export const operationId = (resource: string, endpoint: string): string => `${resource}${pascalCased(endpoint)}`

/** Converts `/issuer/:issuer_ref/crl` to `IssuerCrl`, and `ssh-keys` to `SshKeys`. */
export const pascalCased = (text: string): string =>
  text
    .replaceAll(/[:*]\w+/g, "")
    .split(/[/_.-]+/)
    .filter((word) => word !== "")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")
