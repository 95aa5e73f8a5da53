import type { Runtime } from "@chancery/engine"
import {
  pkiAcmeConfigResource,
  pkiAcmeEabResource,
  pkiCertificateResource,
  pkiIntermediateResource,
  pkiIssuerResource,
  pkiMountResource,
  pkiRevocationResource,
  pkiRoleResource,
  pkiSignedCertificateResource,
} from "@chancery/engine/declared/certificates"
import { lifecycleOf } from "./lifecycle.ts"

/** Of the kinds around certificate authorities. Whatever is due, is so by the clock. */
export const certificateLifecyclesBy = (clock: Runtime["clock"]) => ({
  pkiMount: lifecycleOf(
    {
      kind: pkiMountResource,
      identity: ["path"],
      adoptable: true,
      inOrganization: false,
    },
    clock,
  ),
  pkiRole: lifecycleOf(
    {
      kind: pkiRoleResource,
      identity: ["mount", "name"],
      adoptable: true,
      inOrganization: false,
      inMount: true,
    },
    clock,
  ),
  acmeConfig: lifecycleOf(
    {
      kind: pkiAcmeConfigResource,
      identity: ["mount"],
      adoptable: false,
      inOrganization: false,
      inMount: true,
    },
    clock,
  ),
  acmeEab: lifecycleOf(
    {
      kind: pkiAcmeEabResource,
      identity: pkiAcmeEabResource.memberNames,
      adoptable: false,
      inOrganization: false,
      inMount: true,
    },
    clock,
  ),
  pkiCertificate: lifecycleOf(
    {
      kind: pkiCertificateResource,
      identity: pkiCertificateResource.identity,
      adoptable: false,
      inOrganization: false,
      inMount: true,
      endsByItself: true,
    },
    clock,
  ),
  pkiSignedCertificate: lifecycleOf(
    {
      kind: pkiSignedCertificateResource,
      identity: pkiSignedCertificateResource.identity,
      adoptable: false,
      inOrganization: false,
      inMount: true,
      endsByItself: true,
    },
    clock,
  ),
  pkiIntermediate: lifecycleOf(
    {
      kind: pkiIntermediateResource,
      identity: pkiIntermediateResource.identity,
      adoptable: false,
      inOrganization: false,
      inMount: true,
      endsByItself: true,
    },
    clock,
  ),
  pkiRevocation: lifecycleOf(
    {
      kind: pkiRevocationResource,
      identity: ["mount", "serialNumber", "certificate"],
      adoptable: false,
      inOrganization: false,
      inMount: true,
      endsByItself: true,
      unkept: ["privateKey"],
    },
    clock,
  ),
  pkiIssuer: lifecycleOf(
    {
      kind: pkiIssuerResource,
      identity: ["mount", "kind", "bundle"],
      adoptable: true,
      inOrganization: false,
      inMount: true,
      unkept: ["bundle"],
    },
    clock,
  ),
})
