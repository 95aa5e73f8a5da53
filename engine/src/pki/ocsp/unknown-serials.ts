// OCSP status of serial numbers without a record (RFC 6960, section 2.2, allows either). `good` is correct only if every certificate
// without a record was issued here, by a role with `no_store`. If a CA was imported, others may have revoked certificates that this
// mount does not know.
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import type { CrlSettings } from "../crl/crl-settings.ts"
import type { MountSettingsRepository } from "../mounts/mount-settings.ts"
import type { OcspHistory } from "./ocsp-history.ts"

type Known = Pick<MountSnapshot, "keys" | "issuers" | "settings">

interface Changed {
  readonly history: OcspHistory | undefined
  readonly crl: CrlSettings | undefined
  readonly warnings: readonly string[]
}

const unchanged: Changed = { history: undefined, crl: undefined, warnings: [] }

/** Returns the changes for a generated key. Call it before the key is stored. */
export function afterKeyGenerated({ keys, issuers, settings: { ocspHistory } }: Known): Changed {
  const isFirst = keys.size === 0 && issuers.length === 0 && ocspHistory.keyOrigin === "unrecorded"
  return isFirst ? { ...unchanged, history: { ...ocspHistory, keyOrigin: "generated" } } : unchanged
}

const remedy =
  "register the certificates and the revocation list of the authority with certs/import and issuer/:issuer_ref/crl/import"

export function afterKeyImported({ settings: { ocspHistory, crl } }: Known): Changed {
  const isReset = crl.ocspUnknownSerials === "good" && !ocspHistory.isUnknownSerialsSet
  const answer = isReset ? "unknown" : crl.ocspUnknownSerials
  return {
    history: { ...ocspHistory, keyOrigin: "imported" },
    crl: isReset ? { ...crl, ocspUnknownSerials: "unknown" } : undefined,
    warnings: [
      answer === "good"
        ? `ocsp_unknown_serials in config/crl is "good": OCSP answers "good" for certificates that were revoked elsewhere; ${remedy}`
        : `ocsp_unknown_serials in config/crl is "unknown" until it is set: OCSP answers "unknown" for certificates that were issued elsewhere; ${remedy}`,
    ],
  }
}

/** Returns the changes for a role with `no_store`. */
export function afterNoStoreRole({ keys, issuers, settings: { ocspHistory, crl } }: Known): Changed {
  if (crl.ocspUnknownSerials === "good")
    return {
      ...unchanged,
      warnings: [`${notRecorded}; ocsp_unknown_serials in config/crl is "good", so OCSP answers "good"`],
    }
  const { keyOrigin, isUnknownSerialsSet } = ocspHistory
  const hasOwnKeysOnly =
    keyOrigin === "generated" || (keyOrigin === "unrecorded" && keys.size === 0 && issuers.length === 0)
  if (hasOwnKeysOnly && !isUnknownSerialsSet)
    return {
      history: undefined,
      crl: { ...crl, ocspUnknownSerials: "good" },
      warnings: [
        `${notRecorded}; ocsp_unknown_serials in config/crl is "good" from now on, so that OCSP answers "good" for them`,
      ],
    }
  return {
    ...unchanged,
    warnings: [`${notRecorded}, so OCSP answers "unknown" unless ocsp_unknown_serials in config/crl is set to "good"`],
  }
}

const notRecorded = 'certificates of a role with "no_store" are not recorded'

/** Saves changes within the transaction that caused them. Returns the warnings. */
export async function saveChanged(
  { mount }: Pick<MountSnapshot, "mount">,
  { history, crl, warnings }: Changed,
  mountSettings: MountSettingsRepository,
): Promise<readonly string[]> {
  if (history !== undefined) await mountSettings.save(mount.id, "ocspHistory", history)
  if (crl !== undefined) await mountSettings.save(mount.id, "crl", crl)
  return warnings
}
