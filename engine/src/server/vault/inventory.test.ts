import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { dayMs, hourMs } from "../../core/time.ts"
import type { CertificatePageRequest } from "../../pki/issuance/certificate.ts"
import type { MountInventoryEntry } from "../../pki/issuance/certificate-inventory.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"
import { parseSerialNumber, type SerialNumber } from "../../x509/serial-number.ts"
import { csvAnswer } from "./certificates.ts"

let world: TestEngine
/** Serial numbers by mount. `near` expires in a day, `far` in twenty days. */
const serials: Record<string, { readonly near: string; readonly far: string }> = {}

beforeAll(async () => {
  world = await openTestEngine()
  for (const path of ["team/b", "a", "c"]) {
    await world.engine.mounts.create({ path })
    const pki = world.engine.pki(path)
    await pki.issuers.generateRoot({
      commonName: `Root of ${path}`,
      keyType: "ec",
      issuerName: `root-of-${path.at(-1)}`,
    })
    await pki.roles.save("web", { allowAnyName: true, keyType: "ec", noStoreMetadata: false })
    const issue = async (commonName: string, ttlMs: number) =>
      (await pki.certificates.issue("web", { commonName, ttlMs })).serialNumber
    serials[path] = { near: await issue(`near.${path.at(-1)}.test`, dayMs), far: await issue("far.test", 20 * dayMs) }
  }
  await world.engine.mounts.create({ path: "empty" })
})
afterAll(() => world[Symbol.asyncDispose]())

const search = (query: string, token?: string) =>
  world.pki("LIST", `/sys/certs/search?${query}`, token === undefined ? {} : { token })

const nearOf = (path: string) => `${path}/${serials[path]?.near}`
const farOf = (path: string) => `${path}/${serials[path]?.far}`

describe("an expiry filter", () => {
  const inMount = async (query: string) => {
    const { status, body } = await world.pki("LIST", `/a/certs/search?role=web&${query}`)
    return status === 404 ? [] : (body.data?.keys ?? body.errors)
  }

  test.each([
    ["expires_before=2d", ["near"]],
    ["expires_before=48h", ["near"]],
    ["expires_before=30d", ["near", "far"]],
    ["expires_before=12h", []],
    ["expires_before=-1s", []],
    ["expires_after=2d", ["far"]],
    ["expires_after=-7d", ["near", "far"]],
    ["expires_after=-7d&expires_before=2d", ["near"]],
    ["expires_before=9999w", ["near", "far"]],
    ["expires_before=&expires_after=", ["far", "near"]],
  ] as const)("[F-P17] %s finds %j", async (query, found) => {
    expect(await inMount(query)).toEqual(found.map((name) => serials["a"]?.[name]))
  })

  test.each(["30", "30 days", "-", "--3d", "1d-", "soon"])("[F-P17] %j is refused", async (time) => {
    for (const name of ["expires_before", "expires_after"])
      for (const path of ["/a/certs/search", "/sys/certs/search"])
        expect(await world.pki("LIST", `${path}?${name}=${encodeURIComponent(time)}`)).toMatchObject({
          status: 400,
          body: {
            errors: [
              `"${name}" must be a timestamp, such as "2030-01-31T12:00:00Z", or a duration from now, such as "30d" or "-7d"`,
            ],
          },
        })
  })
})

