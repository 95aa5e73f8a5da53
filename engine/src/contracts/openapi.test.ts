// Every row of docs/permissions.md has its operation in an OpenAPI document, by the rules at the head of openapi.ts.
import { readFile } from "node:fs/promises"
import { describe, expect, test } from "vitest"
import type { Json } from "./openapi.ts"
import { tfeOpenApi } from "./tfe/openapi.ts"
import { contract, keys as listed, nothing } from "./vault/endpoint.ts"
import { vaultOpenApi } from "./vault/openapi.ts"

const documents = { tfe: tfeOpenApi(), vault: vaultOpenApi() }

interface Parameter extends Json {
  readonly name: string
  readonly in: string
}
interface Operation {
  readonly method: string
  readonly path: string
  readonly operationId: string
  readonly parameters: readonly Parameter[]
  readonly responses: Readonly<Record<string, Json>>
  readonly security?: readonly Json[]
  readonly whole: Json
}
const operationsOf = (document: Json): readonly Operation[] =>
  Object.entries(document["paths"] as Readonly<Record<string, Readonly<Record<string, Json>>>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, whole]) => ({ ...(whole as object), method, path, whole }) as Operation),
  )
const operations = Object.values(documents).flatMap(operationsOf)
const operationAt = (method: string, path: string): Operation | undefined =>
  operations.find((one) => one.method === method && one.path === path)
const schemasOf = (document: Json) => (document["components"] as { schemas: Readonly<Record<string, Json>> }).schemas

/** Returns the endpoints in the tables of docs/permissions.md, such as `LIST /:mount/roles`, with the statuses of all callers. */
async function permissionRows() {
  const text = await readFile(new URL("../../../docs/permissions.md", import.meta.url), "utf8")
  return [...text.matchAll(/^\| `([A-Z]+) (\/\S*)` \|(.*)\|$/gm)].map(([, verb = "", path = "", cells = ""]) => ({
    row: `${verb} ${path}`,
    verb,
    path,
    statuses: [...new Set(cells.split("|").map((cell) => cell.trim()))],
  }))
}
/** Mounts and auth methods are parameters of several segments. A row for an auth method names its type. */
const asDocumented = (path: string): string =>
  path.replace(/^\/:mount/, "/*mount").replace(/^\/auth\/\*[a-z]+/, "/auth/*method")
const rows = (await permissionRows()).map(({ path, ...one }) => ({ ...one, path: asDocumented(path) }))
const namesIn = (path: string, marks: RegExp): readonly string[] =>
  [...path.matchAll(marks)].map(([, name = ""]) => name)

const found = rows.map((one) => ({
  ...one,
  operation: operationAt(
    one.verb === "LIST" ? "get" : one.verb.toLowerCase(),
    one.path.replaceAll(/[:*](\w+)/g, "{$1}"),
  ),
}))

test("every row of the permission tables has an OpenAPI operation", () => {
  expect(found.filter(({ operation }) => operation === undefined).map(({ row }) => row)).toEqual([])
})

test("every operation except those of ACME has a row in the permission tables", () => {
  const documented = new Set(found.map(({ operation }) => operation))
  const others = operations.filter((one) => !documented.has(one))
  expect(others.filter(({ operationId }) => !/^acme[A-Z]/.test(operationId))).toEqual([])
  expect(others.length).toBeGreaterThan(100)
})

test.each(found.filter(({ operation }) => operation !== undefined))(
  "$row has its path parameters, LIST as a query parameter, and its statuses",
  ({ verb, path, operation, statuses }) => {
    const { parameters = [], responses = {} } = operation ?? {}
    const inPath = parameters.filter((parameter) => parameter.in === "path")
    expect(inPath.map(({ name }) => name)).toEqual(namesIn(path, /[:*](\w+)/g))
    expect(inPath.filter((one) => one["x-allow-slashes"] === true).map(({ name }) => name)).toEqual(
      namesIn(path, /\*(\w+)/g),
    )
    // If a path can be read and listed, the query parameter `list` selects the operation.
    const [list] = parameters.filter(({ name }) => name === "list")
    const verbs = rows.filter((one) => one.path === path).map((one) => one.verb)
    const isBoth = verbs.includes("LIST") && verbs.includes("GET")
    expect(list === undefined ? undefined : list["required"]).toBe(
      isBoth && (verb === "GET" || verb === "LIST") ? false : verb === "LIST" ? true : undefined,
    )
    expect(statuses.filter((status) => /^[23]/.test(status) && !(status in responses))).toEqual([])
  },
)

