// Common part of the kinds that issue certificates. A certificate cannot be changed: a change of the request, or approaching expiry,
// replaces it. The new certificate is issued before the old one is removed.
import { type Fault, invalid, isEngineError, unavailable } from "../core/errors.ts"
import { formatInstant, parseDuration, parseInstant } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import type { CertificateView, InventoryEntry, IssuedCertificate } from "../pki/issuance/certificate-api.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import type { Pki } from "../pki/mounts/pki.ts"
import { parseCertificate } from "../x509/certificate.ts"
import { sha256 } from "../x509/digest.ts"
import { parseExtensionValues } from "../x509/extensions.ts"
import { sameName } from "../x509/name.ts"
import { readPem, writePem } from "../x509/pem.ts"
import { readPrivateKey } from "../x509/private-key.ts"
import { withDeclaredNames, requestMember, requestValidator } from "./certificate-members.ts"
import type { Changes, Created, DeclaredResource, Definition, Known, Origin } from "./declared-resource.ts"
import { member, type Members, output, rulesOf } from "./members.ts"
import { declaredInstant, mountMember } from "./pki-values.ts"
import { differing } from "./same-value.ts"
import { duration, filledText, flag, oneOf, orNull, text } from "./types.ts"

/** Treatment of a certificate that is no longer declared or was replaced. */
export const leavings = ["retain", "revoke", "revokeWithKey"] as const
export type Leaving = (typeof leavings)[number]

export const issuanceMembers = {
  mount: mountMember,
  issuerRef: requestMember(filledText, "Issuer that signs, by id or name.", {
    defaultText: "that of the role, else the default issuer",
  }),
  format: requestMember(
    oneOf("pem", "der", "pem_bundle"),
    "Encoding of the outputs: `pem`, `der` (base64), or `pem_bundle` with the chain in `certificate`.",
    { defaultText: "`pem`" },
  ),
  removeRootsFromChain: requestMember(flag, "Leave the root out of `caChain`.", { defaultText: "false" }),
  renewBefore: member(
    duration,
    "Time before expiry from which `pulumi up` replaces the certificate, such as `168h`; shorter than its lifetime.",
    { defaultText: "never" },
  ),
}

export const onDestroyMember = <const T extends Leaving>(description: string, ...choices: readonly [T, ...T[]]) =>
  member(oneOf(...choices), description, { defaultText: "`retain`" })

const issuanceOutputs = {
  mount: output(text.schema, "Path of the mount."),
  serialNumber: output(text.schema, 'Serial number of the certificate: hexadecimal octets joined by ":".'),
  certificate: output(text.schema, "The certificate, in the declared format."),
  issuingCa: output(orNull(text).schema, "Certificate of the issuer. Null if the mount no longer has it."),
  caChain: output(text.schema.array().readonly(), "Chain from the issuer's certificate up."),
  expiration: output(text.schema, "End of validity (ISO 8601)."),
  revokedAt: output(orNull(text).schema, "Time of revocation (ISO 8601). Null if the certificate is not revoked."),
  renewBefore: output(orNull(text).schema, "Time before expiry from which the certificate is replaced. Null: never."),
  onDestroy: output(oneOf(...leavings).schema, "Action on the certificate when it is removed or replaced."),
}

interface IssuanceSpec {
  readonly mount: string
  readonly format?: "pem" | "der" | "pem_bundle" | undefined
  readonly renewBefore?: string | undefined
  readonly onDestroy?: Leaving | undefined
}

/** Observation of a certificate. Declared members of the request are added to it. */
export interface ObservedIssuance {
  readonly mount: string
  /** Hex octets joined by ":". */
  readonly serialNumber: string
  /** Certificate in the declared format, by default PEM. */
  readonly certificate: string
  /** Null if the mount no longer has the issuer's certificate and no observation recorded it. */
  readonly issuingCa: string | null
  /** Starts with the issuer's certificate. */
  readonly caChain: readonly string[]
  /** ISO 8601. */
  readonly expiration: string
  /** ISO 8601; null if not revoked. */
  readonly revokedAt: string | null
  readonly renewBefore: string | null
  readonly onDestroy: Leaving
}

