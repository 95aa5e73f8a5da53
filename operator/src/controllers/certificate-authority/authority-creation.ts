// Creates an issuer of one revision. A root takes one request. An intermediate takes several, each of which finds the results of an earlier
// attempt: the key by its name, the signed certificate by its key.
import { isEngineError, type Pki } from "@chancery/engine"
import { parseCertificate, parseExtensionValues, writePem } from "@chancery/engine/x509"
import type { CertificateAuthoritySpec } from "../../api/certificate-authority.ts"
import { isSelfIssued } from "../certificate/stored-certificate.ts"
import { contentFields, keyFields, subjectFields } from "./authority-content.ts"
import { type OwnIssuers, revisionName } from "./own-issuers.ts"
import type { Parent } from "./parent.ts"

export interface Creation {
  readonly pki: Pki
  readonly spec: CertificateAuthoritySpec
  readonly uid: string
  readonly own: OwnIssuers
  readonly revision: number
}

/** Returns the key of the revision: that of an earlier attempt, that of the newest issuer if keys stay, or undefined for a new one. */
function existingKey({ own, spec, revision }: Creation): string | undefined {
  const generated = own.keys.find((key) => key.revision === revision)
  if (generated !== undefined) return generated.id
  return spec.privateKey.rotationPolicy === "Never" ? own.issuers[0]?.keyId : undefined
}

/** Generates a root with the name of its revision. */
export async function createRoot(creation: Creation): Promise<void> {
  const { pki, spec, uid, revision } = creation
  const key = existingKey(creation)
  const name = revisionName(uid, revision)
  await pki.issuers.generateRoot({
    ...contentFields(spec),
    ...(key === undefined ? { ...keyFields(spec), keyName: name } : { keySource: "existing", keyRef: key }),
    issuerName: name,
  })
}

/** Generates the key, has the parent sign, and imports the certificate with its chain, with the name of the revision. */
export async function createIntermediate(creation: Creation, parent: Parent): Promise<void> {
  const { pki, spec, uid, revision } = creation
  const known = existingKey(creation)
  const name = revisionName(uid, revision)
  const { csr, keyId } = await pki.issuers.generateIntermediate({
    ...subjectFields(spec),
    addBasicConstraints: true,
    ...(known === undefined
      ? { ...keyFields(spec), keyName: name }
      : ({ keySource: "existing", keyRef: known } as const)),
  })
  // A key that existed before may have a certificate already, whose answer was lost. That of an earlier revision is another one.
  const isRetry = known !== undefined && creation.own.keys.some((key) => key.id === known && key.revision === revision)
  const earlier = isRetry ? await signedEarlier(pki, parent, keyId, spec.commonName) : undefined
  const certificate = earlier ?? (await signed(parent, spec, csr))
  const chain = [certificate, ...(await chainAbove(parent))]
  await importNamed(pki, chain, name)
}

async function signed(parent: Parent, spec: CertificateAuthoritySpec, csr: Uint8Array): Promise<Uint8Array> {
  const input = { ...contentFields(spec), csr: writePem("CERTIFICATE REQUEST", csr) }
  return (await parent.pki.certificates.signIntermediate(input, { issuerRef: parent.issuerId })).certificate
}

/** Returns the parent's certificate and those above it. */
async function chainAbove({ pki, issuerId }: Parent): Promise<readonly Uint8Array[]> {
  const { certificate, caChain } = await pki.issuers.certificate(issuerId)
  return caChain.length > 0 ? caChain : [certificate]
}

const maxFound = 100

/** Returns the certificate that the parent has signed for the key, if any. */
async function signedEarlier(
  pki: Pki,
  parent: Parent,
  keyId: string,
  commonName: string,
): Promise<Uint8Array | undefined> {
  const { subjectKeyIdentifier } = await pki.keys.get(keyId)
  const query = { name: commonName, issuerRef: parent.issuerId, status: ["valid"] } as const
  const { items } = await parent.pki.certificates.search(query, { limit: maxFound })
  for (const { serialNumber } of items) {
    const { certificate } = await parent.pki.certificates.get(serialNumber)
    const { subjectKeyIdentifier: own } = parseExtensionValues(parseCertificate(certificate).extensions)
    if (own !== undefined && Buffer.compare(own, subjectKeyIdentifier) === 0) return certificate
  }
  return undefined
}

/** Imports certificates, and gives the first one a name. The others complete its chain. */
export async function importNamed(pki: Pki, chain: readonly Uint8Array[], name: string): Promise<string> {
  const pem = chain.map((der) => writePem("CERTIFICATE", der)).join("\n")
  const { mapping } = await pki.issuers.import(pem, "intermediate/set-signed")
  const [first = new Uint8Array()] = chain
  for (const id of mapping.keys()) {
    const { certificate } = await pki.issuers.certificate(id)
    if (Buffer.compare(certificate, first) !== 0) continue
    await pki.issuers.update(id, { issuerName: name })
    return id
  }
  throw new TypeError("a chain was imported without its first certificate")
}

/** Imports the chain again if another client deleted a part of it. Returns whether it ends with a root then. */
export async function completeChain(
  pki: Pki,
  { issuerId, known }: { readonly issuerId: string; readonly known: readonly Uint8Array[] },
): Promise<boolean> {
  const isComplete = async () => (await pki.issuers.certificate(issuerId)).caChain.some(isSelfIssued)
  if (await isComplete()) return true
  const above = known.slice(1)
  if (!above.some(isSelfIssued)) return false
  await pki.issuers.import(above.map((der) => writePem("CERTIFICATE", der)).join("\n"), "intermediate/set-signed")
  return isComplete()
}

/** Runs a request that may find nothing. */
export async function unlessMissing<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}
