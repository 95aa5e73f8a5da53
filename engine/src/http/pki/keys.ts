import { keys } from "../../contracts/vault/key.ts"
import { invalid } from "../../core/errors.ts"
import { implement } from "../implement-vault.ts"
import type { PkiRequest } from "../pki-route.ts"
import { keySourceOf } from "./key-source.ts"

/** Keys of issuers. */
export const keyRoutes = implement(keys, {
  list: ({ pki }: PkiRequest, page) => pki.keys.list(page),
  async generate({ pki }, type, input) {
    const keySource = keySourceOf(type)
    if (keySource === "existing")
      throw invalid([{ field: ["type"], detail: '"type" must be "internal", "exported" or "kms"' }])
    return pki.keys.generate({ ...input, keySource })
  },
  import: ({ pki }, { pemBundle = "", keyName }) => pki.keys.import(pemBundle, keyName),
  get: ({ pki }, reference) => pki.keys.get(reference),
  rename: ({ pki }, reference, name) => pki.keys.rename(reference, name),
  delete: ({ pki }, reference) => pki.keys.delete(reference),
})
