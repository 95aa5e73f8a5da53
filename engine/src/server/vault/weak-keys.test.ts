import {
  createPrivateKey,
  createPublicKey,
  generatePrimeSync,
  hash,
  type KeyObject,
  sign,
  X509Certificate,
} from "node:crypto"
import { exportJWK, importPKCS8 } from "jose"
import { describe, expect, test } from "vitest"
import { parseWeakKeys } from "../../x509/weak-key-list.ts"
import { AcmeTestClient, signedBy } from "../../../testing/acme-client.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import { newProvingEngine, readyOrder } from "../../../testing/acme-engine.ts"
import { openssl } from "../../../testing/openssl.ts"
import { subjectAltName } from "../../x509/extensions.ts"
import { openTestEngine, type TestEngine, type TestEngineOptions } from "../../../testing/test-engine.ts"
import { assembleCertificationRequest, encodeCertificationRequestInfo } from "../../x509/certification-request.ts"
import type { Extension } from "../../x509/extension.ts"
import { encodeName } from "../../x509/name.ts"
import { writePem } from "../../x509/pem.ts"
import { signatureAlgorithmIdentifier } from "../../x509/signature-algorithm.ts"

/** Returns a prime for which the public exponent 3 is valid. */
function prime(bits: number): bigint {
  for (;;) {
    const found = generatePrimeSync(bits, { bigint: true })
    if (found % 3n === 2n) return found
  }
}
const p = prime(1_024)
const weak = rsaKeyOf(743n, prime(2_040))
const ofThree = rsaKeyOf(p, prime(1_024), 3n)
const huge = rsaKeyOf(p, prime(1_024), 2n ** 32n + 15n)

async function newMount(options: TestEngineOptions = {}): Promise<TestEngine> {
  const world = await openTestEngine(options)
  await world.engine.mounts.create({ path: "pki" })
  await done(world, "root/generate/internal", { common_name: "Root", key_type: "ec", ttl: "700h" })
  await done(world, "roles/any", { allow_any_name: true, key_type: "any", ttl: "1h" })
  return world
}

async function done(world: TestEngine, path: string, body: object) {
  const answer = await world.pki("POST", `/pki/${path}`, { body })
  expect([path, answer.status < 300, answer.body?.errors]).toEqual([path, true, undefined])
  return answer.body?.data
}

const selfSigned = (key: string): string =>
  openssl(["req", "-x509", "-new", "-key", "key.pem", "-days", "30", "-subj", "/CN=Weak"], { "key.pem": key })

describe("[F-P9] a weak RSA key is rejected", () => {
  test("by every endpoint of a mount that accepts a key", async () => {
    await using world = await newMount()
    const csr = csrSignedBy(weak)
    const certificate = selfSigned(pkcs8Of(weak))
    for (const [path, body, name] of [
      ["sign/any", { csr, common_name: "www.example.com" }, "csr"],
      ["sign-verbatim", { csr }, "csr"],
      ["sign-verbatim/any", { csr }, "csr"],
      ["root/sign-intermediate", { csr, common_name: "Below" }, "csr"],
      ["root/sign-self-issued", { certificate }, "certificate"],
      ["keys/import", { pem_bundle: pkcs8Of(weak) }, "pem_bundle"],
      ["issuers/import/bundle", { pem_bundle: pkcs8Of(weak) }, "pem_bundle"],
      ["issuers/import/cert", { pem_bundle: certificate }, "pem_bundle"],
    ] as const) {
      const { status, body: answer, headers } = await world.pki("POST", `/pki/${path}`, { body })
      expect([path, status, answer.errors?.[0], headers.get("x-error-fields")]).toEqual([
        path,
        400,
        expect.stringMatching(/The RSA key is weak: its modulus has the small factor 743/),
        name,
      ])
    }
  })

  test("by ACME", async () => {
    const { world, responder } = await newProvingEngine()
    const directory = `${acmeCluster}/acme`
    const client = await AcmeTestClient.registered(world, directory)
    const { finalize } = await readyOrder(client, responder)
    expect(await client.post(finalize, { csr: base64urlOf(csrSignedBy(weak, localhostName)) })).toMatchObject({
      status: 400,
      problem: "badCSR",
    })
    const pem = pkcs8Of(weak)
    const key = {
      alg: "RS256",
      privateKey: await importPKCS8(pem, "RS256", { extractable: true }),
      jwk: await exportJWK(createPublicKey(pem)),
    }
    const other = await AcmeTestClient.open(world, directory)
    other.key = key
    expect(await other.register({})).toMatchObject({ status: 400, problem: "badPublicKey" })
    const header = { alg: key.alg, jwk: key.jwk, url: `${directory}/key-change` }
    const inner = { account: client.account, oldKey: client.key.jwk }
    expect(await client.post("/key-change", await signedBy(key, header, inner))).toMatchObject({
      status: 400,
      problem: "badPublicKey",
    })
  })
})

