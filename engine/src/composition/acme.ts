// ACME: its directories, and the queues that validate challenges and finalize orders.
import { AccountBindingService } from "../acme/accounts/account-bindings.ts"
import { AccountKeys } from "../acme/accounts/account.ts"
import { createAcmeMetrics } from "../acme/acme-metrics.ts"
import { AcmeService } from "../acme/acme-service.ts"
import type { AcmeTools } from "../acme/directory-service.ts"
import type { Directory } from "../acme/directory.ts"
import { finalizationQueue } from "../acme/orders/finalization-queue.ts"
import { ManagedAccountService, ManagedOrderService } from "../acme/accounts/account-management.ts"
import type { AcmeManagement } from "../acme/accounts/management.ts"
import { RenewalSignalService } from "../acme/renewal/renewal-signals.ts"
import { validationQueue } from "../acme/validation/validation-queue.ts"
import { acmeNetwork } from "../client/outgoing/acme-network.ts"
import type { Audit, AuditTrail } from "../core/audit.ts"
import type { Caller } from "../core/caller.ts"
import { mountAccess } from "../pki/pki-context.ts"
import { tracedAcmeNetwork } from "../telemetry/traced-network.ts"
import type { Parts } from "./options.ts"
import type { PkiParts } from "./pki.ts"

export interface AcmeParts {
  readonly acmeTools: AcmeTools
}

export function composeAcme(
  context: PkiParts & { readonly audit: Audit },
  { options, runtime, timers, meter, opening }: Parts,
): AcmeParts {
  const { acme = {} } = options
  const ownNetwork = opening.use(
    acmeNetwork({
      permitted: acme.permitted ?? { kinds: [], ranges: [] },
      httpPort: acme.httpPort ?? 80,
      tlsPort: acme.tlsPort ?? 443,
      digest: runtime.digest,
    }),
  )
  const { tracer } = runtime
  const network = tracer === undefined ? ownNetwork : tracedAcmeNetwork(ownNetwork, tracer)
  const acmeTools: AcmeTools = {
    nonceSigner: context.signer,
    accountKeys: new AccountKeys(),
    rules: { requiresBinding: acme.requiresBinding ?? false },
    metrics: createAcmeMetrics(meter),
    queues: () => queues,
  }
  const queues =
    options.jobs === false
      ? undefined
      : {
          validations: validationQueue({ ...context, acmeTools, network, timers }),
          finalizations: finalizationQueue({ ...context, acmeTools, network, timers }),
        }
  opening.defer(async () => {
    await Promise.all([queues?.validations.stop(), queues?.finalizations.stop()])
  })
  return { acmeTools }
}

interface AcmeRequest {
  readonly context: PkiParts & AcmeParts
  readonly caller: Caller
  readonly trail: AuditTrail
}

export const acmeFamilies = {
  acme:
    ({ context, caller, trail }: AcmeRequest) =>
    (mountPath: string): AcmeManagement => {
      const access = mountAccess(context, mountPath, caller, trail.keyUse)
      return {
        eab: new AccountBindingService(access),
        accounts: new ManagedAccountService(access, context.acmeTools.accountKeys),
        orders: new ManagedOrderService(access),
        renewals: new RenewalSignalService(access),
      }
    },
  acmeDirectory:
    ({ context, trail }: AcmeRequest) =>
    (mountPath: string, directory: Directory) =>
      new AcmeService(context, context.acmeTools, mountPath, directory, trail.keyUse),
}
