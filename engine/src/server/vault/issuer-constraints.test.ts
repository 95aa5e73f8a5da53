// Every endpoint that signs rejects certificates that verifiers would reject because of the issuer, and names the certificate at fault.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { AcmeTestClient } from "../../../testing/acme-client.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import { csrFor, localhost, newAcmeEngine, newProvingEngine, readyOrder } from "../../../testing/acme-engine.ts"
import { certificateRequest } from "../../../testing/certificate-requests.ts"
import { pkiCertificateResource } from "../../declared/pki-certificate.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"
import { oids } from "../../x509/asn1/oids.ts"
import type { Extension } from "../../x509/extension.ts"
import { extendedKeyUsage, subjectAltName } from "../../x509/extensions.ts"

let world: TestEngine

const named = (value: string) => [[{ type: oids.commonName, value }]]
const dnsNames = (...names: string[]): Extension =>
  subjectAltName(
    names.map((value) => ({ kind: "dns", value })),
    { critical: false },
  )

async function done(method: string, path: string, body: object = {}, of: TestEngine = world) {
  const answer = await of.pki(method, path, method === "GET" ? {} : { body })
  expect(answer.body?.errors ?? []).toEqual([])
  return answer.body?.data
}

/** "Narrow" permits example.com alone, "Last" permits no CA below it, "Coders" is for code signing only. */
beforeAll(async () => {
  world = await openTestEngine({ jobs: false })
  await done("POST", "/sys/mounts/pki", { type: "pki", config: { max_lease_ttl: "9000h" } })
  const root = { key_type: "ec", ttl: "8000h" }
  await done("POST", "/pki/root/generate/internal", {
    ...root,
    common_name: "Narrow",
    issuer_name: "narrow",
    permitted_dns_domains: "example.com",
    exclude_cn_from_sans: true,
  })
  await done("POST", "/pki/root/generate/internal", {
    ...root,
    common_name: "Last",
    issuer_name: "last",
    max_path_length: 0,
  })
  await done("POST", "/pki/root/generate/internal", { ...root, common_name: "Wide", issuer_name: "wide" })
  await done("POST", "/sys/mounts/coders", { type: "pki", config: { max_lease_ttl: "9000h" } })
  const { csr, privateKey } = await certificateRequest({
    subject: named("Coders"),
    extensions: [extendedKeyUsage([oids.codeSigning])],
  })
  const { certificate } = await done("POST", "/pki/issuer/wide/sign-intermediate", {
    csr,
    use_csr_values: true,
    ttl: "8000h",
  })
  await done("POST", "/coders/issuers/import/bundle", { pem_bundle: `${certificate}\n${privateKey.pem("pkcs8")}` })
  for (const mount of ["pki", "coders"]) {
    await done("POST", `/${mount}/roles/any`, { allow_any_name: true, key_type: "any", client_flag: false })
    await done("POST", `/${mount}/roles/ec`, { allow_any_name: true, key_type: "ec", client_flag: false })
  }
})
afterAll(() => world[Symbol.asyncDispose]())

async function refusals(path: string, body: object): Promise<readonly string[]> {
  const { status, body: answer } = await world.pki("POST", path, { body })
  expect(status).toBe(400)
  return answer.errors
}

const evil = "www.evil.org"
const csrOf = async (...extensions: Extension[]) =>
  (await certificateRequest({ subject: named(evil), extensions: [dnsNames(evil), ...extensions] })).csr

