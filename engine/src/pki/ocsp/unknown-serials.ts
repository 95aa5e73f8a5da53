// What OCSP answers about serial numbers that the mount has no record of (RFC 6960, section 2.2, allows either). `good` is right only
// where every certificate that is not recorded was issued here, by a role with `no_store`: of an authority that was imported, others
// may have revoked certificates that this mount has never heard of.
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

/** Call it before the key is stored. */
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
        ? `ocsp_unknown_serials in config/crl is "good": OCSP answers so for certificates that were revoked elsewhere; ${remedy}`
        : `ocsp_unknown_serials in config/crl is "unknown" until it is set: OCSP answers so for certificates that were issued elsewhere; ${remedy}`,
    ],
  }
}

/** For a role with `no_store`. */
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

/** Within the transaction of what has changed. Returns the warnings. */
export async function saveChanged(
  { mount }: Pick<MountSnapshot, "mount">,
  { history, crl, warnings }: Changed,
  mountSettings: MountSettingsRepository,
): Promise<readonly string[]> {
  if (history !== undefined) await mountSettings.save(mount.id, "ocspHistory", history)
  if (crl !== undefined) await mountSettings.save(mount.id, "crl", crl)
  return warnings
}
