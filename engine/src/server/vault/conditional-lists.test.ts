// Conditional requests when the content of a path becomes older: a new default issuer may have a CRL that was made earlier.
import { afterAll, beforeAll, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

const clock = manualClock()
let world: TestEngine
beforeAll(async () => {
  world = await openTestEngine({ runtime: { ...systemRuntime(), clock }, jobs: false })
  await world.engine.mounts.create({ path: "pki" })
  for (const issuerName of ["one", "two"])
    await world.engine.pki("pki").issuers.generateRoot({ commonName: issuerName, keyType: "ec", issuerName })
})
afterAll(() => world[Symbol.asyncDispose]())

const read = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  world.pki("GET", `/pki/${path}`, { token: null, headers })

test.each(["ca", "crl", "cert/crl", "crl/pem"])(
  "%s of another issuer is returned for If-Modified-Since of the first",
  async (path) => {
    const { settings } = world.engine.pki("pki")
    await settings.changeIssuers({ default: "two" })
    clock.advance(hourMs)
    await read("issuer/two/crl")
    clock.advance(hourMs)
    await settings.changeIssuers({ default: "one" })
    clock.advance(hourMs)
    await read(path)
    clock.advance(hourMs)
    const one = await read(path)
    const since = one.headers.get("last-modified") ?? ""
    expect((await read(path, { "if-modified-since": since })).status).toBe(304)
    clock.advance(hourMs)
    await settings.changeIssuers({ default: "two" })
    clock.advance(hourMs)
    expect((await read(path, { "if-modified-since": since })).status).toBe(200)
    expect((await read(path, { "if-none-match": one.headers.get("etag") ?? "" })).status).toBe(200)
  },
)

test("a rebuilt CRL has a new ETag, and a CRL read within its first second has no Last-Modified", async () => {
  const before = await read("crl")
  await read("crl/rotate", { "x-service-token": world.rootToken })
  const fresh = await read("crl", { "if-none-match": before.headers.get("etag") ?? "" })
  expect([fresh.status, fresh.headers.get("last-modified")]).toEqual([200, null])
  clock.advance(1_000)
  const dated = await read("crl", { "if-none-match": fresh.headers.get("etag") ?? "" })
  expect([dated.status, dated.headers.get("last-modified")]).toEqual([304, new Date(clock.now() - 1_000).toUTCString()])
})
