// A client that creates, imports, uses and deletes the keys and issuers of its own mount. It knows which of them must exist, and what the
// one change in flight may have added or removed, entirely or not at all.
import { generateKeyPairSync } from "node:crypto"
import { expect } from "vitest"
import { type CrashApi, Unanswered } from "./crash-api.ts"

/** Above this number, more issuers are deleted than created. */
const maxIssuers = 12

interface InFlight {
  readonly made?: { readonly keys: number; readonly issuers: number }
  readonly deleted?: string
}

export class AuthorityWriter {
  /** Acknowledged changes. */
  changeCount = 0
  readonly #mount: string
  readonly #random: (limit: number) => number
  readonly #keys = new Set<string>()
  /** Key id of each issuer, by issuer id. */
  readonly #issuers = new Map<string, string>()
  #inFlight: InFlight | undefined
  #count = 0

  constructor(mount: string, random: (limit: number) => number) {
    this.#mount = `/${mount}`
    this.#random = random
  }

  get size(): { readonly keys: number; readonly issuers: number } {
    return { keys: this.#keys.size, issuers: this.#issuers.size }
  }

  /** Writes until a request gets no answer. `seen` is called with signed values that the server does not store: CSRs. */
  async write(api: CrashApi, seen: (csr: string) => void): Promise<void> {
    try {
      for (;;) await this.#step(api, seen)
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
    }
  }

  #step(api: CrashApi, seen: (csr: string) => void): Promise<void> {
    const isFull = this.#issuers.size >= maxIssuers
    switch (this.#random(isFull ? 2 : 7)) {
      case 0:
        return this.#deleteIssuer(api)
      case 1:
        return this.#deleteKey(api)
      case 2:
        return this.#generateRoot(api)
      case 3:
        return this.#generateKey(api)
      case 4:
        return this.#importKey(api)
      case 5:
        return this.#signedElsewhere(api, seen)
      default:
        return this.#movedIn(api)
    }
  }

