import { createPublicKey } from "node:crypto"
import { exportJWK, importPKCS8 } from "jose"
import { expect, test } from "vitest"
import { type AuditTrail, noAudit } from "../../core/audit.ts"
import { type AcmeKey, AcmeTestClient, signedBy } from "../../../testing/acme-client.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import { csrFor, issued, newProvingEngine, readyOrder } from "../../../testing/acme-engine.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"
import { testKeyGenerator } from "../../../testing/test-keys.ts"
import { sha256 } from "../../x509/digest.ts"
import { subjectAltName } from "../../x509/extensions.ts"
import { writePem } from "../../x509/pem.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import { signedRequest } from "../../x509/signed-request.ts"
import { oids } from "../../x509/asn1/oids.ts"

const roles = {
  any: { allow_any_name: true, key_type: "any", ttl: "1h" },
  fleeting: { allow_any_name: true, key_type: "any", ttl: "1h", no_store: true },
}

async function newMount(world: TestEngine, path: string): Promise<void> {
  await world.engine.mounts.create({ path })
  await done(world, `/${path}/root/generate/internal`, { common_name: `Root of ${path}`, key_type: "ec", ttl: "700h" })
  for (const [name, role] of Object.entries(roles)) await done(world, `/${path}/roles/${name}`, role)
}

async function done(world: TestEngine, path: string, body: object) {
  const answer = await world.pki("POST", path, { body })
  expect([answer.status < 300, answer.body?.errors]).toEqual([true, undefined])
  return answer.body?.data
}

const named = (value: string) => [[{ type: oids.commonName, value }]]

const csrOf = async (key: PrivateKey): Promise<string> =>
  writePem("CERTIFICATE REQUEST", await signedRequest(key, { subject: named("www.example.com"), extensions: [] }))

const digestOf = (key: PrivateKey): string => sha256(key.publicKey.spki)

/** Signs a certificate for the key in the given mount, revokes it for keyCompromise, and returns its serial number. */
async function compromised(world: TestEngine, mount: string, key: PrivateKey): Promise<string> {
  const { serial_number: serial } = await done(world, `/${mount}/sign/any`, {
    csr: await csrOf(key),
    common_name: "www.example.com",
  })
  await done(world, `/${mount}/revoke`, { serial_number: serial, reason: "keyCompromise" })
  return serial
}

const ecKey = (): Promise<PrivateKey> => testKeyGenerator.generate({ type: "ec", bits: 256 })

const blocked = /is blocked/

test("[F-A7] no mount certifies or imports a key whose certificate was revoked for keyCompromise", async () => {
  await using world = await openTestEngine()
  await newMount(world, "one")
  await newMount(world, "two")
  const key = await ecKey()
  await compromised(world, "one", key)
  const csr = await csrOf(key)
  const self = await selfIssued(world, key)
  for (const [path, body] of [
    ["sign/any", { csr, common_name: "www.example.com" }],
    ["sign/fleeting", { csr, common_name: "www.example.com" }],
    ["issuer/default/sign/any", { csr, common_name: "www.example.com" }],
    ["sign-verbatim", { csr, ttl: "1h" }],
    ["sign-verbatim/any", { csr, ttl: "1h" }],
    ["root/sign-intermediate", { csr, common_name: "Below", ttl: "1h" }],
    ["root/sign-self-issued", { certificate: self }],
    ["keys/import", { pem_bundle: key.pem("pkcs8") }],
    ["issuers/import/bundle", { pem_bundle: key.pem("pkcs8") }],
    ["config/ca", { pem_bundle: key.pem("pkcs8") }],
  ] as const) {
    const answer = await world.pki("POST", `/two/${path}`, { body })
    expect([path, answer.status, answer.body.errors?.[0]]).toEqual([path, 400, expect.stringMatching(blocked)])
  }
  // Other keys are still certified.
  await done(world, "/two/sign/any", { csr: await csrOf(await ecKey()), common_name: "www.example.com" })
})

/** Creates a self-signed CA certificate for the key in a separate mount. */
async function selfIssued(world: TestEngine, key: PrivateKey): Promise<string> {
  await world.engine.mounts.create({ path: "self" })
  const digest = digestOf(key)
  // A blocked key is unblocked until the certificate is made.
  const entry = (await world.pki("GET", `/sys/blocked-keys/${digest}`)).body?.data
  if (entry !== undefined) await world.pki("DELETE", `/sys/blocked-keys/${digest}`)
  await done(world, "/self/keys/import", { pem_bundle: key.pem("pkcs8") })
  const { certificate } = await done(world, "/self/root/generate/existing", { common_name: "Self", ttl: "700h" })
  if (entry !== undefined) await world.pki("POST", `/sys/blocked-keys/${digest}`)
  return certificate as string
}

