// Settings of an issuer (https://developer.hashicorp.com/vault/api-docs/secret/pki#update-issuer). All faults are reported at once.
import { type Fault, rejectFaults } from "../../core/errors.ts"
import type { IssuerId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import { describeKeyAlgorithm } from "../../x509/key-algorithm.ts"
import { type SerialNumber, serialNumberOf } from "../../x509/serial-number.ts"
import { fitsKey, parseSignatureAlgorithm } from "../../x509/signature-algorithm.ts"
import type { CertificateRepository } from "../issuance/certificate.ts"
import { findIssuer, type MountSnapshot } from "../mounts/mount-snapshot.ts"
import { referenceNameProblem } from "../names/reference-name.ts"
import { shown } from "../policy/violation.ts"
import type { RevocationRepository } from "../revocation/revocation.ts"
import { urlFaults } from "./authority-urls.ts"
import type { IssuerInput } from "./issuer-api.ts"
import {
  type AuthorityUrls,
  defaultIssuerSettings,
  type disabledCheckNames,
  type Issuer,
  type IssuerSettings,
  type IssuerUsage,
  issuerUsages,
  leafNotAfterBehaviors,
  usageProblem,
} from "./issuer.ts"
import type { ParsedIssuer } from "./parsed-issuer.ts"

/** Returns an issuer's name and settings before a replacement: no name and the defaults. */
export const withoutSettings = (issuer: ParsedIssuer): Pick<Issuer, "name" | "settings"> => ({
  name: null,
  settings: {
    ...defaultIssuerSettings,
    usage: issuerUsages.filter((usage) => ownProblem(usage, issuer) === undefined),
  },
})

/** Returns the changed fields of an issuer. Throws `EngineError("invalid")` with all faults. */
export function changedIssuer(
  snapshot: MountSnapshot,
  issuer: ParsedIssuer,
  before: Pick<Issuer, "name" | "settings">,
  input: IssuerInput,
): { readonly changed: Pick<Issuer, "name" | "settings">; readonly warnings: readonly string[] } {
  const name = input.issuerName === undefined ? before.name : input.issuerName || null
  const behavior = input.leafNotAfterBehavior ?? before.settings.leafNotAfterBehavior
  const usage = usageOf(input.usage ?? before.settings.usage)
  const chain = chainOf(snapshot, issuer, input.manualChain, before.settings.manualChain)
  const algorithm = input.revocationSignatureAlgorithm ?? before.settings.revocationSignatureAlgorithm
  const urls = urlsOf(before.settings.urls, input)
  rejectFaults([
    ...nameFaults(snapshot, issuer, name),
    ...wordFault("leafNotAfterBehavior", behavior, leafNotAfterBehaviors),
    ...usageFaults(issuer, usage),
    ...chain.faults,
    ...algorithmFaults(issuer, algorithm),
    ...urlFaults(urls),
  ])
  const settings: IssuerSettings = {
    leafNotAfterBehavior: behavior as IssuerSettings["leafNotAfterBehavior"],
    usage: usage as readonly IssuerUsage[],
    manualChain: chain.ids,
    revocationSignatureAlgorithm: parseSignatureAlgorithm(algorithm) ?? "",
    ...checksOf(before.settings, input),
    urls,
  }
  return { changed: { name, settings }, warnings: chain.warnings }
}

type DisabledChecks = Pick<IssuerSettings, (typeof disabledCheckNames)[number]>

const checksOf = (before: DisabledChecks, input: IssuerInput): DisabledChecks => ({
  disableNameConstraintChecks: input.disableNameConstraintChecks ?? before.disableNameConstraintChecks,
  disableNameChecks: input.disableNameChecks ?? before.disableNameChecks,
  disablePathLengthChecks: input.disablePathLengthChecks ?? before.disablePathLengthChecks,
  disableCriticalExtensionChecks: input.disableCriticalExtensionChecks ?? before.disableCriticalExtensionChecks,
})

function nameFaults(snapshot: MountSnapshot, { id }: Issuer, name: string | null): readonly Fault[] {
  if (name === null) return []
  const problem = referenceNameProblem(name)
  if (problem !== undefined) return [{ field: ["issuerName"], detail: `"issuer_name" ${problem}` }]
  return isTakenIssuerName(snapshot, name, id) ? [issuerNameTaken] : []
}

const issuerNameTaken: Fault = { field: ["issuerName"], detail: "issuer name already in use" }

/** Returns true if another issuer has this name or id. Ids count as names, so that references are unambiguous. */
const isTakenIssuerName = ({ issuers }: MountSnapshot, name: string, exceptId: IssuerId | undefined): boolean =>
  issuers.some((issuer) => issuer.id !== exceptId && (issuer.name === name || issuer.id === name))

/** Throws a fault if the name of a new issuer is taken. */
export function rejectTakenIssuerName(snapshot: MountSnapshot, name: string): void {
  rejectFaults(isTakenIssuerName(snapshot, name, undefined) ? [issuerNameTaken] : [])
}

function wordFault(field: keyof IssuerInput, word: string, words: readonly string[]): readonly Fault[] {
  return words.includes(word)
    ? []
    : [
        {
          field: [field],
          detail: `must be one of ${words.map((known) => `"${known}"`).join(", ")}; got "${shown(word)}"`,
        },
      ]
}

/** Returns the usages in a fixed order without duplicates. `read-only` is always included. */
function usageOf(words: readonly string[]): readonly string[] {
  const requested = new Set(words.filter((word) => word !== ""))
  requested.add("read-only")
  const known: readonly string[] = issuerUsages
  return [...known.filter((usage) => requested.has(usage)), ...[...requested].filter((word) => !known.includes(word))]
}

function usageFaults(issuer: ParsedIssuer, usage: readonly string[]): readonly Fault[] {
  const known: readonly string[] = issuerUsages
  const unknown = usage.filter((word) => !known.includes(word))
  if (unknown.length > 0)
    return [
      { field: ["usage"], detail: `usage must contain only ${known.join(", ")}; got "${shown(unknown.join(", "))}"` },
    ]
  return (usage as readonly IssuerUsage[]).flatMap((word) => {
    const problem = ownProblem(word, issuer)
    return problem === undefined ? [] : [{ field: ["usage"], detail: `"${word}" cannot be set: the issuer ${problem}` }]
  })
}

function ownProblem(usage: IssuerUsage, { values, revokedAt }: ParsedIssuer): string | undefined {
  if (usage === "issuing-certificates" && revokedAt !== null) return "is revoked"
  return usageProblem(usage, values)
}

interface ReadChain {
  readonly ids: readonly IssuerId[]
  readonly faults: readonly Fault[]
  readonly warnings: readonly string[]
}

function chainOf(
  snapshot: MountSnapshot,
  issuer: ParsedIssuer,
  references: readonly string[] | undefined,
  before: readonly IssuerId[],
): ReadChain {
  if (references === undefined) return { ids: before, faults: [], warnings: [] }
  const fault = (detail: string): ReadChain => ({ ids: [], faults: [{ field: ["manualChain"], detail }], warnings: [] })
  if (references.length > snapshot.issuers.length) return fault("names more issuers than the mount has")
  const found = references.map((reference) => findIssuer(snapshot, reference))
  const missing = references.find((_, at) => found[at] === undefined)
  if (missing !== undefined) return fault(`unable to find PKI issuer for reference: ${shown(missing)}`)
  const chain = found.filter((one) => one !== undefined)
  if (new Set(chain).size < chain.length) return fault("names an issuer twice")
  const [first] = chain
  if (first !== undefined && first.id !== issuer.id) return fault("must begin with the issuer")
  const loose = chain.filter((one, at) => at > 0 && !chain.slice(0, at).some((child) => child.isIssuedBy(one)))
  return {
    ids: chain.map(({ id }) => id),
    faults: [],
    warnings: loose.map(({ id }) => `issuer ${id} in the manual chain has issued none of the certificates before it`),
  }
}

function algorithmFaults({ publicKey }: ParsedIssuer, text: string): readonly Fault[] {
  if (text === "") return []
  const field = ["revocationSignatureAlgorithm"]
  const algorithm = parseSignatureAlgorithm(text)
  if (algorithm === undefined) return [{ field, detail: `"${shown(text)}" is not a known signature algorithm` }]
  return fitsKey(algorithm, publicKey.algorithm)
    ? []
    : [{ field, detail: `a key of ${describeKeyAlgorithm(publicKey.algorithm)} cannot make ${algorithm} signatures` }]
}

const urlsOf = (before: AuthorityUrls, input: IssuerInput): AuthorityUrls => ({
  issuingCertificates: input.issuingCertificates ?? before.issuingCertificates,
  crlDistributionPoints: input.crlDistributionPoints ?? before.crlDistributionPoints,
  deltaCrlDistributionPoints: input.deltaCrlDistributionPoints ?? before.deltaCrlDistributionPoints,
  ocspServers: input.ocspServers ?? before.ocspServers,
  enableTemplating: input.enableTemplating ?? before.enableTemplating,
})

/** Returns the fields of a revoked issuer. The first revocation time stays; only the usage for issuing is removed. */
export const asRevoked = (issuer: Issuer, revokedAt: Instant): Pick<Issuer, "revokedAt" | "settings"> => ({
  revokedAt: issuer.revokedAt ?? revokedAt,
  settings: {
    ...issuer.settings,
    usage: issuer.settings.usage.filter((usage) => usage !== "issuing-certificates"),
  },
})

interface UsedRepositories {
  readonly revocations: RevocationRepository
  readonly certificates: CertificateRepository
}

/** Returns the revocation time of an imported issuer's certificate if the mount has revoked that certificate. */
export async function knownRevocation(
  { mountId, certificate, parsed }: ParsedIssuer,
  { revocations, certificates }: UsedRepositories,
): Promise<Instant | undefined> {
  const serialNumber: SerialNumber | undefined = serialNumberOf(parsed.serialNumber)
  const revocation = serialNumber && (await revocations.find(mountId, serialNumber))
  if (serialNumber === undefined || revocation === undefined) return undefined
  // Another CA may have used the same serial number.
  const recorded = await certificates.find(mountId, serialNumber)
  const isThatOne = recorded !== undefined && Buffer.compare(recorded.certificate, certificate) === 0
  return isThatOne ? revocation.revokedAt : undefined
}
