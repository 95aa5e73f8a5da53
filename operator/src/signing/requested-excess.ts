// Compares what a request asks for with what its role gives. The engine decides whether names are allowed; it would shorten a validity, and
// ignore usages, and names that the role does not take from requests.
import { type Role, usagesOfRole } from "@chancery/engine"
import { type GrantedUsages, usagesBeyond } from "./requested-usages.ts"

const secondMs = 1_000

export interface Requested {
  readonly isCa: boolean
  /** Undefined: the default of the role. */
  readonly durationMs: number | undefined
  readonly usages: readonly string[]
  /** True if the CSR has names of these kinds. */
  readonly hasCommonName: boolean
  readonly hasAlternativeNames: boolean
}

/** Returns a text for each member that asks for more than the role gives. */
export function excessOf(requested: Requested, role: Role): readonly string[] {
  const { isCa, durationMs, usages, hasCommonName, hasAlternativeNames } = requested
  const { maxTtlMs, useCsrCommonName, useCsrSans } = role
  const beyond = usagesBeyond(usages, grantedBy(role))
  return [
    ...(isCa ? ["isCA: a role issues no certificates of authorities"] : []),
    ...(durationMs !== undefined && maxTtlMs > 0 && durationMs > maxTtlMs
      ? [`duration: ${durationMs / secondMs}s is longer than the role's maximum of ${maxTtlMs / secondMs}s`]
      : []),
    ...(beyond.length === 0 ? [] : [`usages: the role does not give ${beyond.join(", ")}`]),
    ...(hasCommonName && !useCsrCommonName ? ["common name: the role takes none from a CSR"] : []),
    ...(hasAlternativeNames && !useCsrSans ? ["alternative names: the role takes none from a CSR"] : []),
  ]
}

/**
 * A role omits usages that a key cannot have, such as key encipherment for an ECDSA key. Clients ask for them nevertheless, for example
 * cert-manager by default, so they count as given.
 */
function grantedBy(role: Role): GrantedUsages {
  const all = (["rsa", "ec", "ed25519"] as const).map((keyType) => usagesOfRole(role, keyType))
  return {
    keyUsages: all.flatMap(({ keyUsages }) => keyUsages),
    extendedKeyUsages: all.flatMap(({ extendedKeyUsages }) => extendedKeyUsages),
  }
}
