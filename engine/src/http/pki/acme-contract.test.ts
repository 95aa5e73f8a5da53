import { expect, test } from "vitest"
import { acme, directoryPaths } from "../../contracts/acme/directory.ts"
import { acmePaths, payloadSchema } from "../../contracts/openapi.ts"
import { acmeRoutes } from "./acme.ts"

test("every ACME route has its operation in OpenAPI, and OpenAPI has no other", () => {
  const paths = acmePaths(acme, directoryPaths)
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
})

test("OpenAPI gives the payload inside the JWS", () => {
  expect(payloadSchema(acme.order)).toEqual({ const: "" })
  expect(payloadSchema(acme.newOrder)).toMatchObject({
    required: ["identifiers"],
    properties: { identifiers: { type: "array" }, profile: { type: "string" } },
  })
  expect(payloadSchema(acme.account)).toMatchObject({ anyOf: [{ type: "object" }, { const: "" }] })
})
