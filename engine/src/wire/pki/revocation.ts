// Revocation: requests and answers.
import { formatInstant, secondMs } from "../../core/time.ts"
import { meantBy } from "../../pki/revoke/revocable.ts"
import type { RevokedCertificate, RevokeInput, RevokeWithKeyInput } from "../../pki/revoke/revocations.ts"
import { parseSerialNumber } from "../../x509/serial-number.ts"
import type { DecodedEnvelope } from "./envelope.ts"
import { decodeAnswer, type Document, isDocument, parameters, text, unreadable, type ValuesOf } from "./parameters.ts"

/** `revocation_reason` is what others call it. */
export const revokeParameters = parameters({
  serialNumber: text,
  certificate: text,
  reason: text,
  revocationReason: text,
})

export const revokeWithKeyParameters = parameters({
  serialNumber: text,
  certificate: text,
  reason: text,
  revocationReason: text,
  privateKey: text,
})

export const decodeRevokeInput = (
  given: Partial<ValuesOf<typeof revokeWithKeyParameters>>,
): RevokeInput & RevokeWithKeyInput => {
  const { reason, revocationReason, ...input } = given
  const said = reason ?? revocationReason
  return said === undefined ? input : { ...input, reason: said }
}

/** The serial number is an addition of ours: whoever sent a certificate learns under which it is listed. */
export const encodeRevoked = ({ serialNumber, revokedAt }: RevokedCertificate): Document | null =>
  revokedAt === null
    ? null
    : {
        revocation_time: Math.floor(revokedAt / secondMs),
        revocation_time_rfc3339: formatInstant(revokedAt),
        serial_number: serialNumber,
        state: "revoked",
      }

const revokedParameters = parameters(
  { revocationTimeRfc3339: text, serialNumber: text },
  {
    revocationTimeRfc3339: "revocation_time_rfc3339",
  },
)

/** Data is null for a certificate that has expired; the input says which that is. */
export function decodeRevoked(
  { data, warnings }: Pick<DecodedEnvelope, "data" | "warnings">,
  input: RevokeInput,
): RevokedCertificate {
  if (data === null) return { serialNumber: meantBy(input).serialNumber, revokedAt: null, warnings }
  if (!isDocument(data)) throw unreadable("there is no data")
  const { revocationTimeRfc3339, ...rest } = decodeAnswer(revokedParameters, data)
  const serialNumber = parseSerialNumber(rest.serialNumber)
  const revokedAt = Date.parse(revocationTimeRfc3339)
  if (serialNumber === undefined || Number.isNaN(revokedAt)) throw unreadable('"serial_number" or the time is wrong')
  return { serialNumber, revokedAt, warnings }
}
