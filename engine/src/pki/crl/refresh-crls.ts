// Job that rebuilds lists which were requested before, so that they are ready for the next request.
import type { RecordKeyUse } from "../../core/audit.ts"
import type { HeldLease } from "../../core/leases.ts"
import type { Log } from "../../core/runtime.ts"
import { minuteMs, secondMs } from "../../core/time.ts"
import { isEngineError } from "../../core/errors.ts"
import { logFailure } from "../../core/failure-log.ts"
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import type { PkiContext } from "../pki-context.ts"
import { crlListOf } from "./crl-list.ts"
import { planOf } from "./crl-plan.ts"
import type { CrlKey } from "./crl-repository.ts"

/** Name and schedule of the job. */
export const refreshCrlsJob = { name: "crl", everyMs: 30 * secondMs, timeoutMs: 30 * minuteMs } as const

/** Refreshes the lists of all mounts. A list that fails does not stop the others. */
export async function refreshCrls(
  context: Pick<PkiContext, "storage" | "mountDirectory" | "mountSnapshots" | "crlPublisher">,
  log: Log,
  recordKeyUse: RecordKeyUse,
  { signal }: HeldLease,
): Promise<void> {
  const { mounts } = await context.mountDirectory.current()
  for (const mount of mounts) {
    const { snapshot, keys } = await context.storage.read(async (repositories) => ({
      snapshot: await context.mountSnapshots.within(repositories, mount),
      keys: await repositories.crls.keys(mount.id),
    }))
    context.mountSnapshots.keep(snapshot)
    for (const key of keys) {
      signal.throwIfAborted()
      const plan = planOfKey(snapshot, key)
      if (plan === undefined) continue
      try {
        await context.crlPublisher.refresh(plan, { mountPath: mount.path, recordKeyUse })
      } catch (error) {
        if (!isEngineError(error)) throw error
        logFailure(log, "warn", "crl-not-built", { mount: mount.path, issuer: plan.signer.id, error })
      }
    }
  }
}

function planOfKey(snapshot: MountSnapshot, { list, shard }: CrlKey) {
  const issuer = snapshot.issuers.find((one) => crlListOf(one) === list)
  return issuer && planOf(snapshot, issuer, shard)
}
