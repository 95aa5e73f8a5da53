import type { SignIntermediateInput } from "../pki/certificates/certificates.ts"
import { authorityMembers, flag, refusedBy, requestOf } from "./certificate-members.ts"
import { issuanceKind, issuanceMembers, type ObservedIssuance } from "./pki-issuance.ts"
import { judgeIntermediate } from "./request-rules.ts"
import * as shapes from "./spec-shape.ts"

const requestMembers = {
  ...authorityMembers,
  csr: shapes.text().filled(),
  useCsrValues: flag,
  enforceLeafNotAfterBehavior: flag,
  removeRootsFromChain: flag,
}

const shape = shapes.members({
  ...issuanceMembers,
  ...requestMembers,
  issuerRef: shapes.text().filled().optional(),
  onDestroy: shapes.oneOf(["retain", "revoke"]).optional(),
})

/** CA certificate for a CSR whose key is outside of the mount. */
export type PkiIntermediateSpec = Readonly<shapes.Of<typeof shape>>

const inputOf = (spec: Partial<PkiIntermediateSpec>): SignIntermediateInput =>
  requestOf(spec, Object.keys(requestMembers))

/** Its id is `MOUNT/SERIAL`. */
export const pkiIntermediateResource = issuanceKind<PkiIntermediateSpec, ObservedIssuance>({
  shape,
  rules: (known, unsaid) => {
    const isNameKnown = !unsaid.has("commonName") && !unsaid.has("useCsrValues")
    return refusedBy(shape, () => judgeIntermediate(inputOf(known), isNameKnown))
  },
  issue: ({ certificates }, spec) =>
    certificates.signIntermediate(inputOf(spec), spec.issuerRef === undefined ? {} : { issuerRef: spec.issuerRef }),
  isMarked: () => false,
  hasKey: false,
  own: () => ({}),
})
