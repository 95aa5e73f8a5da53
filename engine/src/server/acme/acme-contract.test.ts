import { expect, test } from "vitest"
import { acmePaths, acmeSchemas } from "../../contracts/acme/openapi.ts"
import { acmeRoutes } from "./acme.ts"

const paths = acmePaths("/{mount}", [])

test("every ACME route has its operation in OpenAPI, and OpenAPI has no other", () => {
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${path}`),
  )
  const methods: Readonly<Record<string, string>> = { read: "get", write: "post" }
  const served = acmeRoutes.map(
    ({ operation, path }) => `${methods[operation]} /{mount}${path.replaceAll(/:(\w+)/g, "{$1}")}`,
  )
  expect(described.toSorted()).toEqual(served.toSorted())
  const ids = Object.values(paths).flatMap((operations) => Object.values(operations).map((one) => one["operationId"]))
  expect(new Set(ids).size).toBe(acmeRoutes.length)
  expect(ids).toEqual(expect.arrayContaining(["acmeNewOrder", "acmeNewOrderOfRole", "acmeNewOrderOfIssuerPolicy"]))
})

test("OpenAPI gives the payload inside the JWS", () => {
  const payloadAt = (path: string) => {
    const body = paths[path]?.["post"]?.["requestBody"] as { content: Record<string, { schema: unknown }> } | undefined
    return body?.content["application/jose+json"]?.schema
  }
  expect(payloadAt("/{mount}/acme/order/{id}")).toEqual({ const: "" })
  expect(payloadAt("/{mount}/acme/new-order")).toEqual({ $ref: "#/components/schemas/AcmeNewOrderPayload" })
  expect(payloadAt("/{mount}/acme/account/{id}")).toEqual({
    anyOf: [{ $ref: "#/components/schemas/AcmeAccountPayload" }, { const: "" }],
  })
  expect(acmeSchemas["AcmeNewOrderPayload"]).toMatchObject({
    required: ["identifiers"],
    properties: { identifiers: { type: "array" }, profile: { type: "string" } },
  })
})
