import { execFileSync } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { pkiRevocationResource } from "../../declared/pki-revocation.ts"
import { AcmeTestClient } from "../../../testing/acme-client.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import { issued, newProvingEngine } from "../../../testing/acme-engine.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { writePem } from "../../x509/pem.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

let world: TestEngine
let folder: string
beforeAll(async () => {
  world = await openTestEngine()
  folder = mkdtempSync(join(tmpdir(), "crl-"))
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await world[Symbol.asyncDispose]()
})

let mounts = 0
/** A mount with a root and a role for any name. */
async function newMount() {
  const path = `m${(mounts += 1)}`
  await world.engine.mounts.create({ path })
  const { issuers, roles } = world.engine.pki(path)
  const root = await issuers.generateRoot({ commonName: `Root of ${path}`, keyType: "ec" })
  await roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000 })
  const ask = (method: string, below: string, body?: unknown, options = {}) =>
    world.pki(method, `/${path}/${below}`, { ...(body === undefined ? {} : { body }), ...options })
  const issue = async (name = "www.example.com") => (await ask("POST", "issue/any", { common_name: name })).body.data
  return { path, root, ask, issue }
}

const openssl = (...args: string[]): string =>
  execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

/** Verifies the signature of a CRL with OpenSSL, and returns the serial numbers that OpenSSL lists. */
function listedBy(crl: Uint8Array, issuerPem: string): { readonly text: string; readonly serials: readonly string[] } {
  const file = join(folder, "list.der")
  const ca = join(folder, "ca.pem")
  writeFileSync(file, crl)
  writeFileSync(ca, issuerPem)
  const text = openssl("crl", "-inform", "DER", "-in", file, "-CAfile", ca, "-verify", "-noout", "-text")
  return { text, serials: [...text.matchAll(/Serial Number: ([0-9A-F]+)/g)].map(([, hex = ""]) => hex.toLowerCase()) }
}

const bare = (serial: string) => serial.replaceAll(":", "")

describe("revoking", () => {
  test("[P-2.5-p1] [P-3-r5] [P-4.12-r1] a certificate by its serial number returns the time, and the same time again", async () => {
    const { ask, issue } = await newMount()
    const { serial_number: serial } = await issue()
    const first = await ask("POST", "revoke", { serial_number: serial })
    expect(first.status).toBe(200)
    expect(first.body.data).toMatchObject({ state: "revoked", serial_number: serial })
    expect(Math.abs(first.body.data.revocation_time - Date.now() / 1000)).toBeLessThan(60)
    const other = serial.replaceAll(":", "-").toUpperCase()
    const again = await ask("POST", "revoke", { serial_number: other, reason: "keyCompromise" })
    expect(again.body.data).toEqual(first.body.data)
    expect((await ask("LIST", "certs/revoked")).body.data.keys).toEqual([serial])
  })

  test("[P-7-n3] is rejected without a certificate, with both of its parameters, and for a missing certificate", async () => {
    const { ask, issue } = await newMount()
    const { serial_number: serial_, certificate } = await issue()
    const refusals = [
      [{}, "The serial number or certificate to revoke must be provided."],
      [
        { serial_number: serial_, certificate },
        "Must provide either the certificate or the serial to revoke; not both.",
      ],
      [{ serial_number: "0a:0b" }, "certificate with serial 0a:0b not found."],
      [
        { serial_number: "nonsense" },
        "serial_number: must be hexadecimal octets joined by colons or hyphens, at most 20",
      ],
    ] as const
    for (const [body, sentence] of refusals)
      expect(await ask("POST", "revoke", body)).toMatchObject({ status: 400, body: { errors: [sentence] } })
    expect((await ask("LIST", "certs/revoked")).status).toBe(404)
  })

  test("[P-4.12-p1] an issuer of the mount is rejected, by serial number and by certificate", async () => {
    const { ask, root } = await newMount()
    const certificate = new X509Certificate(root.certificate).toString()
    for (const body of [{ serial_number: root.serialNumber }, { certificate }])
      expect(await ask("POST", "revoke", body)).toMatchObject({
        status: 400,
        body: { errors: [`adding issuer (id: ${root.issuerId}) to its own CRL is not allowed`] },
      })
  })

  test("a certificate that is not stored is revoked by its PEM, unless another CA issued it", async () => {
    const { ask, path } = await newMount()
    await world.engine
      .pki(path)
      .roles.save("unstored", { allowAnyName: true, keyType: "ec", noStore: true, ttlMs: 3_600_000 })
    const { certificate, serial_number: serial } = (await ask("POST", "issue/unstored", { common_name: "a.test" })).body
      .data
    expect((await ask("POST", "revoke", { serial_number: serial })).status).toBe(400)
    expect((await ask("POST", "revoke", { certificate })).body.data).toMatchObject({ serial_number: serial })
    expect((await ask("POST", "revoke", { serial_number: serial })).status).toBe(200)
    const stranger = await (await newMount()).issue()
    const refused = await ask("POST", "revoke", { certificate: stranger.certificate })
    expect(refused.status).toBe(400)
    expect(refused.body.errors[0]).toMatch(/^unable to verify signature on presented cert from any present issuer/)
  })

  test("[P-4.12-r2] with the key requires the key of the certificate", async () => {
    const { ask, issue } = await newMount()
    const [one, other] = [await issue(), await issue("other.example.com")]
    expect(await ask("POST", "revoke-with-key", { serial_number: one.serial_number })).toMatchObject({
      status: 400,
      body: { errors: ["Must have private key to revoke via the /revoke-with-key path."] },
    })
    const wrong = { serial_number: one.serial_number, private_key: other.private_key }
    expect(await ask("POST", "revoke-with-key", wrong)).toMatchObject({
      status: 400,
      body: { errors: ["provided private key does not match certificate's public key"] },
    })
    const right = { certificate: one.certificate, private_key: one.private_key }
    expect((await ask("POST", "revoke-with-key", right)).status).toBe(200)
    expect((await ask("LIST", "certs/revoked")).body.data.keys).toEqual([one.serial_number])
  })

  test.each([
    ["certificateHold", "a hold could be lifted"],
    ["removeFromCRL", "nothing is taken back"],
    ["7", "the number is not used"],
    ["bad luck", "no such reason"],
  ])("for the reason %s is rejected: %s", async (reason) => {
    const { ask, issue } = await newMount()
    const { serial_number } = await issue()
    expect((await ask("POST", "revoke", { serial_number, reason })).status).toBe(400)
    expect((await ask("LIST", "certs/revoked")).status).toBe(404)
  })
})

