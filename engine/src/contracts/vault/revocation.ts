// Revocation of certificates.
import { formatInstant, parseInstant, secondMs } from "../../core/time.ts"
import { maxListedKeys } from "../../pki/mounts/key-page.ts"
import type { RevokedCertificate, RevokeInput, RevokeWithKeyInput } from "../../pki/revocation/revocation.ts"
import type { DecodedEnvelope } from "./format/envelope.ts"
import { decodeAnswer, encodeMembers, unreadable } from "./format/parameters.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import { contract, dataOf, keyPage, keysUpTo } from "./endpoint.ts"
import { type Body, fields, parameter } from "./record.ts"
import { serialNumberIn } from "./stored-certificate.ts"
import { integer, text, texts } from "./types.ts"

const members = {
  serialNumber: parameter(text, "Serial number in hexadecimal, with colons or hyphens.", { example: "1f:2e:3d" }),
  certificate: parameter(text, "In place of serial_number: the certificate in PEM. It is stored."),
  reason: parameter(text, "Reason (RFC 5280, section 5.3.1) that is final.", {
    default: "unspecified",
    example: "keyCompromise",
  }),
  revocationReason: parameter(text, "The same as reason, which has precedence."),
}
export const revokeParameters = fields(members)
export const revokeWithKeyParameters = fields({
  ...members,
  privateKey: parameter(text, "Private key of the certificate in PEM. Required."),
})

const inputIn = <Rest extends object>({
  reason,
  revocationReason,
  ...input
}: Rest & { readonly reason?: string; readonly revocationReason?: string }) => {
  const given = reason ?? revocationReason
  return given === undefined ? input : { ...input, reason: given }
}
const revokeBody: Body<RevokeInput> = {
  table: revokeParameters,
  decode: (request) => inputIn(request.decode(revokeParameters)),
  encode: (input) => encodeMembers(revokeParameters, input, "native"),
}
const revokeWithKeyBody: Body<RevokeWithKeyInput> = {
  table: revokeWithKeyParameters,
  decode: (request) => inputIn(request.decode(revokeWithKeyParameters)),
  encode: (input) => encodeMembers(revokeWithKeyParameters, input, "native"),
}

const revokedTable = fields({
  revocationTime: parameter(integer, "Time of the first revocation in seconds since 1970."),
  revocationTimeRfc3339: parameter(text, "The same as RFC 3339.", { wireName: "revocation_time_rfc3339" }),
  serialNumber: parameter(text, "Serial number that is revoked."),
  state: parameter(text, "Always revoked."),
})
/** Answer to a revocation. Data is null for a certificate that has expired. */
const revoked = dataOf(
  revokedTable,
  ({ serialNumber, revokedAt, warnings }: RevokedCertificate) => {
    const revocationTime = Math.floor((revokedAt ?? 0) / secondMs)
    const times = { revocationTime, revocationTimeRfc3339: formatInstant(revokedAt ?? 0) }
    const data = encodeMembers(revokedTable, { ...times, serialNumber, state: "revoked" }, "native")
    return { data: revokedAt === null ? null : data, warnings }
  },
  (envelope: DecodedEnvelope): Omit<RevokedCertificate, "serialNumber"> & { readonly serialNumber?: SerialNumber } => {
    const { data, warnings } = envelope
    if (data === null) return { revokedAt: null, warnings }
    const { revocationTimeRfc3339, serialNumber } = decodeAnswer(revokedTable, data)
    const revokedAt = parseInstant(revocationTimeRfc3339)
    if (revokedAt === undefined) throw unreadable('"revocation_time_rfc3339" is not a timestamp')
    return { serialNumber: serialNumberIn(serialNumber), revokedAt, warnings }
  },
)

/** Unlike other lists, these are returned even if they are empty. */
const queueTable = fields({
  keys: parameter(texts, "Serial numbers. Always empty: servers of a cluster share a store."),
})
const queue = dataOf(
  queueTable,
  (keys: readonly SerialNumber[]) => ({ data: { keys, key_info: {} } }),
  ({ data }): readonly SerialNumber[] => decodeAnswer(queueTable, data).keys.map(serialNumberIn),
)

const listing = { operation: "list", rights: "list" } as const
export const revocations = contract({
  revoke: {
    operation: "write",
    path: "/revoke",
    summary: "Revokes a certificate. An expired one stays as it is, unless allow_expired_cert_revocation is set.",
    rights: "create or update",
    body: revokeBody,
    answers: revoked,
  },
  revokeWithKey: {
    operation: "write",
    path: "/revoke-with-key",
    summary: "Revokes a certificate for a caller who has its private key.",
    rights: "create or update",
    body: revokeWithKeyBody,
    answers: revoked,
  },
  list: {
    ...listing,
    path: "/certs/revoked",
    summary: "Lists serial numbers of revoked certificates, at most 100000 at once.",
    body: keyPage,
    answers: keysUpTo(maxListedKeys, serialNumberIn),
  },
  requested: {
    ...listing,
    path: "/certs/revocation-queue",
    summary: "Lists revocations that other clusters request: none.",
    answers: queue,
  },
  elsewhere: {
    ...listing,
    path: "/certs/unified-revoked",
    summary: "Lists revocations of other clusters: none.",
    answers: queue,
  },
})
