import type { ExternalPolicy, PolicyIssueRequest, PolicyRequest } from "../pki/external-policy/external-policy.ts"
import { issued } from "../contracts/vault/certificate.ts"
import { externalPolicy, policyIssue, policySign, policySignIntermediate } from "../contracts/vault/external-policy.ts"
import type { Body } from "../contracts/vault/record.ts"
import { namesOf, type PkiCalls, type RequestBody } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"
import { JsonText, path } from "./transport.ts"

export const remoteExternalPolicy = (calls: PkiCalls): ExternalPolicy => ({
  ...remote(externalPolicy, calls),
  issue: async (request) =>
    issued.decode(await calls.write(policyAddress("issue", request), passingOn(policyIssue.byMount.body, request))),
  sign: async (request) =>
    issued.decode(await calls.write(policyAddress("sign", request), passingOn(policySign.byMount.body, request))),
  signIntermediate: async (request) =>
    issued.decode(
      await calls.write(
        policyAddress("sign-intermediate", request),
        passingOn(policySignIntermediate.byMount.body, request),
      ),
    ),
})

function policyAddress(verb: string, { policy, issuerRef }: PolicyRequest): string {
  const below = `/external-policy/${verb}${policy === undefined ? "" : path`/${policy}`}`
  return issuerRef === undefined ? below : path`/issuer/${issuerRef}` + below
}

type Said = Omit<PolicyIssueRequest, "policy" | "issuerRef"> & { readonly csr?: string }

/** What the service is sent stands as it is; what the engine looks at itself goes before a parameter of its name. */
function passingOn<T>({ table, encode }: Body<T>, { parameters, ...request }: Said): RequestBody {
  const own = encode(request as T)
  const members = new Map([
    ...parameters,
    ...Object.entries(own).map(([name, value]) => [name, JSON.stringify(value)] as const),
    // Whatever the service is to make of it: here it is read as PEM.
    ...(parameters.has("format") ? [["format", '"pem"'] as const] : []),
  ])
  const text = Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")
  return { document: new JsonText(`{${text}}`), names: namesOf(table) }
}
