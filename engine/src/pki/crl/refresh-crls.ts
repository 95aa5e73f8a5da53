// Lists that were asked for once are kept fresh before anybody asks again.
import type { RecordKeyUse } from "../../core/audit.ts"
import type { Held } from "../../core/leases.ts"
import type { Log } from "../../core/runtime.ts"
import { minuteMs, secondMs } from "../../core/time.ts"
import { isEngineError } from "../../core/errors.ts"
import { logFailure } from "../../core/failure-log.ts"
import type { Authority } from "../authority.ts"
import type { PkiContext } from "../authority-service.ts"
import { crlListOf } from "./crl-list.ts"
import { planOf } from "./crl-plan.ts"
import type { CrlKey } from "./crl-store.ts"

/** The name of the job. */
export const refreshCrlsJob = { name: "crl", everyMs: 30 * secondMs, timeoutMs: 30 * minuteMs } as const

/** A list that cannot be made keeps no other from being made. */
export async function refreshCrls(
  context: Pick<PkiContext, "storage" | "mountDirectory" | "authorities" | "crlPublisher">,
  log: Log,
  recordKeyUse: RecordKeyUse,
  { signal }: Held,
): Promise<void> {
  const { mounts } = await context.mountDirectory.current()
  for (const mount of mounts) {
    const { authority, keys } = await context.storage.read(async (stores) => ({
      authority: await context.authorities.within(stores, mount),
      keys: await stores.crls.keys(mount.id),
    }))
    context.authorities.keep(authority)
    for (const key of keys) {
      signal.throwIfAborted()
      const plan = planOfKey(authority, key)
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

function planOfKey(authority: Authority, { list, shard }: CrlKey) {
  const issuer = authority.issuers.find((one) => crlListOf(one) === list)
  return issuer && planOf(authority, issuer, shard)
}
