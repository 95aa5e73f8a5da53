import type { Runtime } from "@chancery/engine"
import * as resources from "@chancery/engine/declared/certificates"
import { lifecycleOf } from "./lifecycle.ts"

/** Lifecycles of certificate authorities. Whatever is due, is so by the clock. */
export const certificateLifecyclesBy = (clock: Runtime["clock"]) => ({
  pkiMount: lifecycleOf(resources.pkiMountResource, clock),
  pkiRole: lifecycleOf(resources.pkiRoleResource, clock),
  acmeConfig: lifecycleOf(resources.pkiAcmeConfigResource, clock),
  acmeEab: lifecycleOf(resources.pkiAcmeEabResource, clock),
  pkiCertificate: lifecycleOf(resources.pkiCertificateResource, clock),
  pkiSignedCertificate: lifecycleOf(resources.pkiSignedCertificateResource, clock),
  pkiIntermediate: lifecycleOf(resources.pkiIntermediateResource, clock),
  pkiRevocation: lifecycleOf(resources.pkiRevocationResource, clock),
  // An unknown name or key may turn out to be that of the issuer.
  pkiIssuer: lifecycleOf(resources.pkiIssuerResource, clock, { identity: ["mount", "kind", "bundle"] }),
})
