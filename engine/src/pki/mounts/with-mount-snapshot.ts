// Reads and changes one mount. Certificates are signed outside of any transaction, on a cached snapshot (docs/decisions/cache-versions.md).
import { busy } from "../../core/errors.ts"
import { repeatableRead, type Storage, type TransactOptions } from "../../core/storage.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { MountSnapshot } from "./mount-snapshot.ts"
import type { CertificateRecord, Issuance } from "../issuance/certificate.ts"
import type { IssuerSigner } from "../issuers/issuer-signer.ts"
import { auditedSigningKey } from "../keys/audited-signing-key.ts"
import { assertKeyAllowed, type PresentedKey } from "../keys/key-check.ts"
import type { MountTable } from "./mount-directory.ts"
import type { MountAccess, PkiRepositories } from "../pki-context.ts"

type MountWork<T, Stores extends PkiRepositories> = (snapshot: MountSnapshot, stores: Stores) => Promise<T>

/** Returns the mount as it is now. */
export async function currentSnapshot<Stores extends PkiRepositories>(
  access: MountAccess<Stores>,
): Promise<MountSnapshot> {
  const { mountDirectory, mountSnapshots, cacheVersions } = access.context
  const mount = (await mountDirectory.current()).at(access.mountPath)
  return (await mountSnapshots.newest(cacheVersions, mount)) ?? readMount(access, async (snapshot) => snapshot)
}

export function readMount<T, Stores extends PkiRepositories>(
  access: MountAccess<Stores>,
  work: MountWork<T, Stores>,
): Promise<T> {
  return readAndCache(access, (whole) => access.context.storage.read(whole), work)
}

/** Reads from a read replica if one is configured. Use it for lists, which may be long. */
export function readMountReplica<T, Stores extends PkiRepositories>(
  access: MountAccess<Stores>,
  work: MountWork<T, Stores>,
): Promise<T> {
  return readAndCache(access, (whole) => access.context.storage.readReplica(whole), work)
}

