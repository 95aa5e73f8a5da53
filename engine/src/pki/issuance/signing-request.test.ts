import { describe, expect, test } from "vitest"
import type { EngineError } from "../../core/errors.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { assembleCertificationRequest, encodeCertificationRequestInfo } from "../../x509/certification-request.ts"
import type { KeyAlgorithm } from "../../x509/key-algorithm.ts"
import { encodeName } from "../../x509/name.ts"
import { writePem } from "../../x509/pem.ts"
import { chooseSignatureAlgorithm, signatureAlgorithmIdentifier } from "../../x509/signature-algorithm.ts"
import { signingKey } from "../../x509/signing-key.ts"
import { allKeyAlgorithms, testKeyGenerator } from "../../../testing/test-keys.ts"
import { readSigningRequest } from "./issue-request.ts"

async function requestOf(algorithm: KeyAlgorithm, spoil: (signature: Uint8Array) => Uint8Array = (same) => same) {
  const key = await testKeyGenerator.generate(algorithm)
  const info = encodeCertificationRequestInfo({
    subject: encodeName([[{ type: oids.commonName, value: "a.example" }]]),
    subjectPublicKeyInfo: key.publicKey.spki,
    extensions: [],
  })
  const chosen = chooseSignatureAlgorithm(algorithm, { signatureBits: 0, usePss: false })
  const signature = spoil(await signingKey(key).sign(info, chosen))
  const der = assembleCertificationRequest(info, signatureAlgorithmIdentifier(chosen), signature)
  return { key, der, pem: writePem("CERTIFICATE REQUEST", der) }
}

test.each(allKeyAlgorithms)(
  "a CSR for a key of $type $bits is accepted when its signature verifies",
  async (algorithm) => {
    const { key, pem } = await requestOf(algorithm)
    const { request, key: read } = readSigningRequest(`Certificate Request:\n${pem}\n`)
    expect(request.subjectName).toEqual([[{ type: oids.commonName, value: "a.example" }]])
    expect(Buffer.compare(read.spki, key.publicKey.spki)).toBe(0)
  },
)

const { pem, der } = await requestOf({ type: "ec", bits: 256 })

describe("input that is not a CSR is rejected with the text of Vault", () => {
  test.each([
    { why: "an empty string", csr: "", message: /^"csr" is empty$/ },
    { why: "white space", csr: " \n", message: /^"csr" is empty$/ },
    { why: "no PEM", csr: "MIIB", message: /^csr contains no data$/ },
    {
      why: "the label of a certificate",
      csr: pem.replaceAll(" REQUEST", ""),
      message: /^certificate request could not be parsed: expected one PEM block/,
    },
    {
      why: "two requests",
      csr: `${pem}\n${pem}`,
      message: /^certificate request could not be parsed: expected one PEM block/,
    },
    {
      why: "a truncated request",
      csr: writePem("CERTIFICATE REQUEST", der.subarray(0, 50)),
      message: /^certificate request could not be parsed: /,
    },
    {
      why: "input above the size limit",
      csr: pem + " ".repeat(64 * 1024),
      message: /^certificate request could not be parsed: /,
    },
  ])("$why", ({ csr, message }) => {
    expect(faultOf(csr)).toMatch(message)
  })

  test("a CSR with the signature of another key is rejected", async () => {
    const { pem: forged } = await requestOf({ type: "ed25519" }, () => new Uint8Array(64))
    expect(faultOf(forged)).toBe("request signature invalid")
  })
})

function faultOf(csr: string): string {
  try {
    readSigningRequest(csr)
  } catch (error) {
    const { code, faults } = error as EngineError
    return faults.map(({ field, detail }) => (code === "invalid" && String(field) === "csr" ? detail : code)).join()
  }
  return "read"
}
