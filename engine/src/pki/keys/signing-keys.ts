// Opens CA keys for use. An opened key is kept, because opening costs more than most signatures; the octets it was opened
// from are not.
import { LRUCache } from "lru-cache"
import { unavailable } from "../../core/errors.ts"
import type { KeyId } from "../../core/ids.ts"
import type { Storage } from "../../core/storage.ts"
import { type PrivateKey, readPrivateKey } from "../../x509/private-key.ts"
import { signingKey, type SigningKey } from "../../x509/signing-key.ts"
import type { CaKeyStore } from "./key.ts"

export interface SigningKeys {
  /** Throws `EngineError("unavailable")` where the key is gone or cannot be opened. */
  open(id: KeyId): Promise<SigningKey>
  /** Of a key that somebody has at hand: it was just made, or is kept elsewhere. */
  held(privateKey: PrivateKey): SigningKey
}

const openedMaximum = 1_000

export function storedSigningKeys(storage: Storage<{ readonly caKeys: CaKeyStore }>): SigningKeys {
  const opened = new LRUCache<KeyId, Promise<SigningKey>>({ max: openedMaximum })

  async function open(id: KeyId): Promise<SigningKey> {
    const octets = await storage.read(({ caKeys }) => caKeys.privateKey(id))
    if (octets === undefined) throw unavailable("The key of this issuer is not here any more.")
    return signingKey(readPrivateKey(octets))
  }

  return {
    held: signingKey,
    open(id) {
      const known = opened.get(id)
      if (known !== undefined) return known
      const opening = open(id)
      opened.set(id, opening)
      // What failed once may be mended by the next request.
      opening.catch(() => opened.delete(id))
      return opening
    },
  }
}