describe.each(Object.entries(documents))("the OpenAPI document of %s", (_name, document) => {
  const own = operationsOf(document)

  test("has no two paths that differ only in parameter names", () => {
    const paths = Object.keys(document["paths"] as object).map((path) => path.replaceAll(/\{\w+\}/g, "{}"))
    expect(new Set(paths).size).toBe(paths.length)
  })

  test("has operation ids that are method names", () => {
    const ids = own.map(({ operationId }) => operationId)
    expect(ids.filter((id) => !/^[a-z][a-zA-Z0-9]*$/.test(id))).toEqual([])
    expect(new Set(ids.map((id) => id.toLowerCase())).size).toBe(ids.length)
  })

  test("has references that resolve, and no unused schema", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, reference = ""]) => reference,
    )
    const schemas = Object.keys(schemasOf(document)).map((name) => `#/components/schemas/${name}`)
    expect([...new Set(references)].toSorted()).toEqual(schemas.toSorted())
  })

  test("has a title for each tag", () => {
    const tags = (document["tags"] as readonly { readonly name: string }[]).map(({ name }) => name)
    const used = own.flatMap(({ whole }) => whole["tags"] as readonly string[])
    expect([...new Set(used)].toSorted()).toEqual(tags.toSorted())
  })
})

test("OpenAPI has one GET for a path with read and list, and x-allow-slashes for several segments", () => {
  const older = contract({
    get: { operation: "read", path: "/sys/policy", summary: "Reads.", rights: "read", answers: nothing },
    list: { operation: "list", path: "/sys/policy", summary: "Lists.", rights: "list", answers: listed },
    tune: { operation: "write", path: "/sys/mounts/*path/tune", summary: "Tunes.", rights: "update", answers: nothing },
  })
  const described = operationsOf(
    vaultOpenApi({ older: { title: "Older", below: "root", introduction: "", contracts: { older } } }),
  )
  expect(described.find(({ path }) => path === "/sys/policy")).toMatchObject({
    operationId: "olderGet",
    parameters: [{ name: "list", required: false }],
  })
  expect(described.find(({ path }) => path === "/sys/mounts/{path}/tune")).toMatchObject({
    method: "post",
    parameters: [{ name: "path", in: "path", "x-allow-slashes": true }],
  })
})

test("OpenAPI has one operation for paths that both types of auth methods share", () => {
  expect(operationAt("post", "/auth/{method}/login")).toMatchObject({
    operationId: "authRoleLogIn",
    security: [],
    requestBody: { content: { "application/json": { schema: { anyOf: [expect.anything(), expect.anything()] } } } },
  })
})

test("OpenAPI has types, defaults, examples, readOnly and required", () => {
  expect(documents.tfe).toMatchObject({ openapi: "3.1.1", servers: [{ url: "/api/v2" }] })
  expect(operationAt("post", "/organizations/{organization_name}/teams")).toMatchObject({
    operationId: "teamsCreate",
    requestBody: {
      content: {
        "application/vnd.api+json": {
          schema: {
            properties: {
              data: {
                required: ["type", "attributes"],
                properties: {
                  type: { const: "teams" },
                  attributes: {
                    required: ["name"],
                    properties: {
                      name: { type: "string", examples: ["platform"] },
                      visibility: { enum: ["secret", "organization"], default: "secret" },
                      "organization-access": { anyOf: [{ type: "object" }, { type: "null" }] },
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
    responses: { 201: expect.anything(), default: expect.anything() },
  })
  expect(JSON.stringify(operationAt("patch", "/teams/{team_id}"))).not.toContain('"required":["name"]')
  expect(operationAt("get", "/teams/{team_id}")).toMatchObject({
    responses: {
      200: {
        content: {
          "application/vnd.api+json": { schema: { properties: { data: { $ref: "#/components/schemas/Team" } } } },
        },
      },
    },
  })
  expect(schemasOf(documents.tfe)["Team"]).toMatchObject({
    properties: {
      attributes: { properties: { "users-count": { type: "integer", readOnly: true } } },
      relationships: { properties: { users: { properties: { data: { type: "array" } } } } },
    },
  })
  expect(schemasOf(documents.vault)["RolesSaveRequest"]).toMatchObject({
    properties: { max_ttl: { type: ["integer", "string"], default: "0s", description: expect.any(String) } },
  })
  expect(operationAt("patch", "/{mount}/roles/{name}")).toMatchObject({
    requestBody: {
      content: { "application/merge-patch+json": { schema: { $ref: "#/components/schemas/RolesSaveRequest" } } },
    },
    responses: {
      200: {
        content: {
          "application/json": {
            schema: { allOf: [{ $ref: "#/components/schemas/Envelope" }, { properties: { data: expect.anything() } }] },
          },
        },
      },
    },
  })
  expect(schemasOf(documents.vault)["RolesGetResult"]).toMatchObject({
    properties: { allow_token_displayname: { const: false } },
  })
})
