import { expect, test } from "vitest"
import { oids } from "../../x509/asn1/oids.ts"
import { assembleCertificate, encodeTbsCertificate } from "../../x509/certificate.ts"
import { basicConstraints } from "../../x509/extensions.ts"
import { encodeName } from "../../x509/name.ts"
import { writePem } from "../../x509/pem.ts"
import { signatureAlgorithmIdentifier } from "../../x509/signature-algorithm.ts"
import { signingKey } from "../../x509/signing-key.ts"
import { testKeyGenerator } from "../../../testing/test-keys.ts"
import { readSelfIssued } from "./self-issued.ts"

test("a malformed extension is reported as an error of the certificate", async () => {
  const key = signingKey(await testKeyGenerator.generate({ type: "ec", bits: 256 }))
  const name = encodeName([[{ type: oids.commonName, value: "Old Root" }]])
  const signatureAlgorithm = signatureAlgorithmIdentifier("ECDSAWithSHA256")
  const tbs = encodeTbsCertificate({
    serialNumber: Uint8Array.of(1),
    signatureAlgorithm,
    issuer: name,
    notBefore: 0,
    notAfter: 0,
    subject: name,
    subjectPublicKeyInfo: key.spki,
    extensions: [
      basicConstraints({ isCa: true }),
      { oid: oids.authorityKeyIdentifier, critical: false, value: Uint8Array.of(0x30, 2, 5, 0) },
    ],
  })
  const certificate = assembleCertificate(tbs, signatureAlgorithm, await key.sign(tbs, "ECDSAWithSHA256"))
  expect(() => readSelfIssued(writePem("CERTIFICATE", certificate))).toThrow(
    expect.objectContaining({
      code: "invalid",
      faults: [{ field: ["certificate"], detail: expect.stringContaining("authorityKeyIdentifier") }],
    }),
  )
})
