import { describe, expect, test } from "vitest"
import manifest from "../../../package.json" with { type: "json" }
import { systemRuntime } from "../../core/runtime.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"
import { createApp } from "../app.ts"

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe("the server", () => {
  test("answers health checks and seal status without a token", async () => {
    const now = Date.UTC(2030, 0, 1, 0, 0, 0, 999)
    await using world = await openTestEngine({ runtime: { ...systemRuntime(), clock: { now: () => now } } })
    const { status, body } = await world.pki("GET", "/sys/health", { token: null })
    expect(status).toBe(200)
    expect(body).toEqual({
      initialized: true,
      sealed: false,
      standby: false,
      performance_standby: false,
      replication_performance_mode: "disabled",
      replication_dr_mode: "disabled",
      server_time_utc: Math.floor(now / 1000),
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      chancery_version: manifest.version,
      enterprise: false,
      cluster_name: expect.stringMatching(/^chancery-cluster-[0-9a-f]{8}$/),
      cluster_id: expect.stringMatching(uuid),
      echo_duration_ms: 0,
      clock_skew_ms: 0,
      replication_primary_canary_age_ms: 0,
    })
    const sealStatus = (await world.pki("GET", "/sys/seal-status", { token: null })).body
    expect(sealStatus).toMatchObject({
      type: "shamir",
      initialized: true,
      sealed: false,
      version: body.version,
      chancery_version: manifest.version,
      cluster_id: body.cluster_id,
    })
    expect((await world.pki("GET", "/sys/init", { token: null })).body).toEqual({ initialized: true })
    expect((await world.pki("GET", "/sys/leader", { token: null })).body).toMatchObject({
      ha_enabled: false,
      is_self: true,
    })
  })

  test("[P-9-n2] reports a version from which Vault clients use several issuers and ACME", async () => {
    await using world = await openTestEngine()
    const { version } = (await world.pki("GET", "/sys/health")).body
    const [major = 0, minor = 0] = String(version).split(".").map(Number)
    expect(major * 1_000 + minor).toBeGreaterThanOrEqual(1_014)
  })

  test("has a cluster id that is constant for its store and differs between stores", async () => {
    await using world = await openTestEngine()
    await using other = await openTestEngine()
    const idOf = async ({ pki }: typeof world) => (await pki("GET", "/sys/health")).body.cluster_id
    expect(await idOf(world)).toBe(await idOf(world))
    expect(await idOf(world)).not.toBe(await idOf(other))
  })

  test.each<[method: string, query: string, status: number]>([
    ["HEAD", "", 200],
    ["GET", "?standbyok=true&perfstandbyok=true", 200],
    ["GET", "?activecode=299", 299],
    ["GET", "?activecode=204", 204],
    ["GET", "?activecode=100", 400],
    ["GET", "?activecode=ok", 400],
    ["GET", "?sealedcode=200", 200],
  ])("answers %s with %j: %i", async (method, query, status) => {
    await using world = await openTestEngine()
    expect((await world.pki(method, `/sys/health${query}`, { token: null })).status).toBe(status)
  })

  test.each<[query: string, status: number]>([
    ["", 503],
    ["?sealedcode=599", 599],
  ])("answers that it is unhealthy when its store does not answer: %j %i", async (query, status) => {
    await using world = await openTestEngine()
    const engine = new Proxy(world.engine, {
      get(target, name) {
        if (name === "ready") return () => Promise.reject(new Error("gone"))
        const member: unknown = Reflect.get(target, name, target)
        return typeof member === "function" ? member.bind(target) : member
      },
    })
    const app = createApp({ engine, runtime: systemRuntime() })
    expect((await app.fetch(new Request(`http://chancery.test/v1/sys/health${query}`))).status).toBe(status)
  })
})
