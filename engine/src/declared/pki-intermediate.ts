import type { SignIntermediateInput } from "../pki/issuance/certificate-api.ts"
import { authorityMembers, csrMember, faultsOfRule, requestMember, requestOf } from "./certificate-members.ts"
import type { SpecOf } from "./members.ts"
import { issuanceKind, issuanceMembers, type ObservedIssuance, onDestroyMember } from "./pki-issuance.ts"
import { enforceLeafNotAfterMember } from "./pki-signed-certificate.ts"
import { judgeIntermediate } from "./request-rules.ts"
import { flag } from "./types.ts"

const requestMembers = {
  ...authorityMembers,
  csr: csrMember,
  useCsrValues: requestMember(flag, "Use the subject, names and extensions of the CSR instead of the declared ones.", {
    defaultText: "false",
  }),
  enforceLeafNotAfterBehavior: enforceLeafNotAfterMember,
  removeRootsFromChain: issuanceMembers.removeRootsFromChain,
}

const members = {
  ...issuanceMembers,
  ...requestMembers,
  onDestroy: onDestroyMember("Action on the certificate when it is removed or replaced.", "retain", "revoke"),
}

/** Certificate of an authority whose key is elsewhere, signed by its CSR. */
export type PkiIntermediateSpec = SpecOf<typeof members>

const inputOf = (spec: Partial<PkiIntermediateSpec>): SignIntermediateInput => requestOf(spec, requestMembers)

/** The id is `MOUNT/SERIAL`. */
export const pkiIntermediateResource = issuanceKind<PkiIntermediateSpec, ObservedIssuance>({
  name: "pkiIntermediate",
  description:
    "A certificate of an intermediate authority whose key is not on this server. Use `PkiIssuer` for a key in a mount. Its id is `MOUNT/SERIAL`.",
  outputsDescription: "Outputs of an intermediate certificate.",
  members,
  rules: (known, unchecked) => {
    const isNameKnown = !unchecked.has("commonName") && !unchecked.has("useCsrValues")
    return faultsOfRule(members, () => judgeIntermediate(inputOf(known), isNameKnown))
  },
  issue: ({ certificates }, spec) =>
    certificates.signIntermediate(inputOf(spec), spec.issuerRef === undefined ? {} : { issuerRef: spec.issuerRef }),
  isMarked: () => false,
  hasKey: false,
  own: () => ({}),
})