export interface ObservedKey {
  /** PEM, or base64 of DER. Null if unknown: the server returns it only in the answer to the request. */
  readonly privateKey: string | null
  readonly privateKeyType: string | null
}

interface Issuing<Spec extends IssuanceSpec, Observed extends ObservedIssuance> extends Pick<
  Definition,
  "name" | "description" | "outputsDescription" | "members"
> {
  /** Outputs in addition to those of every certificate. */
  readonly outputs?: Definition["outputs"]
  readonly rules: (known: Partial<Spec>, unchecked: ReadonlySet<string>) => readonly Fault[]
  /** Issues a certificate. `metadata` is base64, and undefined if the program declares its own. */
  readonly issue: (pki: Pki, spec: Spec, metadata: string | undefined) => Promise<IssuedCertificate>
  /** Returns whether the mount stores metadata with a certificate of this spec. */
  readonly isMarked: (spec: Spec) => boolean
  /** True if the answer contains a private key. If such an answer is lost, the certificate is useless. */
  readonly hasKey: boolean
  /** Returns values that only the answer contains, or their substitutes if the certificate was read later. */
  readonly own: (issued: IssuedCertificate | undefined, spec: Partial<Spec>) => Omit<Observed, keyof ObservedIssuance>
}

const lifeMembers: readonly string[] = ["renewBefore", "onDestroy"]

export function issuanceKind<Spec extends IssuanceSpec, Observed extends ObservedIssuance>(
  issuing: Issuing<Spec, Observed>,
): DeclaredResource<Spec, Observed> & Definition {
  const { members, rules, outputs = {} } = issuing
  const validate = requestValidator<Spec>(members, (known, unchecked) => [
    ...renewalFaults(known),
    ...rules(known, unchecked),
  ])

  const observedOf = (spec: Spec, issued: IssuedCertificate): Observed =>
    ({
      ...spec,
      ...issuing.own(issued, spec),
      mount: mountPathOf(spec.mount),
      serialNumber: issued.serialNumber,
      ...encoded(issued, spec),
      expiration: formatInstant(issued.notAfter),
      revokedAt: null,
      renewBefore: spec.renewBefore ?? null,
      onDestroy: spec.onDestroy ?? "retain",
    }) as unknown as Observed

  return {
    name: issuing.name,
    description: issuing.description,
    argsDescription: "Changing any member except `renewBefore` and `onDestroy` forces replacement.",
    outputsDescription: issuing.outputsDescription,
    members,
    outputs: { ...issuanceOutputs, ...outputs },
    endsByItself: true,
    memberNames: Object.keys(members),
    validate,
    diff: (spec, observed, dropped, now) => diff(members, spec, observed, dropped, now),
    observe: (engine, id, spec, known) => observe(engine, id, spec, known, issuing.own(undefined, spec)),
    async create(engine, spec, origin) {
      const wrong = validate({ ...(spec as object) })
      // Members whose values were unknown at the first check.
      if (wrong.length > 0) throw invalid(wrong)
      const mount = mountPathOf(spec.mount)
      const issued = await withDeclaredNames(members, () => heard(engine.pki(mount), spec, origin, issuing))
      assertRenewalAhead(spec, issued, origin.now)
      return {
        id: `${mount}/${issued.serialNumber}`,
        observed: observedOf(spec, issued),
        adopted: false,
      } satisfies Created<Observed>
    },
    update: async (_engine, _id, spec, observed) => ({
      ...observed,
      renewBefore: spec.renewBefore ?? null,
      onDestroy: spec.onDestroy ?? "retain",
    }),
    delete: (engine, id, spec, _removal, known) => remove(engine, id, spec.onDestroy ?? "retain", known),
  }
}

