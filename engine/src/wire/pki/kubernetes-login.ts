// Logins of Kubernetes service accounts, as in Vault (https://developer.hashicorp.com/vault/api-docs/auth/kubernetes).
import { type KubernetesConfig, type KubernetesConfigInput } from "../../pki/logins/kubernetes/kubernetes-config.ts"
import {
  type KubernetesRole,
  type KubernetesRoleInput,
  aliasNameSources,
} from "../../pki/logins/kubernetes/kubernetes-role.ts"
import {
  type Decoded,
  decodeAnswer,
  type Document,
  encodeMembers,
  flag,
  importMaximumBytes,
  parameters,
  text,
  texts,
  textUpTo,
  unsupported,
  type ValuesOf,
  word,
} from "./parameters.ts"
import { tokenTermsKinds, tokenTermsNames, unsupportedTerms } from "./token-terms.ts"

const noAnnotations = unsupported(flag, ": tokens have no entity alias")
const noSelector = unsupported(text, ': name the namespaces in "bound_service_account_namespaces"')

const sharedConfig = {
  kubernetesHost: text,
  kubernetesCaCert: textUpTo(importMaximumBytes),
  pemKeys: texts,
  issuer: text,
  disableIssValidation: flag,
  disableLocalCaJwt: flag,
}

export const kubernetesConfigParameters = parameters({
  ...sharedConfig,
  tokenReviewerJwt: text,
  useAnnotationsAsAliasMetadata: noAnnotations,
})

const configAnswer = parameters({ ...sharedConfig, tokenReviewerJwtSet: flag })

type Given<Table> = Omit<Decoded<ValuesOf<Table>>, "ignored">

export const decodeKubernetesConfigInput = ({
  useAnnotationsAsAliasMetadata: _,
  ...input
}: Partial<ValuesOf<typeof kubernetesConfigParameters>>): KubernetesConfigInput => input

export const encodeKubernetesConfig = (config: KubernetesConfig): Document => ({
  ...encodeMembers(configAnswer, config, "native"),
  use_annotations_as_alias_metadata: false,
})

export const decodeKubernetesConfig = (data: unknown): KubernetesConfig => decodeAnswer(configAnswer, data)

const binding = {
  boundServiceAccountNames: texts,
  boundServiceAccountNamespaces: texts,
  audience: text,
  aliasNameSource: word(...aliasNameSources),
}

/** Names that terms had before every method had them alike; the newer ones count where both are given. */
const older = {
  olderTtlMs: "ttl",
  olderMaxTtlMs: "max_ttl",
  olderPeriodMs: "period",
  olderPolicies: "policies",
  olderNumUses: "num_uses",
  olderBoundCidrs: "bound_cidrs",
} as const

export const kubernetesRoleParameters = parameters(
  {
    ...binding,
    boundServiceAccountNamespaceSelector: noSelector,
    ...tokenTermsKinds,
    ...unsupportedTerms,
    olderTtlMs: tokenTermsKinds.ttlMs,
    olderMaxTtlMs: tokenTermsKinds.maxTtlMs,
    olderPeriodMs: tokenTermsKinds.periodMs,
    olderPolicies: tokenTermsKinds.policies,
    olderNumUses: tokenTermsKinds.numUses,
    olderBoundCidrs: tokenTermsKinds.boundCidrs,
  },
  { ...tokenTermsNames, ...older },
)

/** For faults that rules find. */
export const kubernetesRoleNames = tokenTermsNames

/** With the faults of the document, which the rules report together with theirs. */
export function decodeKubernetesRoleInput({
  value,
  faults,
}: Given<typeof kubernetesRoleParameters>): KubernetesRoleInput {
  const {
    boundServiceAccountNamespaceSelector: _,
    olderTtlMs,
    olderMaxTtlMs,
    olderPeriodMs,
    olderPolicies,
    olderNumUses,
    olderBoundCidrs,
    aliasMetadata: _metadata,
    tokenStrictlyBindIp: _strict,
    ...named
  } = value
  return {
    ...(olderTtlMs === undefined ? {} : { ttlMs: olderTtlMs }),
    ...(olderMaxTtlMs === undefined ? {} : { maxTtlMs: olderMaxTtlMs }),
    ...(olderPeriodMs === undefined ? {} : { periodMs: olderPeriodMs }),
    ...(olderPolicies === undefined ? {} : { policies: olderPolicies }),
    ...(olderNumUses === undefined ? {} : { numUses: olderNumUses }),
    ...(olderBoundCidrs === undefined ? {} : { boundCidrs: olderBoundCidrs }),
    ...named,
    faults,
  }
}

const roleAnswer = parameters({ ...binding, ...tokenTermsKinds }, tokenTermsNames)

/** Of a request. */
export const encodeKubernetesRoleInput = ({ faults: _, ...input }: KubernetesRoleInput): Document =>
  encodeMembers(roleAnswer, input, "native")

export const encodeKubernetesRole = (role: KubernetesRole): Document => ({
  ...encodeMembers(roleAnswer, role, "native"),
  bound_service_account_namespace_selector: "",
})

export const decodeKubernetesRole = (data: unknown): KubernetesRole => decodeAnswer(roleAnswer, data)

export const kubernetesLoginParameters = parameters({ role: text, jwt: text })
