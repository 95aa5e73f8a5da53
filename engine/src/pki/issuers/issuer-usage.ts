// What an issuer may do, by its own certificate (RFC 5280, section 4.2.1.3).
import type { ExtensionValues } from "../../x509/extensions.ts"
import { type IssuerUsage, issuerUsages } from "./issuer.ts"

/** Why the certificate rules a usage out, as the end of a sentence. Without a key usage everything is allowed. */
export function usageProblem(usage: IssuerUsage, { keyUsage }: ExtensionValues): string | undefined {
  if (keyUsage === undefined) return undefined
  if (usage === "issuing-certificates" && !keyUsage.includes("keyCertSign"))
    return "has a key usage without CertSign, so it cannot issue certificates"
  if (usage === "crl-signing" && !keyUsage.includes("cRLSign"))
    return "has a key usage without CRLSign, so it cannot sign revocation lists"
  return undefined
}

export const certifiableUsages = (values: ExtensionValues): readonly IssuerUsage[] =>
  issuerUsages.filter((usage) => usageProblem(usage, values) === undefined)
