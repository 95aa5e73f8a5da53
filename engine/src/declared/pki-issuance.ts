// What the kinds that issue have in common. A certificate cannot be changed: whatever is asked otherwise, and whatever is due,
// is another certificate, which is there before the old one goes.
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
import { declaredRefusals, requestMember, requestValidator } from "./certificate-members.ts"
import type { Changes, Created, DeclaredResource, Definition, Known, Origin } from "./declared-resource.ts"
import { member, type Members, output, rulesOf } from "./members.ts"
import { declaredInstant, mountMember } from "./pki-values.ts"
import { differing } from "./same-value.ts"
import { duration, filledText, flag, oneOf, orNull, text } from "./types.ts"

/** What is done with a certificate that nobody declares any more, or that another one has taken the place of. */
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
  onDestroy: output(oneOf(...leavings).schema, "What happens to the certificate when it is removed or replaced."),
}

interface IssuanceSpec {
  readonly mount: string
  readonly format?: "pem" | "der" | "pem_bundle" | undefined
  readonly renewBefore?: string | undefined
  readonly onDestroy?: Leaving | undefined
}

/** What is asked for stands beside it, as it was declared. */
export interface ObservedIssuance {
  readonly mount: string
  /** Hex octets joined by ":". */
  readonly serialNumber: string
  /** In the format that was asked for; PEM unless one was. */
  readonly certificate: string
  /** Null: it is not in the mount any more, and was not recorded here. */
  readonly issuingCa: string | null
  /** From the issuing certificate up. */
  readonly caChain: readonly string[]
  /** ISO 8601. */
  readonly expiration: string
  /** ISO 8601; null: it was not. */
  readonly revokedAt: string | null
  readonly renewBefore: string | null
  readonly onDestroy: Leaving
}

export interface ObservedKey {
  /** PEM, or base64 of DER. Null: it is not known here. Nobody but whoever asked has it. */
  readonly privateKey: string | null
  readonly privateKeyType: string | null
}

interface Issuing<Spec extends IssuanceSpec, Observed extends ObservedIssuance> extends Pick<
  Definition,
  "name" | "description" | "outputsDescription" | "members"
> {
  /** Beside those of every certificate. */
  readonly outputs?: Definition["outputs"]
  readonly rules: (known: Partial<Spec>, unsaid: ReadonlySet<string>) => readonly Fault[]
  /** `metadata` is base64, where the program has none of its own. */
  readonly issue: (pki: Pki, spec: Spec, metadata: string | undefined) => Promise<IssuedCertificate>
  /** Whether the mount keeps metadata with what is issued so. */
  readonly isMarked: (spec: Spec) => boolean
  /** Whether a certificate is of no use to whoever has not heard the answer. */
  readonly hasKey: boolean
  /** What is known of the answer only, and of a certificate that was read without it. */
  readonly own: (issued: IssuedCertificate | undefined, spec: Partial<Spec>) => Omit<Observed, keyof ObservedIssuance>
}

const lifeMembers: readonly string[] = ["renewBefore", "onDestroy"]

