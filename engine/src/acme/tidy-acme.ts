// Phases of a tidy run that remove orders and accounts.
import { type AcmeTidySteps, progressAfter, type StepWrite, type TidyStep } from "../pki/tidy/tidy-steps.ts"
import type { AcmeRepositories } from "./acme-context.ts"

export const acmeTidySteps: AcmeTidySteps<AcmeRepositories> = {
  "ACME orders": removeOrders,
  "ACME accounts": removeAccounts,
}

/** Orders are stored as long as their certificates. */
async function removeOrders(step: TidyStep): Promise<StepWrite<AcmeRepositories>> {
  const { run, now, limit } = step
  return async ({ acmeOrders: orders, acmeAuthorizations }) => {
    const before = now - run.options.safetyBufferMs
    const acmeOrders = await orders.removeEnded(run.mountId, before, limit)
    await acmeAuthorizations.removeEnded(run.mountId, before, limit)
    return { counts: { acmeOrders }, progress: progressAfter(step, acmeOrders, "") }
  }
}

/** Unused accounts are revoked first and removed later, so that an administrator can reinstate one that is missed. */
async function removeAccounts(step: TidyStep): Promise<StepWrite<AcmeRepositories>> {
  const { run, now, limit } = step
  return async ({ acmeAccounts: accounts }) => {
    const before = now - run.options.acmeAccountSafetyBufferMs
    const acmeAccountsSeen = run.progress.after === "" ? await accounts.count(run.mountId) : 0
    const acmeAccounts = await accounts.removeEnded(run.mountId, before, limit)
    const acmeAccountsRevoked = await accounts.revokeUnused(run.mountId, { before, now, limit })
    const longest = Math.max(acmeAccounts, acmeAccountsRevoked)
    return {
      counts: { acmeAccounts, acmeAccountsRevoked, acmeAccountsSeen },
      progress: progressAfter(step, longest, "counted"),
    }
  }
}
