import { certificates } from "../../contracts/vault/certificate.ts"
import type { ArgumentsOf } from "../../contracts/vault/endpoint.ts"
import type { IssuerChoice } from "../../pki/certificates/certificates.ts"
import { implement } from "../implement-vault.ts"
import type { PkiRequest } from "../pki-route.ts"
import { allowances } from "./allowances.ts"

type Issue = ArgumentsOf<typeof certificates.issue>[1]
type Sign = ArgumentsOf<typeof certificates.sign>[1]
type SignVerbatim = ArgumentsOf<typeof certificates.signVerbatim>[0]
type SignIntermediate = ArgumentsOf<typeof certificates.signIntermediate>[0]
type SignSelfIssued = ArgumentsOf<typeof certificates.signSelfIssued>[0]

/** Issuing and signing, by the issuer of the role or the mount, and by the one of the path. */
export const certificateRoutes = implement(certificates, {
  issue: (request: PkiRequest, name, input) => issue(request, name, input, {}),
  issueBy: (request, issuerRef, name, input) => issue(request, name, input, { issuerRef }),
  sign: (request, name, input) => sign(request, name, input, {}),
  signBy: (request, issuerRef, name, input) => sign(request, name, input, { issuerRef }),
  signVerbatim: (request, input) => signVerbatim(request, undefined, input, {}),
  signVerbatimBy: (request, issuerRef, input) => signVerbatim(request, undefined, input, { issuerRef }),
  signVerbatimAs: (request, name, input) => signVerbatim(request, name, input, {}),
  signVerbatimAsBy: (request, issuerRef, name, input) => signVerbatim(request, name, input, { issuerRef }),
  signIntermediate: (request, input) => signIntermediate(request, input, {}),
  signIntermediateBy: (request, issuerRef, input) => signIntermediate(request, input, { issuerRef }),
  signSelfIssued: (request, input) => signSelfIssued(request, input, {}),
  signSelfIssuedBy: (request, issuerRef, input) => signSelfIssued(request, input, { issuerRef }),
})

async function issue({ pki }: PkiRequest, name: string, given: Issue, choice: IssuerChoice) {
  const { format, privateKeyFormat, ...input } = given
  return { ...(await pki.certificates.issue(name, input, choice)), format, privateKeyFormat }
}

async function sign(request: PkiRequest, name: string, given: Sign, choice: IssuerChoice) {
  const { format, privateKeyFormat, csr = "", ...input } = given
  const signed = await request.pki.certificates.sign(name, { csr, ...input }, choice, allowances(request))
  return { ...signed, format, privateKeyFormat }
}

async function signVerbatim({ pki }: PkiRequest, name: string | undefined, given: SignVerbatim, choice: IssuerChoice) {
  const { format, privateKeyFormat, csr = "", ...input } = given
  return { ...(await pki.certificates.signVerbatim(name, { csr, ...input }, choice)), format, privateKeyFormat }
}

async function signIntermediate(request: PkiRequest, given: SignIntermediate, choice: IssuerChoice) {
  const { format, privateKeyFormat, csr = "", ...input } = given
  const signed = await request.pki.certificates.signIntermediate({ csr, ...input }, choice, allowances(request))
  return { ...signed, format, privateKeyFormat }
}

const signSelfIssued = ({ pki }: PkiRequest, { certificate = "", ...input }: SignSelfIssued, choice: IssuerChoice) =>
  pki.certificates.signSelfIssued({ certificate, ...input }, choice)
