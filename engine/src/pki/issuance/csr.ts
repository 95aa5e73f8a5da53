import type { CertificationRequest } from "../../x509/certification-request.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import type { KeyAlgorithm } from "../../x509/key-algorithm.ts"
import { formatIpAddress } from "../names/ip-address.ts"
import type { CsrFacts } from "./issue-request.ts"

/** Returns the facts of a CSR that roles have rules for. Its signature must be verified. */
export function csrFacts(
  { subjectName, extensionValues }: Pick<CertificationRequest, "subjectName" | "extensionValues">,
  key: KeyAlgorithm,
): CsrFacts {
  const { subjectAltName = [], basicConstraints } = extensionValues
  const texts = (kind: "dns" | "email" | "uri") =>
    subjectAltName.flatMap((name) => (name.kind === kind && "value" in name ? [name.value] : []))
  return {
    subject: subjectName,
    dnsNames: texts("dns"),
    emails: texts("email"),
    ips: subjectAltName.filter((name) => name.kind === "ip").map(({ octets }) => formatIpAddress(octets)),
    uris: texts("uri"),
    otherNames: subjectAltName.filter((name) => name.kind === "other").map(({ oid, value }) => ({ oid, value })),
    otherKinds: subjectAltName.flatMap(({ kind }) => unruledKinds[kind] ?? []),
    hasBasicConstraints: basicConstraints !== undefined,
    key,
  }
}

/** Kinds of alternative names for which roles have no rule. */
const unruledKinds: Readonly<Partial<Record<GeneralName["kind"], string>>> = {
  directory: "directoryName",
  "registered-id": "registeredID",
  unsupported: "otherName that is not UTF8 text, x400Address or ediPartyName",
}
