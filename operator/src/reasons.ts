// Every reason that a condition can have. Programs and people's alerts match on them: one that was ever released stays.

export const reasons = [
  // Of every kind.
  "InvalidSpec",
  "Paused",
  "NotYetCompared",
  // On the way to an engine.
  "Connected",
  "ConnectionMissing",
  "ConnectionNotReady",
  "ConnectionInUse",
  "NamespaceNotAllowed",
  "SecretMissing",
  "SecretKeyMissing",
  "CertificateAuthorityInvalid",
  "AddressNotAllowed",
  "TokenRefused",
  "OrganizationNotFound",
  "OrganizationMissing",
  // What an engine answers.
  "EngineUnavailable",
  "EngineRefused",
] as const

export type Reason = (typeof reasons)[number]
