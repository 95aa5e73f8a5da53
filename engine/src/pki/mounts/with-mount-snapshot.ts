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

type MountWork<T, Repositories extends PkiRepositories> = (
  snapshot: MountSnapshot,
  repositories: Repositories,
) => Promise<T>

/** Returns the mount as it is now. */
export async function currentSnapshot<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
): Promise<MountSnapshot> {
  const { mountDirectory, mountSnapshots, cacheVersions } = access.context
  const mount = (await mountDirectory.current()).at(access.mountPath)
  return (await mountSnapshots.newest(cacheVersions, mount)) ?? readMount(access, async (snapshot) => snapshot)
}

export function readMount<T, Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  work: MountWork<T, Repositories>,
): Promise<T> {
  return readAndCache(access, (transaction) => access.context.storage.read(transaction), work)
}

/** Reads from a read replica if one is configured. Use it for lists, which may be long. */
export function readMountReplica<T, Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  work: MountWork<T, Repositories>,
): Promise<T> {
  return readAndCache(access, (transaction) => access.context.storage.readReplica(transaction), work)
}

async function readAndCache<T, Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  read: Storage<Repositories>["read"],
  work: MountWork<T, Repositories>,
): Promise<T> {
  const { mountDirectory, mountSnapshots } = access.context
  let seen: MountInTable | undefined
  try {
    return await read(async (repositories) => {
      seen = await snapshotWithin(access, repositories)
      return work(seen.snapshot, repositories)
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
export function changeMount<T, Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  work: MountWork<T, Repositories>,
): Promise<T> {
  return transactOnMount(access, work, repeatableRead)
}

export function transactOnMount<T, Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  work: MountWork<T, Repositories>,
  options: TransactOptions = {},
): Promise<T> {
  return access.context.storage.transact(async (repositories) => {
    const { snapshot } = await snapshotWithin(access, repositories)
    return await work(snapshot, repositories)
  }, options)
}

interface MountInTable {
  readonly mounts: MountTable
  readonly snapshot: MountSnapshot
}

/** Returns the snapshot in a unit of work. The cached snapshot is seldom outdated, and one query shows whether it is current. */
async function snapshotWithin<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  repositories: Repositories,
): Promise<MountInTable> {
  const { mountDirectory, mountSnapshots } = access.context
  const { cached: known } = mountDirectory
  const cached = cachedSnapshot(access)
  if (known !== undefined && cached !== undefined) {
    const { mounts, authority } = await repositories.authorities.cacheVersions(cached.mount.id)
    if (mounts === known.version && authority === cached.version) return { mounts: known, snapshot: cached }
  }
  const mounts = await mountDirectory.within(repositories)
  return { mounts, snapshot: await mountSnapshots.within(repositories, mounts.at(access.mountPath)) }
}

function cachedSnapshot<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
): MountSnapshot | undefined {
  const { mountDirectory, mountSnapshots } = access.context
  const mount = mountDirectory.cached?.find(access.mountPath)
  return mount && mountSnapshots.cached(mount)
}

/** Returns a signer that records every use of its key, for a certificate with this serial number. */
export function auditedSigner<Repositories extends PkiRepositories>(
  { mountPath: mount, recordKeyUse }: MountAccess<Repositories>,
  signer: IssuerSigner,
  serialNumber: SerialNumber,
): IssuerSigner {
  const { id: issuerId, keyId } = signer.issuer
  if (keyId === null) throw new TypeError("an issuer without a key cannot sign")
  const use = { mount, keyId, issuerId, purpose: "certificate", serialNumber } as const
  return { ...signer, key: auditedSigningKey(signer.key, use, recordKeyUse) }
}

export interface Issued<T, Repositories extends PkiRepositories = PkiRepositories> {
  readonly issuance: Issuance
  readonly value: T
  /** Runs in the transaction that records the certificate. */
  readonly settle?: ((repositories: Repositories) => Promise<void>) | undefined
  /** Key that the certificate is for, unless the server generated it for this request. */
  readonly presented?: PresentedKey | undefined
}

/** Issues a certificate on the cached snapshot as `withMountSnapshot` describes. Records it with its metadata and its lease. */
export function recordIssued<T, Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  issue: (snapshot: MountSnapshot) => Promise<Issued<T, Repositories>>,
): Promise<T> {
  return withMountSnapshot(access, async (current) => {
    const { issuance, value, settle, presented } = await issue(current)
    const { certificate, metadata, lease } = issuance
    if (certificate === undefined && metadata === undefined && settle === undefined)
      return { store: undefined, value, presented }
    return {
      certificate,
      presented,
      store: async (_snapshot, repositories) => {
        const { certificates, certificateLeases } = repositories
        await settle?.(repositories)
        if (metadata !== undefined) await certificates.insertMetadata(metadata)
        if (lease !== undefined) await certificateLeases.insert(lease)
      },
      value,
    }
  })
}

export interface MountChange<T, Repositories extends PkiRepositories = PkiRepositories> {
  /** Inserted first, by the statement that compares the version of the mount. */
  readonly certificate?: CertificateRecord | undefined
  /** Checked in the transaction, after the certificate is inserted. */
  readonly presented?: PresentedKey | undefined
  /** Writes the change in the transaction, on the snapshot that `work` received. Undefined if there is nothing to write. */
  readonly store: MountWork<void, Repositories> | undefined
  readonly value: T
}

/**
 * Runs `work` optimistically on the cached snapshot. The insert fails if the mount changed since. The result is then discarded,
 * never returned, and made again on the current snapshot. Throws `busy` if the mount keeps changing.
 */
export async function withMountSnapshot<T, Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  work: (snapshot: MountSnapshot) => Promise<MountChange<T, Repositories>>,
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
async function tryOnCached<T, Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  cached: MountSnapshot,
  work: (snapshot: MountSnapshot) => Promise<MountChange<T, Repositories>>,
): Promise<{ readonly value: T } | undefined> {
  const isCurrent = async () => (await currentSnapshot(access)) === cached
  let change: MountChange<T, Repositories>
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
async function assertPresented<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  { presented }: Pick<MountChange<unknown>, "presented">,
): Promise<void> {
  if (presented !== undefined) await assertPresentedKeyAllowed(access, presented)
}

export function assertPresentedKeyAllowed<Repositories extends PkiRepositories>(
  { context }: MountAccess<Repositories>,
  presented: PresentedKey,
): Promise<void> {
  return context.storage.read((repositories) => assertKeyAllowed(context, repositories, presented))
}

/** Returns false, with nothing stored, if the mount changed since the snapshot. */
function storeOn<T, Repositories extends PkiRepositories>(
  { context }: MountAccess<Repositories>,
  snapshot: MountSnapshot,
  { certificate, presented, store }: MountChange<T, Repositories>,
): Promise<boolean> {
  const { version, mount } = snapshot
  // Repeatable read as in `changeMount`. A change that only adds a certificate does not need it, because its insert compares the
  // version of the mount.
  const options = store === undefined ? {} : repeatableRead
  return context.storage.transact(async (repositories) => {
    const isCurrent =
      certificate === undefined
        ? (await repositories.authorities.cacheVersion(mount.id)) === version
        : await repositories.certificates.insertUnder(version, certificate)
    if (isCurrent && presented !== undefined) await assertKeyAllowed(context, repositories, presented)
    if (isCurrent) await store?.(snapshot, repositories)
    return isCurrent
  }, options)
}

const maxAttempts = 10
