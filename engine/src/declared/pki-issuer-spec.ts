// What is declared of an authority whose key is in a mount, and what of it can be judged before anything is asked.
import type { Fault } from "../core/errors.ts"
import type { AuthorityUrls } from "../pki/issuers/issuer.ts"
import { urlFaults } from "../pki/issuers/authority-urls.ts"
import { leafNotAfterBehaviors, noDisabledChecks, noUrls } from "../pki/issuers/issuer.ts"
import type { IntermediateInput, RootInput } from "../pki/issuers/issuers.ts"
import { referenceNameProblem } from "../pki/names/reference-name.ts"
import { type PemBlock, readPem, writePem } from "../x509/pem.ts"
import { parseSignatureAlgorithm } from "../x509/signature-algorithm.ts"
import { UnacceptableInput } from "../x509/unacceptable-input.ts"
import {
  authorityMembers,
  flag,
  integer,
  refusedBy,
  requestFaults,
  requestOf,
  text,
  texts,
} from "./certificate-members.ts"
import type { Values } from "./declared-resource.ts"
import { mountMemberFaults } from "./pki-words.ts"
import { judgeAuthority } from "./request-rules.ts"
import * as shapes from "./spec-shape.ts"

const keyMembers = { keyType: shapes.oneOf(["rsa", "ec", "ed25519"]).optional(), keyBits: integer }

/** Of those that are made in the mount. */
const madeMembers = { ...authorityMembers, ...keyMembers, keyName: shapes.text().filled().optional() }

/** Of intermediates. */
const signedMembers = {
  parentMount: shapes.text().optional(),
  parentIssuerRef: shapes.text().filled().optional(),
  signedCertificate: shapes.text().filled().optional(),
  addBasicConstraints: flag,
}

/** What can be set at any time. */
const settingMembers = {
  leafNotAfterBehavior: shapes.oneOf(leafNotAfterBehaviors).optional(),
  usage: shapes.list(shapes.oneOf(["read-only", "issuing-certificates", "crl-signing", "ocsp-signing"])).optional(),
  manualChain: texts,
  revocationSignatureAlgorithm: text,
  disableNameConstraintChecks: flag,
  disableNameChecks: flag,
  disablePathLengthChecks: flag,
  disableCriticalExtensionChecks: flag,
  issuingCertificates: texts,
  crlDistributionPoints: texts,
  deltaCrlDistributionPoints: texts,
  ocspServers: texts,
  enableTemplating: flag,
}

const shape = shapes.members({
  mount: shapes.text(),
  name: shapes.text(),
  kind: shapes.oneOf(["root", "intermediate", "imported"]),
  ...madeMembers,
  ...signedMembers,
  bundle: shapes.text().filled().optional(),
  ...settingMembers,
  isDefault: flag,
})

/**
 * Issuer with its key in a mount: a root, an intermediate that an issuer of the engine or an outside authority signs, or an imported
 * issuer.
 */
export type PkiIssuerSpec = Readonly<shapes.Of<typeof shape>>

export const issuerShape = shape
export const settingNames: readonly string[] = Object.keys(settingMembers)
/** What a certificate and its key cannot be other than. */
export const fixedNames: readonly string[] = [
  "mount",
  "kind",
  ...Object.keys({ ...authorityMembers, ...keyMembers }),
  "parentMount",
  "parentIssuerRef",
  "addBasicConstraints",
]

const contentNames = Object.keys({ ...authorityMembers, ...keyMembers })

/** The key has the issuer's name unless it is given one. */
export const keyNameOf = ({ name, keyName }: Pick<PkiIssuerSpec, "name" | "keyName">): string => keyName ?? name

export const rootInputOf = (spec: PkiIssuerSpec): RootInput => ({
  ...requestOf<RootInput>(spec, contentNames),
  keyName: keyNameOf(spec),
  issuerName: spec.name,
})

/** Of the request; when the certificate begins and ends is the signer's to say. */
export const intermediateInputOf = (spec: PkiIssuerSpec): IntermediateInput =>
  requestOf(spec, [...contentNames.filter((name) => !signersNames.includes(name)), "addBasicConstraints"])

