import type { ExternalPolicy, PolicyIssueRequest, PolicyRequest } from "../pki/external-policy/external-policy.ts"
import {
  decodeExternalPolicy,
  externalPolicyParameters,
  policyIssueParameters,
  policySignIntermediateParameters,
  policySignParameters,
} from "../wire/pki/external-policy.ts"
import { decodeIssued } from "../wire/pki/issue.ts"
import { encodeMembers, type Parameters } from "../wire/pki/parameters.ts"
import { namesOf, type PkiCalls, type Saying, saying } from "./pki-calls.ts"
import { JsonText, path } from "./transport.ts"

export const remoteExternalPolicy = (calls: PkiCalls): ExternalPolicy => ({
  get: async () => decodeExternalPolicy((await calls.read("/config/external-policy")).data),
  configure: async (input) =>
    decodeExternalPolicy((await calls.write("/config/external-policy", saying(externalPolicyParameters, input))).data),
  issue: async (request) =>
    decodeIssued(await calls.write(addressOf("issue", request), passingOn(policyIssueParameters, request))),
  sign: async (request) =>
    decodeIssued(await calls.write(addressOf("sign", request), passingOn(policySignParameters, request))),
  signIntermediate: async (request) =>
    decodeIssued(
      await calls.write(addressOf("sign-intermediate", request), passingOn(policySignIntermediateParameters, request)),
    ),
})

function addressOf(verb: string, { policy, issuerRef }: PolicyRequest): string {
  const below = `/external-policy/${verb}${policy === undefined ? "" : path`/${policy}`}`
  return issuerRef === undefined ? below : path`/issuer/${issuerRef}` + below
}

type Said = Omit<PolicyIssueRequest, "policy" | "issuerRef"> & { readonly csr?: string }

/** What the service is sent stands as it is; what the engine looks at itself goes before a parameter of its name. */
function passingOn<T extends Pick<Said, "removeRootsFromChain">>(
  table: Parameters<T>,
  { parameters, ...request }: Said,
): Saying {
  const own = encodeMembers(table, request as Partial<T>, "native")
  const members = new Map([
    ...parameters,
    ...Object.entries(own).map(([name, value]) => [name, JSON.stringify(value)] as const),
    // Whatever the service is to make of it: here it is read as PEM.
    ...(parameters.has("format") ? [["format", '"pem"'] as const] : []),
  ])
  const text = Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")
  return { document: new JsonText(`{${text}}`), names: namesOf(table) }
}