function renewalFaults({ renewBefore, ...spec }: Partial<IssuanceSpec>): readonly Fault[] {
  if (renewBefore === undefined) return []
  const fault = (detail: string): readonly Fault[] => [{ field: ["renewBefore"], detail }]
  const { ttl, notAfter } = spec as { readonly ttl?: string; readonly notAfter?: string }
  if (notAfter !== undefined)
    return fault(
      "renewBefore has no effect with notAfter, because a renewal does not change the expiry; remove one of them",
    )
  const [early, whole] = [renewBefore, ttl ?? ""].map(parseDuration)
  return early !== undefined && whole !== undefined && whole > 0 && early >= whole
    ? fault("renewBefore must be shorter than ttl")
    : []
}

/**
 * Throws `invalid` if each refresh would find the certificate expiring: the engine cuts lifetimes to those of the role, mount and issuer.
 */
function assertRenewalAhead(
  { renewBefore }: IssuanceSpec,
  { notBefore, notAfter }: IssuedCertificate,
  now = notBefore,
): void {
  const early = renewBefore === undefined ? undefined : parseDuration(renewBefore)
  if (early === undefined || notAfter - now > early) return
  const detail = `renewBefore must be shorter than the lifetime; the issued certificate expires at ${formatInstant(notAfter)}`
  throw invalid([{ field: ["renewBefore"], detail }])
}

function diff(
  members: Members,
  spec: IssuanceSpec,
  observed: ObservedIssuance,
  dropped: readonly string[] = [],
  now?: number,
): Changes {
  const wanted = {
    ...(dropped.includes("renewBefore") ? { renewBefore: null } : {}),
    ...(dropped.includes("onDestroy") ? { onDestroy: "retain" } : {}),
    ...spec,
  }
  const changed = [
    ...differing<object>(wanted, observed, rulesOf(members)),
    ...dropped.filter((name) => !lifeMembers.includes(name)),
  ]
  const due = now === undefined ? [] : dueOf(spec, observed, now)
  return {
    changed: [...changed, ...due],
    mustReplace: [...changed.filter((name) => !lifeMembers.includes(name)), ...due],
  }
}

/** Returns members that time or a revocation has changed: the certificate is within `renewBefore` of its expiry, or is revoked. */
function dueOf(
  { renewBefore }: IssuanceSpec,
  { expiration, revokedAt }: Partial<ObservedIssuance>,
  now: number,
): readonly string[] {
  const end = parseInstant(expiration ?? "")
  const early = renewBefore === undefined ? undefined : parseDuration(renewBefore)
  const isDue = end !== undefined && early !== undefined && end - now <= early
  return [...(isDue ? ["expiration"] : []), ...((revokedAt ?? null) === null ? [] : ["revokedAt"])]
}

/**
 * Issues a certificate, or recovers one whose answer was lost because the connection or the process ended. Such certificates are found by
 * their metadata. The first one is returned; if its key is lost with the answer, they are revoked and another one is issued.
 */
async function heard<Spec extends IssuanceSpec>(
  pki: Pki,
  spec: Spec,
  { marker, now, recorded = new Set() }: Origin,
  { issue, isMarked, hasKey }: Pick<Issuing<Spec, never>, "issue" | "isMarked" | "hasKey">,
): Promise<IssuedCertificate> {
  if (marker === "" || now === undefined || !isMarked(spec)) return issue(pki, spec, undefined)
  const marks = [now, now - dayMs].map((day) => markOf(marker, spec, day))
  const [mark = ""] = marks
  const metadata = metadataOf(mark)
  const isUnrecorded = ({ serialNumber, status }: InventoryEntry): boolean =>
    status === "valid" && !recorded.has(`${mountPathOf(spec.mount)}/${serialNumber}`)

  /** Returns a recovered certificate, or undefined if one must be issued. */
  async function takenUp(unrecorded: readonly InventoryEntry[]): Promise<IssuedCertificate | undefined> {
    const [first] = unrecorded
    if (first === undefined) return undefined
    if (!hasKey) return presented(pki, await pki.certificates.get(first.serialNumber))
    for (const { serialNumber } of unrecorded) await pki.revocations.revoke({ serialNumber })
    return undefined
  }

  const left = (await Promise.all(marks.map((one) => carrying(pki, one)))).flat().filter(isUnrecorded)
  const found = await takenUp(left).catch(unlessForbidden)
  if (found !== undefined) return found
  try {
    return await issue(pki, spec, metadata)
  } catch (error) {
    // The role does not store metadata.
    const isRefused = isEngineError(error, "invalid") && error.faults.some(({ field }) => field?.[0] === "certMetadata")
    if (isRefused) return issue(pki, spec, undefined)
    if (!isEngineError(error, "unavailable")) throw error
    const unrecorded = (await carrying(pki, mark)).filter(isUnrecorded)
    if (unrecorded.length === 0)
      throw unavailable(
        `${error.message}; if a certificate was issued, certs/search finds it by the metadata "${mark}"`,
        error,
      )
    return (await takenUp(unrecorded)) ?? issue(pki, spec, metadata)
  }
}

