// Default issuer and default key of a mount: the ones used if a request names none.
import type { KeyId } from "../../core/ids.ts"
import type { MountId } from "../mounts/mount.ts"
import type { IssuersSettings, KeysSettings, MountSettings, MountSettingsRepository } from "../mounts/mount-settings.ts"
import type { Issuer } from "./issuer.ts"

export interface DefaultsAfter {
  /** Undefined if the setting does not change. */
  readonly issuers: IssuersSettings | undefined
  readonly keys: KeysSettings | undefined
  readonly warnings: readonly string[]
}

/** Returns the defaults after issuers received a certificate or a key, and after keys were added. */
export function defaultsAfter(
  { issuers, keys }: Pick<MountSettings, "issuers" | "keys">,
  added: readonly Pick<Issuer, "id" | "keyId">[],
  addedKeys: readonly KeyId[],
): DefaultsAfter {
  const able = added.filter(({ keyId }) => keyId !== null)
  const [first] = able
  const [firstKey] = addedKeys
  const warnings: string[] = []
  const mayFollow = issuers.default === null || (issuers.defaultFollowsLatestIssuer && able.length === 1)
  if (issuers.default !== null && issuers.defaultFollowsLatestIssuer && able.length > 1)
    warnings.push("the default issuer is unchanged, because several issuers with keys were imported at once")
  const chosen = mayFollow ? first : undefined
  if (chosen !== undefined && issuers.default !== null)
    warnings.push(`the default issuer is now ${chosen.id}; it was ${issuers.default}`)
  return {
    issuers: chosen === undefined ? undefined : { ...issuers, default: chosen.id },
    keys: keys.default === null && firstKey !== undefined ? { ...keys, default: firstKey } : undefined,
    warnings,
  }
}

export async function saveDefaults(
  mountId: MountId,
  { issuers, keys }: DefaultsAfter,
  mountSettings: MountSettingsRepository,
): Promise<void> {
  if (issuers !== undefined) await mountSettings.save(mountId, "issuers", issuers)
  if (keys !== undefined) await mountSettings.save(mountId, "keys", keys)
}
