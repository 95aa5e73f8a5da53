// All kinds that programs and manifests declare.
import type { Definition } from "./declared-resource.ts"
import * as certificates from "./certificates.ts"
import * as workspaces from "./workspaces.ts"

export * from "./certificates.ts"
export * from "./shared.ts"
export * from "./workspaces.ts"

/** All kinds, in the order of the reference. */
export const declaredResources: readonly Definition[] = [
  workspaces.workspaceResource,
  workspaces.projectResource,
  workspaces.variableResource,
  workspaces.tagResource,
  workspaces.tagBindingsResource,
  workspaces.workspaceTagsResource,
  workspaces.workspaceLockResource,
  workspaces.remoteStateConsumersResource,
  workspaces.sshKeyAssignmentResource,
  workspaces.dataRetentionPolicyResource,
  certificates.pkiMountResource,
  certificates.pkiRoleResource,
  certificates.pkiIssuerResource,
  certificates.pkiIntermediateResource,
  certificates.pkiCertificateResource,
  certificates.pkiSignedCertificateResource,
  certificates.pkiRevocationResource,
  certificates.pkiAcmeConfigResource,
  certificates.pkiAcmeEabResource,
  certificates.authMethodResource,
  certificates.userpassUserResource,
  certificates.certificateAuthRoleResource,
  certificates.pkiEstConfigResource,
]
