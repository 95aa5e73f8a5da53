import type { KeyUse, RecordKeyUse } from "../../core/audit.ts"
import { sha256, sha256InTurns } from "../../x509/digest.ts"
import type { SigningKey } from "../../x509/signing-key.ts"

/** A key that signs nothing which is not on record. */
export const auditedSigningKey = (key: SigningKey, use: Omit<KeyUse, "digest">, record: RecordKeyUse): SigningKey => ({
  ...key,
  async sign(data, algorithm) {
    await record({ ...use, digest: data.length > quickOctets ? await sha256InTurns(data) : sha256(data) })
    return key.sign(data, algorithm)
  },
})

/** Hashing more would hold up everybody: a CRL has a million entries. */
const quickOctets = 1_024 * 1_024
