import { X509Certificate } from "node:crypto"
import { afterAll, beforeAll, expect, test } from "vitest"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"
import type { KeyPage } from "../mounts/key-page.ts"

let testEngine: TestEngine
beforeAll(async () => {
  testEngine = await openTestEngine()
  await testEngine.engine.mounts.create({ path: "pki" })
  const { issuers, roles } = testEngine.engine.pki("pki")
  await issuers.generateRoot({ commonName: "Test Root", keyType: "ec" })
  await roles.save("web", { allowedDomains: ["example.com"], allowSubdomains: true, keyType: "ec", ttlMs: 3_600_000 })
})
afterAll(() => testEngine[Symbol.asyncDispose]())

test("a certificate is issued under a role by the default issuer with a matching key", async () => {
  const { certificates } = testEngine.engine.pki("pki")
  const issued = await certificates.issue("web", { commonName: "www.example.com" })
  const certificate = new X509Certificate(issued.certificate)
  const root = new X509Certificate(issued.issuingCa)
  expect(certificate.verify(root.publicKey)).toBe(true)
  expect(certificate.checkIssued(root)).toBe(true)
  expect(certificate.subjectAltName).toBe("DNS:www.example.com")
  expect(certificate.validToDate.getTime() - certificate.validFromDate.getTime()).toBe(3_629_000)
  const { privateKey } = issued
  if (privateKey === undefined) throw new Error("no private key came with the certificate")
  expect(certificate.checkPrivateKey(privateKey.keyObject())).toBe(true)
})

test("a name that the role does not allow denies the whole request", async () => {
  const { certificates } = testEngine.engine.pki("pki")
  const refused = certificates.issue("web", { commonName: "www.example.com", altNames: ["other.test"] })
  await expect(refused).rejects.toMatchObject({ code: "invalid", faults: [{ field: ["altNames"] }] })
})

test("an unknown role is rejected by its name", async () => {
  const { certificates } = testEngine.engine.pki("pki")
  await expect(certificates.issue("absent", {})).rejects.toMatchObject({ message: "unknown role: absent" })
})

test("certificates are listed with their details, all or up to a limit", async () => {
  const { certificates } = testEngine.engine.pki("pki")
  for (let count = 0; count < 205; count += 1) await certificates.issue("web", { commonName: "many.example.com" })
  const serials = await certificates.list()
  const listed = async (page: KeyPage) => (await certificates.listDetails(page)).map(({ serialNumber }) => serialNumber)
  expect(serials.length).toBeGreaterThan(205)
  expect(await listed({})).toEqual(serials)
  for (const limit of [99, 100, 101, 200, 201]) expect(await listed({ limit })).toEqual(serials.slice(0, limit))
  expect(await listed({ after: serials[2] ?? "", limit: 150 })).toEqual(serials.slice(3, 153))
})
