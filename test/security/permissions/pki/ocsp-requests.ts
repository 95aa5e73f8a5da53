import { ocspQuestion } from "../../../../engine/testing/ocsp-question.ts"
import { parseCertificate } from "../../../../engine/src/x509/certificate.ts"
import type { PkiSubject } from "./users.ts"
import type { PreparePki } from "./prepared-request.ts"

/** Returns an OCSP request about the root of the mount. */
async function question({ testEngine, mount }: PkiSubject): Promise<Uint8Array> {
  const { certificate } = await testEngine.engine.pki(mount).issuers.generateRoot({ commonName: "Root", keyType: "ec" })
  return ocspQuestion({
    digest: "sha256",
    issuer: certificate,
    serialNumber: parseCertificate(certificate).serialNumber,
  })
}

const got: PreparePki = async (subject) => ({
  params: { request: encodeURIComponent(Buffer.from(await question(subject)).toString("base64")) },
})
const posted: PreparePki = async (subject) => ({
  body: await question(subject),
  headers: { "content-type": "application/ocsp-request" },
})

export const ocspRequests: Readonly<Record<string, PreparePki>> = {
  "GET /:mount/ocsp/*request": got,
  "POST /:mount/ocsp": posted,
  "GET /:mount/unified-ocsp/*request": got,
  "POST /:mount/unified-ocsp": posted,
}
