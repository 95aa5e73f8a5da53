import { describe, expect, test } from "vitest"
import { openTestEngine } from "../../../testing/test-engine.ts"

describe("[F-P13] revocation_time is in the response of", () => {
  const live = { revocation_time: 0, revocation_time_rfc3339: "" }
  test.each(["cert/ca", "cert/ca_chain", "cert/crl", "cert/delta-crl", "cert/unified-crl", "cert/unified-delta-crl"])(
    "%s",
    async (path) => {
      await using world = await openTestEngine()
      await world.pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })
      await world.pki("POST", "/pki/root/generate/internal", { body: { common_name: "Root", key_type: "ec" } })
      await world.engine.pki("pki").crls.configure({ autoRebuild: true, enableDelta: true })
      await world.pki("GET", "/pki/crl/rotate-delta")
      for (const headers of [{}, { "x-vault-request": "true" }])
        expect((await world.pki("GET", `/pki/${path}`, { headers })).body.data).toMatchObject(live)
    },
  )

  test.each(["cert/ca", "cert/ca_chain"])("%s of a revoked issuer, to a client that has it as it was", async (path) => {
    await using world = await openTestEngine()
    await world.pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })
    await world.pki("POST", "/pki/root/generate/internal", { body: { common_name: "Root", key_type: "ec" } })
    const before = await world.pki("GET", `/pki/${path}`)
    const { body } = await world.pki("POST", "/pki/issuer/default/revoke")
    const headers = { "if-none-match": before.headers.get("etag") ?? "" }
    const after = await world.pki("GET", `/pki/${path}`, { headers })
    expect(after.status).toBe(200)
    expect(after.body.data).toMatchObject({
      revocation_time: body.data.revocation_time,
      revocation_time_rfc3339: body.data.revocation_time_rfc3339,
    })
    expect(after.body.data.revocation_time).toBeGreaterThan(0)
  })
})
