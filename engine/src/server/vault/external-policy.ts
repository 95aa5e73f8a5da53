import {
  externalPolicy,
  policyIssue,
  policySign,
  policySignIntermediate,
} from "../../contracts/vault/external-policy.ts"
import type { ArgumentsOf } from "../../contracts/vault/endpoint.ts"
import { implement } from "./implement.ts"
import type { PkiRequest } from "./vault-route.ts"

/** Certificates by decision of an external policy service. */
export const externalPolicyRoutes = [
  ...implement(externalPolicy, {
    get: ({ pki }: PkiRequest) => pki.externalPolicy.get(),
    configure: ({ pki }, input) => pki.externalPolicy.configure(input),
  }),
  ...implement<PkiRequest, typeof policyIssue>(policyIssue, everyForm(issue)),
  ...implement<PkiRequest, typeof policySign>(policySign, everyForm(sign)),
  ...implement<PkiRequest, typeof policySignIntermediate>(policySignIntermediate, everyForm(signIntermediate)),
]

function everyForm<Input, Issued>(handle: (request: PkiRequest, input: Input) => Promise<Issued>) {
  return {
    byMount: handle,
    byPolicy: (request: PkiRequest, _policy: string, input: Input) => handle(request, input),
    byIssuer: (request: PkiRequest, _issuer: string, input: Input) => handle(request, input),
    byIssuerAndPolicy: (request: PkiRequest, _issuer: string, _policy: string, input: Input) => handle(request, input),
  }
}

// Certificates of an external policy service have no lease.

async function issue(request: PkiRequest, given: ArgumentsOf<typeof policyIssue.byMount>[0]) {
  const { format, privateKeyFormat, ...input } = given
  const { lease: _, ...issued } = await request.pki.externalPolicy.issue({ ...input, ...commonOf(request) })
  return { ...issued, format, privateKeyFormat }
}

async function sign(request: PkiRequest, given: ArgumentsOf<typeof policySign.byMount>[0]) {
  const { format, privateKeyFormat, csr = "", ...input } = given
  const { lease: _, ...issued } = await request.pki.externalPolicy.sign({ ...input, csr, ...commonOf(request) })
  return { ...issued, format, privateKeyFormat }
}

async function signIntermediate(request: PkiRequest, given: ArgumentsOf<typeof policySignIntermediate.byMount>[0]) {
  const { format, csr = "", privateKeyFormat: _, ...input } = given
  const asked = { ...input, csr, ...commonOf(request) }
  const { lease: __, ...issued } = await request.pki.externalPolicy.signIntermediate(asked)
  return { ...issued, format }
}

function commonOf(request: PkiRequest) {
  const { policy, issuer_ref: issuerRef } = request.params
  return {
    parameters: request.rawMembers(),
    ...(policy === undefined ? {} : { policy }),
    ...(issuerRef === undefined ? {} : { issuerRef }),
  }
}
