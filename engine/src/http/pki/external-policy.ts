import type { ParameterTable } from "../../wire/pki/parameters.ts"
import type { IssuedCertificate } from "../../pki/certificates/certificates.ts"
import {
  encodeExternalPolicy,
  externalPolicyParameters,
  externalPolicyWireNames,
  policyIssueParameters,
  policySignIntermediateParameters,
  policySignParameters,
} from "../../wire/pki/external-policy.ts"
import { type Encoding, encodingOf } from "../../wire/pki/format.ts"
import { encodeIssued } from "../../wire/pki/issue.ts"
import { answer, type PkiRequest, type PkiResponse, type PkiRoute } from "../pki-route.ts"

/** What is passed on to the service; it is shorter than any other body, because somebody else has to read it too. */
const bodyLimitBytes = 1024 * 1024

/** Certificates by decision of an external policy service. */
export const externalPolicyRoutes: readonly PkiRoute[] = [
  {
    operation: "read",
    path: "/config/external-policy",
    handle: async ({ pki, dialect }) => answer(encodeExternalPolicy(await pki.externalPolicy.get(), dialect)),
  },
  {
    operation: "write",
    path: "/config/external-policy",
    wireNames: externalPolicyWireNames,
    parameters: [externalPolicyParameters],
    handle: async (request) => {
      const view = await request.pki.externalPolicy.configure(request.decode(externalPolicyParameters))
      return answer(encodeExternalPolicy(view, request.dialect))
    },
  },
  ...everyForm("issue", policyIssueParameters, async (request) => {
    const { format, privateKeyFormat, ...input } = request.decode(policyIssueParameters)
    const issued = await request.pki.externalPolicy.issue({ ...input, ...commonOf(request) })
    return issuedAnswer(request, issued, encodingOf({ format, privateKeyFormat }))
  }),
  ...everyForm("sign", policySignParameters, async (request) => {
    const { format, privateKeyFormat, csr = "", ...input } = request.decode(policySignParameters)
    const issued = await request.pki.externalPolicy.sign({ ...input, csr, ...commonOf(request) })
    return issuedAnswer(request, issued, encodingOf({ format, privateKeyFormat }))
  }),
  ...everyForm("sign-intermediate", policySignIntermediateParameters, async (request) => {
    const { format, csr = "", privateKeyFormat: _, ...input } = request.decode(policySignIntermediateParameters)
    const issued = await request.pki.externalPolicy.signIntermediate({ ...input, csr, ...commonOf(request) })
    return issuedAnswer(request, issued, encodingOf({ format, privateKeyFormat: undefined }))
  }),
]

/** With and without a policy, by the mount's default issuer and by any that is named. */
function everyForm(
  verb: string,
  parameters: ParameterTable,
  handle: (request: PkiRequest) => Promise<PkiResponse>,
): readonly PkiRoute[] {
  const path = `/external-policy/${verb}`
  return [path, `${path}/:policy`, `/issuer/:issuer_ref${path}`, `/issuer/:issuer_ref${path}/:policy`].map((one) => ({
    operation: "write",
    path: one,
    bodyLimitBytes,
    parameters: [parameters],
    handle,
  }))
}

function commonOf(request: PkiRequest) {
  const { policy, issuer_ref: issuerRef } = request.params
  return {
    parameters: request.rawMembers(),
    ...(policy === undefined ? {} : { policy }),
    ...(issuerRef === undefined ? {} : { issuerRef }),
  }
}

/** Certificates of an external policy service have no lease. */
const issuedAnswer = ({ dialect }: PkiRequest, issued: IssuedCertificate, encoding: Encoding): PkiResponse =>
  answer(encodeIssued(issued, { encoding, dialect }), { warnings: issued.warnings })
