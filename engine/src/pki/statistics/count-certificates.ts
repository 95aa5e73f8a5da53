import type { Held } from "../../core/leases.ts"
import { minuteMs } from "../../core/time.ts"
import type { PkiContext } from "../pki-context.ts"
import { countMount } from "./count-mount.ts"

/** The name of the job. */
export const countCertificatesJob = { name: "statistics", everyMs: 5 * minuteMs, timeoutMs: 30 * minuteMs } as const

/** What one server has counted is told by all. */
export async function countCertificates(
  { mountDirectory, storage, runtime }: Pick<PkiContext, "mountDirectory" | "storage" | "runtime">,
  { signal }: Pick<Held, "signal">,
): Promise<void> {
  const { mounts } = await mountDirectory.current()
  for (const mount of mounts) {
    const counted = await countMount(
      (work) => storage.readReplica(({ statistics }) => work(statistics)),
      mount.id,
      runtime.clock.now(),
      signal,
    )
    await storage.transact(async (stores) => {
      // It may have been removed while its certificates were counted.
      const { mounts: present } = await mountDirectory.within(stores)
      if (present.some(({ id }) => id === mount.id)) await stores.statistics.save(mount.id, counted)
    })
  }
}
