// Algorithm and size of a private key, as Certificate and CertificateAuthority declare them.
import { z } from "zod"
import type { Rule } from "./rules.ts"

const sizes = { RSA: [2048, 3072, 4096, 8192], ECDSA: [224, 256, 384, 521], Ed25519: [] as number[] }

export const keyMembers = {
  algorithm: z
    .enum(["RSA", "ECDSA", "Ed25519"])
    .default("ECDSA")
    .describe("Algorithm of the key: RSA, ECDSA or Ed25519. Default: ECDSA."),
  size: z
    .int()
    .min(224)
    .max(8_192)
    .optional()
    .describe(
      "Size of the key in bits. RSA: 2048 (default), 3072, 4096 or 8192. ECDSA: 224, 256 (default), 384 or 521. Not allowed for Ed25519.",
    ),
}

export const keySize: Rule<{ readonly algorithm: keyof typeof sizes; readonly size?: number | undefined }> = {
  rule: "!has(self.size) || (self.algorithm == 'RSA' ? self.size in [2048, 3072, 4096, 8192] : self.algorithm == 'ECDSA' && self.size in [224, 256, 384, 521])",
  message: "size must be 2048, 3072, 4096 or 8192 for RSA, 224, 256, 384 or 521 for ECDSA, and absent for Ed25519",
  fieldPath: ".size",
  holds: ({ algorithm, size }) => size === undefined || sizes[algorithm].includes(size),
}
