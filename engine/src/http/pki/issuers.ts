import type {
  ImportEndpoint,
  IntermediateEndpoint,
  RootEndpoint,
  ServedIssuerCertificate,
} from "../../pki/issuers/issuers.ts"
import { invalid } from "../../core/errors.ts"
import { encodingOf } from "../../wire/pki/format.ts"
import {
  csrWarnings,
  decodeImport,
  decodeIssuerPatch,
  encodeImported,
  encodeIntermediate,
  encodeIssuer,
  encodeIssuerCertificate,
  encodeIssuerSummaries,
  encodeRoot,
  importParameters,
  importWireNames,
  intermediateParameters,
  issuerParameters,
  issuerWireNames,
  rootParameters,
} from "../../wire/pki/issuer.ts"
import { keyWireNames } from "../../wire/pki/key.ts"
import { writePem } from "../../x509/pem.ts"
import { keyPageParameters } from "../../wire/pki/key-page.ts"
import { answer, listed, nothing, param, type PkiRequest, type PkiRoute } from "../pki-route.ts"
import { type ConditionalResponse, data, rawBytes, unlessKnown } from "./conditional.ts"
import { versionOfIssuer } from "./issuer-version.ts"
import { keySource } from "./key-source.ts"

const reference = (request: PkiRequest): string => param(request, "issuer_ref")

/** The authorities of a mount (pki-facts 2.1 to 2.4). Their certificates are everybody's to read. */
export const issuerRoutes: readonly PkiRoute[] = [
  generatingRoot("root/generate"),
  generatingRoot("issuers/generate/root"),
  generatingRoot("root/rotate"),
  {
    operation: "delete",
    path: "/root",
    handle: async ({ pki }) => nothing(await pki.issuers.deleteAll()),
  },
  generatingIntermediate("intermediate/generate", "/:type"),
  generatingIntermediate("issuers/generate/intermediate", "/:type"),
  generatingIntermediate("intermediate/cross-sign", ""),
  importing("intermediate/set-signed"),
  importing("config/ca"),
  importing("issuers/import/bundle"),
  importing("issuers/import/cert"),
  {
    operation: "list",
    path: "/issuers",
    open: true,
    parameters: [keyPageParameters],
    async handle(request) {
      const issuers = await request.pki.issuers.list(request.decode(keyPageParameters))
      return listed(
        issuers.map(({ id }) => id),
        encodeIssuerSummaries(issuers),
      )
    },
  },
  {
    operation: "read",
    path: "/issuer/:issuer_ref",
    handle: async (request) => answer(encodeIssuer(await request.pki.issuers.get(reference(request)))),
  },
  {
    operation: "write",
    path: "/issuer/:issuer_ref",
    wireNames: issuerWireNames,
    parameters: [issuerParameters],
    async handle(request) {
      const saved = await request.pki.issuers.replace(reference(request), request.decode(issuerParameters))
      return answer(encodeIssuer(saved.issuer), { warnings: saved.warnings })
    },
  },
  {
    operation: "patch",
    path: "/issuer/:issuer_ref",
    wireNames: issuerWireNames,
    parameters: [issuerParameters],
    async handle(request) {
      const { faults, ...given } = request.read(issuerParameters)
      if (faults.length > 0) throw invalid(faults)
      const saved = await request.pki.issuers.update(reference(request), decodeIssuerPatch(given))
      return answer(encodeIssuer(saved.issuer), { warnings: saved.warnings })
    },
  },
  {
    operation: "delete",
    path: "/issuer/:issuer_ref",
    handle: async (request) => nothing(await request.pki.issuers.delete(reference(request))),
  },
  {
    operation: "write",
    path: "/issuer/:issuer_ref/revoke",
    async handle(request) {
      const { issuer, warnings } = await request.pki.issuers.revoke(reference(request))
      return answer(encodeIssuer(issuer), { warnings })
    },
  },
  publicly("json", (issuer) => data(encodeIssuerCertificate(issuer))),
  publicly("der", ({ certificate }) => rawBytes(certificate, "application/pkix-cert")),
  publicly("pem", ({ certificate }) =>
    rawBytes(writePem("CERTIFICATE", certificate), "application/pem-certificate-chain"),
  ),
]

function generatingRoot(endpoint: RootEndpoint): PkiRoute {
  return {
    operation: "write",
    path: `/${endpoint}/:type`,
    wireNames: keyWireNames,
    parameters: [rootParameters],
    async handle(request) {
      const { format, privateKeyFormat, ...input } = request.decode(rootParameters)
      const asked = { ...input, keySource: keySource(request) }
      const root = await request.pki.issuers.generateRoot(asked, endpoint)
      const encoding = encodingOf({ format, privateKeyFormat })
      return answer(encodeRoot(root, { encoding, dialect: request.dialect }), { warnings: root.warnings })
    },
  }
}

function generatingIntermediate(endpoint: IntermediateEndpoint, type: "" | "/:type"): PkiRoute {
  return {
    operation: "write",
    path: `/${endpoint}${type}`,
    wireNames: keyWireNames,
    parameters: [intermediateParameters],
    async handle(request) {
      const decoded = request.decode(intermediateParameters)
      const { format, privateKeyFormat, ...input } = decoded
      const asked = type === "" ? input : { ...input, keySource: keySource(request) }
      const made = await request.pki.issuers.generateIntermediate(asked, endpoint)
      const encoding = encodingOf({ format, privateKeyFormat })
      return answer(encodeIntermediate(made, { encoding, dialect: request.dialect }), {
        warnings: [...made.warnings, ...csrWarnings(decoded)],
      })
    },
  }
}

function importing(endpoint: ImportEndpoint): PkiRoute {
  return {
    operation: "write",
    path: `/${endpoint}`,
    wireNames: importWireNames(endpoint),
    parameters: [importParameters],
    async handle(request) {
      const imported = await request.pki.issuers.import(decodeImport(request.decode(importParameters)), endpoint)
      return answer(encodeImported(imported), { warnings: imported.warnings })
    },
  }
}

function publicly(
  form: "json" | "der" | "pem",
  encode: (issuer: ServedIssuerCertificate) => ConditionalResponse,
): PkiRoute {
  return {
    operation: "read",
    path: `/issuer/:issuer_ref/${form}`,
    open: true,
    async handle(request) {
      const issuer = await request.pki.issuers.certificate(reference(request))
      return unlessKnown(request, versionOfIssuer(issuer), encode(issuer))
    },
  }
}
