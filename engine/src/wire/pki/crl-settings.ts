// Revocation settings of a mount (`config/crl`). Durations are strings in both dialects.
import { importedListMaximumBytes } from "../../pki/crl/imported-list.ts"
import type { CrlSettingsView, ImportedCrl } from "../../pki/crl/crls.ts"
import { unknownSerialsAnswers } from "../../pki/ocsp/ocsp-history.ts"
import type { DecodedEnvelope } from "./envelope.ts"
import type { Dialect } from "./dialect.ts"
import {
  decodeAnswer,
  type Document,
  durationText,
  encodeMembers,
  flag,
  integer,
  nullable,
  parameters,
  textUpTo,
  word,
} from "./parameters.ts"

export const crlSettingsParameters = parameters({
  expiryMs: durationText,
  disable: flag,
  ocspDisable: flag,
  ocspExpiryMs: durationText,
  ocspUnknownSerials: word(...unknownSerialsAnswers),
  ocspDelegatedResponder: flag,
  ocspResponderKeyType: word("", "rsa", "ec", "ed25519"),
  ocspResponderTtlMs: durationText,
  autoRebuild: flag,
  autoRebuildGracePeriodMs: durationText,
  enableDelta: flag,
  deltaRebuildIntervalMs: durationText,
  allowExpiredCertRevocation: flag,
  maxCrlEntries: integer,
  shards: integer,
  crossClusterRevocation: flag,
  unifiedCrl: flag,
  unifiedCrlOnExistingPaths: flag,
})

export const encodeCrlSettings = (settings: CrlSettingsView, dialect: Dialect): Document =>
  encodeMembers(
    crlSettingsParameters,
    { ...settings, crossClusterRevocation: false, unifiedCrl: false, unifiedCrlOnExistingPaths: false },
    dialect,
  )

export function decodeCrlSettings(data: unknown): CrlSettingsView {
  const {
    crossClusterRevocation: _cross,
    unifiedCrl: _unified,
    unifiedCrlOnExistingPaths: _existing,
    ...settings
  } = decodeAnswer(crlSettingsParameters, data)
  return settings
}

export const importCrlParameters = parameters({ crl: textUpTo(importedListMaximumBytes) })

const importedCrlParameters = parameters({
  importedCount: integer,
  existingCount: integer,
  crlNumber: nullable(integer),
})

export const encodeImportedCrl = (imported: ImportedCrl): Document =>
  encodeMembers(importedCrlParameters, imported, "native")

export const decodeImportedCrl = ({ data, warnings }: Pick<DecodedEnvelope, "data" | "warnings">): ImportedCrl => ({
  ...decodeAnswer(importedCrlParameters, data),
  warnings,
})
