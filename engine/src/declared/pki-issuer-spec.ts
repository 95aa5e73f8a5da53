// Declared members of an issuer whose key is in a mount, and the checks that need no request.
import type { Fault } from "../core/errors.ts"
import {
  type AuthorityUrls,
  type IssuerSettings,
  leafNotAfterBehaviors,
  noDisabledChecks,
  noUrls,
} from "../pki/issuers/issuer.ts"
import { urlFaults } from "../pki/issuers/authority-urls.ts"
import type { IntermediateInput, RootInput } from "../pki/issuers/issuer-api.ts"
import { referenceNameProblem } from "../pki/names/reference-name.ts"
import { type PemBlock, readPem, writePem } from "../x509/pem.ts"
import { parseSignatureAlgorithm } from "../x509/signature-algorithm.ts"
import { UnacceptableInput } from "../x509/unacceptable-input.ts"
import { authorityMembers, faultsOfRule, requestMember, requestOf, requestValidator } from "./certificate-members.ts"
import { defaultsOf, member, required, type SpecOf } from "./members.ts"
import { mountMember, mountMemberFaults, sameMountPath } from "./pki-values.ts"
import { judgeAuthority } from "./request-rules.ts"
import { sameSet, type SameValue } from "./same-value.ts"
import { filledText, flag, integer, listOf, oneOf, orderedTexts, text, texts } from "./types.ts"

const keyMembers = {
  keyType: requestMember(oneOf("rsa", "ec", "ed25519"), "Type of the key.", { defaultText: "`rsa`" }),
  keyBits: requestMember(integer, "Size of the key in bits. 0: 2048 for RSA, 256 for EC.", { defaultText: "0" }),
}

/** Members of issuers that are generated in the mount. */
const madeMembers = {
  ...authorityMembers,
  ...keyMembers,
  keyName: member(filledText, "Name of the key, unique in the mount.", { defaultText: "the name of the issuer" }),
}

/** Members of intermediates. */
const signedMembers = {
  parentMount: requestMember(text, "Mount of the issuer that signs.", {
    defaultText: "this mount",
    same: sameMountPath,
  }),
  parentIssuerRef: requestMember(filledText, "Issuer that signs, by id or name.", {
    defaultText: "`default`, if `parentMount` is declared",
  }),
  signedCertificate: member(
    filledText,
    "Certificate that another authority signed for `csr`, followed by its chain (PEM). A later one replaces it under its name.",
    { isHidden: true },
  ),
  addBasicConstraints: requestMember(flag, "Add basicConstraints CA:TRUE to `csr`. Some authorities require it.", {
    defaultText: "false",
  }),
}

/** The server adds `read-only`. */
const withReading: SameValue = (a, b) => sameSet(readable(a), readable(b))
const readable = (usage: unknown): readonly string[] => [...(usage as readonly string[]), "read-only"]
/** False is satisfied by any value: the spec does not choose another default issuer. */
const atLeast: SameValue = (wanted, is) => wanted !== true || is === true
const usages = oneOf("read-only", "issuing-certificates", "crl-signing", "ocsp-signing")

