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
import { type PkiCalls, saying } from "./pki-calls.ts"
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
