import type { KeyUse, RecordKeyUse } from "../../core/audit.ts"
import { sha256, sha256InTurns } from "../../x509/digest.ts"
import type { SigningKey } from "../../x509/signing-key.ts"

/** Returns a key that records each use before it signs. */
export const auditedSigningKey = (key: SigningKey, use: Omit<KeyUse, "digest">, record: RecordKeyUse): SigningKey => ({
  ...key,
  async sign(data, algorithm) {
    await record({ ...use, digest: data.length > quickOctets ? await sha256InTurns(data) : sha256(data) })
    return key.sign(data, algorithm)
  },
})

/**
 * Maximum number of octets to hash at once. Longer data, such as a CRL with a million entries, is hashed in turns, so that other
 * requests do not wait.
 */
const quickOctets = 1_024 * 1_024
