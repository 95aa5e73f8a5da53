import type { Runtime } from "@chancery/engine"
import {
  pkiAcmeConfigKind,
  pkiAcmeEabKind,
  pkiCertificateKind,
  pkiIntermediateKind,
  pkiIssuerKind,
  pkiMountKind,
  pkiRevocationKind,
  pkiRoleKind,
  pkiSignedCertificateKind,
} from "@chancery/engine/managed/certificates"
import { lifecycleOf } from "./lifecycle.ts"

/** Of the kinds around certificate authorities. Whatever is due, is so by the clock. */
export const certificateLifecyclesBy = (clock: Runtime["clock"]) => ({
  pkiMount: lifecycleOf(
    {
      kind: pkiMountKind,
      identity: ["path"],
      adoptable: true,
      inOrganization: false,
    },
    clock,
  ),
  pkiRole: lifecycleOf(
    {
      kind: pkiRoleKind,
      identity: ["mount", "name"],
      adoptable: true,
      inOrganization: false,
      inMount: true,
    },
    clock,
  ),
  acmeConfig: lifecycleOf(
    {
      kind: pkiAcmeConfigKind,
      identity: ["mount"],
      adoptable: false,
      inOrganization: false,
      inMount: true,
    },
    clock,
  ),
  acmeEab: lifecycleOf(
    {
      kind: pkiAcmeEabKind,
      identity: pkiAcmeEabKind.members,
      adoptable: false,
      inOrganization: false,
      inMount: true,
    },
    clock,
  ),
  pkiCertificate: lifecycleOf(
    {
      kind: pkiCertificateKind,
      identity: pkiCertificateKind.identity,
      adoptable: false,
      inOrganization: false,
      inMount: true,
      endsByItself: true,
    },
    clock,
  ),
  pkiSignedCertificate: lifecycleOf(
    {
      kind: pkiSignedCertificateKind,
      identity: pkiSignedCertificateKind.identity,
      adoptable: false,
      inOrganization: false,
      inMount: true,
      endsByItself: true,
    },
    clock,
  ),
  pkiIntermediate: lifecycleOf(
    {
      kind: pkiIntermediateKind,
      identity: pkiIntermediateKind.identity,
      adoptable: false,
      inOrganization: false,
      inMount: true,
      endsByItself: true,
    },
    clock,
  ),
  pkiRevocation: lifecycleOf(
    {
      kind: pkiRevocationKind,
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
      kind: pkiIssuerKind,
      identity: ["mount", "kind", "bundle"],
      adoptable: true,
      inOrganization: false,
      inMount: true,
      unkept: ["bundle"],
    },
    clock,
  ),
})
