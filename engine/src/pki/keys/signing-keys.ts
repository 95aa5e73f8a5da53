// Opens CA keys for use. Opened keys are cached, because opening a key costs more than most signatures. The octets of the private key
// are not cached.
import { LRUCache } from "lru-cache"
import { unavailable } from "../../core/errors.ts"
import type { KeyId } from "../../core/ids.ts"
import type { Storage } from "../../core/storage.ts"
import { type PrivateKey, readPrivateKey } from "../../x509/private-key.ts"
import { signingKey, type SigningKey } from "../../x509/signing-key.ts"
import type { CaKeyStore } from "./key.ts"

export interface SigningKeys {
  /** Opens a stored key. Throws `EngineError("unavailable")` if the key was deleted or cannot be opened. */
  open(id: KeyId): Promise<SigningKey>
  /** Opens a private key that the caller has, such as one that was just generated. */
  fromPrivateKey(privateKey: PrivateKey): SigningKey
}

const maxOpened = 1_000

export function storedSigningKeys(storage: Storage<{ readonly caKeys: CaKeyStore }>): SigningKeys {
  const opened = new LRUCache<KeyId, Promise<SigningKey>>({ max: maxOpened })

  async function open(id: KeyId): Promise<SigningKey> {
    const octets = await storage.read(({ caKeys }) => caKeys.privateKey(id))
    if (octets === undefined) throw unavailable("The key of this issuer does not exist anymore.")
    return signingKey(readPrivateKey(octets))
  }

  return {
    fromPrivateKey: signingKey,
    open(id) {
      const known = opened.get(id)
      if (known !== undefined) return known
      const opening = open(id)
      opened.set(id, opening)
      // The next request tries again, because the failure may be temporary.
      opening.catch(() => opened.delete(id))
      return opening
    },
  }
}