test("[F-A7] a blocked key of an issuer is neither certified nor used for a CSR", async () => {
  await using world = await openTestEngine()
  await newMount(world, "one")
  const key = await ecKey()
  await done(world, "/one/keys/import", { pem_bundle: key.pem("pkcs8"), key_name: "known" })
  await compromised(world, "one", key)
  for (const path of [
    "root/generate/existing",
    "root/rotate/existing",
    "intermediate/generate/existing",
    "intermediate/cross-sign",
  ]) {
    const answer = await world.pki("POST", `/one/${path}`, { body: { common_name: "Next", key_ref: "known" } })
    expect([path, answer.status, answer.body.errors?.[0]]).toEqual([path, 400, expect.stringMatching(blocked)])
  }
})

test("[F-A7] a second revocation for keyCompromise blocks the key, and so does a revocation with the key", async () => {
  await using world = await openTestEngine()
  await newMount(world, "one")
  const [superseded, proven] = [await ecKey(), await ecKey()]
  const first = await done(world, "/one/sign/any", { csr: await csrOf(superseded), common_name: "www.example.com" })
  await done(world, "/one/revoke", { serial_number: first.serial_number, reason: "superseded" })
  expect((await world.pki("GET", `/sys/blocked-keys/${digestOf(superseded)}`)).status).toBe(404)
  await done(world, "/one/revoke", { serial_number: first.serial_number, reason: "keyCompromise" })
  const second = await done(world, "/one/sign/any", { csr: await csrOf(proven), common_name: "www.example.com" })
  await done(world, "/one/revoke-with-key", {
    serial_number: second.serial_number,
    private_key: proven.pem("pkcs8"),
    reason: "key_compromise",
  })
  for (const key of [superseded, proven])
    expect((await world.pki("GET", `/sys/blocked-keys/${digestOf(key)}`)).status).toBe(200)
  // The holder of a blocked key can still revoke its other certificates.
  await done(world, "/one/revoke-with-key", { serial_number: second.serial_number, private_key: proven.pem("pkcs8") })
})

test("[F-A7] the API lists, adds and deletes blocked keys", async () => {
  await using world = await openTestEngine()
  await newMount(world, "one")
  const key = await ecKey()
  const serial = await compromised(world, "one", key)
  const digest = digestOf(key)
  expect((await world.pki("LIST", "/sys/blocked-keys")).body.data).toEqual({ keys: [digest] })
  const read = await world.pki("GET", `/sys/blocked-keys/${digest.toUpperCase()}`)
  expect(read.body.data).toMatchObject({
    spki_sha256: digest,
    source: "revocation",
    mount: "one/",
    serial_number: serial,
    comment: "",
  })
  expect((await world.pki("DELETE", `/sys/blocked-keys/${digest}`)).status).toBe(204)
  expect((await world.pki("DELETE", `/sys/blocked-keys/${digest}`)).status).toBe(204)
  expect((await world.pki("GET", `/sys/blocked-keys/${digest}`)).status).toBe(404)
  await done(world, "/one/sign/any", { csr: await csrOf(key), common_name: "www.example.com" })

  const other = await ecKey()
  const { certificate } = await done(world, "/one/sign/any", {
    csr: await csrOf(other),
    common_name: "www.example.com",
  })
  const publicKey = createPublicKey(other.pem("pkcs8")).export({ type: "spki", format: "pem" })
  for (const pem of [publicKey, await csrOf(other), certificate as string]) {
    const added = await done(world, "/sys/blocked-keys", { key: pem, comment: "found in a repository" })
    expect(added).toMatchObject({ spki_sha256: digestOf(other), source: "entry", comment: "found in a repository" })
    await world.pki("DELETE", `/sys/blocked-keys/${digestOf(other)}`)
  }
  expect(
    (await world.pki("PUT", `/sys/blocked-keys/${digestOf(other)}`, { body: { comment: "by digest" } })).status,
  ).toBe(200)
  const refused = await world.pki("POST", "/one/sign/any", {
    body: { csr: await csrOf(other), common_name: "www.example.com" },
  })
  expect(refused.status).toBe(400)

  for (const [path, body, problem] of [
    ["/sys/blocked-keys", {}, /^key is required/],
    ["/sys/blocked-keys", { key: "nonsense" }, /^key /],
    ["/sys/blocked-keys", { key: other.pem("pkcs8") }, /private key/],
    ["/sys/blocked-keys/abc", {}, /spki_sha256 must be/],
    ["/sys/blocked-keys", { key: publicKey, comment: "x".repeat(1_025) }, /comment/],
  ] as const) {
    const answer = await world.pki("POST", path, { body })
    expect([path, answer.status, answer.body.errors?.[0]]).toEqual([path, 400, expect.stringMatching(problem)])
  }
})

