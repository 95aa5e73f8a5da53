import { mountSettings } from "../../contracts/vault/mount-settings.ts"
import { implement } from "../implement-vault.ts"
import type { PkiRequest } from "../pki-route.ts"

export const mountSettingsRoutes = implement(mountSettings, {
  issuers: ({ pki }: PkiRequest) => pki.settings.issuers(),
  changeIssuers: ({ pki }, patch) => pki.settings.changeIssuers(patch),
  replaceRoot: ({ pki }, { default: next }) => pki.settings.replaceRoot(next),
  keys: ({ pki }) => pki.settings.keys(),
  changeKeys: ({ pki }, patch) => pki.settings.changeKeys(patch),
  urls: ({ pki }) => pki.settings.urls(),
  changeUrls: ({ pki }, patch) => pki.settings.changeUrls(patch),
  cluster: ({ pki }) => pki.settings.cluster(),
  changeCluster: ({ pki }, patch) => pki.settings.changeCluster(patch),
  acme: ({ pki }) => pki.settings.acme(),
  changeAcme: ({ pki }, patch) => pki.settings.changeAcme(patch),
})
