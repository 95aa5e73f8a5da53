// Keys that answer in the place of issuers are renewed before anybody asks.
import type { RecordKeyUse } from "../../core/audit.ts"
import { anonymous } from "../../core/caller.ts"
import { isEngineError } from "../../core/errors.ts"
import { logFailure } from "../../core/failure-log.ts"
import type { Held } from "../../core/leases.ts"
import { minuteMs } from "../../core/time.ts"
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import { mountAccess, type PkiContext } from "../pki-context.ts"
import { crlListOf } from "../crl/crl-list.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import { chooseResponder } from "./responder.ts"
import { ResponderService } from "./responder-service.ts"

/** The name of the job. */
export const renewRespondersJob = { name: "ocsp-responder", everyMs: 5 * minuteMs, timeoutMs: 10 * minuteMs } as const

/** So much before it is due: it is the job that comes first, and not a request. */
const aheadMs = 2 * renewRespondersJob.everyMs

/** One that cannot be made keeps no other from being made. */
export async function renewResponders(
  context: PkiContext,
  recordKeyUse: RecordKeyUse,
  { signal }: Pick<Held, "signal">,
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
        // Whoever has set that there is one will be asked; any other only if it has been before.
        const isWanted = snapshot.settings.crl.ocspDelegatedResponder || (await responders.kept(issuer)) !== undefined
        if (isWanted) await responders.renewed(mount.id, issuer, now + aheadMs)
      } catch (error) {
        if (!isEngineError(error)) throw error
        logFailure(runtime.log, "warn", "ocsp-responder-not-renewed", { mount: mount.path, issuer: issuer.id, error })
      }
    }
  }
}

/** Issuers with one name and one key have one. */
function delegatingIn({ issuers, settings }: MountSnapshot): readonly ParsedIssuer[] {
  if (settings.crl.ocspDisable) return []
  return [...Map.groupBy(issuers, crlListOf).values()].flatMap((group) => {
    const choice = chooseResponder(group, settings.crl)
    return choice?.kind === "delegated" ? [choice.issuer] : []
  })
}
