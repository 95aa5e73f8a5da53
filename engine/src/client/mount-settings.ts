import { mountSettings } from "../contracts/vault/mount-settings.ts"
import type { Settings } from "../pki/settings/settings.ts"
import type { PkiCalls } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"

export function remoteMountSettings(calls: PkiCalls): Settings {
  const { replaceRoot, ...settings } = remote(mountSettings, calls)
  return {
    ...settings,
    replaceRoot: (reference) => replaceRoot(reference === undefined ? {} : { default: reference }),
  }
}
