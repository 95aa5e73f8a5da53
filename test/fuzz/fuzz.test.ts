import { readFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import { assembleCertificate, encodeTbsCertificate, parseCertificate } from "../../engine/src/x509/certificate.ts"
import { chance } from "./chance.ts"
import { readNodes, writeNodes } from "./der-tree.ts"
import { fuzz } from "./fuzz.ts"
import { decodePem, derMutations, mutate } from "./mutations.ts"
import { samples, signedAgain } from "./samples.ts"
import { complaintAboutSigned } from "./signed-documents.ts"

const module = join(import.meta.dirname, "faulty-targets.ts")

test("the harness reports the input of unexpected results, crashes, leftover errors and hangs", async () => {
  const names = ["fine", "complaining", "throwing", "ending", "leaving", "hanging"]
  const found = await Promise.all(
    names.map(async (name, seed) => {
      // A busy machine can also make no progress for a long time.
      const hangMs = name === "hanging" ? 4_000 : 60_000
      const { faults } = await fuzz({ seconds: 3, seed, targets: [name], module, hangMs })
      const [fault] = faults
      if (fault === undefined) return [name, undefined]
      expect(fault.target).toBe(name)
      expect(readFileSync(fault.file, "utf8")).toBe(`valid for ${name}`)
      await rm(dirname(fault.file), { recursive: true })
      return [name, fault.complaint]
    }),
  )
  expect(Object.fromEntries(found)).toEqual({
    complaining: "is not in order",
    throwing: expect.stringContaining("threw TypeError: was not thought of"),
    ending: "the process ended with 3",
    leaving: "the process ended with 1",
    hanging: "no end after 4 seconds",
  })
})

test("the harness reports slow inputs, and does not count them as faults", async () => {
  const { faults, slow } = await fuzz({ seconds: 1, seed: 99, targets: ["slow"], module })
  expect(faults).toEqual([])
  expect(slow.length).toBeGreaterThan(0)
  expect(slow[0]).toMatchObject({ target: "slow", byteCount: "valid for slow".length })
  expect(slow[0]!.ms).toBeGreaterThanOrEqual(50)
  await rm(dirname(slow[0]!.file), { recursive: true })
})

const documents = samples("CERTIFICATE", "CERTIFICATE REQUEST", "X509 CRL", "OCSP REQUEST", "OCSP RESPONSE")

test("the harness generates the same inputs for the same seed, and others for another seed", () => {
  const inputs = (seed: number) =>
    documents.map((document, index) => mutate(derMutations, document, documents, chance(seed, index)))
  expect(inputs(1)).toEqual(inputs(1))
  expect(inputs(1)).not.toEqual(inputs(2))
})

test("a parsed document serializes to the same bytes", () => {
  for (const document of documents) expect(Buffer.from(writeNodes(readNodes(document)!))).toEqual(Buffer.from(document))
})

test("an unchanged Ed25519 request, whose signatures are deterministic, is signed identically again", () => {
  const [request] = samples("CERTIFICATE REQUEST").filter((der) => Buffer.from(der).includes("2b6570", "hex"))
  expect(Buffer.from(signedAgain(request!))).toEqual(Buffer.from(request!))
})

test("the harness reports a certificate with a foreign signature, an early end or a syntax error", () => {
  const pem = (name: string) => readFileSync(join(import.meta.dirname, "samples", name), "utf8")
  const [root, other] = [pem("root-p256.pem"), pem("root-rsa.pem")]
  const read = parseCertificate(decodePem(Buffer.from(root))!.der)
  const turned = encodeTbsCertificate({ ...read, notBefore: read.notAfter, notAfter: read.notBefore })
  const over = Buffer.from(assembleCertificate(turned, read.signatureAlgorithm, read.signature)).toString("base64")
  const complaints = (data: object) => complaintAboutSigned({ data })
  expect(complaintAboutSigned(undefined)).toBeUndefined()
  expect(complaints({ keys: [] })).toBeUndefined()
  expect(complaints({ certificate: root, issuing_ca: root })).toBeUndefined()
  expect(complaints({ certificate: Buffer.from(read.der).toString("base64") })).toBeUndefined()
  expect(complaints({ certificate: `${pem("key-p256.pem")}${root}` })).toBeUndefined()
  expect(complaints({ certificate: root, issuing_ca: other })).toContain("is not signed by its issuing_ca")
  expect(complaints({ certificate: over })).toContain("ends before it begins")
  expect(complaints({ certificate: pem("key-p256.pem") })).toContain("there is no CERTIFICATE")
  for (const member of ["certificate", "crl", "csr"])
    expect(complaints({ [member]: "AAAA" })).toContain("answered with what is not in order")
})
