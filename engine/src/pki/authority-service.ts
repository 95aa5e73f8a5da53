// What every service of a mount stands on: the one place where it finds its mount, and where it says what its caller must be
// allowed to do.
import { authorizePath, type Capability } from "../core/access.ts"
import type { RecordKeyUse } from "../core/audit.ts"
import type { Caller } from "../core/caller.ts"
import { busy } from "../core/errors.ts"
import type { CacheVersions } from "../core/cache-versions.ts"
import type { Runtime } from "../core/runtime.ts"
import { repeatableRead, type Storage, type TransactOptions } from "../core/storage.ts"
import type { Stores } from "../stores.ts"
import type { MountSnapshots } from "./authorities.ts"
import type { MountSnapshot } from "./authority.ts"
import type { CertificateRecord, Issuance } from "./certificates/certificate.ts"
import type { CrlPublisher } from "./crl/crl-publisher.ts"
import type { SigningKeys } from "./keys/signing-keys.ts"
import type { KeyGenerator } from "../x509/key-generation.ts"
import type { PolicyClient } from "./external-policy/policy-client.ts"
import type { PolicyServiceActivity } from "./external-policy/policy-service-activity.ts"
import type { HeldResponders } from "./ocsp/held-responders.ts"
import type { OcspCache } from "./ocsp/ocsp-cache.ts"
import type { OcspMetrics } from "./ocsp/ocsp-metrics.ts"
import type { IssuerSigner } from "./issuers/issuer-signer.ts"
import { assertKeyAllowed, type PresentedKey } from "./keys/key-check.ts"
import type { WeakKeyList } from "../x509/weak-key-list.ts"
import { auditedSigningKey } from "./keys/audited-signing-key.ts"
import type { SerialNumber } from "../x509/serial-number.ts"
import { mountPathOf } from "./mount.ts"
import type { MountDirectory, MountTable } from "./mount-directory.ts"

export type PkiStores = Pick<
  Stores,
  | "mounts"
  | "authorities"
  | "caKeys"
  | "blockedKeys"
  | "issuers"
  | "roles"
  | "mountSettings"
  | "certificates"
  | "revocations"
  | "crls"
  | "tidyRuns"
  | "statistics"
  | "certificateLeases"
  | "acmeAccounts"
  | "acmeOrders"
  | "acmeAuthorizations"
  | "acmeNonces"
  | "acmeInventory"
  | "acmeRates"
  | "renewalSignals"
  | "entityNames"
  | "users"
  | "teams"
  | "serviceTokens"
  | "identity"
>

/** What services of every mount and caller share. */
export interface PkiContext {
  readonly storage: Storage<PkiStores>
  readonly runtime: Runtime
  readonly cacheVersions: CacheVersions
  readonly mountDirectory: MountDirectory
  readonly mountSnapshots: MountSnapshots
  readonly signingKeys: SigningKeys
  readonly keyGenerator: KeyGenerator
  readonly weakKeys: WeakKeyList
  readonly policyClient: PolicyClient
  readonly policyServiceActivity: PolicyServiceActivity
  readonly crlPublisher: CrlPublisher
  /** Starts a job at once, by its name, for what a request has left to it. */
  readonly wakeJob: (name: string) => void
  readonly ocspCache: OcspCache
  readonly ocspMetrics: OcspMetrics
  readonly ocspResponders: HeldResponders
}

export abstract class AuthorityService {
  protected readonly context: PkiContext
  protected readonly caller: Caller
  /** Without a "/" at either end. */
  protected readonly mountPath: string
  /** What every signature is told to before it is made: `auditedSigningKey`. */
  protected readonly recordKeyUse: RecordKeyUse

  constructor(context: PkiContext, mountPath: string, caller: Caller, recordKeyUse: RecordKeyUse) {
    this.context = context
    this.mountPath = mountPathOf(mountPath)
    this.caller = caller
    this.recordKeyUse = recordKeyUse
  }

