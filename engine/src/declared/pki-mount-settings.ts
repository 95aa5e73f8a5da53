// Settings below a mount (`config/urls`, `config/crl`, `config/auto-tidy`, `config/acme`, `config/est`), for manifests that declare them as
// parts of the mount. Each mount has all of them, so they are changed and never created.
import { crlSettings } from "../contracts/vault/crl.ts"
import { acme, urls } from "../contracts/vault/mount-settings.ts"
import { autoTidySettings } from "../contracts/vault/tidy.ts"
import { invalid, isEngineError } from "../core/errors.ts"
import { formatDuration, secondMs } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import { defaultCrlSettings } from "../pki/crl/crl-settings.ts"
import { noUrls } from "../pki/issuers/issuer.ts"
import { defaultAcmeSettings, eabPolicies } from "../pki/mounts/acme-settings.ts"
import type { Pki } from "../pki/mounts/pki.ts"
import { unknownSerialsAnswers } from "../pki/ocsp/ocsp-history.ts"
import { autoTidyView, defaultAutoTidySettings } from "../pki/tidy/auto-tidy.ts"
import { contractMembers } from "./contract-members.ts"
import { estMembers } from "./est-members.ts"
import { diffMembers, type Members } from "./members.ts"
import { declaredFaults } from "./pki-values.ts"
import { boundedText, duration, integerBetween, type MemberType, oneOf, orderedTexts, texts } from "./types.ts"
import type { Values } from "./values.ts"

export interface MountSettingsPart {
  readonly members: Members
  /** Returns every setting in force, under its declared name. */
  observe(engine: Engine, mount: string): Promise<Values>
  /** Returns the names of the settings that differ. Settings that `wanted` leaves out are not managed. */
  diff(wanted: object, observed: Values): readonly string[]
  /** Changes the given settings. Faults have declared names. */
  save(engine: Engine, mount: string, changed: object): Promise<void>
}

interface PartOptions {
  /** Parameters of the contract, by their names in the engine. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Parameters that declarations do not have: those without effect. */
  readonly without?: readonly string[]
  readonly types?: Readonly<Record<string, MemberType<unknown>>>
  readonly defaults: object
  readonly read: (pki: Pki) => Promise<object>
  readonly write: (pki: Pki, patch: object) => Promise<unknown>
}

const maxCount = 20_000_000
const maxText = 2_048
const addresses = texts(maxText, { maximum: 32 })

function partOf({ parameters, without = [], types = {}, defaults, read, write }: PartOptions): MountSettingsPart {
  const fields = Object.entries(parameters).filter(([field]) => !without.includes(field))
  const durations = fields.map(([field]) => field).filter((field) => field.endsWith("Ms"))
  const numbers = fields
    .map(([field]) => field)
    .filter((field) => !durations.includes(field) && typeof (defaults as Values)[field] === "number")
  const ofText = fields.map(([field]) => field).filter((field) => typeof (defaults as Values)[field] === "string")
  const mapping = contractMembers(Object.fromEntries(fields), {
    renamed: Object.fromEntries(durations.map((field) => [field, field.replace(/Ms$/, "")])),
    types: {
      ...Object.fromEntries(durations.map((field) => [field, duration])),
      ...Object.fromEntries(numbers.map((field) => [field, integerBetween(-1, maxCount)])),
      ...Object.fromEntries(ofText.map((field) => [field, boundedText(maxText)])),
      ...types,
    },
    defaults,
  })
  return partFrom(mapping, { read, write })
}

type Mapping = ReturnType<typeof contractMembers>

function partFrom(mapping: Mapping, { read, write }: Pick<PartOptions, "read" | "write">): MountSettingsPart {
  return {
    members: Object.fromEntries(Object.entries(mapping.members).map(([name, member]) => [name, withExample(member)])),
    observe: async (engine, mount) => mapping.fromEngine(await read(engine.pki(mount))),
    diff: (wanted, observed) => diffMembers(mapping.members, wanted, observed).changed,
    async save(engine, mount, changed) {
      try {
        await write(engine.pki(mount), mapping.toEngine(changed))
      } catch (error) {
        if (isEngineError(error, "invalid")) throw invalid(declaredFaults(error.faults, mapping.nameOf))
        throw error
      }
    },
  }
}

/** Writes the example of a duration that the API has in seconds as a duration. */
const withExample = (member: Members[string]): Members[string] =>
  member.form === "duration" && typeof member.example === "number"
    ? { ...member, example: formatDuration(member.example * secondMs) }
    : member

/** Parts by their names in a manifest. */
export const mountSettingsParts: Readonly<Record<"urls" | "crl" | "autoTidy" | "acme" | "est", MountSettingsPart>> = {
  urls: partOf({
    parameters: urls.members,
    types: {
      issuingCertificates: addresses,
      crlDistributionPoints: addresses,
      deltaCrlDistributionPoints: addresses,
      ocspServers: addresses,
    },
    defaults: noUrls,
    read: (pki) => pki.settings.urls(),
    write: (pki, patch) => pki.settings.changeUrls(patch),
  }),
  crl: partOf({
    parameters: crlSettings.members,
    without: ["crossClusterRevocation", "unifiedCrl", "unifiedCrlOnExistingPaths"],
    types: {
      ocspUnknownSerials: oneOf(...unknownSerialsAnswers),
      ocspResponderKeyType: oneOf("", "rsa", "ec", "ed25519"),
    },
    defaults: defaultCrlSettings,
    read: (pki) => pki.crls.settings(),
    write: (pki, patch) => pki.crls.configure(patch),
  }),
  autoTidy: partOf({
    parameters: autoTidySettings.members,
    without: [
      "publishStoredCertificateCountMetrics",
      "tidyMoveLegacyCaBundle",
      "tidyRevocationQueue",
      "tidyCrossClusterRevokedCerts",
      "tidyCmpv2NonceStore",
      "revocationQueueSafetyBufferMs",
    ],
    defaults: autoTidyView(defaultAutoTidySettings),
    read: (pki) => pki.tidy.getAutomatic(),
    write: (pki, patch) => pki.tidy.changeAutomatic(patch),
  }),
  acme: partOf({
    parameters: acme.members,
    types: { eabPolicy: oneOf(...eabPolicies), directoryLimits: orderedTexts() },
    defaults: defaultAcmeSettings,
    read: (pki) => pki.settings.acme(),
    write: (pki, patch) => pki.settings.changeAcme(patch),
  }),
  est: partFrom(estMembers, {
    read: (pki) => pki.settings.est(),
    write: (pki, patch) => pki.settings.changeEst(patch),
  }),
}