describe("[F-P2] name constraints of the issuer are enforced by", () => {
  const forbidden = [
    expect.stringMatching(
      /subject alternate name www\.evil\.org is not permitted \(only example\.com\) by the name constraints of the certificate of "CN=Narrow" \(serial number [0-9a-f:]+\)$/,
    ),
  ]

  test("issue", async () => {
    expect(await refusals("/pki/issuer/narrow/issue/ec", { common_name: evil })).toEqual(forbidden)
    await done("POST", "/pki/issuer/narrow/issue/ec", { common_name: "www.example.com" })
  })

  test("sign", async () => {
    expect(await refusals("/pki/issuer/narrow/sign/any", { csr: await csrOf(), common_name: evil })).toEqual(forbidden)
  })

  test("sign-verbatim, with a role and without", async () => {
    for (const role of ["", "/any"])
      expect(await refusals(`/pki/issuer/narrow/sign-verbatim${role}`, { csr: await csrOf() })).toEqual(forbidden)
  })

  test("sign-intermediate, by parameters and by the CSR", async () => {
    const path = "/pki/issuer/narrow/sign-intermediate"
    const csr = await csrOf()
    expect(await refusals(path, { csr, common_name: "Sub CA", alt_names: evil })).toEqual(forbidden)
    expect(await refusals(path, { csr, use_csr_values: true })).toEqual(forbidden)
    await done("POST", path, { csr, common_name: "Sub CA" })
  })

  test("sign-self-issued", async () => {
    const { certificate } = await done("POST", "/pki/root/generate/internal", {
      common_name: evil,
      key_type: "ec",
      ttl: "700h",
    })
    expect(await refusals("/pki/issuer/narrow/sign-self-issued", { certificate })).toEqual(forbidden)
  })

  test("the endpoints of the default issuer", async () => {
    await done("POST", "/pki/config/issuers", { default: "narrow" })
    const csr = await csrOf()
    expect(await refusals("/pki/issue/ec", { common_name: evil })).toEqual(forbidden)
    expect(await refusals("/pki/sign/any", { csr, common_name: evil })).toEqual(forbidden)
    expect(await refusals("/pki/sign-verbatim", { csr })).toEqual(forbidden)
    expect(await refusals("/pki/root/sign-intermediate", { csr, common_name: "Sub CA", alt_names: evil })).toEqual(
      forbidden,
    )
    await done("POST", "/pki/config/issuers", { default: "wide" })
  })

  test("a declared certificate", async () => {
    const spec = { mount: "pki", role: "ec", issuerRef: "narrow", commonName: evil }
    const origin = { marker: "m", adopt: false }
    await expect(pkiCertificateResource.create(world.engine, spec, origin)).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining('by the name constraints of the certificate of "CN=Narrow"'),
    })
  })
})

describe("[F-P2] the issuer's other constraints:", () => {
  test("extended key usages limit those of certificates", async () => {
    const refused = [
      expect.stringMatching(
        /^issuer_ref: the extended key usage of the certificate of "CN=Coders" \(serial number .*\) \(codeSigning\) does not allow serverAuth$/,
      ),
    ]
    expect(await refusals("/coders/issue/ec", { common_name: "www.example.com" })).toEqual(refused)
    const csr = await csrOf(extendedKeyUsage([oids.serverAuth]))
    expect(await refusals("/coders/sign/any", { csr, common_name: evil })).toEqual(refused)
    expect(await refusals("/coders/sign-verbatim", { csr })).toEqual(refused)
    await done("POST", "/coders/sign-verbatim", { csr: await csrOf(extendedKeyUsage([oids.codeSigning])) })
    await done("POST", "/coders/sign-verbatim", { csr: await csrOf() })
  })

  test("the path length limits intermediate CAs", async () => {
    const body = { csr: await csrOf(), common_name: "Sub CA" }
    const refused = [
      expect.stringMatching(/the certificate of "CN=Last" \(serial number .*\) limits the path length to 0$/),
    ]
    expect(await refusals("/pki/issuer/last/sign-intermediate", body)).toEqual(refused)
    const { certificate } = await done("POST", "/pki/root/generate/internal", { common_name: "Old", key_type: "ec" })
    expect(await refusals("/pki/issuer/last/sign-self-issued", { certificate })).toEqual(refused)
    await done("PATCH", "/pki/issuer/last", { disable_path_length_checks: true })
    await done("POST", "/pki/issuer/last/sign-intermediate", body)
    await done("PATCH", "/pki/issuer/last", { disable_path_length_checks: null })
    expect(await refusals("/pki/issuer/last/sign-intermediate", body)).toEqual(refused)
  })

  test("an issuer that is not yet valid issues nothing", async () => {
    await done("POST", "/pki/root/generate/internal", {
      common_name: "Later",
      key_type: "ec",
      issuer_name: "later",
      not_before: new Date(Date.now() + 3_600_000).toISOString(),
      ttl: "8000h",
    })
    const refused = [expect.stringMatching(/^issuer_ref: the certificate of "CN=Later" .* is not valid before /)]
    expect(await refusals("/pki/issuer/later/issue/ec", { common_name: "a.example.com" })).toEqual(refused)
    expect(await refusals("/pki/issuer/later/sign-verbatim", { csr: await csrOf() })).toEqual(refused)
    expect(
      await refusals("/pki/issuer/later/sign-intermediate", { csr: await csrOf(), common_name: "Sub CA" }),
    ).toEqual(refused)
  })

  test("unknown critical extensions are rejected, also in the new certificate", async () => {
    const csr = await csrOf({ oid: "1.3.6.1.4.1.99999.1", critical: true, value: Uint8Array.of(5, 0) })
    expect(await refusals("/pki/issuer/wide/sign-verbatim", { csr })).toEqual([
      expect.stringContaining("the critical extension 1.3.6.1.4.1.99999.1 is not processed by verifiers"),
    ])
    await done("PATCH", "/pki/issuer/wide", { disable_critical_extension_checks: true })
    await done("POST", "/pki/issuer/wide/sign-verbatim", { csr })
    await done("PATCH", "/pki/issuer/wide", { disable_critical_extension_checks: false })
  })
})

