// A sample of the attacks on the certificate API that test/long/hostile-input.test.ts sends in full, and all attacks that are not about one
// endpoint.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { databaseKinds } from "../../../engine/testing/temporary-database.ts"
import { pkiEndpoints } from "../permissions/pki/matrix.ts"
import { type Attack, openPkiTarget, type PkiTarget } from "./attack.ts"
import {
  complaintsOf,
  mutate,
  sampled,
  validPkiRequest,
  wrongBodies,
  wrongMembers,
  wrongPaths,
  wrongPkiQueries,
} from "./campaign.ts"
import { deeplyNested, wrongPathSegments } from "./hostile-values.ts"

const seed = 8421
let target: PkiTarget
beforeAll(async () => {
  const [file] = databaseKinds
  if (file === undefined) throw new Error("there is no kind of database")
  target = await openPkiTarget(file)
})
afterAll(() => target[Symbol.asyncDispose]())

describe.each(pkiEndpoints)("%s", (endpoint) => {
  test("rejects malformed documents, paths and queries with error sentences", async () => {
    const valid = await validPkiRequest(target, endpoint)
    const attacks = [
      ...(valid.body === undefined ? [] : wrongBodies(valid)),
      ...sampled(wrongMembers(valid), 8, seed),
      ...sampled(wrongPaths(endpoint, valid), 5, seed),
      ...sampled(wrongPkiQueries(valid), 5, seed),
    ]
    expect(await complaintsOf(target, attacks)).toEqual([])
    await mutate(target, () => validPkiRequest(target, endpoint), { runs: 4, seed })
  })
})

const kinds = databaseKinds.filter(({ name, available }) => available && name !== "SQLite memory")

test.each(kinds)("the checks detect a rejection that changes data or has no error, on $name", async (kind) => {
  await using target = await openPkiTarget(kind)
  const { app } = target.testUsers.testEngine
  const carriedOut: Attack["fetch"] = async (request, exchange) => {
    await app.fetch(request, exchange)
    return Response.json({ errors: [""] }, { status: 400 })
  }
  const attack = { method: "POST", address: "/sys/mounts/noticed", body: { type: "pki" }, fetch: carriedOut }
  expect((await target.attack(attack)).complaints).toEqual(['an error is ""', "something has changed"])
})

test.each(databaseKinds.filter(({ name, available }) => name === "PostgreSQL" && available))(
  "no character U+0000 reaches $name",
  async (kind) => {
    await using server = await openPkiTarget(kind)
    const complaints: string[] = []
    for (const endpoint of pkiEndpoints) {
      const valid = await validPkiRequest(server, endpoint)
      const attacks = [...wrongMembers(valid), ...wrongPaths(endpoint, valid), ...wrongPkiQueries(valid)].filter(
        ({ address, body }) => address.includes("%00") || JSON.stringify(body)?.includes(String.raw`"\u0000"`),
      )
      complaints.push(...(await complaintsOf(server, sampled(attacks, 6, seed))))
    }
    expect(complaints).toEqual([])
  },
)

describe("a body", () => {
  test.each([
    { kind: "that is not JSON", body: "{" },
    { kind: "with something behind its end", body: '{"type":"pki"}x' },
    { kind: "that is not UTF-8", body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]) },
    { kind: "of nothing but white space", body: " \n" },
    { kind: "nested 10,000 deep", body: `${"[".repeat(10_000)}${"]".repeat(10_000)}` },
    { kind: "that is no object", body: '"pki"' },
  ])("$kind is a bad request", async ({ body }) => {
    const { status, complaints } = await target.attack({ method: "POST", address: "/sys/mounts/hostile", body })
    expect([status, complaints]).toEqual([400, []])
  })

  test("nested 10,000 deep is rejected with the maximum depth", async () => {
    const body = `${"[".repeat(10_000)}${"]".repeat(10_000)}`
    const answer = await target.testUsers.testEngine.pki("POST", "/sys/mounts/hostile", { body })
    expect(answer.body.errors).toEqual([expect.stringContaining("nests values deeper than 300 levels")])
  })

  test("nested 200,000 deep exceeds the size limit before the depth limit", async () => {
    const attack = { method: "POST", address: "/sys/mounts/hostile", body: deeplyNested }
    const { status, complaints } = await target.attack(attack)
    expect([status, complaints]).toEqual([413, []])
  })

  test("with names of Object.prototype members changes no other object", async () => {
    const body = '{"type":"pki","__proto__":{"description":"x"},"constructor":{"prototype":{"description":"x"}}}'
    expect((await target.attack({ method: "POST", address: "/sys/mounts/proto", body })).status).toBe(200)
    const { body: mount } = await target.testUsers.testEngine.pki("GET", "/sys/mounts/proto")
    expect(mount.data.description).toBe("")
    expect(({} as Record<string, unknown>)["description"]).toBeUndefined()
  })
})

describe("an address", () => {
  const methods = ["GET", "HEAD", "LIST", "POST", "PUT", "DELETE", "OPTIONS", "LINK", "PURGE", "X-ODD"]
  const unknown = ["/nowhere", "/", "/sys", "/auth", "/sys/nowhere", "//", "/sys//mounts", "/sys/../etc/passwd"]

  test.each(methods)("that is unknown answers %s with a 404", async (method) => {
    for (const address of unknown) {
      const { status, complaints } = await target.attack({ method, address })
      expect([address, status, complaints]).toEqual([address, 404, []])
    }
  })

  test.each(wrongPathSegments)("with %s in place of a mount is answered 404 or 405", async (segment) => {
    for (const address of [`/${segment}`, `/${segment}/roles/web`, `/matrix/${segment}/roles`]) {
      const { status, complaints } = await target.attack({ method: "GET", address })
      expect(complaints).toEqual([])
      expect([404, 405]).toContain(status)
    }
  })
})

test.each(["", " ", "Bearer x", "\u00ff", "x".repeat(10_000), "' or 1=1"])(
  "the token %j is not accepted",
  async (token) => {
    const headers = { "x-service-token": token }
    const { status, complaints } = await target.attack({ method: "GET", address: "/sys/mounts", headers })
    expect([status, complaints]).toEqual([403, []])
  },
)
