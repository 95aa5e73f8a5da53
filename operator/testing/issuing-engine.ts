// Real engine with a CA and a role that allows everything, which issues certificates for specs.
import { openTestEngine } from "@chancery/testing"
import { signedRequest, writePem } from "@chancery/engine/x509"
import { readStoredCertificate, type StoredCertificate } from "../src/controllers/certificate/stored-certificate.ts"
import { keysOfThisProcess, wantedKey } from "../src/controllers/certificate/keys.ts"
import { commonNameOf, inputOf, requestContent } from "../src/controllers/certificate/names.ts"
import { splitChain } from "../src/controllers/certificate/secret-layout.ts"
import { certificate, type CertificateSpec } from "../src/api/certificate.ts"

const dayMs = 86_400_000

export interface IssuingEngine extends AsyncDisposable {
  readonly engine: Awaited<ReturnType<typeof openTestEngine>>["engine"]
  /** DER of the root. */
  readonly root: Uint8Array
  issue(spec: CertificateSpec): Promise<StoredCertificate>
}

/** Returns a spec with the defaults that the API server fills in. */
export const certificateSpec = (spec: Readonly<Record<string, unknown>> = {}): CertificateSpec =>
  certificate.spec.parse({ secretName: "web-tls", issuerRef: { name: "ca" }, dnsNames: ["www.example.com"], ...spec })

/** Opens the engine. `levels`: 1 for a root that issues, 2 for an intermediate below the root. */
export async function issuingEngine(levels: 1 | 2 = 1): Promise<IssuingEngine> {
  const testEngine = await openTestEngine({ jobs: false })
  const { engine } = testEngine
  await engine.mounts.create({ path: "pki", config: { maxLeaseTtlMs: 3_650 * dayMs } })
  const pki = engine.pki("pki")
  const root = await pki.issuers.generateRoot({ commonName: "Example Root", ttlMs: 3_000 * dayMs })
  if (levels === 2) {
    const { csr } = await pki.issuers.generateIntermediate({ commonName: "Example Intermediate" })
    const signed = await pki.certificates.signIntermediate({
      csr: writePem("CERTIFICATE REQUEST", csr),
      commonName: "Example Intermediate",
      ttlMs: 2_000 * dayMs,
    })
    const { importedIssuers } = await pki.issuers.import(writePem("CERTIFICATE", signed.certificate))
    await pki.settings.changeIssuers({ default: importedIssuers[0] ?? "" })
  }
  await pki.roles.save("any", {
    allowAnyName: true,
    enforceHostnames: false,
    allowIpSans: true,
    keyType: "any",
    allowedUriSans: ["*"],
    allowedOtherSans: ["*"],
    allowedUserIds: ["*"],
    ttlMs: 90 * dayMs,
  })
  return {
    engine,
    root: root.certificate,
    async issue(spec) {
      const algorithm = wantedKey(spec.privateKey)
      if (algorithm === undefined) throw new Error("the spec's key has a size that there is not")
      const privateKey = await keysOfThisProcess.generate(algorithm)
      const commonName = commonNameOf(spec, true)
      const csr = writePem("CERTIFICATE REQUEST", await signedRequest(privateKey, requestContent(spec, commonName)))
      const issued = await pki.certificates.sign("any", { ...inputOf(spec, commonName), csr })
      const { chain, authorities } = splitChain(issued.certificate, issued.issuingCa, issued.caChain)
      const held = readStoredCertificate(privateKey, chain, authorities)
      if (held.is !== "whole") throw new Error(`the certificate is ${held.is}`)
      return held
    },
    [Symbol.asyncDispose]: () => testEngine[Symbol.asyncDispose](),
  }
}
