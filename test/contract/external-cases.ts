// OCSP, which clients outside call, and external policy services, which the engine calls.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { hourMs } from "../../engine/src/core/time.ts"
import { certificateRequest } from "../../engine/testing/certificate-requests.ts"
import { ocspQuestion } from "../../engine/testing/ocsp-question.ts"
import { type PolicyServer, startPolicyServer, templateFor, testTlsPem } from "../../engine/testing/policy-server.ts"
import { basicConstraints, keyUsage } from "../../engine/src/x509/extensions.ts"
import { parseCertificate } from "../../engine/src/x509/certificate.ts"
import { formatName } from "../../engine/src/x509/name.ts"
import { encodeOcspFailure } from "../../engine/src/x509/ocsp.ts"
import { serialNumberOctets } from "../../engine/src/x509/serial-number.ts"
import type { OpenedEngine } from "./engines.ts"
import { notFound, refused } from "./refusals.ts"

let count = 0

const subjectOf = (der: Uint8Array): string => formatName(parseCertificate(der).subjectName)

export function externalCases(engine: () => OpenedEngine): void {
  async function newMount() {
    const path = `contract/external-${(count += 1)}`
    const { mounts, pki: mountAt } = engine().root
    await mounts.create({ path })
    const pki = mountAt(path)
    for (const issuerName of ["blue", "green"])
      await pki.issuers.generateRoot({ commonName: issuerName, keyType: "ec", issuerName, ttlMs: 50 * hourMs })
    return pki
  }

  describe("OCSP", () => {
    test("answers valid requests, and reports malformed ones", async () => {
      const pki = await newMount()
      await pki.roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: hourMs })
      const { serialNumber: text, issuingCa: issuer } = await pki.certificates.issue("any", { commonName: "a.test" })
      const serialNumber = serialNumberOctets(text)
      const question = ocspQuestion({ digest: "sha256", issuer, serialNumber })
      const { der } = await pki.ocsp.answer(question)
      expect(Buffer.from(der).includes(serialNumber)).toBe(true)
      // The answer is cached, so that the second one has the same signature.
      expect(Buffer.from((await pki.ocsp.answer(question)).der).equals(der)).toBe(true)
      const malformed = Buffer.from(encodeOcspFailure("malformedRequest"))
      expect(malformed.equals((await pki.ocsp.answer(Uint8Array.of(0))).der)).toBe(true)
      await expect(engine().root.pki("contract/absent").ocsp.answer(question)).rejects.toMatchObject(notFound)
    })
  })

  describe("an external policy service", () => {
    let server: PolicyServer
    beforeAll(async () => {
      server = await startPolicyServer()
    })
    afterAll(() => server[Symbol.asyncDispose]())

    test("is configured, and rejected with every fault", async () => {
      const { externalPolicy } = await newMount()
      const before = await externalPolicy.get()
      expect(before).toMatchObject({ settings: { enabled: false, timeoutMs: 15_000, updatedAt: null } })
      const input = {
        enabled: true,
        externalServiceUrl: server.url,
        trustedCa: testTlsPem("authority"),
        clientCertBundle: testTlsPem("client") + testTlsPem("client-key"),
        timeoutMs: 5_000,
        entityJmespath: "@",
      }
      const { settings, validated, lastSuccessfulRequest } = await externalPolicy.configure(input)
      expect(settings).toMatchObject({ enabled: true, externalServiceUrl: server.url, timeoutMs: 5_000 })
      expect(settings).toMatchObject({ entityJmespath: "@", groupJmespath: "", updatedAt: expect.any(Number) })
      expect(settings.clientCertificates).not.toContain("PRIVATE")
      expect([validated, lastSuccessfulRequest]).toEqual([false, null])
      expect(await externalPolicy.get()).toEqual({ settings, validated, lastSuccessfulRequest })
      const wrong = { externalServiceUrl: "http://a.test", clientCertBundle: "x", groupJmespath: "a" }
      await expect(externalPolicy.configure(wrong)).rejects.toMatchObject(
        refused("invalid", ["clientCertBundle"], ["externalServiceUrl"], ["groupJmespath"]),
      )
      await expect(engine().root.pki("contract/absent").externalPolicy.get()).rejects.toMatchObject(notFound)
    })

    test("decides on certificates, and receives the parameters as sent", async () => {
      const { externalPolicy } = await newMount()
      const parameters = new Map([
        ["common_name", '"a.test"'],
        ["format", '"der"'],
        ["number", "12345678901234567890.10"],
      ])
      await expect(externalPolicy.issue({ parameters })).rejects.toMatchObject(refused("unprocessable"))
      await externalPolicy.configure({
        enabled: true,
        externalServiceUrl: server.url,
        trustedCa: testTlsPem("authority"),
      })
      server.answerWith((question) => ({
        certificate: templateFor(question, { commonName: "decided" }),
        warnings: ["w"],
      }))
      const issued = await externalPolicy.issue({ parameters, keyType: "ec", policy: "strict", issuerRef: "green" })
      expect(issued).toMatchObject({ privateKey: { algorithm: { type: "ec", bits: 256 } }, warnings: ["w"] })
      expect([issued.certificate, issued.issuingCa].map(subjectOf)).toEqual(["CN=decided", "CN=green"])
      const lastRequest = server.seen.at(-1)
      expect(lastRequest?.text).toContain("12345678901234567890.10")
      expect(lastRequest?.document.vault_request_values.policy_name).toBe("strict")
      const { csr } = await certificateRequest()
      const signed = await externalPolicy.sign({ parameters: new Map(), csr, removeRootsFromChain: true })
      expect(signed).toMatchObject({ caChain: [], privateKey: undefined })
      server.answerWith((question) => ({
        certificate: templateFor(question, {
          extensions: [basicConstraints({ isCa: true }), keyUsage(["keyCertSign", "cRLSign"])],
        }),
        issuer_ref: "green",
      }))
      const authority = await externalPolicy.signIntermediate({ parameters: new Map(), csr })
      expect(subjectOf(authority.issuingCa)).toBe("CN=green")
      expect(await externalPolicy.get()).toMatchObject({ validated: true, lastSuccessfulRequest: expect.any(Number) })
    })

    test("rejects requests, and is not consulted about requests that fail earlier checks", async () => {
      const { externalPolicy } = await newMount()
      await externalPolicy.configure({
        enabled: true,
        externalServiceUrl: server.url,
        trustedCa: testTlsPem("authority"),
      })
      server.answerWith(() => ({ error: "not on a Saturday" }))
      const { csr } = await certificateRequest()
      const parameters = new Map<string, string>()
      for (const call of [externalPolicy.sign, externalPolicy.signIntermediate])
        await expect(call.call(externalPolicy, { parameters, csr })).rejects.toMatchObject({
          code: "unprocessable",
          message: expect.stringContaining("not on a Saturday"),
        })
      await expect(externalPolicy.issue({ parameters, keyType: "dsa" })).rejects.toMatchObject(
        refused("invalid", ["keyType"]),
      )
      await expect(externalPolicy.issue({ parameters, issuerRef: "none", keyType: "ec" })).rejects.toMatchObject(
        notFound,
      )
    })
  })
}