describe("a CRL", () => {
  test("contains every acknowledged revocation with its reason, and OpenSSL verifies it", async () => {
    const { ask, issue, root } = await newMount()
    const pem = new X509Certificate(root.certificate).toString()
    const empty = await ask("GET", "crl", undefined, { token: null })
    expect(empty.headers.get("content-type")).toBe("application/pkix-crl")
    expect(listedBy(empty.bytes, pem).serials).toEqual([])
    const [one, other] = [await issue(), await issue()]
    await ask("POST", "revoke", { serial_number: one.serial_number })
    const first = listedBy((await ask("GET", "crl")).bytes, pem)
    expect(first.serials).toEqual([bare(one.serial_number)])
    await ask("POST", "revoke", { serial_number: other.serial_number, revocation_reason: "key_compromise" })
    const second = listedBy((await ask("GET", "issuer/default/crl/der")).bytes, pem)
    expect(second.serials).toEqual([bare(one.serial_number), bare(other.serial_number)])
    expect(second.text).toMatch(/X509v3 CRL Reason Code:\s+Key Compromise/)
    expect(second.text).toMatch(/X509v3 Authority Key Identifier/)
  })

  test("is returned as PEM and in an envelope, and as 304 for a known ETag", async () => {
    const { ask } = await newMount()
    const { bytes, headers } = await ask("GET", "crl")
    const pem = await ask("GET", "crl/pem")
    expect(pem.headers.get("content-type")).toBe("application/x-pem-file")
    expect(pem.body).toMatch(/^-----BEGIN X509 CRL-----\n[^]*-----END X509 CRL-----$/)
    expect(Buffer.from(pem.body.replaceAll(/-----.*-----|\n/g, ""), "base64")).toEqual(Buffer.from(bytes))
    expect((await ask("GET", "cert/crl")).body.data).toEqual({
      certificate: pem.body,
      revocation_time: 0,
      revocation_time_rfc3339: "",
    })
    const etag = headers.get("etag") ?? ""
    expect((await ask("GET", "crl", undefined, { headers: { "if-none-match": etag } })).status).toBe(304)
    expect((await ask("GET", "crl", undefined, { headers: { "if-none-match": '"other"' } })).status).toBe(200)
  })

  test.each(["issuer/default/crl", "issuer/default/crl/delta"])(
    "at %s is in an envelope only for Vault clients, and has a Vary header",
    async (address) => {
      const { ask, path } = await newMount()
      await world.engine.pki(path).crls.configure({ autoRebuild: true, enableDelta: true })
      await ask("GET", "crl/rotate-delta")
      const open = (headers: Readonly<Record<string, string>>) =>
        ask("GET", address, undefined, { token: null, headers })
      const [bytes, enveloped] = [await open({}), await open({ "x-vault-request": "true" })]
      expect(bytes.headers.get("content-type")).toBe("application/pkix-crl")
      expect(enveloped.headers.get("content-type")).toBe("application/json")
      expect(enveloped.body.data).toEqual({ crl: (await ask("GET", `${address}/pem`)).body })
      for (const { headers } of [bytes, enveloped])
        expect(headers.get("vary")).toBe("X-Service-Token, X-Vault-Request, X-Vault-Token, Authorization")
      const known = { "if-none-match": bytes.headers.get("etag") ?? "" }
      expect((await open(known)).status).toBe(304)
      expect((await open({ ...known, "x-vault-token": world.rootToken })).status).toBe(200)
      const file = await ask("GET", `${address}/der`, undefined, { headers: { "x-vault-request": "true" } })
      expect([file.headers.get("content-type"), Buffer.from(file.bytes)]).toEqual([
        "application/pkix-crl",
        Buffer.from(bytes.bytes),
      ])
    },
  )

  test("does not exist without an issuer that may sign it", async () => {
    await world.engine.mounts.create({ path: "empty" })
    expect((await world.pki("GET", "/empty/crl")).status).toBe(204)
    expect((await world.pki("GET", "/empty/issuer/none/crl")).status).toBe(404)
  })

  test("does not exist when its issuer may not sign it or has no key", async () => {
    const { ask, path } = await newMount()
    await world.engine.pki(path).issuers.update("default", { usage: ["issuing-certificates"] })
    expect((await ask("GET", "crl")).status).toBe(204)
    expect((await ask("GET", "issuer/default/crl/pem")).status).toBe(204)
    expect((await ask("GET", "cert/crl")).status).toBe(204)
    expect((await ask("GET", "crl/rotate")).body.data).toEqual({ success: true })
  })

  test("answers 204 for deltas that do not exist, and 404 for shards that do not exist", async () => {
    const { ask } = await newMount()
    for (const below of ["crl/delta", "crl/delta/pem", "issuer/default/crl/delta", "cert/delta-crl"])
      expect((await ask("GET", below)).status).toBe(204)
    for (const below of ["crl/shard/4-1", "crl/shard/3-1", "crl/shard/nonsense", "crl/shard/4-4"])
      expect((await ask("GET", below)).status).toBe(404)
    expect((await ask("GET", "crl/shard/1-0")).status).toBe(200)
  })

  test("of other clusters is empty", async () => {
    const { ask } = await newMount()
    for (const below of ["certs/revocation-queue", "certs/unified-revoked"])
      expect((await ask("LIST", below)).body.data).toEqual({ keys: [], key_info: {} })
    const [whole, unified] = [await ask("GET", "crl"), await ask("GET", "unified-crl")]
    expect(unified.bytes).toEqual(whole.bytes)
    expect((await ask("GET", "cert/unified-crl")).status).toBe(200)
  })

  test("is rebuilt with a higher number at every rotation", async () => {
    const { ask } = await newMount()
    const numbers: number[] = []
    for (let round = 0; round < 3; round += 1) {
      expect((await ask("GET", "crl/rotate")).body.data).toEqual({ success: true })
      numbers.push(Number.parseInt((await ask("GET", "crl")).headers.get("etag")?.slice(1) ?? "", 10))
    }
    expect(new Set(numbers).size).toBe(3)
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other))
  })

  test("is empty while CRLs are disabled, and complete afterwards", async () => {
    const { ask, issue, root } = await newMount()
    const pem = new X509Certificate(root.certificate).toString()
    const { serial_number } = await issue()
    await ask("POST", "revoke", { serial_number })
    await ask("POST", "config/crl", { disable: true })
    expect(listedBy((await ask("GET", "crl")).bytes, pem).serials).toEqual([])
    const second = (await issue()).serial_number
    await ask("POST", "revoke", { serial_number: second })
    await ask("POST", "config/crl", { disable: false })
    expect(listedBy((await ask("GET", "crl")).bytes, pem).serials).toEqual([bare(serial_number), bare(second)])
  })
})

