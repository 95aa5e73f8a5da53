// Every endpoint of a contract has its row in the permission table and its operation in OpenAPI, by the rules at the head of
// openapi.ts.
import { readFile } from "node:fs/promises"
import { expect, test } from "vitest"
import { type Paths, openApi, tfePaths, vaultPaths } from "./openapi.ts"
import { teams } from "./tfe/team.ts"
import type * as vault from "./vault/endpoint.ts"
import { contract, keys, nothing } from "./vault/endpoint.ts"
import { issuers } from "./vault/issuer.ts"
import { roles } from "./vault/role.ts"

const ofMounts = { issuers, roles }
const paths: Paths = { ...tfePaths({ teams }), ...vaultPaths(ofMounts, "mount") }

/** Endpoints in the tables of docs/permissions.md, such as `LIST /:mount/roles`. */
async function permissionRows(): Promise<readonly string[]> {
  const text = await readFile(new URL("../../../docs/permissions.md", import.meta.url), "utf8")
  return [...text.matchAll(/^\| `([A-Z]+ \/\S*)` \|/gm)].map(([, row = ""]) => row)
}

const verbs = { read: "GET", list: "LIST", write: "POST", patch: "PATCH", delete: "DELETE" } as const
const endpoints: readonly string[] = [
  ...Object.values(teams).map(({ method, path }) => `${method} ${path}`),
  ...Object.values(ofMounts)
    .flatMap((one: vault.Contract) => Object.values(one))
    .map(({ operation, path }) => `${verbs[operation]} /:mount${path}`),
]

test.each(endpoints)("%s has its row in the permission table and its operation in OpenAPI", async (endpoint) => {
  expect(await permissionRows()).toContain(endpoint)
  const [verb = "", path = ""] = endpoint.split(" ")
  const operation = paths[path.replaceAll(/[:*](\w+)/g, "{$1}")]?.[verb === "LIST" ? "get" : verb.toLowerCase()]
  const parameters = operation?.["parameters"] as readonly Readonly<Record<string, unknown>>[]
  const inPath = parameters.filter((parameter) => parameter["in"] === "path")
  expect(inPath.map(({ name }) => name)).toEqual([...path.matchAll(/[:*](\w+)/g)].map(([, name]) => name))
  expect(parameters.some(({ name, required }) => name === "list" && required === true)).toBe(verb === "LIST")
  expect(inPath.filter((one) => one["x-allow-slashes"] === true).map(({ name }) => name)).toEqual([
    ...(path.startsWith("/:mount") ? ["mount"] : []),
    ...[...path.matchAll(/\*(\w+)/g)].map(([, name]) => name),
  ])
})

test("OpenAPI has one GET for an address that is read and listed, and x-allow-slashes for several segments", () => {
  const policies = contract({
    get: { operation: "read", path: "/sys/policy", summary: "Reads.", rights: "read", answers: nothing },
    list: { operation: "list", path: "/sys/policy", summary: "Lists.", rights: "list", answers: keys },
    tune: { operation: "write", path: "/sys/mounts/*path/tune", summary: "Tunes.", rights: "update", answers: nothing },
  })
  const described = vaultPaths({ policies }, "root")
  expect(described["/sys/policy"]?.["get"]).toMatchObject({
    operationId: "policies.get",
    parameters: [{ name: "list", required: false }],
  })
  expect(described["/sys/mounts/{path}/tune"]?.["post"]).toMatchObject({
    parameters: [{ name: "path", in: "path", "x-allow-slashes": true }],
  })
})

test("OpenAPI has no other operations, and each has an id of its own", () => {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  expect(operations).toHaveLength(endpoints.length)
  expect(new Set(operations.map((operation) => operation["operationId"])).size).toBe(endpoints.length)
})

test("OpenAPI says types, defaults, examples, and what is read-only or required", () => {
  const document = openApi("Teams", "/api/v2", tfePaths({ teams }))
  expect(document).toMatchObject({ openapi: "3.1.1", servers: [{ url: "/api/v2" }] })
  expect(paths["/organizations/{organization_name}/teams"]?.["post"]).toMatchObject({
    requestBody: {
      content: {
        "application/vnd.api+json": {
          schema: {
            properties: {
              data: {
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
  expect(JSON.stringify(paths["/teams/{team_id}"]?.["patch"])).not.toContain('"required":["name"]')
  expect(paths["/teams/{team_id}"]?.["get"]).toMatchObject({
    responses: {
      200: {
        content: {
          "application/vnd.api+json": {
            schema: {
              properties: {
                data: {
                  properties: {
                    attributes: { properties: { "users-count": { type: "integer", readOnly: true } } },
                    relationships: { properties: { users: { properties: { data: { type: "array" } } } } },
                  },
                },
              },
            },
          },
        },
      },
    },
  })
  expect(paths["/{mount}/roles/{name}"]?.["patch"]).toMatchObject({
    requestBody: {
      content: {
        "application/merge-patch+json": {
          schema: { properties: { max_ttl: { type: "string", default: "0s", description: expect.any(String) } } },
        },
      },
    },
    responses: {
      200: {
        content: {
          "application/json": {
            schema: { properties: { data: { properties: { allow_token_displayname: { const: false } } } } },
          },
        },
      },
    },
  })
})
