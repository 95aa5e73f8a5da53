// Job that renews delegated responders before clients need them.
import type { RecordKeyUse } from "../../core/audit.ts"
import { anonymous } from "../../core/caller.ts"
import { isEngineError } from "../../core/errors.ts"
import { logFailure } from "../../core/failure-log.ts"
import type { HeldLease } from "../../core/leases.ts"
import { minuteMs } from "../../core/time.ts"
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import { mountAccess, type PkiContext } from "../pki-context.ts"
import { crlListOf } from "../crl/crl-list.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import { chooseResponder } from "./responder.ts"
import { ResponderService } from "./responder-service.ts"

/** Name and schedule of the job. */
export const renewRespondersJob = { name: "ocsp-responder", everyMs: 5 * minuteMs, timeoutMs: 10 * minuteMs } as const

/** Time before the scheduled renewal at which the job renews a responder, so that requests find a new one. */
const aheadMs = 2 * renewRespondersJob.everyMs

/** Renews the responders of all mounts. A responder that fails does not stop the others. */
export async function renewResponders(
  context: PkiContext,
  recordKeyUse: RecordKeyUse,
  { signal }: Pick<HeldLease, "signal">,
): Promise<void> {
  const { mountDirectory, mountSnapshots, storage, runtime } = context
  const { mounts } = await mountDirectory.current()
  for (const mount of mounts) {
    signal.throwIfAborted()
    const snapshot = await mountSnapshots.read(storage, mount)
    const responders = new ResponderService(mountAccess(context, mount.path, anonymous, recordKeyUse))
    const now = runtime.clock.now()
    for (const issuer of delegatingIn(snapshot)) {
      if (issuer.parsed.notAfter <= now) continue
      try {
        // If delegation is configured, clients will need a responder. Otherwise it is renewed only if it was needed before.
        const isWanted = snapshot.settings.crl.ocspDelegatedResponder || (await responders.stored(issuer)) !== undefined
        if (isWanted) await responders.renew(mount.id, issuer, now + aheadMs)
      } catch (error) {
        if (!isEngineError(error)) throw error
        logFailure(runtime.log, "warn", "ocsp-responder-not-renewed", { mount: mount.path, issuer: issuer.id, error })
      }
    }
  }
}

/** Returns the issuers that delegate, one for each name and key. */
function delegatingIn({ issuers, settings }: MountSnapshot): readonly ParsedIssuer[] {
  if (settings.crl.ocspDisable) return []
  return [...Map.groupBy(issuers, crlListOf).values()].flatMap((group) => {
    const choice = chooseResponder(group, settings.crl)
    return choice?.kind === "delegated" ? [choice.issuer] : []
  })
}
