import type { ParameterTable } from "../../wire/pki/parameters.ts"
import type { IssuerChoice, ServedCertificate } from "../../pki/certificates/certificates.ts"
import { encodingOf } from "../../wire/pki/format.ts"
import {
  encodeIssued,
  encodeLease,
  type EncodeOptions,
  encodeSelfIssued,
  issueParameters,
  signIntermediateParameters,
  signParameters,
  signSelfIssuedParameters,
  signVerbatimParameters,
} from "../../wire/pki/issue.ts"
import { allowances } from "./allowances.ts"
import { answer, param, type PkiRequest, type PkiResponse, type PkiRoute } from "../pki-route.ts"

/** Issuing and signing, in the form that leaves the issuer to the role or the mount and in the one that names it. */
export const certificateRoutes: readonly PkiRoute[] = [
  ...bothForms("/issue/:name", issueParameters, async (request, choice) => {
    const { format, privateKeyFormat, ...input } = request.decode(issueParameters)
    const issued = await request.pki.certificates.issue(param(request, "name"), input, choice)
    return issuedAnswer(request, issued, { encoding: encodingOf({ format, privateKeyFormat }) })
  }),
  ...bothForms("/sign/:name", signParameters, async (request, choice) => {
    const { format, privateKeyFormat, csr = "", ...input } = request.decode(signParameters)
    const signed = { csr, ...input }
    const issued = await request.pki.certificates.sign(param(request, "name"), signed, choice, allowances(request))
    return issuedAnswer(request, issued, { encoding: encodingOf({ format, privateKeyFormat }) })
  }),
  ...["/sign-verbatim", "/sign-verbatim/:name"].flatMap((path) =>
    bothForms(path, signVerbatimParameters, async (request, choice) => {
      const { format, privateKeyFormat, csr = "", ...input } = request.decode(signVerbatimParameters)
      const issued = await request.pki.certificates.signVerbatim(request.params["name"], { csr, ...input }, choice)
      return issuedAnswer(request, issued, {
        encoding: encodingOf({ format, privateKeyFormat }),
        withoutExpiration: true,
      })
    }),
  ),
  ...defaultAndNamed("sign-intermediate", signIntermediateParameters, async (request, choice) => {
    const { format, privateKeyFormat, csr = "", ...input } = request.decode(signIntermediateParameters)
    const issued = await request.pki.certificates.signIntermediate({ csr, ...input }, choice, allowances(request))
    return issuedAnswer(request, issued, { encoding: encodingOf({ format, privateKeyFormat }) })
  }),
  ...defaultAndNamed("sign-self-issued", signSelfIssuedParameters, async (request, choice) => {
    const { certificate = "", ...input } = request.decode(signSelfIssuedParameters)
    return answer(encodeSelfIssued(await request.pki.certificates.signSelfIssued({ certificate, ...input }, choice)))
  }),
]

function bothForms(
  path: string,
  table: ParameterTable,
  handle: (request: PkiRequest, choice: IssuerChoice) => Promise<PkiResponse>,
): readonly PkiRoute[] {
  const parameters = [table]
  return [
    { operation: "write", signs: true, path, parameters, handle: (request) => handle(request, {}) },
    {
      operation: "write",
      signs: true,
      parameters,
      path: `/issuer/:issuer_ref${path}`,
      handle: (request) => handle(request, named(request)),
    },
  ]
}

/** By the mount's default issuer below `root`, and by any that is named. */
function defaultAndNamed(
  verb: string,
  table: ParameterTable,
  handle: (request: PkiRequest, choice: IssuerChoice) => Promise<PkiResponse>,
): readonly PkiRoute[] {
  const parameters = [table]
  return [
    { operation: "write", signs: true, path: `/root/${verb}`, parameters, handle: (request) => handle(request, {}) },
    {
      operation: "write",
      signs: true,
      parameters,
      path: `/issuer/:issuer_ref/${verb}`,
      handle: (request) => handle(request, named(request)),
    },
  ]
}

function named(request: PkiRequest): IssuerChoice {
  return { issuerRef: param(request, "issuer_ref") }
}

const issuedAnswer = (
  { dialect }: PkiRequest,
  issued: ServedCertificate,
  options: Omit<EncodeOptions, "dialect">,
): PkiResponse =>
  answer(encodeIssued(issued, { ...options, dialect }), {
    warnings: issued.warnings,
    lease: encodeLease(issued, dialect),
  })
