import { formatShard } from "../pki/crl/shard.ts"
import type { CrlChoice, Crls } from "../pki/crl/crls.ts"
import type { Revocations } from "../pki/revoke/revocations.ts"
import { parseCertificateList } from "../x509/certificate-list.ts"
import { parseSerialNumber } from "../x509/serial-number.ts"
import {
  crlSettingsParameters,
  decodeCrlSettings,
  decodeImportedCrl,
  importCrlParameters,
} from "../wire/pki/crl-settings.ts"
import {
  decodeSignedList,
  encodeRevocationListInput,
  resignParameters,
  revocationListParameters,
} from "../wire/pki/signed-list.ts"
import { unreadable } from "../wire/pki/parameters.ts"
import { decodeRevoked, revokeParameters, revokeWithKeyParameters } from "../wire/pki/revocation.ts"
import { pageQuery, type PkiCalls, saying } from "./pki-calls.ts"
import { path } from "./transport.ts"

export const remoteRevocations = (calls: PkiCalls): Revocations => ({
  revoke: async (input) => decodeRevoked(await calls.write("/revoke", saying(revokeParameters, input)), input),
  revokeWithKey: async (input) =>
    decodeRevoked(await calls.write("/revoke-with-key", saying(revokeWithKeyParameters, input)), input),
  list: async (page) =>
    (await calls.list("/certs/revoked", pageQuery(page))).keys.map((key) => parseSerialNumber(key) ?? wrong()),
  requested: async () =>
    (await calls.list("/certs/revocation-queue")).keys.map((key) => parseSerialNumber(key) ?? wrong()),
  elsewhere: async () =>
    (await calls.list("/certs/unified-revoked")).keys.map((key) => parseSerialNumber(key) ?? wrong()),
})

function wrong(): never {
  throw unreadable("it lists what is no serial number")
}

export const remoteCrls = (calls: PkiCalls): Crls => ({
  async get(choice = {}) {
    const der = await calls.download(addressOf(choice))
    if (der.length === 0) return undefined
    const { number, thisUpdate, nextUpdate } = parseCertificateList(der)
    if (number === undefined || nextUpdate === undefined) throw unreadable("its revocation list has no number")
    return { der, number, thisUpdate, nextUpdate }
  },
  rotate: async () => void (await calls.read("/crl/rotate")),
  rotateDelta: async () => void (await calls.read("/crl/rotate-delta")),
  settings: async () => decodeCrlSettings((await calls.read("/config/crl")).data),
  configure: async (patch) =>
    decodeCrlSettings((await calls.write("/config/crl", saying(crlSettingsParameters, patch))).data),
  import: async (issuerRef, crl) =>
    decodeImportedCrl(await calls.write(path`/issuer/${issuerRef}/crl/import`, saying(importCrlParameters, { crl }))),
  async resign(issuerRef, input) {
    const { data, warnings } = await calls.write(
      path`/issuer/${issuerRef}/resign-crls`,
      saying(resignParameters, input),
    )
    return { der: decodeSignedList(data), warnings }
  },
  async signRevocationList(issuerRef, input) {
    const said = saying(revocationListParameters, encodeRevocationListInput(input))
    const { data, warnings } = await calls.write(path`/issuer/${issuerRef}/sign-revocation-list`, said)
    return { der: decodeSignedList(data), warnings }
  },
})

function addressOf({ issuerRef, delta = false, shard }: CrlChoice): string {
  const base = issuerRef === undefined ? "/crl" : path`/issuer/${issuerRef}/crl`
  return `${base}${delta ? "/delta" : ""}${shard === undefined ? "" : `/shard/${formatShard(shard)}`}`
}
