// Answers to valid requests, and to callers without a token, match the OpenAPI documents.
import { expect, test } from "vitest"
import type { Json } from "../../../engine/src/contracts/openapi.ts"
import { tfeOpenApi } from "../../../engine/src/contracts/tfe/openapi.ts"
import { vaultOpenApi } from "../../../engine/src/contracts/vault/openapi.ts"
import { schemaFaults } from "./schema-faults.ts"
import type { Answer } from "../../../engine/testing/test-engine.ts"
import { openUsers } from "./users.ts"
import { request, endpoints, prepare } from "./matrix.ts"
import { openPkiUsers } from "./pki/users.ts"
import { requestPki, pkiEndpoints, preparePki } from "./pki/matrix.ts"

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Json }>> }>
  >
}

/** Returns the operation of an endpoint: `GET /auth/*approle/role/:name` is described as GET /auth/{method}/role/{name}. */
function operationOf(document: Json, endpoint: string): Operation | undefined {
  const [verb = "", path = ""] = endpoint.split(" ")
  const template = path.replace(/^\/auth\/\*[a-z]+/, "/auth/{method}").replaceAll(/[:*](\w+)/g, "{$1}")
  const paths = document["paths"] as Readonly<Record<string, Readonly<Record<string, Operation>>>>
  return paths[template]?.[verb === "LIST" ? "get" : verb.toLowerCase()]
}

const isJson = (mediaType: string): boolean => /[/+]json\b/.test(mediaType)

/** Returns the differences between an answer and the document, one per line. */
function differences(document: Json, endpoint: string, { status, headers, body }: Answer): readonly string[] {
  const operation = operationOf(document, endpoint)
  const type = headers.get("content-type") ?? ""
  if (operation === undefined || !isJson(type)) return []
  const { content = {} } = operation.responses[status] ?? operation.responses["default"] ?? {}
  const [, media] = Object.entries(content).find(([mediaType]) => type.startsWith(mediaType)) ?? []
  if (media === undefined) return [`${endpoint} ${status}: ${type} is not in the document`]
  return schemaFaults(media.schema, document, body).map((fault) => `${endpoint} ${status} ${fault}`)
}

test("answers about workspaces match the OpenAPI document", async () => {
  await using testUsers = await openUsers()
  const document = tfeOpenApi()
  const found: string[] = []
  for (const endpoint of endpoints)
    for (const caller of ["owner", "no token"] as const) {
      const ready = await prepare(endpoint, await testUsers.newSubject(), caller)
      found.push(...differences(document, endpoint, await request(testUsers, ready, caller)))
    }
  expect(found).toEqual([])
})

test("answers about certificates match the OpenAPI document", async () => {
  await using testUsers = await openPkiUsers()
  const document = vaultOpenApi()
  const found: string[] = []
  for (const endpoint of pkiEndpoints)
    for (const caller of ["root", "no token"] as const) {
      const ready = await preparePki(endpoint, await testUsers.newSubject(), caller)
      found.push(...differences(document, endpoint, await requestPki(testUsers, ready, caller)))
    }
  expect(found).toEqual([])
})
