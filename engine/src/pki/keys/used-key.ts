// Key for a new CA certificate or CSR.
import { invalid } from "../../core/errors.ts"
import { newId } from "../../core/ids.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import type { SigningKey } from "../../x509/signing-key.ts"
import { type MountSnapshot, keyOf } from "../mounts/mount-snapshot.ts"
import type { PkiContext, PkiRepositories } from "../pki-context.ts"
import { createdAfter } from "../mounts/mount.ts"
import { afterKeyGenerated, saveChanged } from "../ocsp/unknown-serials.ts"
import type { CaKey } from "./key.ts"
import { assertStored, type PresentedKey, presentedKey } from "./key-check.ts"
import type { KeyRequest } from "./key-request.ts"

export interface UsedKey {
  readonly key: CaKey
  readonly signing: SigningKey
  /** Private key of a generated key that is not stored yet. Undefined for an existing key. */
  readonly made: PrivateKey | undefined
  /** Private key to return to the client, for `exported`. It is returned only once. */
  readonly exported: PrivateKey | undefined
  /** Present for a key that the mount had before. */
  readonly presented?: PresentedKey
}

/**
 * Returns a function that finds the requested key in the mount, or generates it. The function returns the same generated key if an
 * attempt to store it failed.
 */
export function keyProvider(
  { keyGenerator, signingKeys, runtime }: PkiContext,
  request: KeyRequest,
): (snapshot: MountSnapshot) => Promise<UsedKey> {
  if (request.kind === "existing")
    return async (snapshot) => {
      const key = keyOf(snapshot, request.reference)
      const signing = await signingKeys.open(key.id)
      const presented = presentedKey(signing, "keyRef")
      assertStored(presented)
      return { key, signing, made: undefined, exported: undefined, presented }
    }
  const { algorithm, name, isExported } = request
  const making = once(() => keyGenerator.generate(algorithm))
  const id = newId("key", runtime.random)
  return async (snapshot) => {
    if (name !== null) rejectTakenKeyName(snapshot, name)
    const made = await making()
    const signing = signingKeys.fromPrivateKey(made)
    const key = {
      id,
      mountId: snapshot.mount.id,
      name,
      publicKey: signing.spki,
      createdAt: createdAfter(snapshot.keys.values(), runtime.clock.now()),
    }
    return { key, signing, made, exported: isExported ? made : undefined }
  }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => (result ??= work())
}

/** Throws if another key has this name or id. Ids count as names, so that references are unambiguous. */
export function rejectTakenKeyName({ keys }: MountSnapshot, name: string, except?: CaKey): void {
  const isTaken = [...keys.values()].some((key) => key.id !== except?.id && (key.name === name || key.id === name))
  if (isTaken) throw invalid([{ field: ["keyName"], detail: "key name already in use" }])
}

export async function storeKey(
  snapshot: MountSnapshot,
  { key, made }: UsedKey,
  { caKeys, mountSettings }: Pick<PkiRepositories, "caKeys" | "mountSettings">,
): Promise<void> {
  if (made === undefined) return
  await caKeys.insert(key, made.der("pkcs8"))
  await saveChanged(snapshot, afterKeyGenerated(snapshot), mountSettings)
}
