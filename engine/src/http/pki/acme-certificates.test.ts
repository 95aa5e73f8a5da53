import { describe, expect, test } from "vitest"
import { AcmeTestClient } from "../../testing/acme-client.ts"
import { acmeCluster } from "../../testing/acme-mount.ts"
import { issued, localhost, newProvingWorld, readyOrder, renewalIdOf } from "../../testing/acme-world.ts"

const base = `${acmeCluster}/acme`

describe("a certificate", () => {
  test("is revoked by who ordered it, with the reason that is given", async () => {
    const { world, responder } = await newProvingWorld()
    const client = await AcmeTestClient.registered(world, base)
    const { leaf } = await issued(client, responder)
    const certificate = leaf.raw.toString("base64url")
    for (const reason of [6, 7, 8, 11, "1"])
      expect(await client.post("/revoke-cert", { certificate, reason })).toMatchObject({
        status: 400,
        problem: "badRevocationReason",
      })
    expect((await client.post("/revoke-cert", { certificate, reason: 4 })).status).toBe(200)
    expect(await client.post("/revoke-cert", { certificate })).toMatchObject({ status: 400, problem: "alreadyRevoked" })
  })

  test("is revoked by who has its key, or has proved its names, and by nobody else", async () => {
    const { world, responder } = await newProvingWorld()
    const client = await AcmeTestClient.registered(world, base)
    const stranger = await AcmeTestClient.registered(world, base)
    const { leaf } = await issued(client, responder)
    const certificate = leaf.raw.toString("base64url")
    expect(await stranger.post("/revoke-cert", { certificate })).toMatchObject({ status: 403, problem: "unauthorized" })
    expect(await stranger.post("/revoke-cert", { certificate }, { byKey: true })).toMatchObject({
      status: 403,
      problem: "unauthorized",
    })
    await readyOrder(stranger, responder)
    expect((await stranger.post("/revoke-cert", { certificate })).status).toBe(200)
  })

  test("tells when to renew it, sooner when it is revoked, and is replaced once", async () => {
    const { world, responder } = await newProvingWorld()
    const client = await AcmeTestClient.registered(world, base)
    const { leaf } = await issued(client, responder)
    const id = renewalIdOf(leaf)
    const info = await client.get(`${base}/renewal-info/${id}`)
    expect(info.status).toBe(200)
    expect(info.headers.get("retry-after")).toBe("21600")
    const { start, end } = info.body.suggestedWindow
    expect(Date.parse(start)).toBeGreaterThan(Date.now())
    expect(Date.parse(end)).toBeLessThan(new Date(leaf.validTo).getTime())
    const replacing = await client.post("/new-order", { identifiers: [localhost], replaces: id })
    expect(replacing).toMatchObject({ status: 201, body: { replaces: id } })
    expect(await client.post("/new-order", { identifiers: [localhost], replaces: id })).toMatchObject({
      status: 409,
      problem: "alreadyReplaced",
    })
    // An order that has come to nothing has replaced nothing (RFC 9773, section 5).
    await client.post(replacing.body.authorizations[0], { status: "deactivated" })
    expect((await client.post(replacing.headers.get("location") ?? "")).body.status).toBe("invalid")
    expect(await client.post("/new-order", { identifiers: [localhost], replaces: id })).toMatchObject({ status: 201 })
    await client.post("/revoke-cert", { certificate: leaf.raw.toString("base64url") })
    const due = await client.get(`${base}/renewal-info/${id}`)
    expect(Date.parse(due.body.suggestedWindow.end)).toBeLessThan(Date.now())
    expect(await client.get(`${base}/renewal-info/${id.slice(0, -4)}AAAA`)).toMatchObject({ problem: "malformed" })
  })
})