test("the CRL configuration has defaults and names every fault", async () => {
  const { ask } = await newMount()
  expect((await ask("GET", "config/crl")).body.data).toEqual({
    expiry: "72h",
    disable: false,
    ocsp_disable: false,
    ocsp_expiry: "12h",
    ocsp_unknown_serials: "unknown",
    ocsp_delegated_responder: false,
    ocsp_responder_key_type: "",
    ocsp_responder_ttl: "168h",
    auto_rebuild: false,
    auto_rebuild_grace_period: "12h",
    enable_delta: false,
    delta_rebuild_interval: "15m",
    allow_expired_cert_revocation: false,
    max_crl_entries: 100_000,
    shards: 1,
    cross_cluster_revocation: false,
    unified_crl: false,
    unified_crl_on_existing_paths: false,
  })
  const refused = await ask("POST", "config/crl", {
    enable_delta: true,
    shards: 3,
    unified_crl: true,
    max_crl_entries: 0,
  })
  expect(refused.status).toBe(400)
  expect(refused.body.errors).toHaveLength(4)
  const changed = await ask("POST", "config/crl", {
    auto_rebuild: "true",
    enable_delta: "true",
    expiry: 3600,
    auto_rebuild_grace_period: "10m",
  })
  expect(changed.body.data).toMatchObject({ auto_rebuild: true, enable_delta: true, expiry: "1h" })
})

