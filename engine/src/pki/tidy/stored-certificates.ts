import type { PkiContext } from "../authority-service.ts"
import type { StoredCounts } from "./tidy-run.ts"

export interface StoredCertificates extends Pick<StoredCounts, "certificates" | "revocations"> {
  /** Its path. */
  readonly mount: string
}

/** Of mounts that publish how many certificates they have, once these are counted. */
export async function storedCertificates({
  storage,
  mountDirectory,
  authorities,
}: Pick<PkiContext, "storage" | "mountDirectory" | "authorities">): Promise<readonly StoredCertificates[]> {
  const { mounts } = await mountDirectory.current()
  const found: StoredCertificates[] = []
  for (const mount of mounts) {
    const stored = await storage.read(async (stores) => {
      const { settings } = await authorities.current(stores, mount)
      if (!settings.autoTidy.publishStoredCertificateCountMetrics) return undefined
      return (await stores.tidyRuns.find(mount.id)).stored
    })
    if (stored === undefined) continue
    found.push({ mount: mount.path, certificates: stored.certificates, revocations: stored.revocations })
  }
  return found
}
