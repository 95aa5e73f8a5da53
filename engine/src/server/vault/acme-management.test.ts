import type { X509Certificate } from "node:crypto"
import { describe, expect, test } from "vitest"
import { newTestAccount } from "../../../testing/acme-account.ts"
import { AcmeTestClient } from "../../../testing/acme-client.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import { issued, newAcmeEngine, newProvingEngine, renewalIdOf } from "../../../testing/acme-engine.ts"

const base = `${acmeCluster}/acme`
const accounts = "/pki/acme/mgmt/account/keyid"
const orders = "/pki/acme/mgmt/order"
const renewals = "/pki/acme/mgmt/renewal"
const colons = (leaf: X509Certificate): string => (leaf.serialNumber.toLowerCase().match(/../g) ?? []).join(":")
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)

describe("managed ACME accounts", () => {
  test("are listed and returned with key, contacts, binding and orders", async () => {
    const { world, responder } = await newProvingEngine()
    expect((await world.pki("LIST", accounts)).status).toBe(404)
    const client = await AcmeTestClient.registered(world, base, { contact: ["mailto:ops@example.com"] })
    const { leaf } = await issued(client, responder)
    await newTestAccount(world.engine, "pki", { directory: { role: "web" } })
    const listed = await world.pki("LIST", accounts)
    expect(listed.body.data.keys).toHaveLength(2)
    const id = client.account?.split("/").at(-1) ?? ""
    const account = {
      key_id: id,
      status: "valid",
      contacts: ["mailto:ops@example.com"],
      directory: "acme/directory",
      key_thumbprint: client.thumbprint,
      terms_of_service_agreed: false,
      eab: {},
      created_time: time,
      status_time: time,
      revoked_time: "",
    }
    expect(listed.body.data.key_info[id]).toEqual(account)
    const order = {
      order_id: expect.stringMatching(/^order-/),
      account_id: id,
      status: "valid",
      identifiers: ["localhost"],
      cert_serial_number: colons(leaf),
      cert_expiry: time,
      order_expiry: time,
      created_time: time,
      profile: null,
      replaces: null,
      error: null,
    }
    expect((await world.pki("GET", `${accounts}/${id}`)).body.data).toEqual({ ...account, orders: [order] })
    expect((await world.pki("GET", `${accounts}/acct-absent`)).status).toBe(404)
  })

  test("are listed in pages by id", async () => {
    const world = await newAcmeEngine()
    const made = await Promise.all(Array.from({ length: 5 }, () => newTestAccount(world.engine, "pki")))
    const ids = made.map(({ id }) => id).toSorted()
    expect((await world.pki("LIST", `${accounts}?limit=2`)).body.data.keys).toEqual(ids.slice(0, 2))
    expect((await world.pki("LIST", `${accounts}?after=${ids[1]}&limit=2`)).body.data.keys).toEqual(ids.slice(2, 4))
    expect((await world.pki("LIST", `${accounts}?after=${ids[4]}`)).status).toBe(404)
  })

  test("are disabled, which deactivates their authorizations, and enabled again", async () => {
    const { world, responder } = await newProvingEngine()
    const client = await AcmeTestClient.registered(world, base)
    const { url } = await issued(client, responder)
    const id = client.account?.split("/").at(-1) ?? ""
    const changed = await world.pki("POST", `${accounts}/${id}`, { body: { status: "revoked" } })
    expect(changed.body.data).toMatchObject({ status: "revoked", revoked_time: time })
    expect(await client.post(url)).toMatchObject({ status: 401, problem: "unauthorized" })
    const again = await AcmeTestClient.open(world, base)
    again.key = client.key
    expect(await again.register()).toMatchObject({ status: 401, problem: "unauthorized" })
    const enabled = await world.pki("POST", `${accounts}/${id}`, { body: { status: "valid" } })
    expect(enabled.body.data).toMatchObject({ status: "valid", revoked_time: "" })
    const order = await client.post("/new-order", { identifiers: [{ type: "dns", value: "localhost" }] })
    expect(order).toMatchObject({ status: 201, body: { status: "pending" } })
  })

  test("stay deactivated when their holders deactivated them", async () => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, base)
    const id = client.account?.split("/").at(-1) ?? ""
    for (const body of [{}, { status: "deactivated" }, { status: 5 }])
      expect((await world.pki("POST", `${accounts}/${id}`, { body })).status).toBe(400)
    await client.post(client.account ?? "", { status: "deactivated" })
    for (const status of ["valid", "revoked"])
      expect((await world.pki("POST", `${accounts}/${id}`, { body: { status } })).status).toBe(400)
    expect((await world.pki("GET", `${accounts}/${id}`)).body.data.status).toBe("deactivated")
    expect((await world.pki("POST", `${accounts}/acct-absent`, { body: { status: "valid" } })).status).toBe(404)
  })

  test("are deleted with their orders but without their certificates", async () => {
    const { world, responder } = await newProvingEngine()
    const client = await AcmeTestClient.registered(world, base)
    const { leaf } = await issued(client, responder)
    const id = client.account?.split("/").at(-1) ?? ""
    expect((await world.pki("DELETE", `${accounts}/${id}`)).status).toBe(204)
    expect((await world.pki("DELETE", `${accounts}/${id}`)).status).toBe(404)
    expect((await world.pki("LIST", orders)).status).toBe(404)
    expect((await world.pki("GET", `/pki/cert/${colons(leaf)}`)).status).toBe(200)
    expect(await client.post("/new-order", {})).toMatchObject({ problem: "accountDoesNotExist" })
  })
})

