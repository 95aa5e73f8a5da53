import { X509Certificate } from "node:crypto"
import { describe, expect, test } from "vitest"
import { AcmeTestClient } from "../../../testing/acme-client.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import { issued, localhost, newProvingEngine, readyOrder, renewalIdOf } from "../../../testing/acme-engine.ts"

const base = `${acmeCluster}/acme`

describe("a certificate", () => {
  test("is revoked by the account that ordered it, with the given reason", async () => {
    const { world, responder } = await newProvingEngine()
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

  test("is revoked only by the owner of its key or by an account with authorizations for its names", async () => {
    const { world, responder } = await newProvingEngine()
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

  test("[F-A4] is revoked only by the account that ordered it after its order is deleted", async () => {
    const { world, responder } = await newProvingEngine()
    const client = await AcmeTestClient.registered(world, base)
    const stranger = await AcmeTestClient.registered(world, base)
    const { leaf, url } = await issued(client, responder)
    const certificate = leaf.raw.toString("base64url")
    const { authorizations } = (await client.post(url)).body
    for (const authorization of authorizations) await client.post(authorization, { status: "deactivated" })
    expect((await world.pki("DELETE", `/pki/acme/mgmt/order/${url.split("/").at(-1)}`)).status).toBe(204)
    expect((await client.post(url)).status).toBe(404)
    expect(await stranger.post("/revoke-cert", { certificate })).toMatchObject({ status: 403, problem: "unauthorized" })
    // The account can also replace the certificate (RFC 9773, section 5).
    const replaces = renewalIdOf(leaf)
    expect((await client.post("/new-order", { identifiers: [localhost], replaces })).status).toBe(201)
    expect((await stranger.post("/new-order", { identifiers: [localhost], replaces })).status).toBe(403)
    expect((await client.post("/revoke-cert", { certificate })).status).toBe(200)
    expect(await client.post("/revoke-cert", { certificate })).toMatchObject({ problem: "alreadyRevoked" })
  })

  test("[F-A4] issued by the API is revoked by an account with authorizations for all its names", async () => {
    const { world, responder } = await newProvingEngine()
    const role = { allow_any_name: true, allow_ip_sans: true, enforce_hostnames: false, key_type: "ec", ttl: "1h" }
    await world.pki("POST", "/pki/roles/any", {
      body: { ...role, require_cn: false, allowed_uri_sans: "*", organization: "Org" },
    })
    const issue = async (body: object) => {
      const { status, body: answer } = await world.pki("POST", "/pki/issue/any", { body })
      expect([status, answer.errors]).toEqual([200, undefined])
      return new X509Certificate(answer.data.certificate).raw.toString("base64url")
    }
    const certificates = {
      name: await issue({ common_name: "LocalHost", alt_names: "localhost" }),
      "address and name": await issue({ alt_names: "localhost", ip_sans: "127.0.0.1" }),
      "name that is not proved": await issue({ alt_names: "localhost,www.example.com" }),
      wildcard: await issue({ alt_names: "localhost,*.localhost" }),
      "URI besides the name": await issue({ alt_names: "localhost", uri_sans: "urn:a:b" }),
      "common name that is not a host name": await issue({
        common_name: "Some one",
        alt_names: "localhost",
        exclude_cn_from_sans: true,
      }),
      "no names": await issue({}),
      authority: new X509Certificate((await world.pki("GET", "/pki/ca/pem")).body).raw.toString("base64url"),
    }
    const client = await AcmeTestClient.registered(world, base)
    const refused = { status: 403, problem: "unauthorized" }
    for (const certificate of Object.values(certificates))
      expect(await client.post("/revoke-cert", { certificate })).toMatchObject(refused)
    await readyOrder(client, responder)
    expect((await client.post("/revoke-cert", { certificate: certificates.name })).status).toBe(200)
    expect(await client.post("/revoke-cert", { certificate: certificates["address and name"] })).toMatchObject(refused)
    await readyOrder(client, responder, { identifiers: [{ type: "ip", value: "127.0.0.1" }] })
    expect((await client.post("/revoke-cert", { certificate: certificates["address and name"] })).status).toBe(200)
    for (const [what, certificate] of Object.entries(certificates).slice(2))
      expect([what, await client.post("/revoke-cert", { certificate })]).toMatchObject([what, refused])
  })

  test.each([
    [
      "the identifier of another key",
      (id: string) => `${Buffer.alloc(20, 7).toString("base64url")}.${id.split(".")[1]}`,
      403,
    ],
    ["an empty key identifier's neighbour", (id: string) => `AA.${id.split(".")[1]}`, 403],
    [
      "a serial number with a leading zero",
      (id: string) => {
        const [key, serialNumber = ""] = id.split(".")
        const octets = Buffer.concat([Buffer.of(0), Buffer.from(serialNumber, "base64url")])
        return `${key}.${octets.toString("base64url")}`
      },
      400,
    ],
  ])("[F-A2] is not identified by %s, neither in replaces nor for renewal information", async (_how, spoil, status) => {
    const { world, responder } = await newProvingEngine({ settings: { orders_per_account: 1, orders_per_name: 1 } })
    const client = await AcmeTestClient.registered(world, base)
    const { leaf } = await issued(client, responder)
    const id = renewalIdOf(leaf)
    const spoiled = spoil(id)
    const order = (replaces: string) => client.post("/new-order", { identifiers: [localhost], replaces })
    expect((await order(spoiled)).status).toBe(status)
    expect((await client.get(`${base}/renewal-info/${spoiled}`)).status).toBe(status === 403 ? 404 : 400)
    expect((await order(id)).status).toBe(201)
    expect((await order(spoiled)).status).toBe(status)
    expect(await order(id)).toMatchObject({ status: 409, problem: "alreadyReplaced" })
  })

  test("has renewal information, with an earlier window when it is revoked, and is replaced once", async () => {
    const { world, responder } = await newProvingEngine()
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
    // An order that became invalid has not replaced the certificate (RFC 9773, section 5).
    await client.post(replacing.body.authorizations[0], { status: "deactivated" })
    expect((await client.post(replacing.headers.get("location") ?? "")).body.status).toBe("invalid")
    expect(await client.post("/new-order", { identifiers: [localhost], replaces: id })).toMatchObject({ status: 201 })
    await client.post("/revoke-cert", { certificate: leaf.raw.toString("base64url") })
    const due = await client.get(`${base}/renewal-info/${id}`)
    expect(Date.parse(due.body.suggestedWindow.end)).toBeLessThan(Date.now())
    expect(await client.get(`${base}/renewal-info/${id.slice(0, -4)}AAAA`)).toMatchObject({ problem: "malformed" })
  })
})
