import { expect, test } from "vitest"
import { authRoutes, pkiRoutes, systemRoutes } from "../../engine/src/server/vault/vault-routes.ts"
import { openTestEngine } from "../../engine/testing/test-engine.ts"
import { tfeFormat } from "./writable-members-tfe.ts"
import { documentedParameters, operations, vaultFormat, vaultResources } from "./writable-members-vault.ts"
import { testWritableMembers } from "./writable-members.ts"

testWritableMembers(tfeFormat)
testWritableMembers(vaultFormat)

test.each(["mounts", "auth"])("[F-W8] /v1: an unknown member of the configuration of %s is reported", async (kind) => {
  await using testEngine = await openTestEngine()
  const body = { type: kind === "auth" ? "approle" : "pki", config: { nme: "x", default_lease_ttl: 60 } }
  const { status, body: answer } = await testEngine.pki("POST", `/sys/${kind}/x`, { body })
  expect([status, answer.warnings]).toEqual([200, expect.stringContaining("[config.nme]")])
})

const routes = [...pkiRoutes, ...systemRoutes, ...Object.values(authRoutes).flat()]

test("[F-W8] /v1: every route that writes belongs to a resource of the table or is an operation", () => {
  const known = new Set(vaultResources.flatMap((resource) => resource.routes))
  const writes = routes.filter(
    ({ operation, problems, readOnly }) =>
      (operation === "write" || operation === "patch") && problems !== true && readOnly !== true,
  )
  const others = new Set(writes.map(({ path }) => path).filter((path) => !known.has(path)))
  expect([...others].filter((path) => !operations.some((pattern) => pattern.test(path)))).toEqual([])
  expect([...known].filter((path) => !writes.some((route) => route.path === path))).toEqual([])
})

test.each(vaultResources)("[F-W8] /v1: $name: every parameter of the parser is in the table", (resource) => {
  const { members, parsed } = resource
  const known = new Set([...members.map(({ name }) => name), ...Object.keys(resource.required("any", undefined))])
  expect(parsed.filter((name) => !known.has(name))).toEqual([])
})

test.each(documentedParameters)(
  "[F-W8] /v1: $operation reads every parameter that Vault reads",
  ({ parsed, documented }) => {
    expect(documented.filter((name) => !parsed.includes(name))).toEqual([])
  },
)