  async #generateRoot(api: CrashApi): Promise<void> {
    const { data } = await this.#making(api, { keys: 1, issuers: 1 }, "root/generate/internal", this.#ofNewRoot())
    this.#keys.add(data.key_id)
    this.#issuers.set(data.issuer_id, data.key_id)
  }

  async #generateKey(api: CrashApi): Promise<void> {
    const body = { key_type: this.#random(2) === 0 ? "ec" : "ed25519" }
    const { data } = await this.#making(api, { keys: 1, issuers: 0 }, "keys/generate/internal", body)
    this.#keys.add(data.key_id)
  }

  async #importKey(api: CrashApi): Promise<void> {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
    const body = { pem_bundle: privateKey.export({ type: "pkcs8", format: "pem" }) }
    const { data } = await this.#making(api, { keys: 1, issuers: 0 }, "keys/import", body)
    this.#keys.add(data.key_id)
  }

  /** Creates an issuer whose certificate the CA of another mount signs. */
  async #signedElsewhere(api: CrashApi, seen: (csr: string) => void): Promise<void> {
    const parameters = { common_name: this.#newName(), key_type: "ec" }
    const made = await this.#making(api, { keys: 1, issuers: 0 }, "intermediate/generate/internal", parameters)
    seen(made.data.csr)
    this.#keys.add(made.data.key_id)
    const signed = await api.change("POST", "/pki/root/sign-intermediate", { csr: made.data.csr, ...parameters })
    const { certificate } = signed.data
    const { data } = await this.#making(api, { keys: 0, issuers: 1 }, "intermediate/set-signed", { certificate })
    this.#issuers.set(data.imported_issuers[0], made.data.key_id)
  }

  /** Exports, deletes and imports a key and an issuer again. */
  async #movedIn(api: CrashApi): Promise<void> {
    const made = await this.#making(api, { keys: 1, issuers: 1 }, "root/generate/exported", this.#ofNewRoot())
    const { issuer_id: issuer, key_id: key, certificate, private_key: privateKey } = made.data
    this.#keys.add(key)
    this.#issuers.set(issuer, key)
    await this.#deleting(api, `issuer/${issuer}`, issuer)
    this.#issuers.delete(issuer)
    await this.#deleting(api, `key/${key}`, key)
    this.#keys.delete(key)
    const bundle = { pem_bundle: `${certificate}\n${privateKey}` }
    const { data } = await this.#making(api, { keys: 1, issuers: 1 }, "config/ca", bundle)
    this.#keys.add(data.imported_keys[0])
    this.#issuers.set(data.imported_issuers[0], data.imported_keys[0])
  }

  async #deleteIssuer(api: CrashApi): Promise<void> {
    const issuer = this.#oneOf([...this.#issuers.keys()])
    if (issuer === undefined) return
    await this.#deleting(api, `issuer/${issuer}`, issuer)
    this.#issuers.delete(issuer)
  }

  async #deleteKey(api: CrashApi): Promise<void> {
    const used = new Set(this.#issuers.values())
    const key = this.#oneOf([...this.#keys].filter((id) => !used.has(id)))
    if (key === undefined) return
    await this.#deleting(api, `key/${key}`, key)
    this.#keys.delete(key)
  }

  #oneOf(ids: readonly string[]): string | undefined {
    return ids.length === 0 ? undefined : ids[this.#random(ids.length)]
  }

  #ofNewRoot() {
    return { common_name: this.#newName(), key_type: "ec", ttl: "700h" }
  }

  #newName(): string {
    this.#count += 1
    return `Authority ${this.#count} of ${this.#mount}`
  }

  async #making(api: CrashApi, made: NonNullable<InFlight["made"]>, path: string, body: object) {
    this.#inFlight = { made }
    const answered = await api.change("POST", `${this.#mount}/${path}`, body)
    this.#acknowledge()
    return answered
  }

  async #deleting(api: CrashApi, path: string, id: string): Promise<void> {
    this.#inFlight = { deleted: id }
    await api.change("DELETE", `${this.#mount}/${path}`)
    this.#acknowledge()
  }

  #acknowledge(): void {
    this.#inFlight = undefined
    this.changeCount += 1
  }

  /** Checks the acknowledged state. What exists now counts as acknowledged from here on. */
  async verify(api: CrashApi): Promise<void> {
    const keys = await this.#listed(api, "keys")
    const issuers = await this.#listed(api, "issuers")
    const { made = { keys: 0, issuers: 0 }, deleted } = this.#inFlight ?? {}
    const missing = [...this.#keys, ...this.#issuers.keys()].filter((id) => !keys.has(id) && !issuers.has(id))
    expect(missing.filter((id) => id !== deleted)).toEqual([])
    const added = {
      keys: [...keys].filter((id) => !this.#keys.has(id)).length,
      issuers: [...issuers].filter((id) => !this.#issuers.has(id)).length,
    }
    expect([made, { keys: 0, issuers: 0 }]).toContainEqual(added)
    this.#inFlight = undefined
    for (const id of missing) {
      this.#keys.delete(id)
      this.#issuers.delete(id)
    }
    for (const id of keys) this.#keys.add(id)
    for (const id of issuers) {
      const { data } = await api.read("GET", `${this.#mount}/issuer/${id}`)
      expect([id, data.key_id]).toEqual([id, this.#issuers.get(id) ?? data.key_id])
      expect(keys.has(data.key_id)).toBe(true)
      this.#issuers.set(id, data.key_id)
    }
  }

  async #listed(api: CrashApi, kind: "keys" | "issuers"): Promise<ReadonlySet<string>> {
    const { status, data } = await api.read("LIST", `${this.#mount}/${kind}`)
    expect([200, 404]).toContain(status)
    return new Set(status === 404 ? [] : (data.keys as readonly string[]))
  }

  /** Checks that every key can still sign. */
  async useAll(api: CrashApi, csr: string): Promise<void> {
    for (const issuer of this.#issuers.keys())
      await api.change("POST", `${this.#mount}/issuer/${issuer}/sign-verbatim`, { csr })
    for (const key of this.#keys) {
      const { data } = await api.change("POST", `${this.#mount}/root/generate/existing`, {
        common_name: this.#newName(),
        key_ref: key,
      })
      expect(data.key_id).toBe(key)
    }
  }
}
