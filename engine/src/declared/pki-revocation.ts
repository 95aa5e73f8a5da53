import { type Fault, invalid, isEngineError, unprocessable } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import { revocationTarget, parseReason, rejectOtherKey } from "../pki/revocation/revocable-certificate.ts"
import type { RevokeInput } from "../pki/revocation/revocation.ts"
import { parseSerialNumber } from "../x509/serial-number.ts"
import { withDeclaredNames, faultsOfRule, requestValidator } from "./certificate-members.ts"
import type { Changes, Created, Known, DeclaredResource, Definition } from "./declared-resource.ts"
import { certificatePlaceOf, isThere } from "./pki-issuance.ts"
import { declaredInstant, mountMember } from "./pki-values.ts"
import { sameJson, type SameValue } from "./same-value.ts"
import { diffMembers, member, output, type SpecOf } from "./members.ts"
import { filledText, orNull, text } from "./types.ts"

const sameSerial: SameValue = (a, b) => sameJson(a, b) || serialOf(a) === serialOf(b)
const serialOf = (value: unknown) => (typeof value === "string" ? parseSerialNumber(value) : undefined)

const members = {
  mount: mountMember,
  serialNumber: member(filledText, 'Serial number of the certificate: hexadecimal octets joined by ":" or "-".', {
    same: sameSerial,
    forcesReplacement: true,
  }),
  certificate: member(
    filledText,
    "The certificate (PEM). It need not be stored in the mount if one of the mount's issuers signed it.",
    { forcesReplacement: true },
  ),
  reason: member(filledText, "Reason, such as `keyCompromise` or `superseded`. It cannot be changed later.", {
    defaultText: "`unspecified`",
  }),
  privateKey: member(
    filledText,
    "Private key of the certificate (PEM), for tokens that may revoke only with it. A secret; it is in no output.",
    { secret: true, isHidden: true },
  ),
}

/**
 * Revocation of a certificate, which is permanent. `privateKey`, the certificate's own, is for callers without another right to revoke it.
 */
export type PkiRevocationSpec = SpecOf<typeof members>

export interface ObservedPkiRevocation {
  readonly mount: string
  /** Hex octets joined by ":". */
  readonly serialNumber: string
  /** Certificate as declared; null if only the serial number was. */
  readonly certificate: string | null
  /** Reason as declared. */
  readonly reason: string
  /** ISO 8601; null if the certificate had already expired and was not revoked. */
  readonly revokedAt: string | null
}

/** The id is `MOUNT/SERIAL`. */
export const pkiRevocationResource: DeclaredResource<PkiRevocationSpec, ObservedPkiRevocation> & Definition = {
  name: "pkiRevocation",
  description:
    "Revokes a certificate. Revocation is permanent: removing the resource does not undo it. Its id is `MOUNT/SERIAL`.",
  argsDescription: "Exactly one of `serialNumber` and `certificate` is required.",
  outputsDescription: "Outputs of a revocation.",
  members,
  outputs: {
    serialNumber: output(text.schema, 'Serial number of the certificate: hexadecimal octets joined by ":".'),
    certificate: output(orNull(text).schema, "The certificate as declared. Null if only its serial number was."),
    reason: output(text.schema, "Reason, as declared."),
    revokedAt: output(orNull(text).schema, "Time of revocation (ISO 8601)."),
  },
  endsByItself: true,
  memberNames: Object.keys(members),
  validate: (spec, open) => validate(spec, open),
  diff: changes,
  observe,
  create,
  async update(_engine, _id, { reason }, observed) {
    if (reason !== undefined && reason !== observed.reason)
      throw unprocessable(`reason of a revocation cannot be changed; it is ${observed.reason}`)
    return observed
  },
  // Revocations are permanent.
  delete: async () => undefined,
}

const validate = requestValidator<PkiRevocationSpec>(members, (known, unchecked) => {
  const isMeantKnown = !unchecked.has("serialNumber") && !unchecked.has("certificate")
  return [
    ...(isMeantKnown ? targetFaults(known) : []),
    ...faultsOfRule(members, () => parseReason(known.reason)),
    ...(known.privateKey === undefined || known.certificate === undefined ? [] : keyFaults(known)),
  ]
})

