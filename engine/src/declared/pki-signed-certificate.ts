import type { Fault } from "../core/errors.ts"
import type { SignInput, SignVerbatimInput } from "../pki/issuance/certificate-api.ts"
import {
  authorityMembers,
  csrMember,
  nameMembers,
  faultsOfRule,
  requestMember,
  requestOf,
  validityMembers,
} from "./certificate-members.ts"
import type { SpecOf } from "./members.ts"
import { issuanceKind, issuanceMembers, type ObservedIssuance, onDestroyMember } from "./pki-issuance.ts"
import { judgeSign, judgeVerbatim } from "./request-rules.ts"
import { filledText, flag, text, texts } from "./types.ts"

const bothMembers = {
  ...validityMembers,
  csr: csrMember,
  userIds: requestMember(texts(), "User IDs (UID) of the subject."),
  certMetadata: requestMember(text, "Metadata stored with the certificate (base64).", {
    defaultText: "the stack's name and the time, unless the role stores none",
  }),
  removeRootsFromChain: issuanceMembers.removeRootsFromChain,
}
export const enforceLeafNotAfterMember = requestMember(
  flag,
  "Apply the issuer's `leafNotAfterBehavior` to certificates that outlive it, instead of truncating them.",
  { defaultText: "false" },
)
const verbatimMembers = {
  keyUsages: requestMember(texts(), "Key usages, if `verbatim` and the CSR has none."),
  extKeyUsages: requestMember(texts(), "Extended key usages by name, if `verbatim` and the CSR has none."),
  extKeyUsageOids: requestMember(
    texts(),
    "Extended key usages by object identifier, if `verbatim` and the CSR has none.",
  ),
  signatureBits: authorityMembers.signatureBits,
  usePss: authorityMembers.usePss,
  basicConstraintsValidForNonCa: requestMember(flag, "Add basicConstraints CA:FALSE; the role may do so as well.", {
    defaultText: "false",
  }),
  enforceLeafNotAfterBehavior: enforceLeafNotAfterMember,
}

const members = {
  ...issuanceMembers,
  ...bothMembers,
  ...nameMembers,
  ...verbatimMembers,
  role: requestMember(filledText, "Role that signs. Required unless `verbatim`, where a role supplies lifetimes only."),
  verbatim: requestMember(flag, "Sign the names of the CSR as they are, without the rules of a role.", {
    defaultText: "false",
  }),
  onDestroy: onDestroyMember("Action on the certificate when it is removed or replaced.", "retain", "revoke"),
}

/** Certificate for a key that the engine does not have, signed by its CSR. */
export type PkiSignedCertificateSpec = SpecOf<typeof members>

const signInputOf = (spec: Partial<PkiSignedCertificateSpec>): SignInput =>
  requestOf(spec, { ...bothMembers, ...nameMembers })
const verbatimInputOf = (spec: Partial<PkiSignedCertificateSpec>): SignVerbatimInput =>
  requestOf(spec, { ...bothMembers, ...verbatimMembers })

/** The id is `MOUNT/SERIAL`. */
export const pkiSignedCertificateResource = issuanceKind<PkiSignedCertificateSpec, ObservedIssuance>({
  name: "pkiSignedCertificate",
  description: "A certificate for a CSR. The server never receives the private key. Its id is `MOUNT/SERIAL`.",
  outputsDescription: "Outputs of a signed certificate.",
  members,
  rules: (known, unchecked) => [
    ...(unchecked.has("verbatim") ? [] : modeFaults(known, unchecked)),
    ...faultsOfRule(members, () =>
      known.verbatim === true
        ? judgeVerbatim(verbatimInputOf(known), { hasRole: known.role !== undefined || unchecked.has("role") })
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
  // Metadata is stored only for roles.
  isMarked: ({ certMetadata = "", role }) => certMetadata === "" && role !== undefined,
  hasKey: false,
  own: () => ({}),
})

/** Returns faults of members without effect in this mode, and of missing members. */
function modeFaults(spec: Partial<PkiSignedCertificateSpec>, unchecked: ReadonlySet<string>): readonly Fault[] {
  const isVerbatim = spec.verbatim === true
  const idle = Object.keys(isVerbatim ? nameMembers : verbatimMembers).filter((name) => name in spec)
  const missing = isVerbatim
    ? []
    : (["role", "commonName"] as const).filter((name) => !unchecked.has(name) && (spec[name] ?? "") === "")
  return [
    ...idle.map((name) => ({
      field: [name],
      detail: isVerbatim
        ? `${name} has no effect with verbatim; set it in the CSR`
        : `${name} has no effect without verbatim: true; remove it`,
    })),
    ...missing.map((name) => ({ field: [name], detail: `${name} is required unless verbatim is true` })),
  ]
}
