import { type Fault, rejectFaults, unprocessable } from "../../core/errors.ts"
import { newId } from "../../core/ids.ts"
import { readPublicKey, subjectKeyIdentifier } from "../../x509/public-key.ts"
import { type MountSnapshot, findKey, keyOf } from "../mounts/mount-snapshot.ts"
import { authorizeOnMount, type MountAccess } from "../pki-context.ts"
import { changeMount, currentSnapshot, withMountSnapshot } from "../mounts/with-mount-snapshot.ts"
import { type KeyPage, pageOfKeys } from "../mounts/key-page.ts"
import { planImport, readKeyAlone, storeImport } from "../issuers/import-bundle.ts"
import { referenceNameProblem } from "../names/reference-name.ts"
import { rejectViolations } from "../policy/violation.ts"
import type { CaKey, GeneratedKey, Keys, KeySummary, KeyView, NewKeyInput, SavedKey } from "./key.ts"
import { assertKeyAllowed, presentedKey } from "./key-check.ts"
import { readKeyRequest } from "./key-request.ts"
import { keyProvider, rejectTakenKeyName, storeKey } from "./used-key.ts"

const writing = ["create", "update"] as const

export class KeyService implements Keys {
  readonly #access: MountAccess

  constructor(access: MountAccess) {
    this.#access = access
  }

  async list(page?: KeyPage): Promise<readonly KeySummary[]> {
    authorizeOnMount(this.#access, "list", "keys")
    const { keys, settings } = await currentSnapshot(this.#access)
    return pageOfKeys([...keys.values()], ({ id }) => id, page).map(({ id, name }) => ({
      id,
      name,
      isDefault: id === settings.keys.default,
    }))
  }

  async get(reference: string): Promise<KeyView> {
    authorizeOnMount(this.#access, "read", `key/${reference}`)
    return viewOf(keyOf(await currentSnapshot(this.#access), reference))
  }

  async generate({ keySource = "internal", ...input }: NewKeyInput): Promise<GeneratedKey> {
    authorizeOnMount(this.#access, writing, `keys/generate/${keySource}`)
    const { request, violations, warnings } = readKeyRequest({ ...input, keySource })
    rejectViolations(violations)
    if (request === undefined) throw new TypeError("a key request with violations was accepted")
    const keyFor = keyProvider(this.#access.context, request)
    return withMountSnapshot(this.#access, async (snapshot) => {
      const used = await keyFor(snapshot)
      return {
        store: async (current, repositories) => {
          const { mount, settings } = current
          const { mountSettings } = repositories
          await storeKey(current, used, repositories)
          if (settings.keys.default === null) await mountSettings.save(mount.id, "keys", { default: used.key.id })
        },
        value: { ...viewOf(used.key), privateKey: used.exported, warnings },
      }
    })
  }

  async import(privateKey: string, name = ""): Promise<SavedKey> {
    authorizeOnMount(this.#access, writing, "keys/import")
    rejectFaults(nameFaults(name))
    const importedKey = readKeyAlone(privateKey)
    const { random, clock } = this.#access.context.runtime
    return changeMount(this.#access, async (snapshot, repositories) => {
      await assertKeyAllowed(this.#access.context, repositories, presentedKey(importedKey.publicKey, "pemBundle"))
      if (name !== "") rejectTakenKeyName(snapshot, name, keyLike(snapshot, importedKey.publicKey.spki))
      const plan = planImport(
        snapshot,
        { certificates: [], keys: [importedKey] },
        {
          now: clock.now(),
          newIssuerId: () => newId("iss", random),
          newKeyId: () => newId("key", random),
          keyName: name || null,
        },
      )
      const imported = await storeImport(snapshot, plan, repositories)
      const [added] = plan.newKeys
      const [existing] = plan.result.existingKeys
      const known = existing && snapshot.keys.get(existing)
      const key = added?.key ?? known
      if (key === undefined) throw new TypeError("an import has neither stored nor found a key")
      const warnings = [...plan.result.warnings, ...imported]
      return { ...viewOf(key), warnings: known === undefined ? warnings : [...warnings, alreadyHere(known, name)] }
    })
  }

  async rename(reference: string, name: string | null): Promise<SavedKey> {
    authorizeOnMount(this.#access, writing, `key/${reference}`)
    const newName = name || null
    rejectFaults(nameFaults(newName ?? ""))
    return changeMount(this.#access, async (snapshot, { caKeys }) => {
      const key = keyOf(snapshot, reference)
      if (newName !== null) rejectTakenKeyName(snapshot, newName, key)
      await caKeys.rename(key, newName)
      return { ...viewOf({ ...key, name: newName }), warnings: [] }
    })
  }

  async delete(reference: string): Promise<readonly string[]> {
    authorizeOnMount(this.#access, "delete", `key/${reference}`)
    return changeMount(this.#access, async (snapshot, { caKeys, mountSettings }) => {
      const { mount, issuers, settings } = snapshot
      const key = findKey(snapshot, reference)
      if (key === undefined) return []
      const user = issuers.find(({ keyId }) => keyId === key.id)
      if (user !== undefined) throw unprocessable(`Failed to Delete Key.  Key in Use by Issuer: ${user.id}`)
      await caKeys.remove(key)
      if (settings.keys.default !== key.id) return []
      await mountSettings.save(mount.id, "keys", { ...settings.keys, default: null })
      return [`key ${key.id} was the default key; the mount now has no default key`]
    })
  }
}

function viewOf({ id, name, publicKey }: CaKey): KeyView {
  const key = readPublicKey(publicKey)
  return { id, name, type: key.algorithm.type, subjectKeyIdentifier: subjectKeyIdentifier(key) }
}

function nameFaults(name: string): readonly Fault[] {
  const problem = name === "" ? undefined : referenceNameProblem(name)
  return problem === undefined ? [] : [{ field: ["keyName"], detail: `"key_name" ${problem}` }]
}

const keyLike = ({ keys }: MountSnapshot, publicKey: Uint8Array): CaKey | undefined =>
  [...keys.values()].find((key) => Buffer.compare(key.publicKey, publicKey) === 0)

const alreadyHere = ({ id, name }: CaKey, requestedName: string): string =>
  `the key is in this mount already, as ${id}${requestedName === "" || requestedName === name ? "" : "; it was not renamed"}`
