import { expect, onTestFinished, test } from "vitest"
import { dayMs, secondMs } from "../../core/time.ts"
import { openssl } from "../../../testing/openssl.ts"
import { readIssued } from "../../../testing/issued-certificate.ts"
import { testKeyGenerator } from "../../../testing/test-keys.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"
import { assembleCertificate, encodeTbsCertificate } from "../../x509/certificate.ts"
import { basicConstraints, keyUsage } from "../../x509/extensions.ts"
import { encodeName } from "../../x509/name.ts"
import { writePem } from "../../x509/pem.ts"
import { subjectKeyIdentifier } from "../../x509/public-key.ts"
import { signatureAlgorithmIdentifier } from "../../x509/signature-algorithm.ts"
import { signingKey } from "../../x509/signing-key.ts"

test("[F-P6] a certificate has the key identifier of its issuer when the issuer has no subject key identifier", async () => {
  const testEngine = await openTestEngine({ jobs: false })
  onTestFinished(() => testEngine[Symbol.asyncDispose]())
  await testEngine.engine.mounts.create({ path: "pki" })
  const key = await testKeyGenerator.generate({ type: "ec", bits: 256 })
  const name = encodeName([[{ type: "2.5.4.3", value: "Old Root" }]])
  const now = Math.floor(Date.now() / secondMs) * secondMs
  const signatureAlgorithm = signatureAlgorithmIdentifier("ECDSAWithSHA256")
  const tbs = encodeTbsCertificate({
    serialNumber: Uint8Array.of(1),
    signatureAlgorithm,
    issuer: name,
    notBefore: now - dayMs,
    notAfter: now + 300 * dayMs,
    subject: name,
    subjectPublicKeyInfo: key.publicKey.spki,
    extensions: [basicConstraints({ isCa: true }), keyUsage(["keyCertSign", "cRLSign"])],
  })
  const signature = await signingKey(key).sign(tbs, "ECDSAWithSHA256")
  const root = writePem("CERTIFICATE", assembleCertificate(tbs, signatureAlgorithm, signature))
  const pki = testEngine.engine.pki("pki")
  await pki.issuers.import(`${root}\n${key.pem("pkcs8")}`)
  await pki.roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: dayMs })

  const identifier = Uint8Array.from(subjectKeyIdentifier(key.publicKey))
  const hex = Buffer.from(identifier).toString("hex").toUpperCase().match(/../g)?.join(":") ?? ""
  const { certificate } = await pki.certificates.issue("any", { commonName: "a.example.com" })
  const leaf = writePem("CERTIFICATE", certificate)
  expect(readIssued(leaf).values.authorityKeyIdentifier).toEqual({ keyIdentifier: identifier })
  expect(verifiesWith(leaf, root)).toBe(true)

  const crl = await testEngine.pki("GET", "/pki/crl")
  const listed = openssl(["crl", "-inform", "DER", "-in", "list", "-noout", "-text"], { list: crl.bytes })
  expect(listed).toContain(hex)
  const resigned = await testEngine.pki("POST", "/pki/issuer/default/sign-revocation-list", {
    body: { crl_number: 7, delta_crl_base_number: -1, revoked_certs: [], format: "pem" },
  })
  expect(openssl(["crl", "-in", "list", "-noout", "-text"], { list: resigned.body.data.crl })).toContain(hex)
})

/** Verifies the leaf without `-x509_strict`, because the root lacks extensions that RFC 5280 requires. */
function verifiesWith(leaf: string, root: string): true {
  openssl(["verify", "-CAfile", "root.pem", "leaf.pem"], { "root.pem": root, "leaf.pem": leaf })
  return true
}
