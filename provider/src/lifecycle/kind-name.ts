// Apart from the lifecycles, so that the declarations of the package import nothing of the engine's.

/** Names of the kinds, as type tokens and states carry them. */
export type KindName =
  | "workspace"
  | "workspaceTags"
  | "tagBindings"
  | "remoteStateConsumers"
  | "sshKeyAssignment"
  | "workspaceLock"
  | "dataRetentionPolicy"
  | "project"
  | "variable"
  | "tag"
  | "pkiMount"
  | "pkiRole"
  | "acmeConfig"
  | "acmeEab"
  | "estConfig"
  | "pkiCertificate"
  | "pkiSignedCertificate"
  | "pkiIntermediate"
  | "pkiRevocation"
  | "pkiIssuer"
  | "authMethod"
  | "userpassUser"
  | "certificateAuthRole"

/** Arguments whose default is the resource's name in the program. A kind has at most one. */
export type NamingMember = "name" | "path"
