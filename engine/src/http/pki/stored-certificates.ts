import {
  decodeCertificateImport,
  decodeInventoryQuery,
  encodeCertificateView,
  encodeChain,
  encodeDetails,
  encodeImportedCertificates,
  importCertificatesParameters,
  encodeInventory,
  encodeMetadata,
  encodeRevocationTime,
  inventoryFormatParameters,
  inventoryParameters,
} from "../../wire/pki/certificate.ts"
import { keyPageParameters } from "../../wire/pki/key-page.ts"
import { detailsMaximum } from "../../pki/certificates/certificate-details.ts"
import type { ServedIssuerCertificate } from "../../pki/issuers/issuers.ts"
import { keysMaximum } from "../../pki/key-page.ts"
import { writePem } from "../../x509/pem.ts"
import { answer, listed, listedUpTo, nothing, param, type PkiRequest, type PkiRoute, raw } from "../pki-route.ts"
import { type ConditionalResponse, data, rawBytes, unlessKnown } from "./conditional.ts"
import { csvAnswer, isCsv } from "./inventory.ts"
import { defaultIssuer, versionOfIssuer } from "./issuer-version.ts"

const derType = "application/pkix-cert"
const pemType = "application/pem-certificate-chain"

const pem = (chain: readonly Uint8Array[]): string => chain.map((der) => writePem("CERTIFICATE", der)).join("\n")

/** Stored certificates, readable without a token. The inventory and the metadata need one. */
export const storedCertificateRoutes: readonly PkiRoute[] = [
  authority("/ca", ({ certificate }) => rawBytes(certificate, derType)),
  authority("/ca/pem", ({ certificate }) => rawBytes(pem([certificate]), pemType)),
  authority("/ca_chain", ({ caChain }) => rawBytes(pem(caChain), derType)),
  authority("/cert/ca", ({ certificate, revokedAt }) =>
    data({ certificate: pem([certificate]), ...encodeRevocationTime(revokedAt) }),
  ),
  authority("/cert/ca_chain", ({ caChain, revokedAt }) =>
    data({ ...encodeChain(caChain), ...encodeRevocationTime(revokedAt) }),
  ),
  {
    operation: "read",
    path: "/cert/:serial",
    open: true,
    handle: async (request) => answer(encodeCertificateView(await found(request))),
  },
  {
    operation: "read",
    path: "/cert/:serial/raw",
    open: true,
    handle: async (request) => raw((await found(request)).certificate, derType),
  },
  {
    operation: "read",
    path: "/cert/:serial/raw/pem",
    open: true,
    handle: async (request) => raw(pem([(await found(request)).certificate]), pemType),
  },
  {
    operation: "write",
    path: "/certs/import",
    parameters: [importCertificatesParameters],
    handle: async (request) => {
      const texts = decodeCertificateImport(request.decode(importCertificatesParameters))
      return answer(encodeImportedCertificates(await request.pki.certificates.import(texts)))
    },
  },
  {
    operation: "list",
    path: "/certs",
    parameters: [keyPageParameters],
    handle: async (request) =>
      listedUpTo(keysMaximum, await request.pki.certificates.list(request.decode(keyPageParameters))),
  },
  {
    operation: "list",
    path: "/certs/detailed",
    parameters: [keyPageParameters],
    handle: async (request) => {
      const details = await request.pki.certificates.listDetails(request.decode(keyPageParameters))
      const keys = details.map(({ serialNumber }) => serialNumber)
      return listedUpTo(
        detailsMaximum,
        keys,
        Object.fromEntries(details.map((one) => [one.serialNumber, encodeDetails(one)])),
      )
    },
  },
  {
    operation: "list",
    path: "/certs/search",
    parameters: [inventoryParameters, inventoryFormatParameters],
    handle: async (request) => {
      const { query, page } = decodeInventoryQuery(request.decode(inventoryParameters))
      const { certificates } = request.pki
      if (isCsv(request)) {
        const mount = request.mount.path
        return csvAnswer(async (one) => {
          const { items, next } = await certificates.search(query, one)
          return { items: items.map((entry) => ({ ...entry, mount })), next }
        }, page)
      }
      const found = await certificates.search(query, page)
      return found.items.length === 0 ? listed([]) : answer(encodeInventory(found))
    },
  },
  {
    operation: "list",
    path: "/cert-metadata",
    parameters: [keyPageParameters],
    handle: async (request) =>
      listedUpTo(keysMaximum, await request.pki.certificates.listMetadata(request.decode(keyPageParameters))),
  },
  {
    operation: "read",
    path: "/cert-metadata/:serial",
    handle: async (request) =>
      answer(encodeMetadata(await request.pki.certificates.metadata(param(request, "serial")))),
  },
]

/** Of the default issuer; nothing where the mount has none. */
function authority(path: string, encode: (issuer: ServedIssuerCertificate) => ConditionalResponse): PkiRoute {
  return {
    operation: "read",
    path,
    open: true,
    handle: async (request) => {
      const issuer = await defaultIssuer(request)
      return issuer === undefined ? nothing() : unlessKnown(request, versionOfIssuer(issuer), encode(issuer))
    },
  }
}

const found = (request: PkiRequest) => request.pki.certificates.get(param(request, "serial"))