const directory = `${acmeCluster}/acme`

async function acmeKeyOf(key: PrivateKey): Promise<AcmeKey> {
  const pem = key.pem("pkcs8")
  return {
    alg: "ES256",
    privateKey: await importPKCS8(pem, "ES256", { extractable: true }),
    jwk: await exportJWK(createPublicKey(pem)),
  }
}

test("[F-A7] ACME answers badCSR and badPublicKey for a blocked key", async () => {
  const { world, responder } = await newProvingEngine()
  const key = await ecKey()
  const first = await done(world, "/pki/sign/web", { csr: await csrOf(key), common_name: "www.example.com" })
  await done(world, "/pki/revoke", { serial_number: first.serial_number, reason: "keyCompromise" })

  const client = await AcmeTestClient.registered(world, directory)
  const { finalize } = await readyOrder(client, responder)
  const der = await signedRequest(key, {
    subject: [],
    extensions: [subjectAltName([{ kind: "dns", value: "localhost" }], { critical: false })],
  })
  expect(await client.post(finalize, { csr: Buffer.from(der).toString("base64url") })).toMatchObject({
    status: 400,
    problem: "badCSR",
  })
  expect((await client.post(finalize, { csr: await csrFor(["localhost"]) })).status).toBe(200)

  const other = await AcmeTestClient.open(world, directory)
  other.key = await acmeKeyOf(key)
  expect(await other.register({})).toMatchObject({ status: 400, problem: "badPublicKey" })
  const signer = other.key
  const inner = { account: client.account, oldKey: client.key.jwk }
  const header = { alg: signer.alg, jwk: signer.jwk, url: `${directory}/key-change` }
  expect(await client.post("/key-change", await signedBy(signer, header, inner))).toMatchObject({
    status: 400,
    problem: "badPublicKey",
  })
})

test("[F-A7] ACME revocations with reason keyCompromise block keys, even of revoked certificates", async () => {
  const { world, responder } = await newProvingEngine()
  const client = await AcmeTestClient.registered(world, directory)
  const { leaf } = await issued(client, responder)
  const digest = sha256(leaf.publicKey.export({ type: "spki", format: "der" }))
  const certificate = leaf.raw.toString("base64url")
  expect((await client.post("/revoke-cert", { certificate, reason: 4 })).status).toBe(200)
  expect((await world.pki("GET", `/sys/blocked-keys/${digest}`)).status).toBe(404)
  expect(await client.post("/revoke-cert", { certificate, reason: 1 })).toMatchObject({ problem: "alreadyRevoked" })
  expect((await world.pki("GET", `/sys/blocked-keys/${digest}`)).status).toBe(200)
})

test.each(["any", "fleeting"])(
  "[F-A7] a revocation that commits while a certificate of the role %s is signed blocks its key",
  async (role) => {
    await using world = await openTestEngine()
    await newMount(world, "one")
    await newMount(world, "two")
    const key = await ecKey()
    const csr = await csrOf(key)
    // Signs once before, so that the snapshot of the mount is cached.
    await done(world, `/two/sign/${role}`, { csr: await csrOf(await ecKey()), common_name: "www.example.com" })
    let revoked = 0
    const trail: AuditTrail = Object.create(noAudit.trail({}), {
      keyUse: {
        value: async () => {
          revoked += 1
          if (revoked === 1) await compromised(world, "one", key)
        },
      },
    }) as AuditTrail
    const { certificates } = world.engine.as(world.engine.caller, trail).pki("two")
    await expect(certificates.sign(role, { csr, commonName: "www.example.com" })).rejects.toMatchObject({
      code: "invalid",
      faults: [{ field: ["csr"], detail: expect.stringMatching(blocked) }],
    })
    expect(revoked).toBe(1)
    expect((await world.pki("LIST", "/two/certs")).body.data.keys).toHaveLength(role === "any" ? 2 : 1)
  },
)