export function issuanceKind<Spec extends IssuanceSpec, Observed extends ObservedIssuance>(
  issuing: Issuing<Spec, Observed>,
): DeclaredResource<Spec, Observed> & Definition {
  const { members, rules, outputs = {} } = issuing
  const validate = requestValidator<Spec>(members, (known, unsaid) => [
    ...renewalFaults(known),
    ...rules(known, unsaid),
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
      // What only became known since it was checked.
      if (wrong.length > 0) throw invalid(wrong)
      const mount = mountPathOf(spec.mount)
      const issued = await declaredRefusals(members, () => heard(engine.pki(mount), spec, origin, issuing))
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
  if (notAfter !== undefined) return fault("renewBefore does nothing with notAfter, which no renewal changes")
  const [early, whole] = [renewBefore, ttl ?? ""].map(parseDuration)
  return early !== undefined && whole !== undefined && whole > 0 && early >= whole
    ? fault("renewBefore must be shorter than ttl")
    : []
}

/** Throws `invalid` if each refresh would find the certificate due: the engine cuts lifetimes to those of the role, mount and issuer. */
function assertRenewalAhead(
  { renewBefore }: IssuanceSpec,
  { notBefore, notAfter }: IssuedCertificate,
  now = notBefore,
): void {
  const early = renewBefore === undefined ? undefined : parseDuration(renewBefore)
  if (early === undefined || notAfter - now > early) return
  const detail = `renewBefore must be shorter than the lifetime; the certificate issued ends at ${formatInstant(notAfter)}`
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

/** What has come to pass and nobody asked for. */
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
 * A certificate that was issued and that nobody has heard of, because the answer was lost or the process ended, is looked for by
 * what it was marked with. It is taken for this one; one whose key nobody has is revoked, and another one issued.
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
  const isUnheard = ({ serialNumber, status }: InventoryEntry): boolean =>
    status === "valid" && !recorded.has(`${mountPathOf(spec.mount)}/${serialNumber}`)

  /** Undefined: it has to be issued. */
  async function takenUp(unheard: readonly InventoryEntry[]): Promise<IssuedCertificate | undefined> {
    const [first] = unheard
    if (first === undefined) return undefined
    if (!hasKey) return presented(pki, await pki.certificates.get(first.serialNumber))
    for (const { serialNumber } of unheard) await pki.revocations.revoke({ serialNumber })
    return undefined
  }

  const left = (await Promise.all(marks.map((one) => carrying(pki, one)))).flat().filter(isUnheard)
  const found = await takenUp(left).catch(unlessForbidden)
  if (found !== undefined) return found
  try {
    return await issue(pki, spec, metadata)
  } catch (error) {
    // The role keeps no metadata.
    const isRefused = isEngineError(error, "invalid") && error.faults.some(({ field }) => field?.[0] === "certMetadata")
    if (isRefused) return issue(pki, spec, undefined)
    if (!isEngineError(error, "unavailable")) throw error
    const unheard = (await carrying(pki, mark)).filter(isUnheard)
    if (unheard.length === 0)
      throw unavailable(
        `${error.message}; a certificate that was issued all the same has the metadata "${mark}", by which certs/search finds it`,
        error,
      )
    return (await takenUp(unheard)) ?? issue(pki, spec, metadata)
  }
}

const dayMs = 86_400_000

/** Who declares it, on which day it was asked for, and what: a later one, and one that says something else, is another one. */
function markOf(marker: string, spec: IssuanceSpec, now: number): string {
  const asked = Object.entries(spec)
    .filter(([name, value]) => value !== undefined && !lifeMembers.includes(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const fingerprint = sha256(Buffer.from(JSON.stringify(asked))).slice(0, 16)
  return `${marker} ${formatInstant(now).slice(0, 10)} ${fingerprint}`
}

const metadataOf = (mark: string): string => Buffer.from(mark).toString("base64")

/** More than a declaration leaves behind in a day. */
const carryingMaximum = 100

/** None where whoever asks may not search. */
async function carrying(pki: Pki, mark: string): Promise<readonly InventoryEntry[]> {
  try {
    return (await pki.certificates.search({ metadata: metadataOf(mark) }, { limit: carryingMaximum })).items
  } catch (error) {
    if (isEngineError(error)) return []
    throw error
  }
}

/** Whoever may issue and not revoke gets another one all the same. */
function unlessForbidden(error: unknown): undefined {
  if (!isEngineError(error, "forbidden")) throw error
}

/** As it was issued. */
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
  // A role may say that nothing is kept of what it issues.
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

/** Whether there is such a mount. */
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
  // What has expired is no good to anybody, and no list has a place for it.
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

/** PEM, or base64 of DER as it was asked for. */
function pemIn(certificate: string): string {
  if (!certificate.includes("-----")) return writePem("CERTIFICATE", Buffer.from(certificate, "base64"))
  const block = readPem(certificate, textMaximum).find(({ label }) => label === "CERTIFICATE")
  return block === undefined ? certificate : writePem("CERTIFICATE", block.bytes)
}

const textMaximum = 1_024 * 1_024

const keyPemIn = (key: string): string =>
  key.includes("-----") ? key : readPrivateKey(Buffer.from(key, "base64")).pem("pkcs8")

/** `MOUNT/SERIAL`. */
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
  // Whoever relies on it has the root already.
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

/** Whether it names itself as its issuer. */
export function isSelfIssued(der: Uint8Array): boolean {
  const { issuer, subject } = parseCertificate(der)
  return sameName(issuer, subject)
}