describe("[F-P3] revoking a certificate that has expired", () => {
  const warning = expect.stringMatching(/^certificate with serial .* expired at .* and was not revoked/)

  async function expiredCertificate() {
    const clock = manualClock()
    const own = await openTestEngine({ runtime: { ...systemRuntime(), clock } })
    onTestFinished(() => own[Symbol.asyncDispose]())
    await own.engine.mounts.create({ path: "pki" })
    const pki = own.engine.pki("pki")
    await pki.issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 768 * 3_600_000 })
    await pki.roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000 })
    const issued = await pki.certificates.issue("any", { commonName: "www.example.com" })
    clock.advance(2 * 3_600_000)
    return { own, pki, clock, ...issued }
  }

  test.each(["native", "vault"])("answers 200, null and a warning in the %s dialect", async (dialect) => {
    const { own, serialNumber, certificate, privateKey } = await expiredCertificate()
    const isVault = dialect === "vault"
    const options = isVault ? { token: null, headers: { "x-vault-token": own.rootToken } } : {}
    const key = { private_key: privateKey?.pem("pkcs8") }
    const pem = writePem("CERTIFICATE", certificate)
    for (const [path, body] of [
      ["revoke", { serial_number: serialNumber }],
      ["revoke", { certificate: pem, reason: "keyCompromise" }],
      ["revoke-with-key", { serial_number: serialNumber, ...key }],
      ["revoke-with-key", { certificate: pem, ...key }],
    ] as const) {
      const answer = await own.pki("POST", `/pki/${path}`, { body, ...options })
      expect([answer.status, answer.body.data, answer.body.warnings]).toEqual([
        200,
        null,
        isVault ? [warning] : warning,
      ])
    }
    expect((await own.pki("GET", `/pki/cert/${serialNumber}`)).body.data.revocation_time).toBe(0)
    // The key is blocked although its certificate has expired.
    expect((await own.pki("LIST", "/sys/blocked-keys")).body.data.keys).toHaveLength(1)
  })

  test("does not change a declared revocation", async () => {
    const { own, clock, serialNumber } = await expiredCertificate()
    const spec = { mount: "pki", serialNumber }
    const { id, observed } = await pkiRevocationResource.create(own.engine, spec, { adopt: false, marker: "test" })
    expect(observed.revokedAt).toBeNull()
    const known = { before: observed, now: clock.now() }
    expect(await pkiRevocationResource.observe(own.engine, id, spec, known)).toEqual(observed)
    expect(pkiRevocationResource.diff(spec, observed).changed).toEqual([])
  })

  test("succeeds by ACME", async () => {
    const clock = manualClock()
    const { world: own, responder } = await newProvingEngine({ options: { runtime: { ...systemRuntime(), clock } } })
    const client = await AcmeTestClient.registered(own, `${acmeCluster}/acme`)
    const { leaf } = await issued(client, responder)
    clock.set(leaf.validToDate.getTime() + 1_000)
    const certificate = leaf.raw.toString("base64url")
    const answer = await client.post("/revoke-cert", { certificate }, { nonce: await client.nonce() })
    expect([answer.status, answer.body]).toEqual([200, undefined])
    expect((await own.pki("LIST", "/pki/certs/revoked")).status).toBe(404)
  })
})
