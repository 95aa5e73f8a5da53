import { writePem } from "../../x509/pem.ts"
import { derived } from "../../core/derived.ts"
import { notFound } from "../../core/errors.ts"
import { importedListMaximumBytes } from "../../pki/crl/imported-list.ts"
import { parseShard } from "../../pki/crl/shard.ts"
import type { Crl, CrlChoice } from "../../pki/crl/crls.ts"
import {
  crlSettingsParameters,
  encodeCrlSettings,
  encodeImportedCrl,
  importCrlParameters,
} from "../../wire/pki/crl-settings.ts"
import {
  decodeResignInput,
  decodeRevocationListInput,
  encodeSignedList,
  resignParameters,
  revocationListParameters,
} from "../../wire/pki/signed-list.ts"
import { answer, nothing, param, type PkiRequest, type PkiResponse, type PkiRoute } from "../pki-route.ts"
import { type ConditionalResponse, data, rawBytes, unlessKnown } from "./conditional.ts"
import { defaultIssuer } from "./issuer-version.ts"

type Form = "der" | "pem" | "json" | "listed"
/** DER, but for existing clients, which look for the list of an issuer in an envelope. */
type AddressForm = Form | "dialect"

/** Line ends of PEM take two octets in JSON. */
const importBodyLimitBytes = importedListMaximumBytes + 256 * 1_024

/** Revocation lists, readable without a token, and their settings. */
export const crlRoutes: readonly PkiRoute[] = [
  ...files("/crl", {}),
  ...files("/issuer/:issuer_ref/crl", {}),
  // Of all clusters together: there is one.
  ...["/unified-crl", "/issuer/:issuer_ref/unified-crl"].flatMap((path) => files(path, {})),
  read("/cert/unified-crl", {}, "json"),
  read("/cert/unified-delta-crl", { delta: true }, "json"),
  read("/cert/crl", {}, "json"),
  read("/cert/delta-crl", { delta: true }, "json"),
  {
    operation: "read",
    path: "/crl/rotate",
    handle: async ({ pki }) => {
      await pki.crls.rotate()
      return answer({ success: true })
    },
  },
  {
    operation: "read",
    path: "/crl/rotate-delta",
    handle: async ({ pki }) => {
      await pki.crls.rotateDelta()
      return answer({ success: true })
    },
  },
  {
    operation: "read",
    path: "/config/crl",
    handle: async ({ pki, dialect }) => answer(encodeCrlSettings(await pki.crls.settings(), dialect)),
  },
  {
    operation: "write",
    path: "/issuer/:issuer_ref/resign-crls",
    parameters: [resignParameters],
    handle: async (request) => {
      const { format, ...given } = request.decode(resignParameters)
      const signed = await request.pki.crls.resign(issuerRef(request), decodeResignInput(given))
      return answer(encodeSignedList(signed, format), { warnings: signed.warnings })
    },
  },
  {
    operation: "write",
    path: "/issuer/:issuer_ref/sign-revocation-list",
    parameters: [revocationListParameters],
    handle: async (request) => {
      const { format, ...given } = request.decode(revocationListParameters)
      const signed = await request.pki.crls.signRevocationList(issuerRef(request), decodeRevocationListInput(given))
      return answer(encodeSignedList(signed, format), { warnings: signed.warnings })
    },
  },
  {
    operation: "write",
    path: "/issuer/:issuer_ref/crl/import",
    bodyLimitBytes: importBodyLimitBytes,
    parameters: [importCrlParameters],
    handle: async (request) => {
      const { crl = "" } = request.decode(importCrlParameters)
      const imported = await request.pki.crls.import(issuerRef(request), crl)
      return answer(encodeImportedCrl(imported), { warnings: imported.warnings })
    },
  },
  {
    operation: "write",
    path: "/config/crl",
    parameters: [crlSettingsParameters],
    handle: async (request) =>
      answer(
        encodeCrlSettings(await request.pki.crls.configure(request.decode(crlSettingsParameters)), request.dialect),
      ),
  },
]

const issuerRef = (request: PkiRequest): string => param(request, "issuer_ref")

/** A list below one address in all its forms: complete and delta, whole and in parts. */
function files(path: string, choice: CrlChoice): readonly PkiRoute[] {
  return [path, `${path}/shard/:shard`].flatMap((complete) => {
    const delta = complete.replace(path, `${path}/delta`)
    return [
      ...[complete, delta].flatMap((address) => {
        const chosen = { ...choice, delta: address === delta }
        const ofIssuer = path.startsWith("/issuer/")
        return [
          read(address, chosen, ofIssuer ? "dialect" : "der"),
          read(`${address}/pem`, chosen, "pem"),
          ...(ofIssuer ? [read(`${address}/der`, chosen, "der")] : []),
        ]
      }),
    ]
  })
}

function read(path: string, choice: CrlChoice, form: AddressForm): PkiRoute {
  return { operation: "read", path, open: true, handle: (request) => served(request, choice, form) }
}

async function served(request: PkiRequest, choice: CrlChoice, addressForm: AddressForm): Promise<PkiResponse> {
  const { issuer_ref: issuerRef, shard } = request.params
  const byDialect = addressForm === "dialect"
  const form = !byDialect ? addressForm : request.dialect === "vault" ? "listed" : "der"
  // Before the list itself: should both change in between, whoever asks again is given a list that it has, and no older one.
  const issuer =
    issuerRef === undefined ? await defaultIssuer(request) : await request.pki.issuers.certificate(issuerRef)
  const crl = await request.pki.crls.get({
    ...choice,
    ...(issuerRef === undefined ? {} : { issuerRef }),
    ...(shard === undefined ? {} : { shard: parseShard(shard) ?? unknownShard() }),
  })
  if (crl === undefined || issuer === undefined) return nothing()
  // Another issuer may stand behind the same address, whose list is older.
  const modifiedAt = Math.max(crl.thisUpdate, issuer.changedAt)
  const version = { tag: tagOf(crl, form), modifiedAt }
  return unlessKnown(request, version, encodings[form](crl.der), byDialect ? { byDialect } : {})
}

const encodings: Readonly<Record<Form, (der: Uint8Array) => ConditionalResponse>> = {
  der: (der) => rawBytes(der, "application/pkix-crl"),
  pem: (der) => rawBytes(pemOf(der), "application/x-pem-file"),
  json: (der) => data({ certificate: pemText(der), revocation_time: 0, revocation_time_rfc3339: "" }),
  listed: (der) => data({ crl: pemText(der) }),
}

const pemText = (der: Uint8Array): string => Buffer.from(pemOf(der)).toString("latin1")

const signatureEndOctets = 12

/** A list may be long, and ends in its signature, which is that of no other. */
const tagOf = ({ der, number }: Crl, form: Form): string =>
  `${number}-${Buffer.from(der.subarray(-signatureEndOctets)).toString("base64url")}-${form}`

/** Once for as long as a list is held: of a million entries it takes a fifth of a second, and anybody may ask for it. */
const pemOf = derived((der: Uint8Array): Uint8Array => Buffer.from(writePem("X509 CRL", der)))

function unknownShard(): never {
  throw notFound()
}
