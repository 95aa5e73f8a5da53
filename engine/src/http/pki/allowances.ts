import type { IssueOptions } from "../../pki/certificates/certificates.ts"
import type { PkiRequest } from "../pki-route.ts"

/** Returns the rules that the vault dialect lifts (docs/dialects.md). */
export const allowances = ({ dialect }: PkiRequest): IssueOptions => ({
  isCommonNameOptional: dialect === "vault",
})