describe("a search across mounts", () => {
  test("[F-P17] finds certificates of all mounts, with the mount of each", async () => {
    const { status, body } = await search("expires_before=2d")
    expect([status, body.data.keys]).toEqual([200, ["a", "c", "team/b"].map(nearOf)])
    expect(body.data.key_info[nearOf("team/b")]).toMatchObject({
      mount: "team/b/",
      serial_number: serials["team/b"]?.near,
      common_name: "near.b.test",
      status: "valid",
    })
    expect((await search("name=far.test")).body.data.keys).toEqual(["a", "c", "team/b"].map(farOf))
    expect((await search("name=none.test")).body).toEqual({ errors: [] })
  })

  test("[F-P17] omits mounts that the token may not search", async () => {
    await world.engine.policies.put(
      "some",
      'path "a/certs/search" { capabilities = ["list"] }\npath "team/+/certs/*" { capabilities = ["list"] }\npath "c/certs/search" { capabilities = ["read"] }',
    )
    await world.engine.policies.put("none", 'path "a/roles" { capabilities = ["list"] }')
    const tokenWith = async (policy: string) => (await world.engine.serviceTokens.create({ policies: [policy] })).secret
    const some = await tokenWith("some")
    expect((await search("name=far.test", some)).body.data.keys).toEqual(["a", "team/b"].map(farOf))
    expect((await search("name=far.test&mounts=a", some)).body.data.keys).toEqual([farOf("a")])
    const denied = { status: 403, body: { errors: ["permission denied"] } }
    expect(await search("mounts=a,c", some)).toMatchObject(denied)
    expect(await search("mounts=missing", some)).toMatchObject(denied)
    expect(await search("", await tokenWith("none"))).toMatchObject(denied)
    expect(await search("format=csv", await tokenWith("none"))).toMatchObject(denied)
    expect(await world.pki("LIST", "/sys/certs/search", { token: null })).toMatchObject(denied)
  })

  test("[F-P17] is limited to the given mounts", async () => {
    expect((await search("name=far.test&mounts=team/b/,a")).body.data.keys).toEqual(["a", "team/b"].map(farOf))
    expect(await search("mounts=missing")).toMatchObject({ status: 404 })
    expect((await search("issuer_ref=root-of-c&role=web&mounts=a,c")).body.data.keys).toEqual([farOf("c"), nearOf("c")])
  })

  test.each([1, 2, 4, 100])("[F-P17] returns pages of %i without a gap", async (limit) => {
    const whole = (await search("")).body.data.keys
    expect(whole).toHaveLength(9)
    const paged: string[] = []
    for (let from = ""; ;) {
      const { status, body } = await search(`limit=${limit}${from}`)
      expect(status).toBe(200)
      expect(body.data.keys.length).toBeLessThanOrEqual(limit)
      paged.push(...body.data.keys)
      if (body.data.next === undefined) break
      from = `&after=${body.data.next}`
    }
    expect(paged).toEqual(whole)
  })

  test("[F-P17] continues after a deleted mount", async () => {
    await world.engine.mounts.create({ path: "b-gone" })
    await world.engine.pki("b-gone").issuers.generateRoot({ commonName: "Root", keyType: "ec" })
    const { body } = await search("limit=1&mounts=b-gone,c")
    expect(body.data.keys).toEqual([expect.stringMatching(/^b-gone\//)])
    await world.engine.mounts.delete("b-gone")
    expect((await search(`limit=1&after=${body.data.next}`)).body.data.keys).toEqual([expect.stringMatching(/^c\//)])
  })

  test.each(["x", Buffer.from("[1]").toString("base64url"), Buffer.from('["a","x"]').toString("base64url")])(
    "[F-P17] rejects the after value %j of no page",
    async (after) => {
      expect(await search(`after=${after}`)).toMatchObject({
        status: 400,
        body: { errors: [expect.stringContaining("after")] },
      })
    },
  )
})

describe("CSV", () => {
  const rows = (text: string) => text.split("\r\n").slice(0, -1)

  test("[F-P17] contains all certificates of all mounts, or of one", async () => {
    const { status, headers, body } = await search("role=web&format=csv")
    expect([
      status,
      headers.get("content-type"),
      headers.get("content-disposition"),
      headers.get("cache-control"),
    ]).toEqual([200, "text/csv; charset=utf-8; header=present", 'attachment; filename="certificates.csv"', "no-store"])
    expect(rows(body)).toEqual([
      "mount,serial_number,common_name,names,issuer_id,role,not_before,not_after,status,revoked_at",
      ...["a", "c", "team/b"].flatMap((path) => [
        expect.stringMatching(
          new RegExp(`^${path}/,${serials[path]?.far},far\\.test,far\\.test,[^,]+,web,[^,]+Z,[^,]+Z,valid,$`),
        ),
        expect.stringMatching(new RegExp(`^${path}/,${serials[path]?.near},near`)),
      ]),
    ])
    const one = await world.pki("GET", "/team/b/certs/search?list=true&role=web&format=csv&expires_before=2d")
    expect(rows(one.body)).toEqual([rows(body)[0], expect.stringContaining(`team/b/,${serials["team/b"]?.near},`)])
  })

  test("[F-P17] is only a header without certificates, has as many rows as the page size, and reports invalid parameters", async () => {
    expect(rows((await search("name=none.test&format=csv")).body)).toHaveLength(1)
    expect(rows((await search("format=csv&limit=2")).body)).toHaveLength(3)
    expect((await search("format=csv&limit=0")).status).toBe(400)
    expect((await search("format=xlsx")).body.errors).toEqual(['"format" must be "json" or "csv"'])
    expect(await world.pki("HEAD", "/sys/certs/search?list=true&format=csv")).toMatchObject({
      status: 200,
      body: undefined,
    })
  })

  const entry = (number: number): MountInventoryEntry => ({
    mount: "a",
    serialNumber: parseSerialNumber(number.toString(16).padStart(4, "0")) as SerialNumber,
    commonName: "",
    names: [],
    issuerId: null,
    role: null,
    notBefore: 0,
    notAfter: hourMs,
    status: "valid",
    revokedAt: null,
  })

  test("[F-P17] is read from the store page by page while it is sent", async () => {
    const asked: CertificatePageRequest[] = []
    const answer = await csvAnswer(async (page) => {
      asked.push(page)
      return { items: [entry(256 + asked.length)], next: asked.length === 5 ? undefined : String(asked.length) }
    }, {})
    if (answer.kind !== "stream") throw new Error("the answer is no stream")
    const texts = answer.body[Symbol.asyncIterator]()
    // The first page is read before the status is sent. Each later page is read when the previous one was sent.
    for (const pages of [1, 1, 2, 3, 4, 5]) {
      expect((await texts.next()).done).toBe(false)
      expect(asked).toHaveLength(pages)
    }
    expect((await texts.next()).done).toBe(true)
    expect(asked.map(({ after }) => after)).toEqual([undefined, "1", "2", "3", "4"])
  })

  test("[F-P17] ends with an error when a later page cannot be read", async () => {
    const { certificates } = world.engine.pki("a")
    let pages = 0
    const answer = await csvAnswer(async () => {
      pages += 1
      if (pages === 2) throw new Error("the store is gone")
      return { items: (await certificates.search({})).items.map((one) => ({ ...one, mount: "a" })), next: "more" }
    }, {})
    if (answer.kind !== "stream") throw new Error("the answer is no stream")
    const texts = answer.body[Symbol.asyncIterator]()
    await texts.next()
    await texts.next()
    await expect(texts.next()).rejects.toThrow("the store is gone")
  })
})
