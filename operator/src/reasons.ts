// Every reason that a condition can have. Programs and people's alerts match on them: one that was ever released stays.

export const reasons = [
  // Of every kind.
  "InvalidSpec",
  "Paused",
  "InStep",
  "DriftDetected",
  "NameTaken",
  // On the way to an engine.
  "Connected",
  "ConnectionMissing",
  "ConnectionNotReady",
  "ConnectionInUse",
  "NamespaceNotAllowed",
  "SecretMissing",
  "SecretKeyMissing",
  "AddressNotAllowed",
  "TokenRefused",
  "OrganizationNotFound",
  "OrganizationMissing",
  // Of the authorities of an engine and their roles.
  "AuthorityFound",
  "AuthorityMissing",
  "ConfigMapConflict",
  "AcmeOffered",
  "RoleSaved",
  "RoleMissing",
  // Of certificates: why one is issued, or not ready.
  "SecretKeysMissing",
  "KeyPairMismatch",
  "IssuerChanged",
  "OwnerConflict",
  "KeySpecChanged",
  "SpecChanged",
  "IssuerCAChanged",
  "RevokedAtEngine",
  "RenewalDue",
  "RenewRequested",
  "Expired",
  // And what came of it.
  "Issued",
  "IssuerMissing",
  "IssuerNotReady",
  "RoleNotReady",
  "SecretNameConflict",
  "CertificateUnfit",
  "LifetimeTooShort",
  "TrustPublished",
  "AuthoritiesOverlap",
  // Of workspaces.
  "Available",
  "AlreadyManaged",
  "WorkspaceMissing",
  "ReferenceMissing",
  "ConfigMapMissing",
  "ConfigMapKeyMissing",
  "LockedByOther",
  "DeletionBlocked",
  "DeletionRefused",
  // Of their outputs.
  "OutputsPublished",
  "OutputsPending",
  "OutputsTooLarge",
  "OutputNamesUnfit",
  "StateMissing",
  // What an engine answers.
  "EngineUnavailable",
  "EngineRefused",
] as const

export type Reason = (typeof reasons)[number]
