import { oids } from "../../../engine/src/x509/asn1/oids.ts"
import {
  encode,
  objectIdentifier,
  octetString,
  sequence,
  unsignedInteger,
} from "../../../engine/src/x509/asn1/writer.ts"
import { parseCertificate } from "../../../engine/src/x509/certificate.ts"
import { issuerHashes } from "../../../engine/src/x509/ocsp.ts"
import { readPublicKey } from "../../../engine/src/x509/public-key.ts"
import type { PkiSubject } from "./cast.ts"
import type { PreparePki } from "./prepared-request.ts"

/** About the root of the mount. */
async function question({ world, mount }: PkiSubject): Promise<Uint8Array> {
  const { certificate } = await world.engine.pki(mount).issuers.generateRoot({ commonName: "Root", keyType: "ec" })
  const { subject, subjectPublicKeyInfo, serialNumber } = parseCertificate(certificate)
  const publicKeyBits = readPublicKey(subjectPublicKeyInfo).octets
  const { nameHash, keyHash } = issuerHashes("sha256", { name: subject, publicKeyBits })
  const algorithm = sequence([objectIdentifier(oids.sha256)])
  const id = sequence([algorithm, octetString(nameHash), octetString(keyHash), unsignedInteger(serialNumber)])
  return encode(sequence([sequence([sequence([sequence([id])])])]))
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