/** Members that can change at any time. */
const settingMembers = {
  leafNotAfterBehavior: member(
    oneOf(...leafNotAfterBehaviors),
    "What happens if a certificate would outlive the issuer.",
    { default: "err" },
  ),
  usage: member(
    listOf(usages.schema, { same: withReading }),
    "Allowed uses; `read-only` is always included. Default: all that its certificate allows.",
  ),
  manualChain: member(
    orderedTexts(),
    "Ids of the issuers above it, nearest first. Empty: the chain that the server finds.",
    { default: [] },
  ),
  revocationSignatureAlgorithm: member(
    text,
    "Signature algorithm of CRLs and OCSP responses, such as `SHA256WithRSAPSS`. Empty: chosen by the key.",
    { default: "" },
  ),
  disableNameConstraintChecks: member(
    flag,
    "Issue names that the name constraints of the issuer or of its chain forbid.",
    { default: noDisabledChecks.disableNameConstraintChecks },
  ),
  disableNameChecks: member(
    flag,
    "Issue although a certificate in `manualChain` has signed one that names another issuer.",
    { default: noDisabledChecks.disableNameChecks },
  ),
  disablePathLengthChecks: member(flag, "Issue although a certificate of the chain limits the path length to less.", {
    default: noDisabledChecks.disablePathLengthChecks,
  }),
  disableCriticalExtensionChecks: member(
    flag,
    "Issue although the certificate or its chain has a critical extension that verifiers do not process.",
    { default: noDisabledChecks.disableCriticalExtensionChecks },
  ),
  issuingCertificates: member(texts(), "URLs of its certificate. Empty: those of the mount.", { default: [] }),
  crlDistributionPoints: member(texts(), "URLs of its CRL. Empty: those of the mount.", { default: [] }),
  deltaCrlDistributionPoints: member(texts(), "URLs of its delta CRL. Empty: those of the mount.", { default: [] }),
  ocspServers: member(texts(), "URLs of its OCSP responder. Empty: those of the mount.", { default: [] }),
  enableTemplating: member(
    flag,
    "Expand `{{issuer_id}}`, `{{cluster_path}}` and `{{cluster_aia_path}}` in these URLs.",
    { default: noUrls.enableTemplating },
  ),
}

export const issuerMembers = {
  mount: mountMember,
  name: required(text, "Name, unique in the mount.", { providedBy: "name" }),
  kind: required(
    oneOf("root", "intermediate", "imported"),
    "`root`: signs itself. `intermediate`: signed by an issuer of this server (`parentMount`, `parentIssuerRef`) or elsewhere (`csr`, then `signedCertificate`). `imported`: imported with its key (`bundle`).",
    { forcesReplacement: true, isHidden: true },
  ),
  ...madeMembers,
  ...signedMembers,
  bundle: member(
    filledText,
    "Certificate of the issuer, its chain and its private key (PEM). A secret; it is in no output.",
    { forcesReplacement: true, secret: true, isHidden: true },
  ),
  ...settingMembers,
  isDefault: member(flag, "Make it the default issuer of the mount. False does not change the default issuer.", {
    same: atLeast,
  }),
}

/** Issuer whose key is in a mount: a root, an intermediate signed by an issuer of this server or elsewhere, or an imported issuer. */
export type PkiIssuerSpec = SpecOf<typeof issuerMembers>

export const settingNames: readonly string[] = Object.keys(settingMembers)
/** Members that are fixed with the certificate and its key. */
export const fixedNames: readonly string[] = [
  "mount",
  "kind",
  ...Object.keys(authorityMembers),
  ...Object.keys(keyMembers),
  "parentMount",
  "parentIssuerRef",
  "addBasicConstraints",
]

const contentMembers = { ...authorityMembers, ...keyMembers }

/** Returns the name of the key. Default: the name of the issuer. */
export const keyNameOf = ({ name, keyName }: Pick<PkiIssuerSpec, "name" | "keyName">): string => keyName ?? name

export const rootInputOf = (spec: PkiIssuerSpec): RootInput => ({
  ...requestOf<RootInput>(spec, contentMembers),
  keyName: keyNameOf(spec),
  issuerName: spec.name,
})

/** Returns the input of the CSR. The signer decides the validity period. */
export const intermediateInputOf = (spec: PkiIssuerSpec): IntermediateInput =>
  requestOf(spec, { ...ownMembers, addBasicConstraints: signedMembers.addBasicConstraints })

const { ttl: _ttl, notBefore: _start, notAfter: _end, notBeforeDuration: _early, ...ownMembers } = contentMembers

/** Returns the input of the signature, without the CSR. */
export const signedContentOf = (spec: PkiIssuerSpec): object => requestOf(spec, authorityMembers)

export const isSignedHere = ({ parentIssuerRef, parentMount }: Partial<PkiIssuerSpec>): boolean =>
  parentIssuerRef !== undefined || parentMount !== undefined

