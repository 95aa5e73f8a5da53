import { type Fault, invalid, isEngineError, unprocessable } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import { mountPathOf } from "../pki/mount.ts"
import { meantBy, reasonGiven, refuseOtherKey } from "../pki/revoke/revocable.ts"
import type { RevokeInput } from "../pki/revoke/revocations.ts"
import { parseSerialNumber } from "../x509/serial-number.ts"
import { declaredRefusals, refusedBy, requestFaults } from "./certificate-members.ts"
import type { Changes, Created, Known, DeclaredResource, Values } from "./declared-resource.ts"
import { certificatePlaceOf, isThere } from "./pki-issuance.ts"
import { declaredInstant, sameMountPath } from "./pki-words.ts"
import { differing, sameJson, type SameValue } from "./same-value.ts"
import * as shapes from "./spec-shape.ts"

const shape = shapes.members({
  mount: shapes.text(),
  serialNumber: shapes.text().filled().optional(),
  certificate: shapes.text().filled().optional(),
  reason: shapes.text().filled().optional(),
  privateKey: shapes.text().filled().optional(),
})

/**
 * Revocation of a certificate. It cannot be undone. `privateKey`, the certificate's own key, is for callers without another right to
 * revoke it.
 */
export type PkiRevocationSpec = Readonly<shapes.Of<typeof shape>>

export interface ObservedPkiRevocation {
  readonly mount: string
  /** Hex octets joined by ":". */
  readonly serialNumber: string
  /** As it was given; null: it was not. */
  readonly certificate: string | null
  /** As it was given. */
  readonly reason: string
  /** ISO 8601; null: the certificate had expired and was not revoked. */
  readonly revokedAt: string | null
}

/** Its id is `MOUNT/SERIAL`. */
export const pkiRevocationResource: DeclaredResource<PkiRevocationSpec, ObservedPkiRevocation> = {
  memberNames: Object.keys(shape.members),
  validate: faults,
  diff: changes,
  observe,
  create,
  async update(_engine, _id, { reason }, observed) {
    if (reason !== undefined && reason !== observed.reason)
      throw unprocessable(`the reason of a revocation stays what it was: ${observed.reason}`)
    return observed
  },
  // What is revoked is that for ever.
  delete: async () => undefined,
}

function faults(spec: Values, open: ReadonlySet<string> = new Set()): readonly Fault[] {
  return requestFaults<PkiRevocationSpec>(shape, spec, open, (known, unsaid) => {
    const isMeantKnown = !unsaid.has("serialNumber") && !unsaid.has("certificate")
    return [
      ...(isMeantKnown ? targetFaults(known) : []),
      ...refusedBy(shape, () => reasonGiven(known.reason)),
      ...(known.privateKey === undefined || known.certificate === undefined ? [] : keyFaults(known)),
    ]
  })
}

function targetFaults({ serialNumber, certificate }: Partial<PkiRevocationSpec>): readonly Fault[] {
  if (serialNumber === undefined && certificate === undefined)
    return [{ field: ["serialNumber"], detail: "serialNumber or certificate is required" }]
  if (serialNumber !== undefined && certificate !== undefined)
    return [{ field: ["certificate"], detail: "certificate must be left out where serialNumber says which is meant" }]
  return refusedBy(shape, () => meantBy(inputOf({ serialNumber, certificate })))
}

function keyFaults({ certificate, privateKey }: Partial<PkiRevocationSpec>): readonly Fault[] {
  try {
    const meant = meantBy({ certificate: certificate ?? "" })
    if (meant.certificate !== undefined) refuseOtherKey(privateKey, meant.certificate.subjectPublicKeyInfo)
    return []
  } catch (error) {
    // What is wrong with the certificate is said at the certificate.
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

const sameSerial: SameValue = (a, b) => sameJson(a, b) || serialOf(a) === serialOf(b)
const serialOf = (value: unknown) => (typeof value === "string" ? parseSerialNumber(value) : undefined)

function changes(spec: PkiRevocationSpec, observed: ObservedPkiRevocation): Changes {
  // The key proves the right to revoke, and says nothing about what is revoked.
  const { privateKey: _key, certificate, ...others } = spec
  const serialNumber = certificate === undefined ? undefined : meantBy({ certificate }).serialNumber
  const changed = [
    ...differing<object>(others, observed, { mount: sameMountPath, serialNumber: sameSerial }),
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
    // One that had expired when it was to be revoked stays as it is.
    if (revokedAt === null) return before.revokedAt === null ? (before as ObservedPkiRevocation) : undefined
    const { certificate = null, reason = "unspecified" } = { ...before, ...spec }
    return { mount, serialNumber, certificate, reason, revokedAt: declaredInstant(revokedAt) }
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
    // The record of a certificate that has expired may be gone.
    return before.revokedAt !== undefined && (await isThere(pki)) ? (before as ObservedPkiRevocation) : undefined
  }
}

async function create(engine: Engine, spec: PkiRevocationSpec): Promise<Created<ObservedPkiRevocation>> {
  const wrong = faults({ ...spec })
  if (wrong.length > 0) throw invalid(wrong)
  const mount = mountPathOf(spec.mount)
  const { revocations } = engine.pki(mount)
  const { privateKey, certificate = null, reason = "unspecified" } = spec
  const input = inputOf(spec)
  // Repeating it changes nothing, so that a lost answer does no harm.
  const { serialNumber, revokedAt } = await declaredRefusals(shape, () =>
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
