import type { IssueOptions } from "../../pki/issuance/certificate-api.ts"
import type { PkiRequest } from "../vault/vault-route.ts"

/** Returns the rules that the vault dialect lifts (docs/dialects.md). */
export const allowances = ({ dialect }: PkiRequest): IssueOptions => ({
  isCommonNameOptional: dialect === "vault",
})
