// Rules of re-enrolment (RFC 7030, section 4.2.2): the CSR has the subject and the subjectAltName of the certificate that it renews.
import { encode } from "../../x509/asn1/writer.ts"
import type { ExtensionValues } from "../../x509/extensions.ts"
import { encodeGeneralName } from "../../x509/general-name.ts"
import type { DistinguishedName } from "../../x509/name.ts"

export interface NamedDocument {
  readonly subjectName: DistinguishedName
  readonly extensionValues: Pick<ExtensionValues, "subjectAltName">
}

/** Returns why a CSR does not renew a certificate; undefined if it does. Neither string types nor the order of the names matter. */
export function reenrolmentProblem(renewed: NamedDocument, csr: NamedDocument): string | undefined {
  if (subjectOf(renewed) !== subjectOf(csr)) return "the CSR must have the subject of the certificate that it renews"
  return namesOf(renewed) === namesOf(csr)
    ? undefined
    : "the CSR must have the subjectAltName of the certificate that it renews"
}

const subjectOf = ({ subjectName }: NamedDocument): string =>
  JSON.stringify(subjectName.map((relative) => relative.map(({ type, value }) => [type, value])))

const namesOf = ({ extensionValues: { subjectAltName = [] } }: NamedDocument): string =>
  subjectAltName
    .map((name) => Buffer.from(encode(encodeGeneralName(name))).toString("hex"))
    .toSorted()
    .join(" ")