async function readAndCache<T, Stores extends PkiRepositories>(
  access: MountAccess<Stores>,
  read: Storage<Stores>["read"],
  work: MountWork<T, Stores>,
): Promise<T> {
  const { mountDirectory, mountSnapshots } = access.context
  let seen: MountInTable | undefined
  try {
    return await read(async (stores) => {
      seen = await snapshotWithin(access, stores)
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
 * Changes a key, an issuer, a role or a setting. Uses repeatable read: every such change writes the version of its mount
 * (`bumpAuthority`). Of two concurrent changes of one mount, the database therefore runs one again, even if they read different
 * rows.
 */
export function changeMount<T, Stores extends PkiRepositories>(
  access: MountAccess<Stores>,
  work: MountWork<T, Stores>,
): Promise<T> {
  return transactOnMount(access, work, repeatableRead)
}

export function transactOnMount<T, Stores extends PkiRepositories>(
  access: MountAccess<Stores>,
  work: MountWork<T, Stores>,
  options: TransactOptions = {},
): Promise<T> {
  return access.context.storage.transact(async (stores) => {
    const { snapshot } = await snapshotWithin(access, stores)
    return await work(snapshot, stores)
  }, options)
}

interface MountInTable {
  readonly mounts: MountTable
  readonly snapshot: MountSnapshot
}

/** Returns the snapshot in a unit of work. The cached snapshot is seldom outdated, and one query shows whether it is current. */
async function snapshotWithin<Stores extends PkiRepositories>(
  access: MountAccess<Stores>,
  stores: Stores,
): Promise<MountInTable> {
  const { mountDirectory, mountSnapshots } = access.context
  const { held: known } = mountDirectory
  const cached = cachedSnapshot(access)
  if (known !== undefined && cached !== undefined) {
    const { mounts, authority } = await stores.authorities.cacheVersions(cached.mount.id)
    if (mounts === known.version && authority === cached.version) return { mounts: known, snapshot: cached }
  }
  const mounts = await mountDirectory.within(stores)
  return { mounts, snapshot: await mountSnapshots.within(stores, mounts.at(access.mountPath)) }
}

function cachedSnapshot<Stores extends PkiRepositories>(access: MountAccess<Stores>): MountSnapshot | undefined {
  const { mountDirectory, mountSnapshots } = access.context
  const mount = mountDirectory.held?.find(access.mountPath)
  return mount && mountSnapshots.held(mount)
}

/** Returns a signer that records every use of its key, for a certificate with this serial number. */
export function auditedSigner<Stores extends PkiRepositories>(
  { mountPath: mount, recordKeyUse }: MountAccess<Stores>,
  signer: IssuerSigner,
  serialNumber: SerialNumber,
): IssuerSigner {
  const { id: issuerId, keyId } = signer.issuer
  if (keyId === null) throw new TypeError("an issuer without a key cannot sign")
  const use = { mount, keyId, issuerId, purpose: "certificate", serialNumber } as const
  return { ...signer, key: auditedSigningKey(signer.key, use, recordKeyUse) }
}

export interface Issued<T, Stores extends PkiRepositories = PkiRepositories> {
  readonly issuance: Issuance
  readonly value: T
  /** Runs in the transaction that records the certificate. */
  readonly settle?: ((stores: Stores) => Promise<void>) | undefined
  /** Key that the certificate is for, unless the server generated it for this request. */
  readonly presented?: PresentedKey | undefined
}

/** Issues a certificate on the cached snapshot as `withMountSnapshot` describes. Records it with its metadata and its lease. */
export function recordIssued<T, Stores extends PkiRepositories>(
  access: MountAccess<Stores>,
  issue: (snapshot: MountSnapshot) => Promise<Issued<T, Stores>>,
): Promise<T> {
  return withMountSnapshot(access, async (current) => {
    const { issuance, value, settle, presented } = await issue(current)
    const { certificate, metadata, lease } = issuance
    if (certificate === undefined && metadata === undefined && settle === undefined)
      return { store: undefined, value, presented }
    return {
      certificate,
      presented,
      store: async (_snapshot, stores) => {
        const { certificates, certificateLeases } = stores
        await settle?.(stores)
        if (metadata !== undefined) await certificates.insertMetadata(metadata)
        if (lease !== undefined) await certificateLeases.insert(lease)
      },
      value,
    }
  })
}

export interface MountChange<T, Stores extends PkiRepositories = PkiRepositories> {
  /** Inserted first, by the statement that compares the version of the mount. */
  readonly certificate?: CertificateRecord | undefined
  /** Checked in the transaction, after the certificate is inserted. */
  readonly presented?: PresentedKey | undefined
  /** Writes the change in the transaction, on the snapshot that `work` received. Undefined if there is nothing to write. */
  readonly store: MountWork<void, Stores> | undefined
  readonly value: T
}

/**
 * Runs `work` optimistically on the cached snapshot. The insert fails if the mount changed since. The result is then discarded,
 * never returned, and made again on the current snapshot. Throws `busy` if the mount keeps changing.
 */
export async function withMountSnapshot<T, Stores extends PkiRepositories>(
  access: MountAccess<Stores>,
  work: (snapshot: MountSnapshot) => Promise<MountChange<T, Stores>>,
): Promise<T> {
  const cached = cachedSnapshot(access)
  const first = cached && (await tryOnCached(access, cached, work))
  if (first !== undefined) return first.value
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const snapshot = await currentSnapshot(access)
    const change = await work(snapshot)
    if (change.store === undefined) {
      await assertPresented(access, change)
      return change.value
    }
    if (await storeOn(access, snapshot, change)) return change.value
  }
  throw busy("The mount is being changed too often to issue from it; try again.")
}

/** Returns undefined if the mount changed since the snapshot. */
async function tryOnCached<T, Stores extends PkiRepositories>(
  access: MountAccess<Stores>,
  cached: MountSnapshot,
  work: (snapshot: MountSnapshot) => Promise<MountChange<T, Stores>>,
): Promise<{ readonly value: T } | undefined> {
  const isCurrent = async () => (await currentSnapshot(access)) === cached
  let change: MountChange<T, Stores>
  try {
    change = await work(cached)
  } catch (error) {
    // The rule that rejected the request may have changed since.
    if (await isCurrent()) throw error
    return undefined
  }
  if (change.store !== undefined) return (await storeOn(access, cached, change)) ? { value: change.value } : undefined
  if (!(await isCurrent())) return undefined
  await assertPresented(access, change)
  return { value: change.value }
}

/** Checks the key of a certificate that is not stored. The certificate is signed already, but returned only if its key is allowed. */
async function assertPresented<Stores extends PkiRepositories>(
  access: MountAccess<Stores>,
  { presented }: Pick<MountChange<unknown>, "presented">,
): Promise<void> {
  if (presented !== undefined) await assertPresentedKeyAllowed(access, presented)
}

export function assertPresentedKeyAllowed<Stores extends PkiRepositories>(
  { context }: MountAccess<Stores>,
  presented: PresentedKey,
): Promise<void> {
  return context.storage.read((stores) => assertKeyAllowed(context, stores, presented))
}

/** Returns false, with nothing stored, if the mount changed since the snapshot. */
function storeOn<T, Stores extends PkiRepositories>(
  { context }: MountAccess<Stores>,
  snapshot: MountSnapshot,
  { certificate, presented, store }: MountChange<T, Stores>,
): Promise<boolean> {
  const { version, mount } = snapshot
  // Repeatable read as in `changeMount`. A change that only adds a certificate does not need it, because its insert compares the
  // version of the mount.
  const options = store === undefined ? {} : repeatableRead
  return context.storage.transact(async (stores) => {
    const isCurrent =
      certificate === undefined
        ? (await stores.authorities.cacheVersion(mount.id)) === version
        : await stores.certificates.insertUnder(version, certificate)
    if (isCurrent && presented !== undefined) await assertKeyAllowed(context, stores, presented)
    if (isCurrent) await store?.(snapshot, stores)
    return isCurrent
  }, options)
}

const maxAttempts = 10