test("[F-P2] an issuer returns its disabled checks, and POST without them enables them again", async () => {
  const disabled = {
    disable_critical_extension_checks: true,
    disable_path_length_checks: true,
    disable_name_checks: true,
    disable_name_constraint_checks: true,
  }
  const enabled = Object.fromEntries(Object.keys(disabled).map((name) => [name, false]))
  expect(await done("GET", "/pki/issuer/narrow")).toMatchObject(enabled)
  expect(await done("POST", "/pki/issuer/narrow", { issuer_name: "narrow", ...disabled })).toMatchObject(disabled)
  expect(await done("GET", "/pki/issuer/narrow")).toMatchObject(disabled)
  await done("POST", "/pki/issuer/narrow/issue/ec", { common_name: evil })
  expect(await done("PATCH", "/pki/issuer/narrow", { disable_name_checks: false })).toMatchObject({
    ...disabled,
    disable_name_checks: false,
  })
  expect(await done("POST", "/pki/issuer/narrow", { issuer_name: "narrow" })).toMatchObject(enabled)
})

describe("[F-P2] an ACME order", () => {
  const narrow = { common_name: "Narrow", key_type: "ec", permitted_dns_domains: "example.com", ttl: "9000h" }

  test("is rejected with rejectedIdentifier for a name that the issuer may not certify", async () => {
    const acme = await newAcmeEngine()
    const { issuer_id: id } = await done("POST", "/pki/root/generate/internal", narrow, acme)
    await done("POST", "/pki/config/issuers", { default: id }, acme)
    const client = await AcmeTestClient.registered(acme, `${acmeCluster}/acme`)
    const names = [localhost, { type: "dns", value: "www.example.com" }]
    const refused = await client.post("/new-order", { identifiers: names })
    expect(refused).toMatchObject({ status: 400, problem: "rejectedIdentifier" })
    expect(refused.body.subproblems).toEqual([
      {
        type: "urn:ietf:params:acme:error:rejectedIdentifier",
        identifier: localhost,
        detail: expect.stringContaining('by the name constraints of the certificate of "CN=Narrow"'),
      },
    ])
    expect((await client.post("/new-order", { identifiers: names.slice(1) })).status).toBe(201)
  })

  test("is not finalized when its issuer may no longer certify its name", async () => {
    const { world: acme, responder } = await newProvingEngine()
    const client = await AcmeTestClient.registered(acme, `${acmeCluster}/acme`)
    const { finalize } = await readyOrder(client, responder)
    const { issuer_id: id } = await done("POST", "/pki/root/generate/internal", narrow, acme)
    await done("POST", "/pki/config/issuers", { default: id }, acme)
    const refused = await client.post(finalize, { csr: await csrFor(["localhost"]) })
    expect(refused).toMatchObject({ status: 400, problem: "rejectedIdentifier" })
  })

  test("fails with serverInternal when the issuer cannot issue anything", async () => {
    const acme = await newAcmeEngine()
    const later = { ...narrow, common_name: "Later", not_before: new Date(Date.now() + 3_600_000).toISOString() }
    const { issuer_id: id } = await done("POST", "/pki/root/generate/internal", later, acme)
    await done("POST", "/pki/config/issuers", { default: id }, acme)
    const client = await AcmeTestClient.registered(acme, `${acmeCluster}/acme`)
    const refused = await client.post("/new-order", { identifiers: [{ type: "dns", value: "www.example.com" }] })
    expect(refused).toMatchObject({ status: 500, problem: "serverInternal" })
    expect(refused.body.detail).toMatch(/the certificate of "CN=Later" .* is not valid before /)
  })
})
