import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { readTable } from "../document.ts"
import { callers, openPkiUsers, type PkiUsers } from "./users.ts"
import {
  requestPki,
  generatePkiMatrix,
  openEndpoints,
  pkiEndpoints,
  type PkiMatrix,
  preparePki,
  renderPkiMatrix,
} from "./matrix.ts"
import { refusedToAll } from "./lease-requests.ts"
import { requests } from "./requests.ts"

let testUsers: PkiUsers
let matrix: PkiMatrix
beforeAll(async () => {
  testUsers = await openPkiUsers()
  matrix = await generatePkiMatrix(testUsers)
})
afterAll(() => testUsers[Symbol.asyncDispose]())

const isSuccess = (status: number) => status >= 200 && status < 300
const endpointsWhere = (caller: (typeof callers)[number], status: (code: number) => boolean) =>
  Object.entries(matrix)
    .filter(([, statuses]) => status(statuses[callers.indexOf(caller)] ?? 0))
    .map(([endpoint]) => endpoint)
    .toSorted()

describe("the permission matrix of the certificate API", () => {
  test("covers every existing endpoint and no removed one", () => {
    expect(Object.keys(requests).toSorted()).toEqual(pkiEndpoints.toSorted())
  })

  test("equals docs/permissions.md", async () => {
    expect(renderPkiMatrix(matrix)).toEqual(await readTable("certificates"))
  })

  test("has valid requests: an answer is a success or a rejection of the caller", () => {
    const others = Object.entries(matrix).filter(([, statuses]) =>
      statuses.some((status) => !isSuccess(status) && status !== 403),
    )
    expect(others).toEqual([])
  })

  test("rejects no request of a caller with the policy root", async () => {
    const refused: string[] = []
    for (const endpoint of pkiEndpoints) {
      const ready = await preparePki(endpoint, await testUsers.newSubject(), "root")
      const { status } = await requestPki(testUsers, ready, "root")
      if (!isSuccess(status) && !(refusedToAll.has(endpoint) && status === 400)) refused.push(`${endpoint} ${status}`)
    }
    expect(refused).toEqual([])
  })

  test("grants callers without a token only the public endpoints", () => {
    expect(endpointsWhere("no token", isSuccess)).toEqual(openEndpoints.toSorted())
  })

  test("grants callers with an unrelated policy nothing more", () => {
    expect(endpointsWhere("no policy", isSuccess)).toEqual(openEndpoints.toSorted())
  })

  test("grants operators of mounts every endpoint of a mount that does not need sudo", () => {
    const forbidden = endpointsWhere("operator", (status) => !isSuccess(status)).filter((one) =>
      one.includes(" /:mount/"),
    )
    const allowed = endpointsWhere("operator with sudo", isSuccess)
    expect(forbidden.filter((endpoint) => !allowed.includes(endpoint))).toEqual([])
  })
})
