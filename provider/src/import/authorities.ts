// Certificate authorities of a mount as declarations. The arguments of their creation, except the name, cannot be read back. They are not
// declared, which changes nothing in the existing authorities.
import type { Pki } from "@chancery/engine"
import { parseCertificate } from "@chancery/engine/x509"
import type { Candidate } from "./candidate.ts"

export async function authoritiesIn(
  { issuers }: Pki,
  mount: string,
): Promise<{ readonly candidates: readonly Candidate[]; readonly unnamed: readonly string[] }> {
  const candidates: Candidate[] = []
  const unnamed: string[] = []
  for (const { id, name, keyId } of await issuers.list()) {
    if (keyId === null) {
      unnamed.push(`issuer ${name ?? id} of ${mount} has no key in the mount, so it cannot be declared`)
      continue
    }
    if (name === null) {
      unnamed.push(`issuer ${id} of ${mount} has no name; set a name to import it`)
      continue
    }
    const { certificate } = await issuers.get(id)
    const { subject, subjectName, issuer } = parseCertificate(certificate)
    const isRoot = Buffer.compare(subject, issuer) === 0
    const commonName = subjectName.flat().find(({ type }) => type === commonNameOid)?.value
    candidates.push({
      kind: "pkiIssuer",
      name,
      id: `${mount}/${isRoot ? id : keyId}`,
      known: {
        mount,
        name,
        kind: isRoot ? "root" : "intermediate",
        ...(commonName === undefined ? {} : { commonName }),
      },
    })
  }
  return { candidates, unnamed }
}

const commonNameOid = "2.5.4.3"
