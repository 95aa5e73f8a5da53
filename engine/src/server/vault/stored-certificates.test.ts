import { X509Certificate } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { databaseKinds } from "../../../testing/temporary-database.ts"
import { type Answer, openTestEngine, origin, type TestEngine } from "../../../testing/test-engine.ts"

describe.each(databaseKinds.filter(({ available }) => available))("certificates in $name:", ({ place }) => {
  const closing = new AsyncDisposableStack()
  let world: TestEngine
  const issued: string[] = []
  beforeAll(async () => {
    const { url } = closing.use(await place())
    world = closing.use(await openTestEngine({ url }))
    await world.pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })
    await world.engine.pki("pki").issuers.generateRoot({ commonName: "Test Root", keyType: "ec", ttlMs: 2_000_000_000 })
    for (const [name, key] of [
      ["web", "ec"],
      ["mail", "ed25519"],
    ])
      await world.pki("POST", `/pki/roles/${name}`, {
        body: { allow_any_name: true, key_type: key, max_ttl: "100h" },
      })
    await world.pki("POST", "/pki/roles/other", { body: { allow_any_name: true, key_type: "ec", no_store: false } })
    const asked: [string, object][] = [
      ["web", { common_name: "www.example.com", alt_names: "api.example.com", ttl: "1h" }],
      ["web", { common_name: "WWW.Example.com", ttl: "2h", cert_metadata: "b3duZXI=" }],
      ["mail", { common_name: "mail.example.com", ip_sans: "192.0.2.1", ttl: "3h" }],
      ["mail", { common_name: "mail.example.org", ttl: "4h" }],
    ]
    for (const [role, body] of asked)
      issued.push((await world.pki("POST", `/pki/issue/${role}`, { body })).body.data.serial_number)
  })
  afterAll(() => closing.disposeAsync())

  const anonymously = (path: string) => world.app.fetch(new Request(`${origin}/v1/pki${path}`))
  const search = async (query: string) => {
    const { status, body } = await world.pki("LIST", `/pki/certs/search?${query}`)
    return status === 404 ? [] : body.data.keys.map((serial: string) => issued.indexOf(serial))
  }

  test("the CA and its chain are returned without a token, as DER and PEM", async () => {
    const der = await anonymously("/ca")
    expect(der.headers.get("content-type")).toBe("application/pkix-cert")
    const root = new X509Certificate(Buffer.from(await der.arrayBuffer()))
    expect(root.subject).toBe("CN=Test Root")
    const pem = await anonymously("/ca/pem")
    expect(pem.headers.get("content-type")).toBe("application/pem-certificate-chain")
    expect(new X509Certificate(await pem.text()).fingerprint256).toBe(root.fingerprint256)
    const chain = await anonymously("/ca_chain")
    expect(chain.headers.get("content-type")).toBe("application/pkix-cert")
    expect((await world.pki("GET", "/pki/cert/ca_chain", { token: null })).body.data.ca_chain).toEqual([
      await chain.text(),
    ])
  })

  test.each([
    "/ca",
    "/ca/pem",
    "/ca_chain",
    "/cert/ca",
    "/cert/ca_chain",
    "/crl",
    "/crl/pem",
    "/cert/crl",
    "/issuer/default/crl",
    "/issuer/default/crl/der",
    "/issuer/default/crl/pem",
    "/crl/shard/1-0",
    "/issuer/default/der",
  ])("%s answers 304 for a known ETag, and HEAD without a body", async (path) => {
    const ask = (method: string, headers: Readonly<Record<string, string>> = {}) =>
      world.app.fetch(new Request(`${origin}/v1/pki${path}`, { method, headers }))
    const first = await ask("GET")
    expect(first.status).toBe(200)
    const body = Buffer.from(await first.arrayBuffer())
    expect(body.length).toBeGreaterThan(100)
    const tag = first.headers.get("etag") ?? ""
    expect(tag).toMatch(/^(W\/)?"[\w-]+"$/)
    for (const method of ["GET", "HEAD"]) {
      const again = await ask(method, { "if-none-match": tag })
      expect([method, again.status, again.headers.get("etag")]).toEqual([method, 304, tag])
      expect((await again.arrayBuffer()).byteLength).toBe(0)
    }
    const head = await ask("HEAD", { "if-none-match": '"other"' })
    expect([head.status, head.headers.get("etag")]).toEqual([200, tag])
    expect(head.headers.get("content-type")).toBe(first.headers.get("content-type"))
    expect((await head.arrayBuffer()).byteLength).toBe(0)
    const past = new Date(Date.now() - 3_600_000).toUTCString()
    expect((await ask("GET", { "if-modified-since": past })).status).toBe(200)
    // Last-Modified is absent within the second of the last change.
    await expect.poll(async () => (await ask("GET")).headers.get("last-modified"), { timeout: 10_000 }).not.toBeNull()
    expect((await ask("GET", { "if-modified-since": new Date().toUTCString() })).status).toBe(304)
  })

  test("a certificate is returned without a token, by its serial number in any form", async () => {
    const serial = issued[0] ?? ""
    for (const written of [serial, serial.toUpperCase(), serial.replaceAll(":", "-")]) {
      const { body } = await world.pki("GET", `/pki/cert/${written}`, { token: null })
      expect(new X509Certificate(body.data.certificate).subject).toBe("CN=www.example.com")
      expect(body.data).toMatchObject({ revocation_time: 0, revocation_time_rfc3339: "" })
    }
    const raw = await anonymously(`/cert/${serial}/raw`)
    expect(new X509Certificate(Buffer.from(await raw.arrayBuffer())).subject).toBe("CN=www.example.com")
    expect(await (await anonymously(`/cert/${serial}/raw/pem`)).text()).toContain("BEGIN CERTIFICATE")
    expect(await world.pki("GET", "/pki/cert/01:02", { token: null })).toMatchObject({
      status: 404,
      body: { errors: [] },
    })
    expect((await world.pki("GET", "/pki/cert/nonsense", { token: null })).status).toBe(400)
  })

  test("a revoked certificate has its revocation time", async () => {
    const { body } = await world.pki("POST", "/pki/issue/mail", { body: { common_name: "gone.test", ttl: "1h" } })
    const { serial_number } = body.data
    const revoked = await world.pki("POST", "/pki/revoke", { body: { serial_number } })
    const read = await world.pki("GET", `/pki/cert/${serial_number}`, { token: null })
    expect(read.body.data).toMatchObject({
      revocation_time: revoked.body.data.revocation_time,
      revocation_time_rfc3339: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    issued.push(serial_number)
  })

  test("all serial numbers are listed, in pages on request", async () => {
    const all = (await world.pki("LIST", "/pki/certs")).body.data.keys
    expect(all).toHaveLength(6)
    expect(all).toEqual(expect.arrayContaining(issued))
    const first = (await world.pki("LIST", "/pki/certs?limit=2")).body.data.keys
    const next = (await world.pki("LIST", `/pki/certs?limit=10&after=${first[1]}`)).body.data.keys
    expect([...first, ...next]).toEqual(all)
  })

  test("all certificates are listed with details, in pages on request", async () => {
    const { keys, key_info: info } = (await world.pki("LIST", "/pki/certs/detailed")).body.data
    expect(keys).toEqual((await world.pki("LIST", "/pki/certs")).body.data.keys)
    expect(Object.keys(info).toSorted()).toEqual(keys)
    expect(info[issued[0] ?? ""]).toEqual({
      common_name: "www.example.com",
      issuer: "CN=Test Root",
      key_type: "ec",
      key_bits: 256,
      not_before: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      not_after: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      dns_names: ["www.example.com", "api.example.com"],
    })
    expect(info[issued[2] ?? ""]).toMatchObject({ key_type: "ed25519", key_bits: 256, dns_names: ["mail.example.com"] })
    const page = (await world.pki("LIST", `/pki/certs/detailed?limit=2&after=${keys[1]}`)).body.data
    expect(page.keys).toEqual(keys.slice(2, 4))
    expect((await world.pki("LIST", `/pki/certs/detailed?after=${keys.at(-1)}`)).status).toBe(404)
    expect((await world.pki("LIST", "/pki/certs/detailed?after=x")).body.errors).toEqual([
      expect.stringContaining("after"),
    ])
  })

  test("only the first of many names are listed", async () => {
    const names = Array.from({ length: 9 }, (_, index) => `n${index}.test`)
    const body = { common_name: names[0], alt_names: names.join(","), ttl: "99h" }
    const { serial_number } = (await world.pki("POST", "/pki/issue/other", { body })).body.data
    const { key_info: info } = (await world.pki("LIST", "/pki/certs/detailed")).body.data
    expect(info[serial_number].dns_names).toEqual(names.slice(0, 5))
  })

  test("certificates with metadata are listed", async () => {
    expect((await world.pki("LIST", "/pki/cert-metadata")).body.data).toEqual({ keys: [issued[1]] })
    expect((await world.pki("GET", "/pki/cert-metadata?list=true&limit=0")).body.data.keys).toEqual([issued[1]])
    expect((await world.pki("LIST", `/pki/cert-metadata?after=${issued[1]}`)).status).toBe(404)
  })

  test.each([
    { query: "name=www.example.com", found: [1, 0], why: "the common name, in any case, the newest first" },
    { query: "name=api.example.com", found: [0], why: "an alternative name" },
    { query: "name=192.0.2.1", found: [2], why: "an address" },
    { query: "name=*.example.com", found: [0, 2, 1], why: "an open beginning, each certificate once" },
    { query: "name=example.com", found: [], why: "no name in whole" },
    { query: "role=mail", found: [3, 2, 4], why: "the role, the last to expire first" },
    { query: "status=revoked", found: [4], why: "what was revoked" },
    { query: "role=mail&status=valid", found: [2, 3], why: "what is neither revoked nor expired, the soonest first" },
    { query: "role=mail&status=valid,revoked", found: [4, 2, 3], why: "one or the other" },
    { query: "role=mail&status=valid&status=revoked", found: [4, 2, 3], why: "the same" },
    { query: "role=mail&status=valid,expired,revoked", found: [3, 2, 4], why: "all there is" },
    { query: "role=mail&status=expired", found: [], why: "what has expired" },
    { query: "name=*.example.org&status=revoked", found: [], why: "both" },
    { query: "metadata=b3duZXI%3D&status=valid&role=web", found: [1], why: "all three" },
    { query: "role=mail&name=*.example.org", found: [3], why: "both" },
    { query: "issuer_ref=default&role=web", found: [1, 0], why: "the issuer" },
    { query: "metadata=b3duZXI%3D", found: [1], why: "what was kept with it" },
    { query: "role=absent", found: [], why: "a role without any" },
  ])("the inventory is searched by $query: $why", async ({ query, found }) => {
    // A search by name sorts by name.
    const inOrder = (indexes: readonly number[]) => (query.includes("*") ? indexes.toSorted((a, b) => a - b) : indexes)
    expect(inOrder(await search(query))).toEqual(inOrder(found))
  })

  test("the inventory is searched by expiry, earliest first, and returns details", async () => {
    const in90Minutes = new Date(Date.now() + 5_400_000).toISOString()
    expect(await search(`expires_before=${in90Minutes}`)).toEqual([0, 4])
    expect(await search(`expires_after=${in90Minutes}&role=web`)).toEqual([1])
    const { body } = await world.pki("LIST", `/pki/certs/search?expires_before=${in90Minutes}`)
    expect(body.data.key_info[issued[0] ?? ""]).toMatchObject({
      common_name: "www.example.com",
      names: ["api.example.com", "www.example.com"],
      role: "web",
      not_after: expect.stringMatching(/Z$/),
      status: "valid",
      revoked_at: null,
    })
    expect(
      (await world.pki("LIST", "/pki/certs/search?status=revoked")).body.data.key_info[issued[4] ?? ""],
    ).toMatchObject({ status: "revoked", revoked_at: expect.stringMatching(/Z$/) })
  })

  test.each([
    "",
    "name=*.example.com",
    "expires_after=2000-01-01T00:00:00Z",
    "status=valid,revoked",
    "role=mail",
    "metadata=b3duZXI%3D",
  ])("pages of %j follow each other without a gap", async (query) => {
    const whole = (await world.pki("LIST", `/pki/certs/search?${query}`)).body.data.keys
    const paged: string[] = []
    for (let after: string | undefined = ""; after !== undefined;) {
      const from: string = after === "" ? "" : `&after=${after}`
      const { body }: Answer = await world.pki("LIST", `/pki/certs/search?${query}&limit=1${from}`)
      paged.push(...body.data.keys)
      after = body.data.next
    }
    expect(paged).toEqual(whole)
  })

  test("an after value of no page is rejected", async () => {
    for (const after of ["x", Buffer.from("[1]").toString("base64url")])
      expect((await world.pki("LIST", `/pki/certs/search?after=${after}`)).body.errors).toEqual([
        expect.stringContaining("after"),
      ])
    expect((await world.pki("LIST", "/pki/certs/search?limit=0")).status).toBe(400)
    expect((await world.pki("LIST", "/pki/certs/search?status=valid,good")).body.errors).toEqual([
      '"status" must be any of "valid", "expired" or "revoked"',
    ])
  })

  test("the metadata of a certificate is returned", async () => {
    const { body } = await world.pki("GET", `/pki/cert-metadata/${issued[1]}`)
    expect(body.data).toEqual({
      serial_number: issued[1],
      issuer_id: expect.stringMatching(/^iss-/),
      expiration: expect.stringMatching(/^\d{4}-/),
      cert_metadata: "b3duZXI=",
      role: "web",
    })
    expect((await world.pki("GET", `/pki/cert-metadata/${issued[0]}`)).status).toBe(404)
  })
})
