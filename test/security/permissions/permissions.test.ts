import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { callers, document, type Users, openUsers } from "./users.ts"
import { readTable } from "./document.ts"
import { request, endpoints, generateMatrix, type Matrix, prepare, renderMatrix } from "./matrix.ts"
import { requests } from "./requests.ts"

/** Endpoints that a user may call without belonging to an organization. */
const openToEveryUser = [
  "GET /account/details",
  "GET /github-app/installations",
  "GET /openapi.json",
  "GET /organizations",
  "PATCH /account/details",
  "PATCH /account/update",
  "POST /organizations",
]
/** Endpoints of agents: callers that know their pool by their token, and hold claims with it. */
const onlyForAgents = ["POST /run-claims", "POST /run-claims/:claim_id/authentication-token"]
const forceDeletes = ["DELETE /organizations/:organization_name/workspaces/:name", "DELETE /workspaces/:workspace_id"]

let testUsers: Users
let matrix: Matrix
beforeAll(async () => {
  testUsers = await openUsers()
  matrix = await generateMatrix(testUsers)
})
afterAll(() => testUsers[Symbol.asyncDispose]())

const column = (caller: (typeof callers)[number]) =>
  Object.entries(matrix).map(([endpoint, statuses]) => ({ endpoint, status: statuses[callers.indexOf(caller)] ?? 0 }))
const endpointsWith = (caller: (typeof callers)[number], status: (code: number) => boolean) =>
  column(caller)
    .filter((cell) => status(cell.status))
    .map((cell) => cell.endpoint)
    .toSorted()
const isSuccess = (status: number) => status >= 200 && status < 300

describe("the permission matrix", () => {
  test("covers every existing endpoint and no removed one", () => {
    expect(Object.keys(requests).toSorted()).toEqual(endpoints.toSorted())
  })

  test("equals docs/permissions.md", async () => {
    expect(renderMatrix(matrix)).toEqual(await readTable())
  })

  test("has valid requests: an answer is a success or a rejection of the caller", () => {
    const others = Object.entries(matrix).filter(([, statuses]) =>
      statuses.some((status) => !isSuccess(status) && ![401, 403, 404].includes(status)),
    )
    expect(others).toEqual([])
  })

  test("rejects no request of a site administrator, except those of agents", async () => {
    const refused: string[] = []
    for (const endpoint of endpoints) {
      const ready = await prepare(endpoint, await testUsers.newSubject(), "site administrator")
      const { status } = await request(testUsers, ready, "site administrator")
      if (!isSuccess(status)) refused.push(`${endpoint} ${status}`)
    }
    expect(refused).toEqual(onlyForAgents.map((endpoint) => `${endpoint} 404`))
  })

  test("[W-5-n1] answers 401 everywhere without a token", () => {
    expect(endpointsWith("no token", (status) => status !== 401)).toEqual([])
  })

  test("[W-7-r2] answers 404 to strangers, except for resources open to every user", () => {
    expect(endpointsWith("stranger", isSuccess)).toEqual(openToEveryUser)
    expect(endpointsWith("stranger", (status) => !isSuccess(status) && status !== 404)).toEqual([])
  })

  test("[W-5-n7] answers 403 for force delete alone, and elsewhere 404 to callers without the permission", () => {
    expect(endpointsWith("reader", (status) => status === 403)).toEqual(forceDeletes)
    const forbidding = Object.entries(matrix).filter(([, statuses]) => statuses.includes(403))
    expect(forbidding.map(([endpoint]) => endpoint).toSorted()).toEqual(forceDeletes)
  })

  test("has no endpoint that owners may not use, except those of site administrators and of agents", () => {
    const forbidden = endpointsWith("owner", (status) => !isSuccess(status))
    expect(forbidden.filter((endpoint) => !endpoint.includes(" /admin/"))).toEqual(onlyForAgents)
  })

  test("has endpoints for agents only, which accept the token of an agent", async () => {
    const { root, organization, unique, workspaceId } = await testUsers.newSubject()
    const pools = `/organizations/${organization}/agent-pools`
    const pool = (await root("POST", pools, document("agent-pools", { name: unique }))).body.data.id
    const agent = document("authentication-tokens", { description: "agent" })
    const made = await root("POST", `/agent-pools/${pool}/authentication-tokens`, agent)
    const { token } = made.body.data.attributes
    const workspace = { data: { type: "workspaces", id: workspaceId } }
    await root("POST", "/runs", document("runs", {}, { workspace }))
    const ask = (address: string) => request(testUsers, { method: "POST", address, token, body: undefined }, "no token")
    const claimed = await ask("/run-claims")
    const delegated = await ask(`/run-claims/${claimed.body?.data.id}/authentication-token`)
    expect([claimed.status, delegated.status]).toEqual([201, 201])
  })
})
