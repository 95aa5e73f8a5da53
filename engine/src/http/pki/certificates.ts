import { invalid } from "../../core/errors.ts"
import type { IssuedCertificate, IssuerChoice } from "../../pki/certificates/certificates.ts"
import { encodingOf } from "../../wire/pki/format.ts"
import {
  encodeIssued,
  encodeLease,
  type EncodeOptions,
  encodeSelfIssued,
  issueParameters,
  signParameters,
  signSelfIssuedParameters,
  signVerbatimParameters,
} from "../../wire/pki/issue.ts"
import { answer, param, type PkiRequest, type PkiResponse, type PkiRoute } from "../pki-route.ts"

/** Issuing and signing, in the form that leaves the issuer to the role or the mount and in the one that names it. */
export const certificateRoutes: readonly PkiRoute[] = [
  ...bothForms("/issue/:name", async (request, choice) => {
    const { format, privateKeyFormat, ...input } = request.decode(issueParameters)
    const issued = await request.pki.certificates.issue(
      param(request, "name"),
      { ...input, ...overMaximum(request) },
      choice,
    )
    return issuedAnswer(request, issued, { encoding: encodingOf({ format, privateKeyFormat }) })
  }),
  ...bothForms("/sign/:name", async (request, choice) => {
    const { format, privateKeyFormat, csr = "", ...input } = request.decode(signParameters)
    // Only existing clients leave it to the CSR (architecture 0.2).
    if (request.dialect === "specification" && (input.commonName ?? "") === "")
      throw invalid([{ field: ["commonName"], detail: "the common_name field is required" }])
    const issued = await request.pki.certificates.sign(
      param(request, "name"),
      { ...input, csr, ...overMaximum(request) },
      choice,
    )
    return issuedAnswer(request, issued, { encoding: encodingOf({ format, privateKeyFormat }) })
  }),
  ...["/sign-verbatim", "/sign-verbatim/:name"].flatMap((path) =>
    bothForms(path, async (request, choice) => {
      const { format, privateKeyFormat, csr = "", ...input } = request.decode(signVerbatimParameters)
      const issued = await request.pki.certificates.signVerbatim(
        request.params["name"],
        { ...input, csr, ...overMaximum(request) },
        choice,
      )
      return issuedAnswer(request, issued, {
        encoding: encodingOf({ format, privateKeyFormat }),
        withoutExpiration: true,
      })
    }),
  ),
  ...[
    { path: "/root/sign-self-issued", choiceOf: (): IssuerChoice => ({}) },
    { path: "/issuer/:issuer_ref/sign-self-issued", choiceOf: named },
  ].map(({ path, choiceOf }): PkiRoute => ({
    operation: "write",
    path,
    handle: async (request) => {
      const { certificate = "", ...input } = request.decode(signSelfIssuedParameters)
      const signed = await request.pki.certificates.signSelfIssued({ certificate, ...input }, choiceOf(request))
      return answer(encodeSelfIssued(signed))
    },
  })),
]

function bothForms(
  path: string,
  handle: (request: PkiRequest, choice: IssuerChoice) => Promise<PkiResponse>,
): readonly PkiRoute[] {
  return [
    { operation: "write", path, handle: (request) => handle(request, {}) },
    { operation: "write", path: `/issuer/:issuer_ref${path}`, handle: (request) => handle(request, named(request)) },
  ]
}

function named(request: PkiRequest): IssuerChoice {
  return { issuerRef: param(request, "issuer_ref") }
}

/** Existing clients expect a ttl above the maximum to be cut (architecture 0.2). */
const overMaximum = ({ dialect }: PkiRequest) => ({
  overMaximum: dialect === "vault" ? ("clamp" as const) : ("refuse" as const),
})

const issuedAnswer = (
  { dialect }: PkiRequest,
  issued: IssuedCertificate,
  options: Omit<EncodeOptions, "dialect">,
): PkiResponse =>
  answer(encodeIssued(issued, { ...options, dialect }), {
    warnings: issued.warnings,
    lease: encodeLease(issued, dialect),
  })