const signersNames = ["ttl", "notBefore", "notAfter", "notBeforeDuration"]

/** Of the signature, without the request. */
export const signedContentOf = (spec: PkiIssuerSpec): object => requestOf(spec, Object.keys(authorityMembers))

export const isSignedHere = ({ parentIssuerRef, parentMount }: Partial<PkiIssuerSpec>): boolean =>
  parentIssuerRef !== undefined || parentMount !== undefined

export function issuerFaults(spec: Values, open: ReadonlySet<string> = new Set()): readonly Fault[] {
  return requestFaults<PkiIssuerSpec>(shape, spec, open, (known, unsaid) => [
    ...nameFaults("name", known.name),
    ...nameFaults("keyName", known.keyName),
    ...(known.parentMount === undefined ? [] : mountMemberFaults("parentMount", known.parentMount)),
    ...settingFaults(known),
    ...(unsaid.has("kind") ? [] : kindFaults(known, unsaid)),
    ...pemFaults("bundle", known.bundle),
    ...pemFaults("signedCertificate", known.signedCertificate),
  ])
}

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
            detail: "revocationSignatureAlgorithm is none that is known, such as SHA256WithRSAPSS",
          },
        ]),
    ...manualChain
      .filter((id) => !id.startsWith("iss-"))
      .map(() => ({
        field: ["manualChain"],
        detail: "manualChain must hold ids of issuers (issuerId) above this one",
      })),
    ...urlFaults(urls).map(({ field = [], detail }) => ({ field: field.slice(0, 1), detail })),
  ]
}

function kindFaults(spec: Partial<PkiIssuerSpec>, unsaid: ReadonlySet<string>): readonly Fault[] {
  const allowed = {
    root: Object.keys(madeMembers),
    intermediate: Object.keys({ ...madeMembers, ...signedMembers }),
    imported: ["bundle"],
  }[spec.kind ?? "root"]
  const idle = Object.keys({ ...madeMembers, ...signedMembers, bundle: text }).filter(
    (name) => name in spec && !allowed.includes(name),
  )
  const faults = idle.map((name) => ({ field: [name], detail: `${name} does nothing with kind "${spec.kind ?? ""}"` }))
  if (spec.kind === "imported") {
    const isMissing = spec.bundle === undefined && !unsaid.has("bundle")
    return [...faults, ...(isMissing ? [{ field: ["bundle"], detail: 'bundle is required with kind "imported"' }] : [])]
  }
  const isTwice = spec.signedCertificate !== undefined && isSignedHere(spec)
  const twice = "signedCertificate must be left out where parentIssuerRef or parentMount says who signs"
  return [
    ...faults,
    ...(isTwice ? [{ field: ["signedCertificate"], detail: twice }] : []),
    ...refusedBy(shape, () => {
      // A size says nothing without its type.
      const names = contentNames.filter((name) => name !== "keyBits" || !unsaid.has("keyType"))
      judgeAuthority(requestOf<RootInput>(spec, names), unsaid.has("commonName"))
    }),
  ]
}

const textMaximum = 1_024 * 1_024

function pemFaults(field: "bundle" | "signedCertificate", pem: string | undefined): readonly Fault[] {
  if (pem === undefined) return []
  try {
    if (firstCertificateIn(pem) !== undefined) return []
    return [{ field: [field], detail: `${field} must be PEM with a certificate in it` }]
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    return [{ field: [field], detail: `${field}: ${error.message}` }]
  }
}

/** The issuer's own, PEM. Those above it follow. Throws `UnacceptableInput`. */
export function firstCertificateIn(pem: string): string | undefined {
  const block = readPem(pem, textMaximum).find(isCertificate)
  return block === undefined ? undefined : writePem("CERTIFICATE", block.bytes)
}

const isCertificate = ({ label }: PemBlock): boolean => label === "CERTIFICATE" || label === "X509 CERTIFICATE"

/** What it does when nobody has said anything; the usages that its certificate allows stay. */
export const settingDefaults = {
  leafNotAfterBehavior: "err",
  manualChain: [],
  revocationSignatureAlgorithm: "",
  ...noDisabledChecks,
  ...noUrls,
} as const
