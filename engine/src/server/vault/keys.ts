import { keys } from "../../contracts/vault/key.ts"
import { invalid } from "../../core/errors.ts"
import { type KeySource, keySources } from "../../pki/keys/key-request.ts"
import { implement } from "./implement.ts"
import type { PkiRequest } from "./vault-route.ts"

/** Returns the key source that the last path segment names. Throws `invalid` if it is unknown. */
export function keySourceOf(type: string): KeySource {
  const source = keySources.find((known) => known === type)
  if (source !== undefined) return source
  throw invalid([{ field: ["type"], detail: `"type" must be one of ${keySources.join(", ")}` }])
}

/** Private keys of a mount's issuers. */
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