const dayMs = 86_400_000

/**
 * Returns the metadata of a request: declaration, day and fingerprint of the content. A request of another day or with other content has
 * another mark.
 */
function markOf(marker: string, spec: IssuanceSpec, now: number): string {
  const entries = Object.entries(spec)
    .filter(([name, value]) => value !== undefined && !lifeMembers.includes(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const fingerprint = sha256(Buffer.from(JSON.stringify(entries))).slice(0, 16)
  return `${marker} ${formatInstant(now).slice(0, 10)} ${fingerprint}`
}

const metadataOf = (mark: string): string => Buffer.from(mark).toString("base64")

/** Maximum number of search results. One declaration leaves fewer certificates behind in a day. */
const maxCarrying = 100

/** Returns certificates of the mount with this mark; none if the caller may not search. */
async function carrying(pki: Pki, mark: string): Promise<readonly InventoryEntry[]> {
  try {
    return (await pki.certificates.search({ metadata: metadataOf(mark) }, { limit: maxCarrying })).items
  } catch (error) {
    if (isEngineError(error)) return []
    throw error
  }
}

/** Ignores `forbidden` errors, so that a caller that may issue but not revoke gets another certificate. */
function unlessForbidden(error: unknown): undefined {
  if (!isEngineError(error, "forbidden")) throw error
}

/** Returns a stored certificate in the form in which it was issued. */
async function presented(
  pki: Pki,
  { certificate, serialNumber, issuerId }: CertificateView,
): Promise<IssuedCertificate> {
  const chain = await chainFrom(pki, issuerId)
  const { notBefore, notAfter, extensions } = parseCertificate(certificate)
  const isAuthority = parseExtensionValues(extensions).basicConstraints?.isCa === true
  return {
    certificate,
    serialNumber,
    issuingCa: chain[0] ?? certificate,
    // The chain of an authority begins with its own certificate, as `sign-intermediate` returns it.
    caChain: isAuthority && chain.length > 0 ? [certificate, ...chain] : chain,
    notBefore,
    notAfter,
    privateKey: undefined,
    lease: undefined,
    warnings: [],
  }
}

async function chainFrom(pki: Pki, issuerId: string | null): Promise<readonly Uint8Array[]> {
  if (issuerId === null) return []
  try {
    return (await pki.issuers.certificate(issuerId)).caChain
  } catch (error) {
    if (isEngineError(error, "not-found") || isEngineError(error, "unprocessable")) return []
    throw error
  }
}

async function observe<Observed extends ObservedIssuance>(
  engine: Engine,
  id: string,
  spec: Partial<IssuanceSpec>,
  { before }: Known<Observed>,
  own: object,
): Promise<Observed | undefined> {
  const { mount, serialNumber } = certificatePlaceOf(id)
  const pki = engine.pki(mount)
  const found = await viewOf(pki, serialNumber)
  // Roles with `noStore` do not store the certificates that they issue.
  if (found === undefined)
    return before.certificate !== undefined && (await isThere(pki)) ? (before as Observed) : undefined
  const revokedAt = declaredInstant(found.revokedAt)
  if (before.certificate !== undefined) return { ...(before as Observed), revokedAt }
  const issued = await presented(pki, found)
  return {
    ...spec,
    ...own,
    mount,
    serialNumber,
    ...encoded(issued, spec),
    ...(issued.caChain.length === 0 ? { issuingCa: null } : {}),
    expiration: formatInstant(issued.notAfter),
    revokedAt,
    renewBefore: spec.renewBefore ?? null,
    onDestroy: spec.onDestroy ?? "retain",
  } as unknown as Observed
}

async function viewOf(pki: Pki, serialNumber: string): Promise<CertificateView | undefined> {
  try {
    return await pki.certificates.get(serialNumber)
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

/** Returns whether the mount exists. */
export async function isThere(pki: Pki): Promise<boolean> {
  try {
    await pki.certificates.caChain()
    return true
  } catch (error) {
    if (isEngineError(error, "not-found")) return false
    throw error
  }
}

async function remove<Observed extends ObservedIssuance>(
  engine: Engine,
  id: string,
  leaving: Leaving,
  { before, now }: Known<Observed>,
): Promise<void> {
  const end = parseInstant(before.expiration ?? "")
  // Expired certificates cannot be used, and CRLs do not list them.
  if (leaving === "retain" || (end !== undefined && end <= now)) return
  const { mount, serialNumber } = certificatePlaceOf(id)
  const pki = engine.pki(mount)
  if (!(await isThere(pki))) return
  const known = await viewOf(pki, serialNumber)
  if (known !== undefined && known.revokedAt !== null) return
  const meant = known === undefined ? { certificate: pemIn(before.certificate ?? "") } : { serialNumber }
  if (leaving === "revoke") return void (await pki.revocations.revoke(meant))
  const { privateKey } = before as Partial<ObservedKey>
  await pki.revocations.revokeWithKey({ ...meant, ...(privateKey ? { privateKey: keyPemIn(privateKey) } : {}) })
}

/** Returns PEM of a certificate that is PEM or, if declared so, base64 of DER. */
function pemIn(certificate: string): string {
  if (!certificate.includes("-----")) return writePem("CERTIFICATE", Buffer.from(certificate, "base64"))
  const block = readPem(certificate, maxText).find(({ label }) => label === "CERTIFICATE")
  return block === undefined ? certificate : writePem("CERTIFICATE", block.bytes)
}

const maxText = 1_024 * 1_024

const keyPemIn = (key: string): string =>
  key.includes("-----") ? key : readPrivateKey(Buffer.from(key, "base64")).pem("pkcs8")

/** Parses an id `MOUNT/SERIAL`. Throws `invalid`. */
export function certificatePlaceOf(id: string): { readonly mount: string; readonly serialNumber: string } {
  const [, mount, serialNumber] = /^(.+)\/([0-9a-f:-]+)$/i.exec(id) ?? []
  if (mount === undefined || serialNumber === undefined)
    throw invalid([{ field: ["id"], detail: `id of a certificate must be MOUNT/SERIAL, not "${id}"` }])
  return { mount, serialNumber }
}

function encoded(
  { certificate, issuingCa, caChain, privateKey }: IssuedCertificate,
  { format = "pem" }: Partial<IssuanceSpec>,
): Pick<ObservedIssuance, "certificate" | "issuingCa" | "caChain"> {
  const text = (der: Uint8Array) =>
    format === "der" ? Buffer.from(der).toString("base64") : writePem("CERTIFICATE", der)
  const isBundle = format === "pem_bundle"
  // Relying parties have the root already.
  const bundled = [
    certificate,
    ...caChain.filter((der) => !isSelfIssued(der) && Buffer.compare(der, certificate) !== 0),
  ]
  const key = privateKey === undefined ? [] : [privateKey.pem("traditional")]
  return {
    certificate: isBundle ? [...key, ...bundled.map(text)].join("\n") : text(certificate),
    issuingCa: text(issuingCa),
    caChain: caChain.map(text),
  }
}

/** Returns whether subject and issuer are the same name. */
export function isSelfIssued(der: Uint8Array): boolean {
  const { issuer, subject } = parseCertificate(der)
  return sameName(issuer, subject)
}
