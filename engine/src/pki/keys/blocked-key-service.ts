import { authorizePath } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { invalid, notFound, rejectFaults } from "../../core/errors.ts"
import type { Runtime } from "../../core/runtime.ts"
import { repeatableRead, type Storage } from "../../core/storage.ts"
import { type KeyPage, maxListedKeys, limitOf } from "../mounts/key-page.ts"
import {
  type BlockedKey,
  type BlockedKeyInput,
  type BlockedKeyRepository,
  type BlockedKeys,
  commentFaults,
  type KeyDigest,
  parseKeyDigest,
  readKeyDigest,
} from "./blocked-key.ts"

const listPath = "sys/blocked-keys"
const writing = ["create", "update"] as const

// Changes run at repeatable read. Each writes the single row of its digest and reads nothing else, so the database runs one of two
// concurrent changes of a digest again. Issuance reads that row, and no change here reads certificates.

export class BlockedKeyService implements BlockedKeys {
  readonly #storage: Storage<{ readonly blockedKeys: BlockedKeyRepository }>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<{ readonly blockedKeys: BlockedKeyRepository }>, runtime: Runtime, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#caller = caller
  }

  async list(page: KeyPage = {}): Promise<readonly KeyDigest[]> {
    authorizePath(this.#caller, { path: listPath, capability: "list" })
    const { after = "" } = page
    return this.#storage.readReplica(({ blockedKeys }) =>
      blockedKeys.list({ after: after.toLowerCase(), limit: limitOf(page, maxListedKeys) }),
    )
  }

  async get(text: string): Promise<BlockedKey> {
    authorizePath(this.#caller, { path: pathOf(text), capability: "read" })
    const digest = parseKeyDigest(text)
    const found = await this.#storage.read(({ blockedKeys }) => blockedKeys.find(digest))
    if (found === undefined) throw notFound(digest)
    return found
  }

  async add({ key, spkiSha256: text, comment = "" }: BlockedKeyInput): Promise<BlockedKey> {
    authorizePath(this.#caller, { path: text === undefined ? listPath : pathOf(text), capability: writing })
    if (key !== undefined && text !== undefined)
      throw invalid([{ field: ["key"], detail: "key must not be given together with spki_sha256" }])
    const digest = text === undefined ? readKeyDigest(key ?? "") : parseKeyDigest(text)
    rejectFaults(commentFaults(comment))
    const createdAt = this.#runtime.clock.now()
    return this.#storage.transact(async ({ blockedKeys }) => {
      await blockedKeys.save({ spkiSha256: digest, source: "entry", mount: "", serialNumber: null, comment, createdAt })
      const saved = await blockedKeys.find(digest)
      if (saved === undefined) throw new TypeError("a blocked key was not written")
      return saved
    }, repeatableRead)
  }

  async delete(text: string): Promise<void> {
    authorizePath(this.#caller, { path: pathOf(text), capability: "delete" })
    const digest = parseKeyDigest(text)
    await this.#storage.transact(({ blockedKeys }) => blockedKeys.remove(digest), repeatableRead)
  }
}

const pathOf = (digest: string): string => `${listPath}/${digest.replaceAll(":", "").toLowerCase()}`