describe("managed ACME orders", () => {
  test("are listed for all accounts or one, returned and deleted", async () => {
    const world = await newAcmeEngine()
    const [one, other] = [await newTestAccount(world.engine, "pki"), await newTestAccount(world.engine, "pki")]
    const first = await one.order("a.example.com", "b.example.com")
    await other.order("c.example.com")
    expect((await world.pki("LIST", orders)).body.data.keys).toHaveLength(2)
    const ofOne = await world.pki("LIST", `${orders}?account_id=${one.id}`)
    expect(ofOne.body.data.keys).toEqual([first])
    const shown = { order_id: first, status: "pending", identifiers: ["a.example.com", "b.example.com"] }
    expect(ofOne.body.data.key_info[first]).toMatchObject(shown)
    expect((await world.pki("GET", `${orders}/${first}`)).body.data).toMatchObject({ ...shown, cert_expiry: "" })
    expect((await world.pki("LIST", `${orders}?account_id=acct-absent`)).body).toEqual({ errors: [] })
    expect((await world.pki("DELETE", `${orders}/${first}`)).status).toBe(204)
    expect((await world.pki("GET", `${orders}/${first}`)).status).toBe(404)
    expect((await world.pki("DELETE", `${orders}/${first}`)).status).toBe(404)
  })
})

describe("a renewal signal", () => {
  async function renewable() {
    const { world, responder } = await newProvingEngine()
    const client = await AcmeTestClient.registered(world, base)
    const { leaf } = await issued(client, responder)
    const windowOf = async (of: X509Certificate) => {
      const info = await client.get(`${base}/renewal-info/${renewalIdOf(of)}`)
      const { start, end } = info.body.suggestedWindow
      return { start: Date.parse(start), end: Date.parse(end), explanation: info.body.explanationURL }
    }
    return { world, responder, client, leaf, windowOf }
  }

  test("by serial numbers moves their renewal window to the past with an explanation until it is deleted", async () => {
    const { world, leaf, windowOf } = await renewable()
    const usual = await windowOf(leaf)
    const body = { serial_numbers: [colons(leaf)], explanation_url: "https://ca.example/incident" }
    const raised = await world.pki("POST", renewals, { body })
    expect(raised.body.data).toEqual({
      id: expect.any(String),
      issuer_id: null,
      serial_number_count: 1,
      explanation_url: "https://ca.example/incident",
      raised_at: time,
      renew_by: time,
    })
    const wanted = await windowOf(leaf)
    expect(wanted.end).toBeLessThan(Date.now())
    expect(wanted.start).toBeLessThan(wanted.end)
    expect(wanted.explanation).toBe("https://ca.example/incident")
    const { id } = raised.body.data
    expect((await world.pki("LIST", renewals)).body.data.key_info[id]).toEqual(raised.body.data)
    const serials = [colons(leaf)]
    expect((await world.pki("GET", `${renewals}/${id}`)).body.data.serial_numbers).toEqual(serials)
    expect((await world.pki("DELETE", `${renewals}/${id}`)).status).toBe(204)
    expect(await windowOf(leaf)).toEqual(usual)
    expect((await world.pki("LIST", renewals)).status).toBe(404)
    for (const method of ["GET", "DELETE"]) expect((await world.pki(method, `${renewals}/${id}`)).status).toBe(404)
  })

  test("by issuer applies to certificates ordered before it, spread over the given time", async () => {
    const { world, responder, client, leaf, windowOf } = await renewable()
    const raised = await world.pki("POST", renewals, { body: { issuer_ref: "root", within: "24h" } })
    expect(raised.body.data).toMatchObject({ issuer_id: expect.stringMatching(/^iss-/), serial_number_count: 0 })
    const { start, end, explanation } = await windowOf(leaf)
    expect(end - start).toBe(24 * 3_600_000)
    expect(start).toBeLessThanOrEqual(Date.now())
    expect(explanation).toBeUndefined()
    const { leaf: renewed } = await issued(client, responder)
    expect((await windowOf(renewed)).start).toBeGreaterThan(Date.now() + 24 * 3_600_000)
  })

  test("is rejected for missing certificates and for invalid parameters", async () => {
    const world = await newAcmeEngine()
    const refused = {
      'exactly one of "issuer_ref" and "serial_numbers" is required': [
        {},
        { issuer_ref: "root", serial_numbers: ["01"] },
      ],
      '"issuer_ref" names the issuer absent, which does not exist': [{ issuer_ref: "absent" }],
      '"serial_numbers" must not be empty': [{ serial_numbers: [] }],
      '"serial_numbers" contains "x", which is not a serial number': [{ serial_numbers: ["x"] }],
      '"serial_numbers" contains 0a, which the mount has no certificate for': [{ serial_numbers: "0a" }],
      "the body has an array with more than 10000 elements (at byte 50018)": [
        { serial_numbers: Array(10_001).fill("0a") },
      ],
      '"within" must be from 0 to 366 days': [{ issuer_ref: "root", within: "367d" }],
      '"explanation_url" must be an http or https URL of at most 2048 characters': [
        { issuer_ref: "root", explanation_url: "ftp://ca.example" },
        { issuer_ref: "root", explanation_url: `https://ca.example/${"x".repeat(2_048)}` },
      ],
    }
    for (const [sentence, bodies] of Object.entries(refused))
      for (const body of bodies)
        expect(await world.pki("POST", renewals, { body })).toMatchObject({ status: 400, body: { errors: [sentence] } })
    expect((await world.pki("LIST", renewals)).status).toBe(404)
  })
})
