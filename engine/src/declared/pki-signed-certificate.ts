import type { Fault } from "../core/errors.ts"
import type { SignInput, SignVerbatimInput } from "../pki/certificates/certificates.ts"
import {
  flag,
  integer,
  nameMembers,
  refusedBy,
  requestOf,
  text,
  texts,
  validityMembers,
} from "./certificate-members.ts"
import { issuanceKind, issuanceMembers, type ObservedIssuance } from "./pki-issuance.ts"
import { judgeSign, judgeVerbatim } from "./request-rules.ts"
import * as shapes from "./spec-shape.ts"

const bothMembers = {
  ...validityMembers,
  csr: shapes.text().filled(),
  userIds: texts,
  certMetadata: text,
  removeRootsFromChain: flag,
}
const verbatimMembers = {
  keyUsages: texts,
  extKeyUsages: texts,
  extKeyUsageOids: texts,
  signatureBits: integer,
  usePss: flag,
  basicConstraintsValidForNonCa: flag,
  enforceLeafNotAfterBehavior: flag,
}

const shape = shapes.members({
  ...issuanceMembers,
  ...bothMembers,
  ...nameMembers,
  ...verbatimMembers,
  role: shapes.text().filled().optional(),
  issuerRef: shapes.text().filled().optional(),
  verbatim: flag,
  onDestroy: shapes.oneOf(["retain", "revoke"]).optional(),
})

/** A certificate for a CSR, by a role or verbatim. */
export type PkiSignedCertificateSpec = Readonly<shapes.Of<typeof shape>>

const signInputOf = (spec: Partial<PkiSignedCertificateSpec>): SignInput =>
  requestOf(spec, Object.keys({ ...bothMembers, ...nameMembers }))
const verbatimInputOf = (spec: Partial<PkiSignedCertificateSpec>): SignVerbatimInput =>
  requestOf(spec, Object.keys({ ...bothMembers, ...verbatimMembers }))

/** Its id is `MOUNT/SERIAL`. */
export const pkiSignedCertificateResource = issuanceKind<PkiSignedCertificateSpec, ObservedIssuance>({
  shape,
  rules: (known, unsaid) => [
    ...(unsaid.has("verbatim") ? [] : modeFaults(known, unsaid)),
    ...refusedBy(shape, () =>
      known.verbatim === true
        ? judgeVerbatim(verbatimInputOf(known), { hasRole: known.role !== undefined || unsaid.has("role") })
        : judgeSign(signInputOf(known), known.csr),
    ),
  ],
  async issue({ certificates }, spec, certMetadata) {
    const marked = certMetadata === undefined ? {} : { certMetadata }
    const choice = spec.issuerRef === undefined ? {} : { issuerRef: spec.issuerRef }
    return spec.verbatim === true
      ? certificates.signVerbatim(spec.role, { ...verbatimInputOf(spec), ...marked }, choice)
      : certificates.sign(spec.role ?? "", { ...signInputOf(spec), ...marked }, choice)
  },
  // Only a role says that metadata is kept.
  isMarked: ({ certMetadata = "", role }) => certMetadata === "" && role !== undefined,
  hasKey: false,
  own: () => ({}),
})

/** What is said to no effect, and what is not said. */
function modeFaults(spec: Partial<PkiSignedCertificateSpec>, unsaid: ReadonlySet<string>): readonly Fault[] {
  const isVerbatim = spec.verbatim === true
  const idle = Object.keys(isVerbatim ? nameMembers : verbatimMembers).filter((name) => name in spec)
  const missing = isVerbatim
    ? []
    : (["role", "commonName"] as const).filter((name) => !unsaid.has(name) && (spec[name] ?? "") === "")
  return [
    ...idle.map((name) => ({
      field: [name],
      detail: isVerbatim
        ? `${name} does nothing with verbatim: the request says it`
        : `${name} does nothing without verbatim: true`,
    })),
    ...missing.map((name) => ({ field: [name], detail: `${name} is required unless verbatim is true` })),
  ]
}