function targetFaults({ serialNumber, certificate }: Partial<PkiRevocationSpec>): readonly Fault[] {
  if (serialNumber === undefined && certificate === undefined)
    return [{ field: ["serialNumber"], detail: "serialNumber or certificate is required" }]
  if (serialNumber !== undefined && certificate !== undefined)
    return [{ field: ["certificate"], detail: "certificate excludes serialNumber; remove one of them" }]
  return faultsOfRule(members, () => revocationTarget(inputOf({ serialNumber, certificate })))
}

function keyFaults({ certificate, privateKey }: Partial<PkiRevocationSpec>): readonly Fault[] {
  try {
    const meant = revocationTarget({ certificate: certificate ?? "" })
    if (meant.certificate !== undefined) rejectOtherKey(privateKey, meant.certificate.subjectPublicKeyInfo)
    return []
  } catch (error) {
    // Faults of the certificate itself are reported by `targetFaults`.
    if (isEngineError(error, "invalid")) return error.faults.filter(({ field }) => field?.[0] === "privateKey")
    if (isEngineError(error, "unprocessable")) return [{ field: ["privateKey"], detail: error.message }]
    throw error
  }
}

const inputOf = ({ serialNumber, certificate, reason }: Partial<PkiRevocationSpec>): RevokeInput => ({
  ...(serialNumber === undefined ? {} : { serialNumber }),
  ...(certificate === undefined ? {} : { certificate }),
  ...(reason === undefined ? {} : { reason }),
})

function changes(spec: PkiRevocationSpec, observed: ObservedPkiRevocation): Changes {
  // The key only proves the right to revoke.
  const { privateKey: _key, certificate, ...others } = spec
  const serialNumber = certificate === undefined ? undefined : revocationTarget({ certificate }).serialNumber
  const changed = [
    ...diffMembers(members, others, observed).changed,
    ...(serialNumber === undefined || serialNumber === observed.serialNumber ? [] : ["certificate"]),
  ]
  return { changed, mustReplace: changed.filter((name) => name !== "reason") }
}

async function observe(
  engine: Engine,
  id: string,
  spec: Partial<PkiRevocationSpec>,
  { before }: Known<ObservedPkiRevocation>,
): Promise<ObservedPkiRevocation | undefined> {
  const { mount, serialNumber } = certificatePlaceOf(id)
  const pki = engine.pki(mount)
  try {
    const { revokedAt } = await pki.certificates.get(serialNumber)
    // A certificate that had expired before its revocation is never revoked.
    if (revokedAt === null) return before.revokedAt === null ? (before as ObservedPkiRevocation) : undefined
    const { certificate = null, reason = "unspecified" } = { ...before, ...spec }
    return { mount, serialNumber, certificate, reason, revokedAt: declaredInstant(revokedAt) }
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
    // The record of an expired certificate may have been tidied.
    return before.revokedAt !== undefined && (await isThere(pki)) ? (before as ObservedPkiRevocation) : undefined
  }
}

async function create(engine: Engine, spec: PkiRevocationSpec): Promise<Created<ObservedPkiRevocation>> {
  const wrong = validate({ ...spec })
  if (wrong.length > 0) throw invalid(wrong)
  const mount = mountPathOf(spec.mount)
  const { revocations } = engine.pki(mount)
  const { privateKey, certificate = null, reason = "unspecified" } = spec
  const input = inputOf(spec)
  // Revoking twice changes nothing, so a retry after a lost answer is safe.
  const { serialNumber, revokedAt } = await withDeclaredNames(members, () =>
    privateKey === undefined ? revocations.revoke(input) : revocations.revokeWithKey({ ...input, privateKey }),
  )
  return {
    id: `${mount}/${serialNumber}`,
    observed: {
      mount,
      serialNumber,
      certificate,
      reason,
      revokedAt: revokedAt === null ? null : declaredInstant(revokedAt),
    },
    adopted: false,
  }
}
