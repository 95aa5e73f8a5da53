import type { Certificates, IssuerChoice } from "../pki/certificates/certificates.ts"
import {
  decodeIssued,
  decodeSelfIssued,
  issueParameters,
  signIntermediateParameters,
  signParameters,
  signSelfIssuedParameters,
  signVerbatimParameters,
} from "../wire/pki/issue.ts"
import { isEngineError, notFoundDetail } from "../core/errors.ts"
import {
  decodeCertificateView,
  decodeChain,
  decodeDetails,
  decodeImportedCertificates,
  importCertificatesParameters,
  decodeInventory,
  decodeMetadata,
  decodeSerialNumber,
  inventoryParameters,
} from "../wire/pki/certificate.ts"
import { pageQuery, type PkiCalls, queryOf, saying } from "./pki-calls.ts"
import { path } from "./transport.ts"

export const remoteCertificates = (calls: PkiCalls): Certificates => ({
  issue: async (role, input, choice) =>
    decodeIssued(await calls.write(below(choice, path`/issue/${role}`), saying(issueParameters, input))),
  sign: async (role, input, choice) =>
    decodeIssued(await calls.write(below(choice, path`/sign/${role}`), saying(signParameters, input))),
  async signVerbatim(role, input, choice) {
    const address = role === undefined ? "/sign-verbatim" : path`/sign-verbatim/${role}`
    return decodeIssued(await calls.write(below(choice, address), saying(signVerbatimParameters, input)))
  },
  import: async (certificates) =>
    decodeImportedCertificates(
      (await calls.write("/certs/import", saying(importCertificatesParameters, { certificates }))).data,
    ),
  async get(serialNumber) {
    const { data } = await calls.read(path`/cert/${serialNumber}`)
    return decodeCertificateView(decodeSerialNumber(serialNumber), data)
  },
  async caChain() {
    const { data } = await calls.read("/cert/ca_chain")
    return data === null ? [] : decodeChain(data)
  },
  list: async (page) => (await calls.list("/certs", pageQuery(page))).keys.map(decodeSerialNumber),
  async listDetails(page) {
    const { keys, keyInfo } = await calls.list("/certs/detailed", pageQuery(page))
    return decodeDetails(keys, keyInfo)
  },
  listMetadata: async (page) => (await calls.list("/cert-metadata", pageQuery(page))).keys.map(decodeSerialNumber),
  async search(query, page = {}) {
    try {
      const asked = queryOf(saying(inventoryParameters, { ...query, ...page }))
      asked.set("list", "true")
      return decodeInventory((await calls.read("/certs/search", asked)).data)
    } catch (error) {
      if (isEngineError(error, "not-found") && error.message === notFoundDetail) return { items: [], next: undefined }
      throw error
    }
  },
  metadata: async (serialNumber) => decodeMetadata((await calls.read(path`/cert-metadata/${serialNumber}`)).data),
  async signIntermediate(input, choice) {
    const said = saying(signIntermediateParameters, input)
    return decodeIssued(await calls.write(byDefaultOrNamed(choice, "sign-intermediate"), said))
  },
  async signSelfIssued(input, choice) {
    const said = saying(signSelfIssuedParameters, input)
    return decodeSelfIssued((await calls.write(byDefaultOrNamed(choice, "sign-self-issued"), said)).data)
  },
})

const below = ({ issuerRef }: IssuerChoice = {}, address: string): string =>
  issuerRef === undefined ? address : path`/issuer/${issuerRef}` + address

const byDefaultOrNamed = (choice: IssuerChoice = {}, verb: string): string =>
  choice.issuerRef === undefined ? `/root/${verb}` : below(choice, `/${verb}`)