describe("[F-P9] the exponent of an RSA key", () => {
  test("is 65537 unless a role allows others", async () => {
    await using world = await newMount()
    const csr = csrSignedBy(ofThree)
    const asked = { csr, common_name: "www.example.com" }
    for (const [path, body] of [
      ["sign/any", asked],
      ["sign-verbatim", { csr }],
      ["sign-verbatim/any", { csr }],
      ["root/sign-intermediate", { csr, common_name: "Below" }],
      ["root/sign-self-issued", { certificate: selfSigned(pkcs8Of(ofThree)) }],
      ["sign/any", { csr: csrSignedBy(huge), common_name: "www.example.com" }],
    ] as const) {
      const { status, body: answer } = await world.pki("POST", `/pki/${path}`, { body })
      expect([path, status, answer.errors?.[0]]).toEqual([path, 400, expect.stringMatching(/RSA public exponent/)])
    }
    await done(world, "roles/old", {
      allow_any_name: true,
      key_type: "rsa",
      ttl: "1h",
      allowed_rsa_exponents: "3,65537",
    })
    expect((await world.pki("GET", "/pki/roles/old")).body.data.allowed_rsa_exponents).toEqual([3, 65_537])
    const { certificate } = await done(world, "sign/old", asked)
    expect(new X509Certificate(certificate).publicKey.asymmetricKeyDetails?.publicExponent).toBe(3n)
    await done(world, "sign-verbatim/old", { csr: csrSignedBy(ofThree, localhostName), ttl: "1h" })
    expect((await world.pki("POST", "/pki/sign/old", { body: { ...asked, csr: csrSignedBy(huge) } })).status).toBe(400)
  })

  test("is 65537 for ACME as well", async () => {
    const { world, responder } = await newProvingEngine()
    const client = await AcmeTestClient.registered(world, `${acmeCluster}/acme`)
    const { finalize } = await readyOrder(client, responder)
    expect(await client.post(finalize, { csr: base64urlOf(csrSignedBy(ofThree, localhostName)) })).toMatchObject({
      status: 400,
      problem: "badCSR",
      body: { detail: expect.stringMatching(/RSA public exponent 3 not allowed/) },
    })
  })
})

const localhostName = [subjectAltName([{ kind: "dns", value: "localhost" }], { critical: false })]
const base64urlOf = (pem: string): string =>
  Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ""), "base64").toString("base64url")

test("[F-P9] a key on the list of known weak keys is rejected", async () => {
  const key = rsaKeyOf(p, prime(1_024))
  const modulus = Buffer.from(key.export({ format: "jwk" }).n ?? "", "base64url")
    .toString("hex")
    .toUpperCase()
  const digest = hash("sha1", `Modulus=${modulus}\n`, "hex").slice(20)
  const others = Array.from({ length: 1_000 }, (_, index) => hash("sha1", `${index}`, "hex").slice(20))
  const weakKeys = parseWeakKeys([`# a list\n\n${others.join("\n")}\n`, `${digest}\n`])
  await using world = await newMount({ weakKeys })
  for (const [path, body] of [
    ["sign/any", { csr: csrSignedBy(key), common_name: "www.example.com" }],
    ["keys/import", { pem_bundle: pkcs8Of(key) }],
  ] as const) {
    const { status, body: answer } = await world.pki("POST", `/pki/${path}`, { body })
    expect([path, status, answer.errors?.[0]]).toEqual([path, 400, expect.stringMatching(/known weak keys/)])
  }
  const strong = rsaKeyOf(p, prime(1_024))
  await done(world, "sign/any", { csr: csrSignedBy(strong), common_name: "www.example.com" })
})

/** Builds an RSA key from these primes, weak or not. */
function rsaKeyOf(p: bigint, q: bigint, e = 65_537n): KeyObject {
  const d = inverse(e, (p - 1n) * (q - 1n))
  const numbers = { n: p * q, e, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q % p, p) }
  const members = Object.entries(numbers).map(([name, number]) => [name, base64url(number)])
  return createPrivateKey({ key: { kty: "RSA", ...Object.fromEntries(members) }, format: "jwk" })
}

function pkcs8Of(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" })
}

/** Returns a CSR in PEM, signed with the key. */
function csrSignedBy(key: KeyObject, extensions: readonly Extension[] = []): string {
  const spki = createPublicKey(key).export({ type: "spki", format: "der" })
  const info = encodeCertificationRequestInfo({ subject: encodeName([]), subjectPublicKeyInfo: spki, extensions })
  const der = assembleCertificationRequest(
    info,
    signatureAlgorithmIdentifier("SHA256WithRSA"),
    sign("sha256", info, key),
  )
  return writePem("CERTIFICATE REQUEST", der)
}

function base64url(number: bigint): string {
  const digits = number.toString(16)
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex").toString("base64url")
}

function inverse(number: bigint, modulus: bigint): bigint {
  let [previous, current] = [modulus, number % modulus]
  let [before, after] = [0n, 1n]
  while (current > 1n) {
    const quotient = previous / current
    ;[previous, current] = [current, previous - quotient * current]
    ;[before, after] = [after, before - quotient * after]
  }
  return ((after % modulus) + modulus) % modulus
}
