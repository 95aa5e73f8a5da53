// Finds certificates whose issuance response was lost: each request carries an id in the certificate's metadata.
import { isEngineError, type Pki } from "@chancery/engine"
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
export async function certificatesWith(
  { certificates }: Pki,
  creationId: string,
): Promise<readonly FoundCertificate[]> {
  try {
    const query = { metadata: metadataOf(creationId), status: ["valid"] as const }
    return (await certificates.search(query, { limit: maxFound })).items
  } catch (error) {
    if (isEngineError(error, "forbidden") || isEngineError(error, "not-found")) return []
    throw error
  }
}
