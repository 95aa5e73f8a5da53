import type { Allowances } from "../../pki/certificates/certificates.ts"
import type { PkiRequest } from "../pki-route.ts"

/** What existing clients rely on (architecture 0.2). */
export const allowances = ({ dialect }: PkiRequest): Allowances => ({
  clampTtl: dialect === "vault",
  commonNameFromCsr: dialect === "vault",
})
