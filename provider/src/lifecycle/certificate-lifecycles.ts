import type { Runtime } from "@chancery/engine"
import * as resources from "@chancery/engine/declared/certificates"
import { lifecycleOf } from "./lifecycle.ts"

/** Returns the lifecycles of certificate authorities and auth methods. Renewal times are compared with `clock`. */
export const certificateLifecyclesBy = (clock: Runtime["clock"]) => ({
  pkiMount: lifecycleOf(resources.pkiMountResource, clock),
  pkiRole: lifecycleOf(resources.pkiRoleResource, clock),
  acmeConfig: lifecycleOf(resources.pkiAcmeConfigResource, clock),
  acmeEab: lifecycleOf(resources.pkiAcmeEabResource, clock),
  estConfig: lifecycleOf(resources.pkiEstConfigResource, clock),
  pkiCertificate: lifecycleOf(resources.pkiCertificateResource, clock),
  pkiSignedCertificate: lifecycleOf(resources.pkiSignedCertificateResource, clock),
  pkiIntermediate: lifecycleOf(resources.pkiIntermediateResource, clock),
  pkiRevocation: lifecycleOf(resources.pkiRevocationResource, clock),
  authMethod: lifecycleOf(resources.authMethodResource, clock),
  userpassUser: lifecycleOf(resources.userpassUserResource, clock),
  certificateAuthRole: lifecycleOf(resources.certificateAuthRoleResource, clock),
  // An unknown name or key may turn out to be the current one, so neither forces replacement.
  pkiIssuer: lifecycleOf(resources.pkiIssuerResource, clock, { identity: ["mount", "kind", "bundle"] }),
})
