import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { readTable } from "../document.ts"
import { callers, openPkiUsers, type PkiUsers } from "./users.ts"
import {
  askPki,
  generatePkiMatrix,
  openEndpoints,
  pkiEndpoints,
  type PkiMatrix,
  preparePki,
  renderPkiMatrix,
} from "./matrix.ts"
import { refusedToAll } from "./lease-requests.ts"
import { requests } from "./requests.ts"

let cast: PkiUsers
let matrix: PkiMatrix
beforeAll(async () => {
  cast = await openPkiUsers()
  matrix = await generatePkiMatrix(cast)
})
afterAll(() => cast[Symbol.asyncDispose]())

const isSuccess = (status: number) => status >= 200 && status < 300
const endpointsWhere = (caller: (typeof callers)[number], status: (code: number) => boolean) =>
  Object.entries(matrix)
    .filter(([, statuses]) => status(statuses[callers.indexOf(caller)] ?? 0))
    .map(([endpoint]) => endpoint)
    .toSorted()

describe("the permission matrix of the certificate API", () => {
  test("asks every endpoint, and none that is gone", () => {
    expect(Object.keys(requests).toSorted()).toEqual(pkiEndpoints.toSorted())
  })

  test("is what docs/permissions.md says", async () => {
    expect(renderPkiMatrix(matrix)).toEqual(await readTable("certificates"))
  })

  test("has valid requests: an answer is a success or a refusal of the caller", () => {
    const others = Object.entries(matrix).filter(([, statuses]) =>
      statuses.some((status) => !isSuccess(status) && status !== 403),
    )
    expect(others).toEqual([])
  })

  test("refuses nothing to whoever holds the policy root", async () => {
    const refused: string[] = []
    for (const endpoint of pkiEndpoints) {
      const ready = await preparePki(endpoint, await cast.newSubject(), "root")
      const { status } = await askPki(cast, ready, "root")
      if (!isSuccess(status) && !(refusedToAll.has(endpoint) && status === 400)) refused.push(`${endpoint} ${status}`)
    }
    expect(refused).toEqual([])
  })

  test("gives nothing to whoever shows no token, but what is open to everybody", () => {
    expect(endpointsWhere("no token", isSuccess)).toEqual(openEndpoints.toSorted())
  })

  test("gives nothing more to whoever holds a policy about something else", () => {
    expect(endpointsWhere("no policy", isSuccess)).toEqual(openEndpoints.toSorted())
  })

  test("keeps operators of mounts from nothing in a mount that sudo is not needed for", () => {
    const kept = endpointsWhere("operator", (status) => !isSuccess(status)).filter((one) => one.includes(" /:mount/"))
    const allowed = endpointsWhere("operator with sudo", isSuccess)
    expect(kept.filter((endpoint) => !allowed.includes(endpoint))).toEqual([])
  })
})