export const issuerFaults = requestValidator<PkiIssuerSpec>(issuerMembers, (known, unchecked) => [
  ...nameFaults("name", known.name),
  ...nameFaults("keyName", known.keyName),
  ...(known.parentMount === undefined ? [] : mountMemberFaults("parentMount", known.parentMount)),
  ...settingFaults(known),
  ...(unchecked.has("kind") ? [] : kindFaults(known, unchecked)),
  ...pemFaults("bundle", known.bundle),
  ...pemFaults("signedCertificate", known.signedCertificate),
])

function nameFaults(field: string, name: string | undefined): readonly Fault[] {
  const problem = name === undefined ? undefined : referenceNameProblem(name)
  return problem === undefined ? [] : [{ field: [field], detail: `${field} ${problem}` }]
}

function settingFaults(spec: Partial<PkiIssuerSpec>): readonly Fault[] {
  const { revocationSignatureAlgorithm: algorithm = "", manualChain = [] } = spec
  const urls = { ...noUrls, ...(spec as Partial<AuthorityUrls>) }
  return [
    ...(algorithm === "" || parseSignatureAlgorithm(algorithm) !== undefined
      ? []
      : [
          {
            field: ["revocationSignatureAlgorithm"],
            detail: "revocationSignatureAlgorithm is not a known signature algorithm; use one such as SHA256WithRSAPSS",
          },
        ]),
    ...manualChain
      .filter((id) => !id.startsWith("iss-"))
      .map(() => ({
        field: ["manualChain"],
        detail: "manualChain must contain ids of issuers (issuerId) above this one",
      })),
    ...urlFaults(urls).map(({ field = [], detail }) => ({ field: field.slice(0, 1), detail })),
  ]
}

function kindFaults(spec: Partial<PkiIssuerSpec>, unchecked: ReadonlySet<string>): readonly Fault[] {
  const allowed = {
    root: Object.keys(madeMembers),
    intermediate: Object.keys({ ...madeMembers, ...signedMembers }),
    imported: ["bundle"],
  }[spec.kind ?? "root"]
  const idle = Object.keys({ ...madeMembers, ...signedMembers, bundle: issuerMembers.bundle }).filter(
    (name) => name in spec && !allowed.includes(name),
  )
  const faults = idle.map((name) => ({
    field: [name],
    detail: `${name} has no effect with kind "${spec.kind ?? ""}"; remove it`,
  }))
  if (spec.kind === "imported") {
    const isMissing = spec.bundle === undefined && !unchecked.has("bundle")
    return [...faults, ...(isMissing ? [{ field: ["bundle"], detail: 'bundle is required with kind "imported"' }] : [])]
  }
  const isTwice = spec.signedCertificate !== undefined && isSignedHere(spec)
  const twice = "signedCertificate excludes parentIssuerRef and parentMount"
  return [
    ...faults,
    ...(isTwice ? [{ field: ["signedCertificate"], detail: twice }] : []),
    ...faultsOfRule(issuerMembers, () => {
      // A key size cannot be checked without the key type.
      const { keyBits, ...others } = spec
      const judged = unchecked.has("keyType") || keyBits === undefined ? others : spec
      judgeAuthority(requestOf<RootInput>(judged, contentMembers), unchecked.has("commonName"))
    }),
  ]
}

const maxText = 1_024 * 1_024

function pemFaults(field: "bundle" | "signedCertificate", pem: string | undefined): readonly Fault[] {
  if (pem === undefined) return []
  try {
    if (firstCertificateIn(pem) !== undefined) return []
    return [{ field: [field], detail: `${field} must be PEM with at least one certificate` }]
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    return [{ field: [field], detail: `${field}: ${error.message}` }]
  }
}

/** Returns the first certificate of a bundle, PEM, which is the issuer's own; its chain follows. Throws `UnacceptableInput`. */
export function firstCertificateIn(pem: string): string | undefined {
  const block = readPem(pem, maxText).find(isCertificate)
  return block === undefined ? undefined : writePem("CERTIFICATE", block.bytes)
}

const isCertificate = ({ label }: PemBlock): boolean => label === "CERTIFICATE" || label === "X509 CERTIFICATE"

/** Settings of a new issuer, except `usage`, which has no fixed default. */
export const settingDefaults = defaultsOf(settingMembers) as unknown as Omit<IssuerSettings, "urls" | "usage"> &
  AuthorityUrls
