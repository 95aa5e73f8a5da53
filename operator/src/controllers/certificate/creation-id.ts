// Finds certificates whose issuance response was lost: each request carries an id in the certificate's metadata.
import { type InventoryQuery, isEngineError, type Pki } from "@chancery/engine"
import { parseCertificate, type PublicKey } from "@chancery/engine/x509"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"

/** Returns the id of all attempts at one revision of a Certificate. */
export const creationIdOf = ({ metadata: { uid = "" } }: KubernetesObject, revision: number): string =>
  `certificates.chancery.dev ${uid} ${revision}`

export const metadataOf = (creationId: string): string => Buffer.from(creationId).toString("base64")

/** More than one Certificate can leave behind. */
const maxFound = 100

interface FoundCertificate {
  readonly serialNumber: string
  readonly notAfter: number
}

/** Returns the valid certificates with this creation id; none if the token may not search. */
export const certificatesWith = (pki: Pki, creationId: string): Promise<readonly FoundCertificate[]> =>
  search(pki, { metadata: metadataOf(creationId) })

/** Returns the valid certificates of a key; none if the token may not search. CA certificates have no metadata. */
export async function certificatesOfKey(
  pki: Pki,
  name: string,
  { spki }: Pick<PublicKey, "spki">,
): Promise<readonly FoundCertificate[]> {
  const found: FoundCertificate[] = []
  for (const each of await search(pki, { name })) {
    const { certificate } = await pki.certificates.get(each.serialNumber)
    if (Buffer.compare(parseCertificate(certificate).subjectPublicKeyInfo, spki) === 0) found.push(each)
  }
  return found
}

async function search({ certificates }: Pki, query: InventoryQuery): Promise<readonly FoundCertificate[]> {
  try {
    return (await certificates.search({ ...query, status: ["valid"] }, { limit: maxFound })).items
  } catch (error) {
    if (isEngineError(error, "forbidden") || isEngineError(error, "not-found")) return []
    throw error
  }
}