  /** `path` is relative to the mount. Throws `EngineError("forbidden")`. */
  protected authorize(
    capability: Capability | readonly Capability[],
    path: string,
    { sudo = false }: { readonly sudo?: boolean } = {},
  ): void {
    authorizePath(this.caller, { mount: this.mountPath, path, capability, sudo })
  }

  /** The mount as it stands now. */
  protected async current(): Promise<MountSnapshot> {
    const { mountDirectory, mountSnapshots, cacheVersions } = this.context
    const mount = (await mountDirectory.current()).at(this.mountPath)
    return (await mountSnapshots.newest(cacheVersions, mount)) ?? this.read(async (snapshot) => snapshot)
  }

  protected read<T>(work: (snapshot: MountSnapshot, stores: PkiStores) => Promise<T>): Promise<T> {
    return this.#seen((whole) => this.context.storage.read(whole), work)
  }

  /** For lists, which may be long. */
  protected readElsewhere<T>(work: (snapshot: MountSnapshot, stores: PkiStores) => Promise<T>): Promise<T> {
    return this.#seen((whole) => this.context.storage.readElsewhere(whole), work)
  }

  async #seen<T>(
    read: Storage<PkiStores>["read"],
    work: (snapshot: MountSnapshot, stores: PkiStores) => Promise<T>,
  ): Promise<T> {
    const { mountDirectory, mountSnapshots } = this.context
    let seen: Standing | undefined
    try {
      return await read(async (stores) => {
        seen = await this.#standing(stores)
        return work(seen.snapshot, stores)
      })
    } finally {
      if (seen !== undefined) {
        mountDirectory.keep(seen.mounts)
        mountSnapshots.keep(seen.snapshot)
      }
    }
  }

  /**
   * Of a key, an issuer, a role or a setting. Repeatable read: all of them write the version of their mount (`bumpAuthority`), so
   * that of two concurrent changes of one mount one is run again, whatever they have read of it.
   */
  protected changeMount<T>(work: (snapshot: MountSnapshot, stores: PkiStores) => Promise<T>): Promise<T> {
    return this.transact(work, repeatableRead)
  }

  protected transact<T>(
    work: (snapshot: MountSnapshot, stores: PkiStores) => Promise<T>,
    options: TransactOptions = {},
  ): Promise<T> {
    return this.context.storage.transact(async (stores) => {
      const { snapshot } = await this.#standing(stores)
      return await work(snapshot, stores)
    }, options)
  }

  /** In a unit of work: what is held of the mount is seldom anything else, and one query finds that out. */
  async #standing(stores: PkiStores): Promise<Standing> {
    const { mountDirectory, mountSnapshots } = this.context
    const { held: known } = mountDirectory
    const held = this.#held()
    if (known !== undefined && held !== undefined) {
      const { mounts, authority } = await stores.authorities.cacheVersions(held.mount.id)
      if (mounts === known.version && authority === held.version) return { mounts: known, snapshot: held }
    }
    const mounts = await mountDirectory.within(stores)
    return { mounts, snapshot: await mountSnapshots.within(stores, mounts.at(this.mountPath)) }
  }

  /** The signer with every use of its key on record, for a certificate with this serial number. */
  protected recording(signer: IssuerSigner, serialNumber: SerialNumber): IssuerSigner {
    const { id: issuerId, keyId } = signer.issuer
    if (keyId === null) throw new TypeError("an issuer without a key signs nothing")
    const use = { mount: this.mountPath, keyId, issuerId, purpose: "certificate", serialNumber } as const
    return { ...signer, key: auditedSigningKey(signer.key, use, this.recordKeyUse) }
  }

  /**
   * What is signed outside of any transaction, on the grounds of what the mount was a moment ago, counts only if it is recorded
   * while the mount is still the same; otherwise it is thrown away unseen, and made again.
   */
  protected recorded<T>(make: (snapshot: MountSnapshot) => Promise<Made<T>>): Promise<T> {
    return this.changed(async (snapshot) => {
      const { issuance, value, settle, presented } = await make(snapshot)
      const { certificate, metadata, lease } = issuance
      if (certificate === undefined && metadata === undefined && settle === undefined)
        return { store: undefined, value, presented }
      return {
        certificate,
        presented,
        store: async (_authority, stores) => {
          const { certificates, certificateLeases } = stores
          await settle?.(stores)
          if (metadata !== undefined) await certificates.insertMetadata(metadata)
          if (lease !== undefined) await certificateLeases.insert(lease)
        },
        value,
      }
    })
  }

  /**
   * The same for whatever else is stored: `store` runs in the transaction, on the mount that `make` was given. What is held of
   * the mount is tried without asking whether it still stands: the transaction finds out, and nothing else is told before
   * somebody has.
   */
  protected async changed<T>(make: (snapshot: MountSnapshot) => Promise<Change<T>>): Promise<T> {
    const held = this.#held()
    const outcome = held && (await this.#tried(held, make))
    if (outcome !== undefined) return outcome.value
    for (let attempt = 1; attempt <= recordingAttempts; attempt += 1) {
      const snapshot = await this.current()
      const change = await make(snapshot)
      if (change.store === undefined) {
        await this.#assertPresented(change)
        return change.value
      }
      if (await this.#stored(snapshot, change)) return change.value
    }
    throw busy("The mount is being changed too often to issue from it; try again.")
  }

  #held(): MountSnapshot | undefined {
    const { mountDirectory, mountSnapshots } = this.context
    const mount = mountDirectory.held?.find(this.mountPath)
    return mount && mountSnapshots.held(mount)
  }

  /** Undefined where the mount is another by now. */
  async #tried<T>(
    held: MountSnapshot,
    make: (snapshot: MountSnapshot) => Promise<Change<T>>,
  ): Promise<{ readonly value: T } | undefined> {
    const stands = async () => (await this.current()) === held
    let change: Change<T>
    try {
      change = await make(held)
    } catch (error) {
      // What refuses may be a rule that has been changed.
      if (await stands()) throw error
      return undefined
    }
    if (change.store !== undefined) return (await this.#stored(held, change)) ? { value: change.value } : undefined
    if (!(await stands())) return undefined
    await this.#assertPresented(change)
    return { value: change.value }
  }

  /** For what is not stored: the certificate is signed by now and returned only if its key is allowed. */
  async #assertPresented({ presented }: Pick<Change<unknown>, "presented">): Promise<void> {
    if (presented !== undefined) await this.assertAllowed(presented)
  }

  protected assertAllowed(presented: PresentedKey): Promise<void> {
    return this.context.storage.read((stores) => assertKeyAllowed(this.context, stores, presented))
  }

  #stored<T>(snapshot: MountSnapshot, { certificate, presented, store }: Change<T>): Promise<boolean> {
    const { version, mount } = snapshot
    // As `changeMount`; what only adds a certificate asks for the version of the mount in the statement that inserts it.
    const options = store === undefined ? {} : repeatableRead
    return this.context.storage.transact(async (stores) => {
      const stands =
        certificate === undefined
          ? (await stores.authorities.cacheVersion(mount.id)) === version
          : await stores.certificates.insertUnder(version, certificate)
      if (stands && presented !== undefined) await assertKeyAllowed(this.context, stores, presented)
      if (stands) await store?.(snapshot, stores)
      return stands
    }, options)
  }
}

/** One mount among all that there are. */
interface Standing {
  readonly mounts: MountTable
  readonly snapshot: MountSnapshot
}

export interface Made<T> {
  readonly issuance: Issuance
  readonly value: T
  /** What stands or falls with it, in the transaction that records it. */
  readonly settle?: ((stores: PkiStores) => Promise<void>) | undefined
  /** The key that is certified, unless the server generated it for this request. */
  readonly presented?: PresentedKey | undefined
}

export interface Change<T> {
  /** Stored first, in the query that sees whether the mount is still the same. */
  readonly certificate?: CertificateRecord | undefined
  /** Checked in the transaction, after the certificate is inserted. */
  readonly presented?: PresentedKey | undefined
  /** Undefined where nothing is to be stored. */
  readonly store: ((snapshot: MountSnapshot, stores: PkiStores) => Promise<void>) | undefined
  readonly value: T
}

const recordingAttempts = 10
